# Compiles SOURCE to the assembly of TARGET and holds it against CHECKS: see check_assembly.cmake.
cmake_minimum_required(VERSION 3.24)
separate_arguments(FLAGS)
file(MAKE_DIRECTORY ${FOLDER})
get_filename_component(name ${SOURCE} NAME_WE)
set(ASSEMBLY ${FOLDER}/${name}.${TARGET}.s)

set(architecture ${TARGET})
if("${TARGET}" MATCHES "^(.*)w64$")
  set(architecture ${CMAKE_MATCH_1})
  list(APPEND FLAGS -mwavefrontsize64)
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd HCC_AMDGPU_TARGET=${architecture}
          ${HIPCC} -x hip --cuda-device-only -S ${FLAGS} --offload-arch=${architecture}
          -I ${INCLUDE}
          ${SOURCE} -o ${ASSEMBLY}
  ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile for ${TARGET}:\n${errors}")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/check_assembly.cmake)
