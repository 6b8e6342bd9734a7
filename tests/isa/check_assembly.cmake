# Holds ASSEMBLY, made for TARGET by clang CLANG (its major version), against CHECKS with LLVM's FileCheck.
# Every kernel, also one that no line of CHECKS names, must use no scratch, spill nothing, call no function and state
# its launch bound: UNSTATED_BOUND threads is what the compiler takes for a kernel that states none, and no kernel
# states. Kernels that are to spill stand, with the reason, in SCRATCH_LIST: where it is not given, in the file beside
# CHECKS that ends in .scratch. gfx90a is gfx90a22 there for any clang but 15.
# Lines of CHECKS speak of one target (GFX90A:), of a generation (GFX9:, GFX10:, GFX11:, GFX12:), of CDNA from its
# first on (CDNA1:) or from its second (CDNA2:), of one compiler (CLANG15:) or of all (CHECK:).
cmake_minimum_required(VERSION 3.24)
if(NOT FILECHECK)
  message(FATAL_ERROR "LLVM's FileCheck is not there (Debian: package llvm-15-tools)")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/scratch_list.cmake)
if(NOT SCRATCH_LIST)
  string(REGEX REPLACE "\\.check$" ".scratch" SCRATCH_LIST ${CHECKS})
endif()
set(scratch_target ${TARGET})
if("${TARGET}" STREQUAL "gfx90a" AND NOT CLANG EQUAL 15)
  set(scratch_target gfx90a22)
endif()
set(checked ${ASSEMBLY})
if(EXISTS ${SCRATCH_LIST})
  get_filename_component(name ${ASSEMBLY} NAME_WE)
  set(checked ${FOLDER}/${name}.${TARGET}.checked.s)
  apply_scratch_list(${SCRATCH_LIST} ${scratch_target} ${ASSEMBLY} ${checked})
endif()

# Between the matches of a CHECK-COUNT, FileCheck does not look for what must not be there. So that many lines of
# their own stand in its place.
function(expand_counts checks output)
  file(READ ${checks} text)
  set(text "\n${text}\n")
  while(text MATCHES "\n([A-Z0-9]+)-COUNT-([0-9]+)(:[^\n]*)\n")
    set(counted "${CMAKE_MATCH_0}")
    string(REPEAT "\n${CMAKE_MATCH_1}${CMAKE_MATCH_3}" ${CMAKE_MATCH_2} lines)
    string(REPLACE "${counted}" "${lines}\n" text "${text}")
  endwhile()
  file(WRITE ${output} "${text}")
endfunction()

get_filename_component(name ${checked} NAME)
set(expanded ${FOLDER}/${name}.check)
expand_counts(${CHECKS} ${expanded})

# What must not be there is looked for in all of the text: plain words, where words do, take no time.
string(TOUPPER ${TARGET} prefix)
string(REGEX REPLACE "..(W64)?$" "" generation ${prefix})
set(cdna "")
if(prefix MATCHES "^GFX(90A|94[0-2]|950)$")
  set(cdna ",CDNA1,CDNA2")
elseif(prefix STREQUAL "GFX908")
  set(cdna ",CDNA1")
endif()
# RDNA 3's cycle counter has 20 bits, read as such; RDNA 4 has a wait for each kind of access.
set(of_generation "")
if(generation STREQUAL "GFX11")
  set(of_generation "--implicit-check-not=HW_REG_SHADER_CYCLES{{\\)|, ([^0]|0, ([^2]|2[^0]))}}")
elseif(generation STREQUAL "GFX12")
  set(of_generation "--implicit-check-not=s_waitcnt")
endif()
execute_process(
  COMMAND ${FILECHECK} ${expanded} --input-file=${checked} --dump-input=fail
          --check-prefixes=CHECK,${prefix},${generation}${cdna},CLANG${CLANG} --allow-unused-prefixes
          "--implicit-check-not=ScratchSize: {{[1-9]}}"
          "--implicit-check-not=_spill_count: {{ *[1-9]}}"
          --implicit-check-not=scratch_load_ --implicit-check-not=scratch_store_
          --implicit-check-not=buffer_load_ --implicit-check-not=buffer_store_
          "--implicit-check-not=max_flat_workgroup_size: ${UNSTATED_BOUND}{{$}}"
          "--implicit-check-not=s_swappc_b64" ${of_generation}
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the assembly, ${checked}, is not what ${CHECKS} asks for")
endif()
