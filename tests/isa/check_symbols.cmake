# Every variable that SOURCE, or a header beside it, names to the runtime by HIP_SYMBOL must be a global
# symbol of the code object for TARGET: the loader passes over local ones, and hipMemcpyToSymbol then
# finds none. The code object is what the build has linked beside OBJECT; where that is empty, it is
# compiled here.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/assembly.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/named_symbols.cmake)
if(NOT READELF)
  message(FATAL_ERROR "llvm-readelf is not there")
endif()
get_filename_component(name ${SOURCE} NAME_WE)
file(MAKE_DIRECTORY ${FOLDER})
if(OBJECT)
  find_saved(${OBJECT} ${SOURCE} ${TARGET} out code_object)
else()
  set(code_object ${FOLDER}/${name}.${TARGET}.out)
  compile_for_device(${SOURCE} ${TARGET} ${code_object} -c --no-gpu-bundle-output)
endif()
execute_process(COMMAND ${READELF} --symbols --wide ${code_object}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
named_symbols(${SOURCE} names)
foreach(symbol IN LISTS names)
  # A name in an unnamed namespace is mangled: its length comes before it.
  string(LENGTH ${symbol} length)
  set(mangled "_Z[A-Za-z0-9_]*${length}${symbol}E?[a-z0-9_.]*")
  if(NOT symbols MATCHES "OBJECT +(GLOBAL|WEAK) +[A-Z]+ +[0-9]+ +(${symbol}|${mangled})\n")
    message(FATAL_ERROR "the host names ${symbol}, which ${code_object} does not export:\n${symbols}")
  endif()
endforeach()
