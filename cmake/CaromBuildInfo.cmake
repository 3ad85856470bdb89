# carom_build_info: version, options and commit, for `carom info` and the headers of output files.
# The commit is looked up at every build, and what depends on it is compiled anew only when it has changed.

set(carom_build_info_dir "${PROJECT_BINARY_DIR}/generated")
get_property(carom_parts GLOBAL PROPERTY CAROM_PARTS)
set(carom_options "")
foreach(part IN LISTS carom_parts)
  string(TOLOWER ${part} lower)
  if(NOT part MATCHES "^(EMULATED|PTX_TESTS|PYTHON)$")
    if(CAROM_HAVE_${part})
      list(APPEND carom_options "${lower}=on")
    else()
      list(APPEND carom_options "${lower}=off")
    endif()
  endif()
endforeach()
list(JOIN carom_options " " carom_options)

configure_file("${PROJECT_SOURCE_DIR}/cmake/build_info.hpp.in" "${carom_build_info_dir}/carom_build_info.hpp" @ONLY)
add_custom_target(carom_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${carom_build_info_dir}/carom_commit.cpp
          -P ${PROJECT_SOURCE_DIR}/cmake/write_commit.cmake
  BYPRODUCTS ${carom_build_info_dir}/carom_commit.cpp
  VERBATIM)
add_library(carom_build_info STATIC "${carom_build_info_dir}/carom_commit.cpp")
add_dependencies(carom_build_info carom_commit)
target_include_directories(carom_build_info PUBLIC
  $<BUILD_INTERFACE:${carom_build_info_dir}> $<INSTALL_INTERFACE:include/carom>)
set_target_properties(carom_build_info PROPERTIES EXPORT_NAME build_info)
