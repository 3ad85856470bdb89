# Run at build time: writes the commit to OUTPUT, and leaves the file alone if it has not changed.
set(commit unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE described
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "carom_build_info.hpp"

namespace carom::build_info {

const char* commit() { return "@commit@"; }

}  // namespace carom::build_info
]] @ONLY)
