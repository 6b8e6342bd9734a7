# hipscope_name_cuda_architectures(<named>): CMAKE_CUDA_ARCHITECTURES as numbers, "80;90": those of this
# machine's GPUs for "native", and what the compiler has for "all" and "all-major" (the first one and every
# round number).
function(hipscope_name_cuda_architectures named)
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  if(architectures STREQUAL "native")
    execute_process(COMMAND ${HIPSCOPE_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" architectures "${capabilities}")
    list(TRANSFORM architectures REPLACE "\\." "")
    list(REMOVE_DUPLICATES architectures)
    if(NOT architectures)
      set(architectures native)  # the driver's tool is not there: the compiler asks the driver
    endif()
  elseif(architectures MATCHES "^all(-major)?$")
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE codes)
    string(REGEX MATCHALL "[0-9]+" architectures "${codes}")
    list(REMOVE_DUPLICATES architectures)
    if(CMAKE_CUDA_ARCHITECTURES STREQUAL "all-major")
      list(POP_FRONT architectures first)
      list(FILTER architectures INCLUDE REGEX "0$")
      list(PREPEND architectures ${first})
    endif()
  endif()
  set(${named} "${architectures}" PARENT_SCOPE)
endfunction()
