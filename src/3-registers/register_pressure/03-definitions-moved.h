// The second step of AMD's lab note. Against 02: f0, which needs no u, is updated before u is
// computed. The store may have changed what g1 to g18 point to, so the compiler loads them again,
// and none of them has to wait in a register from the sum to the velocity: fewer registers, 18 more
// loads.
//
// The lab note, gfx90a: 96 VGPRs, 94 SGPRs, 5 waves per SIMD.
// On the H200 1.105 times the rate of 02, 100 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::definitions_moved {

template <bool records>
__global__ void kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::definitions_moved
