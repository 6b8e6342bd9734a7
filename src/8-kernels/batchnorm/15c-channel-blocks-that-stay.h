// Spatial, resident, blocks that stay. Against 15b: no more blocks than the device runs at a time;
// each goes on to the next channel, and loads its values as soon as it has stored this channel's
// from the same registers.
//
// On the H200 433 Gpixel/s, 81.4 % of the copy.
#pragma once

#include "channel_parts.h"

namespace hipscope::batch_norm {

/// Makes the compiler forget what `value` was, so that it does not keep what follows from it.
__device__ inline void forget([[maybe_unused]] unsigned& value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(value));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
}

template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __launch_bounds__(Block, second_bound(Block, Values* Width))
    channel_staying_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                           const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                           Group group, Exchange exchange) {
  const unsigned number = take_number(exchange, group);
  unsigned channel = divide(number, group.by_siblings);
  const unsigned block = number - channel * group.siblings;
  const unsigned accesses = accesses_of(runs, group, block);
  unsigned thread = threadIdx.x;
  Access<Width> x[Values];
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = min(thread + k * Block, accesses - 1);
    x[k] = load_access<Width>(input, place_of(runs, channel, block * group.share + i));
  }
  while (true) {
    const float gamma_here = gamma[channel];
    const float beta_here = beta[channel];
    scheduling_barrier();
    Part part = part_in_registers<Width, Block>(x, accesses);
    part = exchange_parts(part, exchange, group.siblings, channel, block);
    const Transform transform = merge_parts<Width>(part, runs, group, gamma_here, beta_here);
    const unsigned next = channel + exchange.groups;
    const bool goes_on = next < runs.channels;
    forget(thread);  // or else registers would hold the places of all values for the next round
#pragma unroll
    for (unsigned k = 0; k < Values; ++k) {
      const unsigned i = thread + k * Block;
      if (i < accesses) {
        store_transformed<Width>(output, place_of(runs, channel, block * group.share + i), x[k],
                                 transform);
      }
      if (goes_on) {
        const unsigned j = min(thread + k * Block, accesses - 1);
        x[k] = load_access<Width>(input, place_of(runs, next, block * group.share + j));
      }
    }
    if (!goes_on) {
      return;
    }
    channel = next;
  }
}

}  // namespace hipscope::batch_norm
