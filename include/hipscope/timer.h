// The timer of a device whose rate never changes: 100 MHz on AMD, nanoseconds on NVIDIA.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// Ticks of it since some moment in the past.
__device__ inline long long timer_ticks() {
#if defined(HIPSCOPE_BACKEND_AMD) && !defined(__HIP_DEVICE_COMPILE__)
  return 0;  // HIP 5.2 declares wall_clock64 in the pass for the device only
#else
  return wall_clock64();
#endif
}

}  // namespace hipscope
