# Compiles SOURCE to the assembly of TARGET and holds it against CHECKS with LLVM's FileCheck.
# What no line of CHECKS matches must still use no scratch and state no launch bounds: so a kernel
# that CHECKS does not know fails.
if(NOT FILECHECK)
  message(FATAL_ERROR "LLVM's FileCheck is not there (Debian: package llvm-15-tools)")
endif()
separate_arguments(FLAGS)
file(MAKE_DIRECTORY ${FOLDER})
get_filename_component(name ${SOURCE} NAME_WE)
set(assembly ${FOLDER}/${name}.${TARGET}.s)

execute_process(
  COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd HCC_AMDGPU_TARGET=${TARGET}
          ${HIPCC} -x hip --cuda-device-only -S ${FLAGS} --offload-arch=${TARGET} -I ${INCLUDE}
          ${SOURCE} -o ${assembly}
  ERROR_VARIABLE errors RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile for ${TARGET}:\n${errors}")
endif()

execute_process(
  COMMAND ${FILECHECK} ${CHECKS} --input-file=${assembly} --dump-input=fail
          "--implicit-check-not=ScratchSize: {{[1-9]}}"
          "--implicit-check-not=_spill_count: {{ *[1-9]}}"
          "--implicit-check-not={{scratch|buffer}}_{{load|store}}_"
          "--implicit-check-not=max_flat_workgroup_size"
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the assembly, ${assembly}, is not what ${CHECKS} asks for")
endif()
