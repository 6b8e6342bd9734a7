# Holds the assembly of SOURCE for TARGET against CHECKS, as check_assembly.cmake says: the assembly
# that the build has left beside OBJECT, or, where that is empty, what is compiled here. Then no wave may come to
# a barrier with stores to LDS under way, as lds_waits.py reads it.
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
include(${CMAKE_CURRENT_LIST_DIR}/check_assembly.cmake)

execute_process(COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/lds_waits.py ${ASSEMBLY} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PYTHON} lds_waits.py ${ASSEMBLY} ended with ${status}")
endif()
