// The first step of AMD's lab note. Against 01: phi * phi in place of pow(phi, 2), which is
// inlined as a logarithm and an exponential.
//
// The lab note, gfx90a: 100 VGPRs, 98 SGPRs, 4 waves per SIMD.
// On the H200 1.063 times the rate of 01, 111 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::no_pow {

template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records, F0::after_velocity>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::no_pow
