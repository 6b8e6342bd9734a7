// A pause of a wave.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// Gives the issue slots to other waves for some 200 ns: for loops that watch a clock, whose reads
/// would take the slots from all others.
__device__ inline void pause() {
#if defined(__CUDA_ARCH__)
  __nanosleep(200);
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_sleep(4);  // 4 x 64 cycles
#endif
}

}  // namespace hipscope
