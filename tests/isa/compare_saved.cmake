# Compiles SOURCE for TARGET once more: that must give what the build has left beside OBJECT.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/assembly.cmake)
file(MAKE_DIRECTORY ${FOLDER})
get_filename_component(name ${SOURCE} NAME_WE)
take_saved_assembly(${OBJECT} ${SOURCE} ${TARGET} ${FOLDER}/${name}.${TARGET}.saved.s)
compile_assembly(${SOURCE} ${TARGET} ${FOLDER}/${name}.${TARGET}.compiled.s)
execute_process(
  COMMAND diff ${FOLDER}/${name}.${TARGET}.saved.s ${FOLDER}/${name}.${TARGET}.compiled.s
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "what the build has left of ${name} is not what the compiler makes of it")
endif()
