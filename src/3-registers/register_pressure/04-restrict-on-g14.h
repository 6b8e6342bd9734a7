// The third step of AMD's lab note. Against 03: __restrict__ on g14: no store changes it, so the
// compiler may keep its values.
//
// The lab note, gfx90a: 94 VGPRs, 86 SGPRs, 5 waves per SIMD.
// On the H200 1.010 times the rate of 03, 98 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::restrict_on_g14 {

template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, __restrict__, ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::restrict_on_g14
