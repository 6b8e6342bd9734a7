# HIPSCOPE_BACKEND: amd, nvidia, host, or auto (the GPU that is there, else host).
set(HIPSCOPE_BACKEND "auto" CACHE STRING "Backend: auto, amd, nvidia or host")
set_property(CACHE HIPSCOPE_BACKEND PROPERTY STRINGS auto amd nvidia host)

if(HIPSCOPE_BACKEND STREQUAL "auto")
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/detect_backend.sh
    OUTPUT_VARIABLE detected_backend OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  message(STATUS "hipscope backend: ${detected_backend} (detected)")
  set(HIPSCOPE_BACKEND "${detected_backend}")
endif()

if(NOT HIPSCOPE_BACKEND MATCHES "^(amd|nvidia|host)$")
  message(FATAL_ERROR "HIPSCOPE_BACKEND is '${HIPSCOPE_BACKEND}', not auto, amd, nvidia or host")
endif()

if(HIPSCOPE_BACKEND STREQUAL "amd")
  # Without these hipcc asks the machine which GPU it has, and complains where there is none. The
  # real targets are named where sources are compiled.
  set(ENV{HIP_PLATFORM} amd)
  set(ENV{HCC_AMDGPU_TARGET} gfx900)
endif()
if(HIPSCOPE_BACKEND STREQUAL "amd" AND NOT CMAKE_CXX_COMPILER)
  find_program(HIPSCOPE_HIPCC hipcc HINTS ENV ROCM_PATH /opt/rocm PATH_SUFFIXES bin)
  if(NOT HIPSCOPE_HIPCC)
    message(FATAL_ERROR "The amd backend needs hipcc: install ROCm or Debian's package hipcc")
  endif()
  set(CMAKE_CXX_COMPILER ${HIPSCOPE_HIPCC})
endif()
if(HIPSCOPE_BACKEND STREQUAL "nvidia" AND NOT CMAKE_CUDA_COMPILER)
  find_program(HIPSCOPE_NVCC nvcc HINTS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  if(NOT HIPSCOPE_NVCC)
    message(FATAL_ERROR "The nvidia backend needs nvcc: install the CUDA toolkit")
  endif()
  set(CMAKE_CUDA_COMPILER ${HIPSCOPE_NVCC})
endif()
