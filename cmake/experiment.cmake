# A kernel that states no launch bound is compiled for this many threads where ISA tests see it. It is
# nobody's bound: the compiler's own 1024 would look like one.
set(hipscope_unstated_bound 960)

# An experiment is one source file: hipscope_add_experiment(src/<n>-<chapter>/<name>.hip) makes the
# binary bin/<name>, linked with LIBRARIES. With BOTH_WAVE_SIZES the amd backend also makes
# bin/<name>.wave64 for GPUs that run waves of 32 and of 64 lanes (RDNA, whose default is 32).
function(hipscope_add_experiment source)
  cmake_parse_arguments(PARSE_ARGV 1 argument "BOTH_WAVE_SIZES" "" "LIBRARIES")
  get_filename_component(name ${source} NAME_WE)
  hipscope_add_binary(${name} ${source} "")
  target_link_libraries(${name} PRIVATE ${argument_LIBRARIES})
  if(argument_BOTH_WAVE_SIZES AND HIPSCOPE_BACKEND STREQUAL "amd")
    hipscope_add_binary(${name}.wave64 ${source} "${HIPSCOPE_AMD_WAVE64_TARGETS}")
    target_compile_options(${name}.wave64 PRIVATE -mwavefrontsize64)
  endif()
endfunction()

function(hipscope_add_binary name source architectures)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${source})
  hipscope_compile_for_device(${name} "${architectures}")
  target_link_libraries(${name} PRIVATE hipscope_harness hipscope_device)
  if(HIPSCOPE_KEEP_ASSEMBLY AND HIPSCOPE_BACKEND STREQUAL "amd")
    # The compiler warns that its later steps, which read what the first one has made, ignore the bound.
    target_compile_options(${name} PRIVATE
      --save-temps=obj --gpu-max-threads-per-block=${hipscope_unstated_bound})
  endif()
  set_property(GLOBAL APPEND PROPERTY hipscope_experiments ${name})
endfunction()

# The names of the experiments, one a line in reading order, for the scripts.
function(hipscope_write_experiment_list)
  get_property(experiments GLOBAL PROPERTY hipscope_experiments)
  list(JOIN experiments "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/experiments.txt "${text}\n")
endfunction()
