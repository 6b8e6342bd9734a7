// The first kernel of AMD's lab note: 31 pointers and 22 scalars, phi squared by pow, f0 updated
// after the velocity u is known. No launch bound: the compiler plans for blocks of 1024 threads.
// (Pointer `spans` is ours: kernel<false>, which is timed, does not read it.)
//
// The lab note, gfx90a, ROCm 5.4: 102 VGPRs, 98 SGPRs, 4 waves per SIMD.
// On the H200 5325 million updates per second, 112 registers, 16 waves per SM.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::baseline {

template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records, F0::after_velocity, Square::pow>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::baseline
