// fsword73's VEGA64 repository (the source), 2.12, example 12a: 4 values per step. Blocks of 256,
// one value per thread; the grid is as many blocks as there are values for.
//
// Against 01: half as many steps, so half as many times does a value go through LDS. The source
// found it 1.7 times as fast on an MI25, with 1 barrier for 9.
//
// Corrected: the barrier after each step, which the source left out here: without it a wave of 32
// lanes reads what another has yet to write. On its GPU, with waves of 64, the threads of all steps
// are one wave, which needs none; so its gain holds 4 barriers that are paid for here. And as in 01
// the sums have an array of their own.
//
// On the H200 1007 us: 1.13 times as fast as 01.
#pragma once

#include "source_rows.h"

namespace hipscope::reduction {

static __global__ void __launch_bounds__(source_threads)
    source_four_values_kernel(const int* values, int* sums, int values_per_step) {
  const int x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  __shared__ int in_lds[source_threads];
  in_lds[thread] = values[x];
  __syncthreads();
  int sum = 0;
  if (values_per_step == 4) {
    for (int s = source_threads >> 2; s > 0; s >>= 2) {
      if (thread < s) {
        in_lds[thread] =
            in_lds[thread] + in_lds[thread + s] + in_lds[thread + 2 * s] + in_lds[thread + 3 * s];
      }
      __syncthreads();
    }
    if (thread == 0) {
      sum += in_lds[0];
    }
  }
  if (thread == 0 && sum > least_stored) {
    sums[blockIdx.x] = sum;
  }
}

inline SourceRow source_four_values() {
  return {.name = "12a 4 values per step",
          .published = "4 elements a step",
          .kernel = source_four_values_kernel,
          .values_per_step = 4,
          .barriers = 5};
}

}  // namespace hipscope::reduction
