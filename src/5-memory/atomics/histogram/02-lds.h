// Against 01: each block counts in its LDS, and adds its bins to those in L2 at the end. Only the
// threads of a block meet, and LDS is nearer.
#pragma once

#include "samples.h"

namespace atomics::histogram {

__global__ void __launch_bounds__(block_threads) lds_kernel(Samples samples, unsigned* counts) {
  __shared__ unsigned lds[bins];
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    lds[bin] = 0;
  }
  __syncthreads();
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < samples.count; i += stride) {
    atomicAdd(&lds[samples.first[i]], 1U);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    atomicAdd(&counts[bin], lds[bin]);
  }
}

}  // namespace atomics::histogram
