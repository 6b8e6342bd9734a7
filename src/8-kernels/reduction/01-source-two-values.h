// fsword73's VEGA64 repository (the source), 2.12, example 12a: 2 values per step. Blocks of 256,
// one value per thread; the grid is as many blocks as there are values for.
//
// Every step reads both its values from LDS and writes their sum back, and ends at a barrier: 8 of
// them, and one before the first step. Its block ends with its own sum, and stores it only if it is
// over 9999, so that the compiler cannot leave the work out; which of its two loops runs is an
// argument. The source's kernel holds both loops, here each is a kernel of its own.
//
// Corrected: the sums have an array of their own. In the source's the block would store its sum
// over a value that another block has yet to read (its values are zeros, so that it never does).
//
// On the H200 1137 us for 2^28 values; 233 us, if they were only read (00).
#pragma once

#include "source_rows.h"

namespace hipscope::reduction {

static __global__ void __launch_bounds__(source_threads)
    source_two_values_kernel(const int* values, int* sums, int values_per_step) {
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
  if (thread == 0 && sum > least_stored) {
    sums[blockIdx.x] = sum;
  }
}

inline SourceRow source_two_values() {
  return {.name = "12a 2 values per step",
          .published = "2 elements a step",
          .kernel = source_two_values_kernel,
          .values_per_step = 2,
          .barriers = 9};
}

}  // namespace hipscope::reduction
