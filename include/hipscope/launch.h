// The checked kernel launch: the same line on all backends, and no launch error is ever missed.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <utility>

#include "hipscope/check.h"
#include "hipscope/launch_stream.h"

namespace hipscope {

/// Where and how wide a kernel runs.
struct LaunchShape {
  dim3 grid;                    ///< blocks
  dim3 block;                   ///< threads per block
  std::uint32_t lds_bytes = 0;  ///< dynamic LDS (NVIDIA: shared memory) per block
  /// The default stream, or that of the graph that is being recorded.
  hipStream_t stream = static_cast<hipStream_t>(launch_stream);
  // Where the shape was written, for the message of a refused launch.
  const char* file = __builtin_FILE();
  int line = __builtin_LINE();
};

/// Enqueues `kernel` with `arguments`, converted to the kernel's parameter types.
/// Throws DeviceError when the launch is refused.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "a kernel takes exactly its own number of arguments");
  hipLaunchKernelGGL(kernel, shape.grid, shape.block, shape.lds_bytes, shape.stream,
                     static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  check(hipGetLastError(), shape.file, shape.line);
}

/// Lets blocks of a kernel take `bytes` bytes of dynamic LDS; CUDA requires that above 48 KiB, AMD
/// needs nothing. Throws DeviceError where LDS has fewer.
inline void allow_lds([[maybe_unused]] const void* kernel, [[maybe_unused]] std::uint32_t bytes) {
#if !defined(HIPSCOPE_BACKEND_AMD)
  check(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(bytes)));
#endif
}

/// The same; returns the kernel.
template <typename... Parameters>
auto allow_lds(void (*kernel)(Parameters...), std::uint32_t bytes) {
  allow_lds(reinterpret_cast<const void*>(kernel), bytes);
  return kernel;
}

/// On NVIDIA, whose SMs share one memory between L1 and LDS, gives `kernel` the largest L1; nothing
/// to choose on AMD. Throws DeviceError.
template <typename... Parameters>
void prefer_level_1_cache([[maybe_unused]] void (*kernel)(Parameters...)) {
#if !defined(HIPSCOPE_BACKEND_AMD)
  check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                            hipFuncAttributePreferredSharedMemoryCarveout, 0));
#endif
}

}  // namespace hipscope
