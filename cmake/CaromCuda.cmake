# The CUDA compiler, found also where it is installed but not on PATH.

# Real architectures, so that no code is compiled when a program starts: that of the GPU here, or else sm_90.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE carom_gpu ERROR_QUIET RESULT_VARIABLE carom_gpu_status)
  if(carom_gpu_status EQUAL 0 AND carom_gpu MATCHES "^([0-9]+)[.]([0-9])")
    set(carom_gpu ${CMAKE_MATCH_1}${CMAKE_MATCH_2}-real)
  else()
    set(carom_gpu 90-real)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${carom_gpu} CACHE STRING "GPU architectures to compile for" FORCE)
endif()

if(NOT CAROM_CUDA STREQUAL "OFF")
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    # check_language looks on PATH alone.
    find_program(CAROM_NVCC nvcc
      HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda
      PATH_SUFFIXES bin)
    mark_as_advanced(CAROM_NVCC)
    if(CAROM_NVCC)
      set(ENV{CUDACXX} "${CAROM_NVCC}")
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25.1 does not know that CUDA 13's nvcc speaks C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    find_package(CUDAToolkit REQUIRED)
  endif()
endif()

if(CMAKE_CUDA_COMPILER)
  carom_decide(CUDA TRUE "${CMAKE_CUDA_COMPILER_ID} ${CMAKE_CUDA_COMPILER_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  carom_decide(CUDA FALSE "no CUDA compiler found; install the CUDA toolkit, or set CUDACXX to its nvcc")
endif()

# The emulated backend needs Thrust's headers alone: the toolkit's, or a distribution's copy (Debian: libthrust-dev).
find_path(CAROM_THRUST_INCLUDE thrust/version.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda
  PATH_SUFFIXES cccl include/cccl include)
mark_as_advanced(CAROM_THRUST_INCLUDE)
if(NOT CAROM_TESTS)
  carom_decide(EMULATED FALSE "only the tests use it, and they are not built")
elseif(CAROM_THRUST_INCLUDE)
  carom_decide(EMULATED TRUE "Thrust in ${CAROM_THRUST_INCLUDE}")
else()
  carom_decide(EMULATED FALSE "Thrust's headers not found; install the CUDA toolkit or libthrust-dev")
endif()

# Tests that execute the kernels' PTX on the processor (tests/device).
if(NOT CAROM_TESTS)
  carom_decide(PTX_TESTS FALSE "the tests are not built")
elseif(NOT CMAKE_CUDA_COMPILER)
  carom_decide(PTX_TESTS FALSE "no CUDA compiler")
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" OR CAROM_STATIC OR CAROM_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  carom_decide(PTX_TESTS FALSE "not in Release, with CAROM_STATIC or sanitizers, or on another processor than x86-64")
else()
  carom_decide(PTX_TESTS TRUE "PTX of the first architecture")
endif()
# carom_keep_ptx(TARGET): its objects hold PTX, as text, beside the code for GPUs.
function(carom_keep_ptx target)
  list(GET CMAKE_CUDA_ARCHITECTURES 0 first)
  string(REGEX REPLACE "-.*" "" first "${first}")
  list(FILTER CMAKE_CUDA_ARCHITECTURES EXCLUDE REGEX "^${first}")
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${first};${CMAKE_CUDA_ARCHITECTURES}")
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-no-compress>)
endfunction()
