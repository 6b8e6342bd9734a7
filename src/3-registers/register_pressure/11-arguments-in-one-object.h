// Arguments in one object. Against 06: it is passed by value.
// On the H200 no difference: 0.999 times the rate of 06, 100 registers as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::one_object {

template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(Arguments all, WaveSpan* spans) {
  step<records>(all, spans);
}

}  // namespace hipscope::register_pressure::one_object
