// Against 03: each wave has bins of its own, so that waves do not meet. Its lanes still do.
#pragma once

#include "samples.h"

namespace atomics::histogram {

inline constexpr unsigned most_waves = block_threads / 32;

__global__ void __launch_bounds__(block_threads)
    copy_per_wave_kernel(Samples samples, unsigned* counts) {
  __shared__ unsigned lds[most_waves * bins];
  const unsigned waves = (blockDim.x + warpSize - 1) / warpSize;
  for (unsigned i = threadIdx.x; i < waves * bins; i += blockDim.x) {
    lds[i] = 0;
  }
  __syncthreads();
  unsigned* const mine = lds + threadIdx.x / warpSize * bins;
  const auto count = [&](unsigned sample) { atomicAdd(&mine[sample], 1U); };
  const Vectors vectors = vectors_of(samples);
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors.count; i += stride) {
    for_each_sample(vectors.first[i], count);
  }
  for_each_sample_outside(samples, count);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned wave = 0; wave < waves; ++wave) {
      sum += lds[wave * bins + bin];
    }
    atomicAdd(&counts[bin], sum);
  }
}

}  // namespace atomics::histogram
