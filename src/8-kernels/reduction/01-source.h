// fsword73's VEGA64 repository (the source), 2.12, example 12a: 2 or 4 values per step. Blocks of
// 256, one value per thread, and as many blocks as that takes.
//
// Every step reads its values from LDS, writes their sum back, and ends at a barrier: 8 of them
// with 2 values, 4 with 4, and one before the first step. The block ends with its own sum, and
// stores it only if it is over 9999, so that the compiler cannot leave the work out; which of the
// two loops runs is an argument. The source found 4 values 1.7 times as fast on an MI25.
//
// Corrected: with 4 values the source has no barrier after a step, without which a wave of 32 lanes
// reads what another has yet to write. On its GPU, with waves of 64, the threads of all steps are
// one wave, which needs none; so the 1.7 times are without 4 barriers that this kernel pays for.
// And the sums have an array of their own. In the source's the block would store its sum over a
// value that another block has yet to read (its values are zeros, so that it never does).
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope::reduction {

constexpr unsigned source_threads = 256;
constexpr int least_stored = 9999;  // a sum is stored if it is over this

static __global__ void __launch_bounds__(source_threads)
    source_kernel(const int* values, int* sums, int values_per_step) {
  const int x = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  __shared__ int in_lds[source_threads];
  in_lds[thread] = values[x];
  __syncthreads();
  int sum = 0;
  if (values_per_step == 2) {
    for (int s = source_threads >> 1; s > 0; s >>= 1) {
      if (thread < s) {
        in_lds[thread] = in_lds[thread] + in_lds[thread + s];
      }
      __syncthreads();
    }
    if (thread == 0) {
      sum += in_lds[0];
    }
  }
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

}  // namespace hipscope::reduction
