# Flags for everything compiled here. Those that decide the bits of a result are a property of carom_kernels
# (kernels/CMakeLists.txt), since whoever includes those headers needs them too.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX) # without it programs are linked as the compiler likes

# Assertions stay on in every build type but the fastest. Most of the program reads, checks and writes: with -O1 it takes
# two thirds of the time to compile, and is as fast as one can feel. carom_hot() is for where balls are gone over in steps.
foreach(lang CXX CUDA)
  set(CMAKE_${lang}_FLAGS_DEBUG "-O0 -g")
  set(CMAKE_${lang}_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(CMAKE_${lang}_FLAGS_RELEASE "-O1 -DNDEBUG")
endforeach()
if(CAROM_SANITIZE AND NOT CAROM_FUZZ) # half the time to compile; what runs long is hot
  string(REPLACE "-O1" "-O0" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
set(carom_hot_options "")
if(CMAKE_BUILD_TYPE MATCHES "^(RelWithDebInfo|Release)$" AND NOT CAROM_FUZZ) # which takes a few steps at a time
  set(carom_hot_options -O3)
endif()
# carom_hot(TARGET ALL|STEPS [KIND]): all of it at -O3, and KIND becomes `hot`. What sanitizers add makes that three times as
# long to compile, so with them it is only for the step loops (STEPS), which tests run for tens of thousands of steps.
function(carom_hot target what)
  if(NOT CAROM_SANITIZE OR what STREQUAL "STEPS")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${carom_hot_options}>)
    if(ARGC GREATER 2)
      set(${ARGV2} hot PARENT_SCOPE)
    endif()
  endif()
endfunction()
# carom_hot_files(FOLDER file...): single files of a library that is not hot as a whole.
function(carom_hot_files folder)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file}")
      message(FATAL_ERROR "${folder}/${file} is named as hot in ${CMAKE_CURRENT_LIST_FILE}, and is not there")
    endif()
    if(carom_hot_options AND NOT CAROM_SANITIZE)
      set_source_files_properties("${folder}/${file}" PROPERTIES
        COMPILE_OPTIONS "${carom_hot_options}" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
# nvcc knows no -g1, and its -g needs no level.
set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O3 -lineinfo")
set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -DNDEBUG")

set(carom_warnings -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wdouble-promotion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast
  -Wno-missing-field-initializers) # designated initialisers leave the defaults alone on purpose
# g++ 12 warns, at -O3, of strings in its own library and in fmt (GCC bugs 105329 and 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND carom_warnings -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${carom_warnings}>")
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
if(CAROM_WERROR)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>")
endif()

# Nobody here reads errno after a mathematical function; nothing else of -ffast-math is harmless.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CAROM_CPU_ARCH)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-march=${CAROM_CPU_ARCH}>")
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=${CAROM_CPU_ARCH}>")
endif()

if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_definitions("$<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>")
endif()

if(CAROM_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${CAROM_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  if(CAROM_SANITIZE MATCHES "undefined")
    # Half the time of compilation, for what is seen without them: the address sanitizer sees reads through null and
    # beyond objects, and a vector's load that needs alignment faults by itself.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,alignment>")
  endif()
  add_link_options("-fsanitize=${CAROM_SANITIZE}")
  # g++ sees std::regex's own members as uninitialised when it instruments them (GCC bug 105562).
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()

if(CAROM_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CAROM_FUZZ=ON, but libFuzzer is Clang's: -DCMAKE_CXX_COMPILER=clang++, or --preset fuzz")
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()

# A file from a stranger that gets past all checks shall find as little as possible: overruns of buffers and of the stack
# end the program, and no table of addresses can be written to. Sanitizers see more, and sooner.
if(CMAKE_BUILD_TYPE MATCHES "^(RelWithDebInfo|Release)$" AND NOT CAROM_SANITIZE)
  set(carom_hardening -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${carom_hardening}>")
  string(REPLACE ";" "," carom_hardening "${carom_hardening}")
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${carom_hardening}>")
  add_link_options("LINKER:-z,relro,-z,now")
endif()

if(CAROM_STATIC)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
