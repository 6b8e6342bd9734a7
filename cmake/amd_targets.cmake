# hipscope_detect_amd_targets(<found>): the GPUs of this machine, as "gfx90a;gfx1100", of those that the
# compiler has code for; nothing where there is no AMD GPU. A processor with graphics of its own counts as one
# more beside a card: HIP 5 ends a program that has no code for it, and a compiler that does not know it must
# not fail for all.

# ROCm's own tool, wherever hipcc is; it may be off the PATH, or lack its Python.
function(hipscope_ask_agent_enumerator names)
  get_filename_component(compiler_folder "${CMAKE_CXX_COMPILER}" DIRECTORY)
  find_program(HIPSCOPE_AGENT_ENUMERATOR rocm_agent_enumerator
               HINTS ${compiler_folder} $ENV{ROCM_PATH}/bin /opt/rocm/bin)
  mark_as_advanced(HIPSCOPE_AGENT_ENUMERATOR)
  set(said "")
  if(HIPSCOPE_AGENT_ENUMERATOR)
    execute_process(COMMAND ${HIPSCOPE_AGENT_ENUMERATOR} OUTPUT_VARIABLE said ERROR_QUIET)
  endif()
  # Features after a colon are what the runtime chooses; without them the code is for either choice. What
  # ends in "-generic" is no GPU but what several could run.
  string(REGEX MATCHALL "gfx[^\n ]*" said "${said}")
  list(TRANSFORM said REPLACE ":.*" "")
  list(FILTER said INCLUDE REGEX "^gfx[0-9]+[0-9a-f][0-9a-f]$")
  list(REMOVE_ITEM said gfx000)
  set(${names} "${said}" PARENT_SCOPE)
endfunction()

# What the kernel's driver says of its GPUs: 90402 is gfx942, 90010 gfx90a, 0 a CPU.
function(hipscope_ask_driver names)
  set(nodes /sys/class/kfd/kfd/topology/nodes)
  if(DEFINED ENV{HIPSCOPE_KFD_NODES})
    set(nodes $ENV{HIPSCOPE_KFD_NODES})
  endif()
  set(all "")
  file(GLOB properties ${nodes}/*/properties)
  foreach(file ${properties})
    # Of a GPU that a job was not given the file may be shut.
    execute_process(COMMAND cat ${file} OUTPUT_VARIABLE text ERROR_QUIET)
    if(text MATCHES "gfx_target_version ([0-9]+)" AND CMAKE_MATCH_1)
      math(EXPR major "${CMAKE_MATCH_1} / 10000")
      math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
      math(EXPR stepping "${CMAKE_MATCH_1} % 100")
      hipscope_name_target(name ${major} ${minor} ${stepping})
      list(APPEND all ${name})
    endif()
  endforeach()
  set(${names} "${all}" PARENT_SCOPE)
endfunction()

# The last two numbers are each a hexadecimal digit of the name.
function(hipscope_name_target name major minor stepping)
  set(digits 0 1 2 3 4 5 6 7 8 9 a b c d e f)
  list(GET digits ${minor} minor_digit)
  list(GET digits ${stepping} stepping_digit)
  set(${name} gfx${major}${minor_digit}${stepping_digit} PARENT_SCOPE)
endfunction()

# Whether the compiler, and the device libraries that it finds, are for this GPU with these options.
function(hipscope_compiles_for target result)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/hipscope_probe.hip)
  file(WRITE ${source} "__attribute__((global)) void probe() {}\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd HCC_AMDGPU_TARGET=gfx900
            ${CMAKE_CXX_COMPILER} -x hip --cuda-device-only --offload-arch=${target} ${ARGN} -S ${source}
            -o ${source}.s
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  set(${result} FALSE PARENT_SCOPE)
  if(status EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(hipscope_detect_amd_targets found)
  set(${found} "" PARENT_SCOPE)
  set(kfd /dev/kfd)
  if(DEFINED ENV{HIPSCOPE_KFD})
    set(kfd $ENV{HIPSCOPE_KFD})
  endif()
  if(NOT EXISTS ${kfd})
    return()
  endif()
  hipscope_ask_agent_enumerator(all)
  if(NOT all)
    hipscope_ask_driver(all)
  endif()
  # The runtime then takes every GPU for this one.
  if(all AND "$ENV{HSA_OVERRIDE_GFX_VERSION}" MATCHES "^([0-9]+)[.]([0-9]|1[0-5])[.]([0-9]|1[0-5])$")
    hipscope_name_target(all ${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
  endif()
  list(REMOVE_DUPLICATES all)
  set(known "")
  foreach(target ${all})
    hipscope_compiles_for(${target} knows_it -nogpuinc)
    if(knows_it)
      list(APPEND known ${target})
    else()
      message(STATUS "hipscope: ${CMAKE_CXX_COMPILER} does not compile for ${target}, which is left out")
    endif()
  endforeach()
  if(all AND NOT known)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} compiles for none of the GPUs that are here (${all}): it takes a "
      "newer ROCm, or -DHIPSCOPE_AMD_TARGETS for another machine's GPU.")
  endif()
  set(${found} "${known}" PARENT_SCOPE)
endfunction()

# hipscope_find_wave64_targets(<found> <targets>): those of <targets> that can have waves of 64 lanes besides
# their own of 32. That is RDNA's, but for a few that the headers of older HIP refuse so (5.2: gfx1030, not
# gfx1032); gfx1250 cannot.
function(hipscope_find_wave64_targets found targets)
  list(TRANSFORM targets REPLACE ":.*" "")
  list(FILTER targets INCLUDE REGEX "^gfx1[0-9]")
  list(REMOVE_DUPLICATES targets)
  list(TRANSFORM hip_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE includes)
  set(wide "")
  foreach(target ${targets})
    hipscope_compiles_for(${target} is_wide -mwavefrontsize64 ${includes} -include hip/hip_runtime.h)
    if(is_wide)
      list(APPEND wide ${target})
    endif()
  endforeach()
  set(${found} "${wide}" PARENT_SCOPE)
endfunction()

# hipcc 5 unpacks every archive that it is to link, and starts two processes for each object in it, to see whether there
# is code for GPUs that was not linked yet. There is none, it takes most of the time of a link, and hipcc knows archives
# by the end of their names alone. This one is the compiler's, which HIP's package names.
function(hipscope_hide_archives)
  foreach(target hip::host hip::device)
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      list(TRANSFORM libraries REPLACE "^(/.+[.]a)$" "-Wl,\\1,--no-whole-archive")
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
    endif()
  endforeach()
endfunction()
