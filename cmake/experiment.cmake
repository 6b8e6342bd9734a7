# A kernel that states no launch bound is compiled for this many threads where ISA tests see it. It is
# nobody's bound: the compiler's own 1024 would look like one.
set(hipscope_unstated_bound 960)

# For tests the host's code of an experiment need not be fast. HIP 5's hipcc takes that -O0 for the kernels', and then
# leaves out options of its own that kernels are compiled with: they are given by name. ROCm 7's has none.
set(hipscope_unoptimized_host "")
if(HIPSCOPE_KEEP_ASSEMBLY AND HIPSCOPE_BACKEND STREQUAL "amd")
  set(hipscope_unoptimized_host "SHELL:-Xarch_host -O0")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} "-###" -O3 -x hip --offload-arch=gfx90a -c /dev/null -o /dev/null
                  OUTPUT_QUIET ERROR_VARIABLE commands)
  string(REGEX MATCHALL "amdgpu-[a-z-]+=(true|false)" options "${commands}")
  list(REMOVE_DUPLICATES options)
  list(TRANSFORM options PREPEND "SHELL:-mllvm -")
  list(APPEND hipscope_unoptimized_host ${options})
endif()

# What experiments conclude from their curves: plain C++, in one library for them and the unit tests.
# Its sources are the *findings.cpp of each experiment's folder, added as the experiments are.
add_library(hipscope_findings STATIC)
target_compile_options(hipscope_findings PRIVATE
  ${hipscope_warnings} ${hipscope_plain_cxx} ${hipscope_light_optimization})
target_link_libraries(hipscope_findings PUBLIC hipscope_harness)
# Another folder's header is included by its path from src/; no experiment's folder is on the include path.
target_include_directories(hipscope_findings PUBLIC ${PROJECT_SOURCE_DIR}/src)
hipscope_precompile_headers(hipscope_findings)
hipscope_join_sources(hipscope_findings)
# It tries thousands of laws and capacities for each curve, and the trial has thousands of curves. (GCC 12 ends with an
# internal error where headers were precompiled with another optimization.)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/5-memory/memory_latency/misses_findings.cpp PROPERTIES
  COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)

# An experiment is one folder: hipscope_add_experiment(src/<n>-<chapter>/<name>/<name>.hip) makes the
# binary bin/<name>, linked with LIBRARIES and with its findings; its tests are found in the folder.
# BOTH_WAVE_SIZES: the amd backend also makes bin/<name>.wave64 for those of its GPUs that run waves of 32 and of
# 64 lanes (RDNA, whose default is 32), if there are any. WARPGROUP_INSTRUCTIONS: it uses wgmma, where there is one.
function(hipscope_add_experiment source)
  cmake_parse_arguments(PARSE_ARGV 1 argument "BOTH_WAVE_SIZES;WARPGROUP_INSTRUCTIONS" "" "LIBRARIES")
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${PROJECT_SOURCE_DIR}/${source} DIRECTORY)
  file(GLOB findings CONFIGURE_DEPENDS ${folder}/*findings.cpp)
  target_sources(hipscope_findings PRIVATE ${findings})
  hipscope_add_binary(${name} ${source} "")
  target_link_libraries(${name} PRIVATE ${argument_LIBRARIES})
  if(argument_WARPGROUP_INSTRUCTIONS)
    hipscope_use_warpgroup_instructions(${name})
  endif()
  set(isa_targets "")
  if(argument_BOTH_WAVE_SIZES)
    set(isa_targets gfx1032w64)
    if(HIPSCOPE_BACKEND STREQUAL "amd" AND HIPSCOPE_AMD_WAVE64_TARGETS)
      hipscope_add_binary(${name}.wave64 ${source} "${HIPSCOPE_AMD_WAVE64_TARGETS}")
      target_compile_options(${name}.wave64 PRIVATE -mwavefrontsize64)
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY hipscope_experiment_sources ${source})
  set_property(GLOBAL PROPERTY hipscope_isa_targets_of_${name} ${isa_targets})
endfunction()

# Compiles `target` for sm_90a instead of sm_90, whose code alone has wgmma: it runs on GPUs of compute
# capability 9.0 and on no other, as that of sm_90 does without its PTX. Of several architectures each has its
# code, and only sm_90a's these instructions.
function(hipscope_use_warpgroup_instructions target)
  if(NOT HIPSCOPE_BACKEND STREQUAL "nvidia")
    return()
  endif()
  set(architectures ${hipscope_cuda_architectures})
  list(TRANSFORM architectures REPLACE "^90(-real)?$" "90a-real")
  list(REMOVE_DUPLICATES architectures)
  if(NOT "90a-real" IN_LIST architectures AND NOT "90a" IN_LIST architectures)
    return()
  endif()
  target_compile_definitions(${target} PRIVATE HIPSCOPE_WARPGROUP_INSTRUCTIONS)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
endfunction()

# A program of one source that needs nothing of hipscope's: hipscope_add_example(src/.../<name>.hip)
# makes bin/<name>, which is no experiment.
function(hipscope_add_example source)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${source})
  hipscope_compile_for_device(${name} "")
endfunction()

function(hipscope_add_binary name source architectures)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${source})
  hipscope_compile_for_device(${name} "${architectures}")
  target_link_libraries(${name} PRIVATE hipscope_findings hipscope_harness hipscope_device)
  hipscope_share_precompiled_headers(${name})
  if(HIPSCOPE_KEEP_ASSEMBLY AND HIPSCOPE_BACKEND STREQUAL "amd")
    # The compiler warns that its later steps, which read what the first one has made, ignore the bound.
    target_compile_options(${name} PRIVATE
      --save-temps=obj --gpu-max-threads-per-block=${hipscope_unstated_bound} ${hipscope_unoptimized_host})
    # Nor do they know what a source says of warnings: register_pressure has a kernel with a wish for waves
    # that clang 22 says it cannot meet.
    target_compile_options(${name} PRIVATE -Wno-error=pass-failed)
  endif()
  set_property(GLOBAL APPEND PROPERTY hipscope_experiments ${name})
  string(REGEX MATCH "[0-9]+-[^/]+" chapter ${source})
  set_property(GLOBAL APPEND PROPERTY hipscope_experiment_list ${chapter}/${name})
endfunction()

# For the scripts: the experiments as <n>-<chapter>/<name>, one a line in reading order, and the GPUs that the
# variants for waves of 64 lanes were compiled for.
function(hipscope_write_experiment_list)
  get_property(experiments GLOBAL PROPERTY hipscope_experiment_list)
  list(JOIN experiments "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/experiments.txt "${text}\n")
  list(JOIN HIPSCOPE_AMD_WAVE64_TARGETS "\n" text)
  file(WRITE ${CMAKE_BINARY_DIR}/wave64_targets.txt "${text}\n")
endfunction()
