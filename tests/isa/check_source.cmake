# Holds the assembly of SOURCE for TARGET against CHECKS, as check_assembly.cmake says: the assembly
# that the build has left beside OBJECT, or, where that is empty, what is compiled here. Then no wave may come to
# a barrier with stores to LDS in flight, as lds_waits.py reads it, but for loads to LDS in the kernels that the lines
# LDS-AHEAD of compiled_code.check name, so many barriers later; and those that its line HAND-OVERS names must hand over
# as hand_overs.py reads it, to other devices those of DEVICE-HAND-OVERS. Where CHECKS is empty, that alone is checked.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/assembly.cmake)
file(MAKE_DIRECTORY ${FOLDER})
get_filename_component(name ${SOURCE} NAME_WE)
set(ASSEMBLY ${FOLDER}/${name}.${TARGET}.s)
if(OBJECT)
  take_saved_assembly(${OBJECT} ${SOURCE} ${TARGET} ${ASSEMBLY})
else()
  compile_assembly(${SOURCE} ${TARGET} ${ASSEMBLY})
endif()
# check_paths(script argument...): runs a script of this folder, which follows all ways through the assembly.
function(check_paths script)
  execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/${script} ${ARGN} ${ASSEMBLY} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PYTHON} ${script} ${ARGN} ${ASSEMBLY} ended with ${status}")
  endif()
endfunction()

get_filename_component(folder ${SOURCE} DIRECTORY)
if(CHECKS)
  include(${CMAKE_CURRENT_LIST_DIR}/check_assembly.cmake)
  named_kernels(${folder} LDS-AHEAD kernels)
  list(TRANSFORM kernels PREPEND "--ahead;")
  check_paths(lds_waits.py ${kernels})
endif()
named_kernels(${folder} HAND-OVERS kernels)
if(kernels)
  check_paths(hand_overs.py ${kernels})
endif()
named_kernels(${folder} DEVICE-HAND-OVERS kernels)
if(kernels)
  check_paths(hand_overs.py --devices ${kernels})
endif()
