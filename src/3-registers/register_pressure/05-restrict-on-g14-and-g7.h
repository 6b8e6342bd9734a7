// The last step of AMD's lab note. Against 04: __restrict__ on g7 too.
//
// The lab note, gfx90a: 96 VGPRs, 78 SGPRs, 5 waves per SIMD.
// On the H200 1.012 times the rate of 04, 96 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::restrict_on_g14_and_g7 {

template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(__restrict__, __restrict__, ), SCALARS_ONE_BY_ONE,
                       WaveSpan* spans) {
  step<records>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::restrict_on_g14_and_g7
