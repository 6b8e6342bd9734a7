// Each sample is an atomic on its bin in L2, where all CUs meet.
#pragma once

#include "samples.h"

namespace atomics::histogram {

__global__ void __launch_bounds__(block_threads) l2_kernel(Samples samples, unsigned* counts) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < samples.count; i += stride) {
    atomicAdd(&counts[samples.first[i]], 1U);
  }
}

}  // namespace atomics::histogram
