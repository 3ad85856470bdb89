# The module by which ranks talk to each other, against this machine's own MPI.
if(NOT CAROM_MPI STREQUAL "OFF")
  find_package(MPI QUIET COMPONENTS CXX)
endif()
if(MPI_CXX_FOUND)
  carom_decide(MPI TRUE "MPI ${MPI_CXX_VERSION}, ${MPI_CXX_COMPILER}")
else()
  carom_decide(MPI FALSE "no MPI (Debian: libopenmpi-dev)")
endif()
