// The launch of a kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../hip_runtime_api.h"
#include "vector_types.h"

namespace hip_host {

/// Runs `lane_body` for each thread of the launch, or records it if `stream` captures a graph.
/// `lds_bytes` is the size of the dynamic LDS. hipGetLastError tells the errors:
/// hipErrorInvalidConfiguration for sizes that no device takes, hipErrorInvalidHandle for an
/// unknown stream, hipErrorLaunchFailure, which stays until hipDeviceReset, after an error inside
/// the kernel; that one is also told in a sentence on stderr.
void launch(dim3 grid, dim3 block, std::size_t lds_bytes, hipStream_t stream,
            std::function<void()> lane_body);

/// As launch, of blocks that all run at once: hipErrorCooperativeLaunchTooLarge for more than are
/// resident. Returns the error.
hipError_t launch_cooperative(dim3 grid, dim3 block, std::size_t lds_bytes, hipStream_t stream,
                              std::function<void()> lane_body);

}  // namespace hip_host

/// Launches `kernel` on a grid of `grid` blocks of `block` threads with `lds_bytes` bytes of
/// dynamic LDS. The arguments are converted to the kernel's parameter types and copied now, as a
/// real launch does. Errors come from hipGetLastError, see hip_host::launch.
template <typename... Parameters, typename... Arguments>
void hipLaunchKernelGGL(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t lds_bytes,
                        hipStream_t stream, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "a launch needs as many arguments as the kernel has parameters");
  static_assert((std::is_convertible_v<Arguments, Parameters> && ...),
                "an argument does not convert to the kernel's parameter");
  std::tuple<std::remove_cv_t<Parameters>...> copies(
      static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  hip_host::launch(grid, block, lds_bytes, stream,
                   [kernel, copies = std::move(copies)] { std::apply(kernel, copies); });
}

/// Launches blocks that may wait for each other; `arguments` points to one argument after the
/// other, of the kernel's parameter types. Errors as of hip_host::launch_cooperative.
template <typename... Parameters>
hipError_t hipLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                      void** arguments, unsigned lds_bytes, hipStream_t stream) {
  const auto copies = [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::tuple<std::remove_cv_t<Parameters>...>(
        *static_cast<Parameters*>(arguments[Index])...);
  }
  (std::index_sequence_for<Parameters...>());
  return hip_host::launch_cooperative(grid, block, lds_bytes, stream,
                                      [kernel, copies] { std::apply(kernel, copies); });
}
