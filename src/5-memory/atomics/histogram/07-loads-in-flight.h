// Against 06: a thread has two loads of the next round in flight while it counts the samples of
// this one, so that memory is asked for more while LDS is busy.
#pragma once

#include "06-column-per-bank.h"
#include "samples.h"

namespace atomics::histogram {

inline constexpr unsigned loads = 2;

__global__ void __launch_bounds__(block_threads)
    loads_in_flight_kernel(Samples samples, unsigned* counts) {
  __shared__ unsigned lds[bins * columns];
  for (unsigned i = threadIdx.x; i < bins * columns; i += blockDim.x) {
    lds[i] = 0;
  }
  __syncthreads();
  unsigned* const column = lds + threadIdx.x % columns;
  const auto count = [&](unsigned sample) { atomicAdd(&column[sample * columns], 1U); };
  const Vectors vectors = vectors_of(samples);
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 next[loads];
  // Up to here a lane has both of a round's vectors.
  const bool has_all = vectors.count >= loads * stride;
  const unsigned whole = has_all ? vectors.count - (loads - 1) * stride : 0;
  if (i < whole) {
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      next[k] = vectors.first[i + k * stride];
    }
  }
  while (i < whole) {
    uint4 vector[loads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      vector[k] = next[k];
    }
    i += loads * stride;
    if (i < whole) {
#pragma unroll
      for (unsigned k = 0; k < loads; ++k) {
        next[k] = vectors.first[i + k * stride];
      }
    }
#pragma unroll
    for (unsigned k = 0; k < loads; ++k) {
      for_each_sample(vector[k], count);
    }
  }
  for (; i < vectors.count; i += stride) {
    for_each_sample(vectors.first[i], count);
  }
  for_each_sample_outside(samples, count);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    unsigned sum = 0;
    for (unsigned k = 0; k < columns; ++k) {
      sum += lds[bin * columns + (k + bin) % columns];
    }
    atomicAdd(&counts[bin], sum);
  }
}

}  // namespace atomics::histogram
