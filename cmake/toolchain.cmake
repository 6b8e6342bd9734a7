# The backend's compiler, and hipscope_hip: the target that makes <hip/hip_runtime.h> work on it.
string(TOUPPER ${HIPSCOPE_BACKEND} backend_upper)
add_compile_definitions(HIPSCOPE_BACKEND_${backend_upper})

set(hipscope_warnings -Wall -Wextra -Wshadow)
if(HIPSCOPE_WERROR)
  list(APPEND hipscope_warnings -Werror)
endif()

# For the harness and its unit tests, which measure nothing themselves: least time to compile.
set(HIPSCOPE_HARNESS_OPTIMIZATION "-O1" CACHE STRING "Optimization of the harness in release builds")
set(hipscope_light_optimization $<$<CONFIG:Release>:${HIPSCOPE_HARNESS_OPTIMIZATION}>
                                $<$<BOOL:${HIPSCOPE_SANITIZE}>:-O0>)

# hipcc takes C++ for HIP unless told otherwise.
set(hipscope_plain_cxx "")
if(HIPSCOPE_BACKEND STREQUAL "amd")
  set(hipscope_plain_cxx "SHELL:-x c++")
endif()

# From -O3 on GCC exchanges loops, those around the FMAs of `energy`'s sums, too (12.2 and 16.2 were seen to): floats
# are then added in another order than the source says, which nothing allowed.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-loop-interchange>)
endif()

if(HIPSCOPE_SANITIZE)
  if(NOT HIPSCOPE_BACKEND STREQUAL "host")
    message(FATAL_ERROR "HIPSCOPE_SANITIZE works with the host backend only")
  endif()
  # Sanitizers make GCC warn of uninitialized variables that are none, as its manual says.
  # What is left out of UndefinedBehaviorSanitizer takes a fifth of the time to compile, and AddressSanitizer
  # finds it too: an access through a null pointer, or outside of an object.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,vptr,object-size,pointer-overflow
                      -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=address,undefined)
endif()

if(HIPSCOPE_BACKEND STREQUAL "amd")
  include(cmake/amd_targets.cmake)
  # The GPUs that are there; with none, one of each family that Debian 12's hipcc compiles for.
  set(default_targets "")
  if(NOT HIPSCOPE_AMD_TARGETS)
    hipscope_detect_amd_targets(default_targets)
  endif()
  set(further_wave64_targets "")
  if(NOT default_targets AND NOT HIPSCOPE_AMD_TARGETS)
    set(default_targets gfx900 gfx906 gfx908 gfx90a gfx1030)
    set(further_wave64_targets gfx1032)
  endif()
  set(HIPSCOPE_AMD_TARGETS "${default_targets}" CACHE STRING "GPU architectures to compile for")
  # As in backend.cmake, for the time of the build.
  set(environment ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd HCC_AMDGPU_TARGET=gfx900)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${environment})
  set(CMAKE_CXX_LINKER_LAUNCHER ${environment})
  # ROCm may have a prefix of its own that nothing but its compiler tells; what hip needs is there, too. (The system's
  # own prefix would come before the folder of the LLVM that belongs to the compiler.)
  cmake_path(GET CMAKE_CXX_COMPILER PARENT_PATH compiler_folder)
  cmake_path(GET compiler_folder PARENT_PATH compiler_prefix)
  if(NOT compiler_prefix STREQUAL "/usr")
    list(APPEND CMAKE_PREFIX_PATH ${compiler_prefix} $ENV{ROCM_PATH})
  endif()
  find_package(hip CONFIG REQUIRED)
  # See hipscope_hide_archives; each find_package(hip), such as rocPRIM's, names the archive anew.
  set(CMAKE_STATIC_LIBRARY_SUFFIX .ar)
  cmake_language(DEFER CALL hipscope_hide_archives)
  if(NOT DEFINED HIPSCOPE_AMD_WAVE64_TARGETS)
    hipscope_find_wave64_targets(default_wave64_targets "${HIPSCOPE_AMD_TARGETS}")
    list(APPEND default_wave64_targets ${further_wave64_targets})
  endif()
  set(HIPSCOPE_AMD_WAVE64_TARGETS "${default_wave64_targets}" CACHE STRING
      "RDNA architectures to compile for with waves of 64 lanes")
  add_library(hipscope_hip INTERFACE)
  target_link_libraries(hipscope_hip INTERFACE hip::device)
  set(hipscope_device_targets "${HIPSCOPE_AMD_TARGETS}")
  set(hipscope_device_flags "")
  set(hipscope_device_compiler "hipcc, clang ${CMAKE_CXX_COMPILER_VERSION}, HIP ${hip_VERSION}")
elseif(HIPSCOPE_BACKEND STREQUAL "nvidia")
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
    find_program(HIPSCOPE_NVIDIA_SMI nvidia-smi HINTS /usr/local/nvidia/bin)
    if(HIPSCOPE_NVIDIA_SMI)
      set(CMAKE_CUDA_ARCHITECTURES native)
    endif()
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know yet that nvcc 12 and later take this.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  # nvcc 13 has it: hgemm in 46 s of CPU instead of 118.
  if(HIPSCOPE_FAST_COMPILE)
    include(CheckCompilerFlag)
    check_compiler_flag(CUDA -Ofc=max HIPSCOPE_NVCC_COMPILES_FAST)
    if(HIPSCOPE_NVCC_COMPILES_FAST)
      string(APPEND CMAKE_CUDA_FLAGS " -Ofc=max")
    endif()
  endif()
  add_library(hipscope_hip INTERFACE)
  target_include_directories(hipscope_hip INTERFACE ${PROJECT_SOURCE_DIR}/backends/nvidia/include)
  include(cmake/cuda_architectures.cmake)
  hipscope_name_cuda_architectures(hipscope_cuda_architectures)
  list(TRANSFORM hipscope_cuda_architectures PREPEND "sm_" OUTPUT_VARIABLE hipscope_device_targets)
  string(REPLACE "sm_native" "native" hipscope_device_targets "${hipscope_device_targets}")
  set(hipscope_device_flags "${CMAKE_CUDA_FLAGS}")
  set(hipscope_device_compiler "nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
else()
  add_subdirectory(backends/host)
  set(hipscope_device_targets "host")
  set(hipscope_device_flags "${CMAKE_CXX_FLAGS}")
  set(hipscope_device_compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
if(HIPSCOPE_BACKEND STREQUAL "nvidia")
  string(APPEND hipscope_device_flags " ${CMAKE_CUDA_FLAGS_${build_type_upper}} -std=c++20")
else()
  string(APPEND hipscope_device_flags " ${CMAKE_CXX_FLAGS_${build_type_upper}} -std=c++20")
endif()
string(STRIP "${hipscope_device_flags}" hipscope_device_flags)

# Compiles a target's .hip sources with the backend's device compiler, for `architectures` on AMD
# (all of HIPSCOPE_AMD_TARGETS when empty).
function(hipscope_compile_for_device target architectures)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.hip$")
  target_link_libraries(${target} PRIVATE hipscope_hip)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  if(HIPSCOPE_BACKEND STREQUAL "nvidia")
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
    list(JOIN hipscope_warnings "," host_warnings)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings}>
      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${HIPSCOPE_WERROR}>>:-Werror=all-warnings>)
  else()
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)
    target_compile_options(${target} PRIVATE ${hipscope_warnings})
  endif()
  if(HIPSCOPE_BACKEND STREQUAL "host")
    # Pragmas such as unroll speak to GPU compilers; Clang knows them, and says so where it does not unroll for a CPU.
    # GCC 12 takes what one `if` of an unrolled loop fills, and the same `if` of another reads, for never filled.
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>)
  endif()
  if(HIPSCOPE_BACKEND STREQUAL "amd")
    if(NOT architectures)
      set(architectures ${HIPSCOPE_AMD_TARGETS})
    endif()
    list(TRANSFORM architectures PREPEND "--offload-arch=")
    target_compile_options(${target} PRIVATE ${architectures})
  endif()
endfunction()
