// Against 03: each bin is a row of 32 words, one in each bank of LDS, and a lane counts in its own
// column: lanes of a wave neither meet at a word nor at a bank, whatever the samples are.
#pragma once

#include "samples.h"

namespace atomics::histogram {

inline constexpr unsigned columns = 32;

__global__ void __launch_bounds__(block_threads)
    column_per_bank_kernel(Samples samples, unsigned* counts) {
  __shared__ unsigned lds[bins * columns];
  for (unsigned i = threadIdx.x; i < bins * columns; i += blockDim.x) {
    lds[i] = 0;
  }
  __syncthreads();
  unsigned* const column = lds + threadIdx.x % columns;
  const auto count = [&](unsigned sample) { atomicAdd(&column[sample * columns], 1U); };
  const Vectors vectors = vectors_of(samples);
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors.count; i += stride) {
    for_each_sample(vectors.first[i], count);
  }
  for_each_sample_outside(samples, count);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned i = 0; i < columns; ++i) {
      sum += lds[bin * columns + (i + bin) % columns];  // from bank to bank, too
    }
    atomicAdd(&counts[bin], sum);
  }
}

}  // namespace atomics::histogram
