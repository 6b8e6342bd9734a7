# The headers that most sources of plain C++ begin with are read once and not a hundred times: half of the
# time to compile such a source is theirs. clang-tidy still reads what the sources themselves include.
set(hipscope_common_headers
  <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric> <optional> <random> <set>
  <span> <string> <string_view> <utility> <vector>)

# hipscope_precompile_headers(TARGET [HEADER...]): the common headers, and these, for all sources of TARGET.
function(hipscope_precompile_headers target)
  target_precompile_headers(${target} PRIVATE ${hipscope_common_headers} ${ARGN})
endfunction()

# The headers of an experiment on the host, TARGET: all are compiled in the same way, so that one file does for
# all.
function(hipscope_share_precompiled_headers target)
  if(NOT HIPSCOPE_BACKEND STREQUAL "host")
    return()
  endif()
  if(NOT TARGET hipscope_experiment_headers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/experiment_headers.cpp CONTENT "")
    add_library(hipscope_experiment_headers OBJECT ${CMAKE_BINARY_DIR}/experiment_headers.cpp)
    hipscope_compile_for_device(hipscope_experiment_headers "")
    hipscope_precompile_headers(hipscope_experiment_headers <hip/hip_runtime.h> <hipscope/hipscope.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM hipscope_experiment_headers)
endfunction()

# hipscope_join_sources(TARGET): compiles several sources of TARGET as one: what their headers make of templates is made
# once. -DCMAKE_UNITY_BUILD=OFF compiles each by itself, for whoever changes one again and again.
function(hipscope_join_sources target)
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()
