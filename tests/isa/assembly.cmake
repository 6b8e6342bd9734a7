# The two ways to an experiment's assembly: a compilation of its own, and what a build with
# HIPSCOPE_KEEP_ASSEMBLY has left. Both give the same text. The target gfx1032w64 is gfx1032 with waves
# of 64 lanes.

# Compiles SOURCE for TARGET with HIPCC, FLAGS and ROOT, the project's folder, and writes OUTPUT.
function(compile_assembly source target output)
  compile_for_device(${source} ${target} ${output} -S)
endfunction()

# The same with further options, which say what OUTPUT is.
function(compile_for_device source target output)
  separate_arguments(FLAGS)
  string(REGEX REPLACE "w64$" "" architecture ${target})
  if(target MATCHES "w64$")
    list(APPEND FLAGS -mwavefrontsize64)
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd HCC_AMDGPU_TARGET=${architecture}
            ${HIPCC} -x hip --cuda-device-only ${ARGN} ${FLAGS} --offload-arch=${architecture}
            -I ${ROOT}/include -I ${ROOT}/src
            ${source} -o ${output}
    ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${source} does not compile for ${target}:\n${errors}")
  endif()
endfunction()

# Sets VARIABLE to what the lines "WORD: <it>" of an experiment's compiled_code.check say of kernels; empty where there
# is none.
function(named_kernels folder word variable)
  set(line "")
  if(EXISTS ${folder}/compiled_code.check)
    file(STRINGS ${folder}/compiled_code.check line REGEX "^${word}: ")
  endif()
  string(REPLACE "${word}: " "" line "${line}")
  set(${variable} "${line}" PARENT_SCOPE)
endfunction()

# Writes to OUTPUT what the compiler made of SOURCE for TARGET when it made OBJECT.
function(take_saved_assembly object source target output)
  find_saved(${object} ${source} ${target} s saved)
  file(READ ${saved} text)
  remove_block_names(text)
  file(WRITE ${output} "${text}")
endfunction()

# Sets VARIABLE to the file of this KIND ("s", "out") that the compiler has left of SOURCE for TARGET when
# it made OBJECT. Fails when there is none, or one that is out of date.
function(find_saved object source target kind variable)
  string(REGEX REPLACE "w64$" "" architecture ${target})
  get_filename_component(folder ${object} DIRECTORY)
  get_filename_component(name ${source} NAME_WE)
  file(GLOB saved "${folder}/${name}*-amdgcn-amd-amdhsa-${architecture}.${kind}")
  list(LENGTH saved count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${folder} holds ${count} files ${name}*.${kind} for ${architecture}, "
                        "not one; build first")
  endif()
  if(${source} IS_NEWER_THAN ${saved})
    message(FATAL_ERROR "${saved} is older than ${source}; build first")
  endif()
  set(${variable} ${saved} PARENT_SCOPE)
endfunction()

# When its steps are saved, the compiler names the blocks that optimizations make, in comments after
# their labels. What it says there of loops then stands on the next line, from where it comes back.
function(remove_block_names variable)
  set(text "${${variable}}")
  set(label "(\n[^\n\t ]+:|\n; %bb\\.[0-9]+:)")
  string(REGEX REPLACE "${label}( +); %[^\n]*\n +(; +(=>|in Loop|Parent Loop))" "\\1\\2\\3" text "${text}")
  string(REGEX REPLACE "${label} +; %[^\n]*" "\\1" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
