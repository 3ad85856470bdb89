# carom_precompile(TARGET KIND): the standard headers that nearly every file includes, and fmt, are read once for all
# targets of a kind: `cold` (libraries, -O1), `hot` (libraries, -O3), `test` (programs, -O1, with GoogleTest). Compilers want
# the same optimisation and the same macros for a precompiled header and its users, so there is one for each kind. Files
# still include what they use: with CAROM_PCH=OFF, and for clang-tidy, they must stand alone.
set(carom_precompiled_headers
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdio> <cstring> <filesystem> <functional>
  <iterator> <limits> <map> <memory> <numeric> <optional> <set> <span> <stdexcept> <string> <string_view> <system_error>
  <utility> <variant> <vector> <fmt/format.h>)

function(carom_precompile target kind)
  get_target_property(type ${target} TYPE)
  if(NOT CAROM_PCH OR type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  set(owner carom_precompiled_${kind})
  if(NOT TARGET ${owner})
    set(source "${PROJECT_BINARY_DIR}/generated/precompiled.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// The headers are what is compiled here.\n")
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(${owner} PRIVATE carom_kernels carom_dep_fmt)
    target_compile_options(${owner} PRIVATE -pthread)
    set(headers ${carom_precompiled_headers})
    if(kind STREQUAL "hot")
      target_compile_options(${owner} PRIVATE ${carom_hot_options})
    elseif(kind STREQUAL "test")
      # As in programs, not in libraries.
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE)
      target_link_libraries(${owner} PRIVATE GTest::gmock GTest::gtest)
      list(APPEND headers <fstream> <random> <sstream> <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  # Of a precompiled header g++ 12 forgets that it is a library's, and warns of its own strings (GCC bug 105329).
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-nonnull>)
  # The macros that headers look at, also where threads and fmt are not used.
  target_compile_options(${target} PRIVATE -pthread)
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${carom_fmt},INTERFACE_COMPILE_DEFINITIONS>)
endfunction()
