// Against 02: a thread loads 16 samples at once. A byte per thread left the loads to be what takes
// the time.
#pragma once

#include "samples.h"

namespace atomics::histogram {

__global__ void __launch_bounds__(block_threads)
    vector_loads_kernel(Samples samples, unsigned* counts) {
  __shared__ unsigned lds[bins];
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    lds[bin] = 0;
  }
  __syncthreads();
  const auto count = [&](unsigned sample) { atomicAdd(&lds[sample], 1U); };
  const Vectors vectors = vectors_of(samples);
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors.count; i += stride) {
    for_each_sample(vectors.first[i], count);
  }
  for_each_sample_outside(samples, count);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    atomicAdd(&counts[bin], lds[bin]);
  }
}

}  // namespace atomics::histogram
