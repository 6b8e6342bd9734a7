// Arguments in constant memory. Against 11: the object is there, once for each half that is read;
// only which of the two comes with each launch.
// On the H200 no difference: 0.997 times the rate of 11, 100 registers as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::constant_memory {

static __constant__ Arguments of_half[2];

template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(int half, WaveSpan* spans) {
  step<records, F0::before_velocity, Square::product, const Arguments&>(of_half[half], spans);
}

}  // namespace hipscope::register_pressure::constant_memory
