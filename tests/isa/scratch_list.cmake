# The written list of kernels that spill. One line each:
#
#   part of the kernel's symbol | targets | scratch or registers | reason
#
# gfx90a is what clang 15 makes for it, gfx90a22 what later compilers make (clang 22).
# "scratch" is memory; "registers" are those of another kind: AGPRs, or lanes of a VGPR for SGPRs.

# Writes ASSEMBLY to OUTPUT without the spills of the kernels that LIST names for TARGET, by changing
# the underscores and the words that the implicit checks look for. Fails when a kernel that is listed
# is not there, or does not spill in the way that the list says.
function(apply_scratch_list list target assembly output)
  file(READ ${assembly} text)
  file(STRINGS ${list} lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([A-Za-z0-9_]+) +\\| +([a-z0-9 ]+) +\\| +(scratch|registers) +\\| +[^ ]")
      message(FATAL_ERROR "${list}: not 'kernel | targets | scratch or registers | reason': ${line}")
    endif()
    set(kernel ${CMAKE_MATCH_1})
    set(kind ${CMAKE_MATCH_3})
    string(REPLACE " " ";" targets "${CMAKE_MATCH_2}")
    if(target IN_LIST targets)
      take_spills(text ${kernel} ${kind})
    endif()
  endforeach()
  file(WRITE ${output} "${text}")
endfunction()

# Does it for one kernel in the assembly that VARIABLE holds.
function(take_spills variable kernel kind)
  set(whole "${${variable}}")
  if(NOT whole MATCHES "-- Begin function ([^\n]*${kernel}[^\n]*)")
    message(FATAL_ERROR "${kernel} is listed, and there is no such kernel")
  endif()
  set(symbol ${CMAKE_MATCH_1})
  cut_out("${whole}" "-- Begin function ${symbol}\n" "ScratchSize: " before body after)
  cut_out("${after}" "\\.name: +${symbol}\n" "\\.wavefront_size" between metadata rest)
  # The number after "ScratchSize: " is what `between` begins with.
  string(REGEX MATCH "^[0-9]+" scratch_bytes "${between}")
  if(kind STREQUAL "scratch" AND scratch_bytes EQUAL 0)
    message(FATAL_ERROR "${symbol} is listed for its scratch, and uses none")
  endif()
  if(kind STREQUAL "registers")
    if(scratch_bytes GREATER 0)
      message(FATAL_ERROR "${symbol} is listed for spills to registers, and uses scratch")
    endif()
    if(NOT metadata MATCHES "_spill_count: *[1-9]")
      message(FATAL_ERROR "${symbol} is listed for its spills, and spills nothing")
    endif()
  endif()
  string(REGEX REPLACE "(scratch|buffer)_(load|store)_" "\\1-\\2-" body "${body}")
  string(REGEX REPLACE "ScratchSize: $" "Listed scratch: " body "${body}")
  string(REPLACE "_spill_count:" "-spill-count:" metadata "${metadata}")
  set(${variable} "${before}${body}${between}${metadata}${rest}" PARENT_SCOPE)
endfunction()

# Cuts TEXT before the first match of START, and after the first match of END that follows.
function(cut_out text start end before_variable middle_variable after_variable)
  if(NOT text MATCHES "${start}")
    message(FATAL_ERROR "the assembly has no '${start}'")
  endif()
  string(FIND "${text}" "${CMAKE_MATCH_0}" begin)
  string(SUBSTRING "${text}" 0 ${begin} before)
  string(SUBSTRING "${text}" ${begin} -1 middle)
  if(NOT middle MATCHES "${end}")
    message(FATAL_ERROR "the assembly has no '${end}' after '${start}'")
  endif()
  string(FIND "${middle}" "${CMAKE_MATCH_0}" length)
  string(LENGTH "${CMAKE_MATCH_0}" matched)
  math(EXPR length "${length} + ${matched}")
  string(SUBSTRING "${middle}" ${length} -1 after)
  string(SUBSTRING "${middle}" 0 ${length} middle)
  set(${before_variable} "${before}" PARENT_SCOPE)
  set(${middle_variable} "${middle}" PARENT_SCOPE)
  set(${after_variable} "${after}" PARENT_SCOPE)
endfunction()
