# An experiment is one source file: hipscope_add_experiment(src/<n>-<chapter>/<name>.hip) makes the
# binary bin/<name>. With BOTH_WAVE_SIZES the amd backend also makes bin/<name>.wave64 for GPUs that
# run waves of 32 and of 64 lanes (RDNA, whose default is 32).
function(hipscope_add_experiment source)
  cmake_parse_arguments(PARSE_ARGV 1 argument "BOTH_WAVE_SIZES" "" "")
  get_filename_component(name ${source} NAME_WE)
  hipscope_add_binary(${name} ${source} "")
  if(argument_BOTH_WAVE_SIZES AND HIPSCOPE_BACKEND STREQUAL "amd")
    hipscope_add_binary(${name}.wave64 ${source} "${HIPSCOPE_AMD_WAVE64_TARGETS}")
    target_compile_options(${name}.wave64 PRIVATE -mwavefrontsize64)
  endif()
endfunction()

function(hipscope_add_binary name source architectures)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${source})
  hipscope_compile_for_device(${name} "${architectures}")
  target_link_libraries(${name} PRIVATE hipscope_harness hipscope_device)
  set_property(GLOBAL APPEND PROPERTY hipscope_experiments ${name})
endfunction()

# The names of the experiments, one a line in reading order, for the scripts.
function(hipscope_write_experiment_list)
  get_property(experiments GLOBAL PROPERTY hipscope_experiments)
  list(JOIN experiments "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/experiments.txt "${text}\n")
endfunction()
