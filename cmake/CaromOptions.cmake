# What a user may choose. An option of three values is a part of the program that can be left out:
# AUTO builds it where its needs are met, ON stops if they are not, OFF leaves it out.

function(carom_part_option name help)
  set(${name} AUTO CACHE STRING "${help} (AUTO, ON or OFF)")
  set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT ${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "${name} is '${${name}}'; it may be AUTO, ON or OFF")
  endif()
endfunction()

# Records whether a part is built, and why: sets CAROM_HAVE_<PART>, and stops if the part was demanded and cannot be.
# usage: carom_decide(CUDA TRUE|FALSE "reason")
function(carom_decide part met reason)
  set(wanted "${CAROM_${part}}")
  if(wanted STREQUAL "OFF")
    set(have OFF)
    set(reason "switched off")
  elseif(met)
    set(have ON)
  elseif(wanted STREQUAL "ON")
    message(FATAL_ERROR "CAROM_${part}=ON, but: ${reason}")
  else()
    set(have OFF)
  endif()
  set(CAROM_HAVE_${part} ${have} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY CAROM_PARTS ${part})
  set_property(GLOBAL PROPERTY CAROM_PART_${part} "${have}|${reason}")
endfunction()

carom_part_option(CAROM_CUDA "CUDA backend")
carom_part_option(CAROM_OPENMP "Several threads on the CPU")
carom_part_option(CAROM_EMULATED "CUDA sources run on the CPU, for tests")
carom_part_option(CAROM_PTX_TESTS "What nvcc makes of the CUDA sources run on the CPU, for tests")

option(CAROM_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
set(CAROM_TEST_KINDS unit contract backends physics golden cli viewer python fuzz device CACHE STRING "Kinds of tests to build and run")
option(CAROM_WERROR "Treat warnings as errors" OFF)
option(CAROM_PCH "Precompiled headers: half the time of a build" ON)
option(CAROM_UNITY "Compile files of a folder together: half the time of a first build, and more after a change" OFF)
option(CAROM_STATIC "Link everything but the C library statically, for an archive that runs elsewhere" OFF)
set(CAROM_CPU_ARCH x86-64-v3 CACHE STRING
  "Instruction set for -march on x86-64; must have fma, or the CPU backend becomes many times slower")
set(CAROM_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=LIST")
option(CAROM_FUZZ "Build carom_fuzz, whose inputs are led by coverage; needs Clang and the kind of tests \"fuzz\"" OFF)

set(CAROM_TEST_PYTHON /usr/bin/python3 CACHE FILEPATH "Python that runs the tests written in it, and for which the package is built")
# It once had the name that is now the option's: a build folder of that time goes on.
if(IS_ABSOLUTE "${CAROM_PYTHON}")
  set(CAROM_TEST_PYTHON "${CAROM_PYTHON}" CACHE FILEPATH "" FORCE)
  unset(CAROM_PYTHON CACHE)
  message(STATUS "CAROM_PYTHON is CAROM_TEST_PYTHON now, and CAROM_PYTHON=AUTO|ON|OFF the package for Python")
endif()
carom_part_option(CAROM_MPI "Runs shared by ranks, by a module that speaks MPI")
carom_part_option(CAROM_PYTHON "The package for Python")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, RelWithDebInfo (assertions on) or Release (the fastest)" FORCE)
endif()

# A cache of compiled files, where there is one; a launcher that was chosen stays.
find_program(CAROM_CCACHE ccache)
mark_as_advanced(CAROM_CCACHE)
if(CAROM_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
  # Without these it caches nothing that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CAROM_CCACHE}")
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
