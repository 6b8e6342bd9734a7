// Against 06: a thread has several loads under way before it counts, so that memory is asked for
// more while LDS is busy.
#pragma once

#include "06-column-per-bank.h"
#include "samples.h"

namespace atomics::histogram {

template <unsigned Loads>
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
  uint4 next[Loads];
  // The vectors of the next round are on their way while those of this one are counted.
  const bool has_all = vectors.count >= Loads * stride;
  const unsigned whole = has_all ? vectors.count - (Loads - 1) * stride : 0;
  if (i < whole) {
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
      next[k] = vectors.first[i + k * stride];
    }
  }
  while (i < whole) {
    uint4 vector[Loads];
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
      vector[k] = next[k];
    }
    i += Loads * stride;
    if (i < whole) {
#pragma unroll
      for (unsigned k = 0; k < Loads; ++k) {
        next[k] = vectors.first[i + k * stride];
      }
    }
#pragma unroll
    for (unsigned k = 0; k < Loads; ++k) {
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
