// Which compute unit a thread runs on.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// The compute unit (NVIDIA: SM) that runs the calling thread, as far as it can be told: cycle
/// counters of two are not comparable. 0 on the host backend.
__device__ inline unsigned compute_unit_id() {
#if defined(__CUDA_ARCH__)
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#elif defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  // HW_REG_HW_ID (4), bits 8 to 15: CU, shader array and shader engine (Vega ISA manual, 3.5).
  return __builtin_amdgcn_s_getreg(4 | (8 << 6) | (7 << 11));
#elif defined(__HIP_DEVICE_COMPILE__)
  // HW_REG_HW_ID1 (23), bits 10 to 19: WGP, shader array and shader engine (RDNA 2 ISA manual).
  return __builtin_amdgcn_s_getreg(23 | (10 << 6) | (9 << 11));
#else
  return 0;
#endif
}

}  // namespace hipscope
