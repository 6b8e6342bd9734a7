// Which compute unit a thread runs on.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// Bits of a hardware register as s_getreg takes them.
constexpr int hardware_register(int number, int first_bit, int bits) {
  return number | first_bit << 6 | (bits - 1) << 11;
}

/// The compute unit (NVIDIA: SM; RDNA: WGP, a pair of them) that runs the calling thread, as far as
/// it can be told: cycle counters of two are not comparable. 0 on the host backend.
__device__ inline unsigned compute_unit_id() {
#if defined(__CUDA_ARCH__)
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#elif defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  // HW_REG_HW_ID: CU, shader array and shader engine (Vega ISA manual, 3.5).
  const unsigned id = __builtin_amdgcn_s_getreg(hardware_register(4, 8, 8));
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  // Each XCD counts its own alike. Its number is in HW_REG_XCC_ID (CDNA 3 ISA manual, 3.12).
  return id | __builtin_amdgcn_s_getreg(hardware_register(20, 0, 4)) << 8;
#else
  return id;
#endif
#elif defined(__HIP_DEVICE_COMPILE__)
  // HW_REG_HW_ID1: WGP, shader array and shader engine (RDNA 2 ISA manual, 3.5). From RDNA 3 on the
  // last takes three bits, as HIP's own __smid says: there are up to six.
#if defined(__GFX10__)
  return __builtin_amdgcn_s_getreg(hardware_register(23, 10, 10));
#else
  return __builtin_amdgcn_s_getreg(hardware_register(23, 10, 11));
#endif
#else
  return 0;
#endif
}

}  // namespace hipscope
