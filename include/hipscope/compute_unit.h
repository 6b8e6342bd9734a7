// Which compute unit a thread runs on.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope {

/// Neighbouring bits of a hardware register.
struct RegisterField {
  int number;
  int first_bit;
  int bits;

  /// As s_getreg takes it: the manuals' SIMM16 of that instruction.
  [[nodiscard]] constexpr int operand() const { return number | first_bit << 6 | (bits - 1) << 11; }
};

/// HW_ID of gfx9: CU (4 bits), shader array (1) and shader engine (3). Vega ISA manual, 3.5; HIP's
/// __smid has three bits of the latter for gfx908 and gfx90a.
inline constexpr RegisterField unit_of_gfx9 = {.number = 4, .first_bit = 8, .bits = 8};
/// XCC_ID of gfx942 and gfx950: the XCD, each of which counts its CUs alike. CDNA 3 ISA manual,
/// 3.12.
inline constexpr RegisterField xcd_of_gfx942 = {.number = 20, .first_bit = 0, .bits = 4};
/// HW_ID1 of gfx10: WGP (4 bits, then 2 of none), shader array (1, then 1 of none) and shader
/// engine (2). RDNA 2 ISA manual, 3.5.
inline constexpr RegisterField unit_of_gfx10 = {.number = 23, .first_bit = 10, .bits = 10};
/// From RDNA 3 on the shader engine takes three bits, as HIP's own __smid says: there are up to
/// six.
inline constexpr RegisterField unit_of_gfx11 = {.number = 23, .first_bit = 10, .bits = 11};

/// The compute unit (NVIDIA: SM; RDNA: WGP, a pair of them) that runs the calling thread, as far as
/// the hardware tells; two units' cycle counters are not comparable. 0 on the host backend.
__device__ inline unsigned compute_unit_id() {
#if defined(__CUDA_ARCH__)
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
#elif defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  const unsigned id = __builtin_amdgcn_s_getreg(unit_of_gfx9.operand());
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  return id | __builtin_amdgcn_s_getreg(xcd_of_gfx942.operand()) << unit_of_gfx9.bits;
#else
  return id;
#endif
#elif defined(__HIP_DEVICE_COMPILE__) && defined(__GFX10__)
  return __builtin_amdgcn_s_getreg(unit_of_gfx10.operand());
#elif defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_s_getreg(unit_of_gfx11.operand());
#else
  return 0;
#endif
}

}  // namespace hipscope
