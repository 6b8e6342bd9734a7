// Against 06: the bound asks for more waves than fit by themselves, so values are spilled to
// scratch.
// On the H200 0.959 times the rate of 06: 24 waves per SM, 64 bytes of scratch.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::more_waves {

template <bool records>
__global__ void __launch_bounds__(block_threads, least_waves)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::more_waves
