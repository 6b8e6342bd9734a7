// Against 09: no more waves are asked for. LDS where nothing would have been spilled.
// On the H200 0.974 times the rate of 06: 95 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "parked.h"
#include "step.h"

namespace hipscope::register_pressure::parked_in_lds {

template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(, , ), SCALARS_ONE_BY_ONE, WaveSpan* spans) {
  __shared__ double lds[parked_values * block_threads];
  step<records>(ALL_ARGUMENTS, spans, InLds{lds});
}

}  // namespace hipscope::register_pressure::parked_in_lds
