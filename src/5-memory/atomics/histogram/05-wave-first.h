// Against 03: the lanes of a wave that have the same sample find each other by eight votes, one for
// each bit, and one of them counts for all. For samples that are mostly alike.
#pragma once

#include "samples.h"

namespace atomics::histogram {

/// The lanes of the wave that have the same sample as this one, of those that have any.
__device__ inline unsigned long long lanes_alike(unsigned sample, bool has_one) {
  unsigned long long alike = __ballot(has_one ? 1 : 0);
#pragma unroll
  for (unsigned bit = 0; bit < 8; ++bit) {
    const bool is_set = (sample >> bit & 1) != 0;
    const unsigned long long with_it = __ballot(is_set ? 1 : 0);
    alike &= is_set ? with_it : ~with_it;
  }
  return alike;
}

__global__ void __launch_bounds__(block_threads)
    wave_first_kernel(Samples samples, unsigned* counts) {
  __shared__ unsigned lds[bins];
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    lds[bin] = 0;
  }
  __syncthreads();
  const Vectors vectors = vectors_of(samples);
  const unsigned stride = gridDim.x * blockDim.x;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  // All lanes of a wave take part in each round, also those that have nothing left.
  for (unsigned i = first; i - threadIdx.x < vectors.count; i += stride) {
    const bool has_one = i < vectors.count;
    const uint4 vector = vectors.first[has_one ? i : 0];
    for_each_sample(vector, [&](unsigned sample) {
      const unsigned long long alike = lanes_alike(sample, has_one);
      const unsigned long long below = (1ULL << (threadIdx.x % warpSize)) - 1;
      if (has_one && (alike & below) == 0) {
        atomicAdd(&lds[sample], static_cast<unsigned>(__popcll(alike)));
      }
    });
  }
  for_each_sample_outside(samples, [&](unsigned sample) { atomicAdd(&lds[sample], 1U); });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    atomicAdd(&counts[bin], lds[bin]);
  }
}

}  // namespace atomics::histogram
