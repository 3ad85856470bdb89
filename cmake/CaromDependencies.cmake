# Libraries from the distribution. The missing ones are named together, with the one command that installs them.

set(CMAKE_THREAD_PREFER_PTHREAD ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(carom_missing "")

if(CAROM_STATIC)
  set(HDF5_USE_STATIC_LIBRARIES ON)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(HDF5 1.10 COMPONENTS C QUIET)
if(NOT HDF5_FOUND)
  list(APPEND carom_missing libhdf5-dev)
endif()

find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  list(APPEND carom_missing zlib1g-dev)
endif()
find_package(PNG QUIET)
if(NOT PNG_FOUND)
  list(APPEND carom_missing libpng-dev)
endif()

find_package(fmt QUIET)
if(NOT fmt_FOUND)
  list(APPEND carom_missing libfmt-dev)
endif()

find_package(CLI11 QUIET)
if(NOT CLI11_FOUND)
  list(APPEND carom_missing libcli11-dev)
endif()

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
  list(APPEND carom_missing nlohmann-json3-dev)
endif()

# Both are used as headers alone.
find_path(CAROM_TOMLPLUSPLUS_INCLUDE toml++/toml.h)
if(NOT CAROM_TOMLPLUSPLUS_INCLUDE)
  list(APPEND carom_missing libtomlplusplus-dev)
endif()
find_path(CAROM_RANDOM123_INCLUDE Random123/philox.h)
if(NOT CAROM_RANDOM123_INCLUDE)
  list(APPEND carom_missing librandom123-dev)
endif()
mark_as_advanced(CAROM_TOMLPLUSPLUS_INCLUDE CAROM_RANDOM123_INCLUDE)

if(CAROM_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    list(APPEND carom_missing libgtest-dev libgmock-dev)
  endif()
endif()

if(carom_missing)
  list(JOIN carom_missing " " carom_missing)
  message(FATAL_ERROR "Libraries are missing. On Debian or Ubuntu:\n"
    "  sudo apt-get install ${carom_missing}\n"
    "or, for everything that carom can use: scripts/install-deps.sh")
endif()

# g++'s OpenMP library reads its environment in a constructor, and only that of a program that holds the library itself can
# be set before (host/cli/main.cpp, limit_spinning()). Tried with a shared one: what a .preinit_array function sets is lost,
# for the C library takes its environment anew afterwards, and every other constructor of the program comes too late.
if(NOT CAROM_OPENMP STREQUAL "OFF" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a
    OUTPUT_VARIABLE carom_gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${carom_gomp}")
    set(OpenMP_gomp_LIBRARY "${carom_gomp}" CACHE FILEPATH "OpenMP library of g++" FORCE)
  endif()
endif()
if(NOT CAROM_OPENMP STREQUAL "OFF")
  find_package(OpenMP QUIET COMPONENTS CXX)
endif()
if(OpenMP_CXX_FOUND AND carom_gomp)
  # A module of Python takes the shared one all the same: the static one is made for programs alone.
  get_target_property(openmp_libraries OpenMP::OpenMP_CXX INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM openmp_libraries REPLACE "^(.*/libgomp[.]a)$"
    "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>,-fopenmp,\\1>")
  set_target_properties(OpenMP::OpenMP_CXX PROPERTIES INTERFACE_LINK_LIBRARIES "${openmp_libraries}")
endif()
if(OpenMP_CXX_FOUND)
  carom_decide(OPENMP TRUE "OpenMP ${OpenMP_CXX_VERSION}")
else()
  carom_decide(OPENMP FALSE "the compiler has no OpenMP; the CPU backend will use one thread")
endif()

# One target for each library, so that what follows does not depend on how it was found.
add_library(carom_dep_toml INTERFACE)
target_include_directories(carom_dep_toml SYSTEM INTERFACE ${CAROM_TOMLPLUSPLUS_INCLUDE})

add_library(carom_dep_random123 INTERFACE)
target_include_directories(carom_dep_random123 SYSTEM INTERFACE ${CAROM_RANDOM123_INCLUDE})

# HDF5's drivers for remote storage pull in libcurl, OpenSSL and thirty others, to which nothing here refers. A program that
# holds HDF5 itself does without them, and starts in half the time. A module of Python takes the shared one: Debian's other
# is made for programs.
add_library(carom_dep_hdf5 INTERFACE)
target_include_directories(carom_dep_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
list(GET HDF5_C_LIBRARIES 0 carom_hdf5)
get_filename_component(carom_hdf5 "${carom_hdf5}" DIRECTORY)
find_library(CAROM_HDF5_STATIC_LIBRARY libhdf5.a HINTS "${carom_hdf5}" NO_DEFAULT_PATH)
find_library(CAROM_AEC_LIBRARY aec)
mark_as_advanced(CAROM_HDF5_STATIC_LIBRARY CAROM_AEC_LIBRARY)
if(CAROM_HDF5_STATIC_LIBRARY AND CAROM_AEC_LIBRARY)
  set(hdf5_libraries ${HDF5_C_LIBRARIES})
  # The C library's own parts (m, dl, pthread) remain shared.
  list(FILTER hdf5_libraries EXCLUDE REGEX "/lib(hdf5|curl|crypto|ssl|m|dl|pthread)[.]")
  list(PREPEND hdf5_libraries ${CAROM_HDF5_STATIC_LIBRARY})
  list(APPEND hdf5_libraries ${CAROM_AEC_LIBRARY} m ${CMAKE_DL_LIBS})
  if(NOT CAROM_STATIC)
    set(hdf5_libraries
      "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>,${HDF5_C_LIBRARIES},${hdf5_libraries}>")
  endif()
  target_link_libraries(carom_dep_hdf5 INTERFACE "${hdf5_libraries}")
else()
  target_link_libraries(carom_dep_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
endif()

add_library(carom_dep_fmt INTERFACE)
if(CAROM_STATIC)
  set(carom_fmt fmt::fmt-header-only) # Debian has no libfmt.a
else()
  set(carom_fmt fmt::fmt)
endif()
target_link_libraries(carom_dep_fmt INTERFACE ${carom_fmt})
