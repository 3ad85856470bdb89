# The module by which ranks talk to each other, against this machine's own MPI.
if(NOT CAROM_MPI STREQUAL "OFF")
  # A shared library, as the module is one, also where the program links statically.
  set(carom_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
  set(CMAKE_FIND_LIBRARY_SUFFIXES .so)
  find_package(MPI QUIET COMPONENTS CXX)
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${carom_suffixes})
endif()
if(MPI_CXX_FOUND)
  carom_decide(MPI TRUE "MPI ${MPI_CXX_VERSION}, ${MPI_CXX_COMPILER}")
else()
  carom_decide(MPI FALSE "no MPI (Debian: libopenmpi-dev)")
endif()
