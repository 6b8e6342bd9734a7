// Against 03: a launch bound of 256, so that the compiler need not plan for blocks of 1024 threads.
// On gfx900 that ends the spills and halves the waves; on gfx90a 96 VGPRs fit under both.
// On the H200 no difference: 0.997 times the rate of 03, 100 registers as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::launch_bound {

template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  step<records>(ALL_ARGUMENTS, spans);
}

}  // namespace hipscope::register_pressure::launch_bound
