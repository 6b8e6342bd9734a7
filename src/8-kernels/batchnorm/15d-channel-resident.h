// Spatial, resident. Several blocks share a channel, each keeps its part in registers, and they
// exchange mean and squared deviations through memory: one read, one write. Block b of a channel
// has accesses b * share to (b + 1) * share - 1; all loads are issued before the first value is
// used.
//
// On the H200 428 Gpixel/s, 80.9 % of the copy, with 25 values of 16 bytes in blocks of 256: while
// a block waits for its siblings its registers hold data and move none.
#pragma once

#include "../message.h"
#include "accesses.h"
#include "channel_parts.h"

namespace hipscope::batch_norm::channel_resident {

// Siblings wait for each other, which must not wait for ever. A block takes its number from a
// counter when it starts, not from the grid, whose blocks may start in any order. Look at the group
// with the lowest numbers that is not finished. As long as one of its numbers is not taken, no
// higher one is, so the only blocks that run are siblings, fewer than a group has. The device has
// room for a whole group (the host made sure), so it starts another block, and that one takes the
// next number. Once all have started they meet, for nothing else keeps a block waiting.
template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __launch_bounds__(Block, second_bound(Block, Values* Width))
    kernel(const float* __restrict__ input, const float* __restrict__ gamma,
           const float* __restrict__ beta, float* __restrict__ output, Runs runs, Group group,
           Exchange exchange) {
  __shared__ unsigned taken;
  __shared__ float sums[2][most_waves];
  __shared__ Transform transform;
  const unsigned siblings = group.siblings;
  if (threadIdx.x == 0) {
    taken = atomicAdd(exchange.tickets, 1U);
    if (taken + 1 == exchange.groups * siblings) {
      // Nobody takes one after the last: ready for the next launch.
      atomicExch(exchange.tickets, 0U);
    }
  }
  __syncthreads();
  const unsigned first_channel = divide(taken, group.by_siblings);
  const unsigned block = taken - first_channel * siblings;
  const unsigned channel = first_channel;
  const auto accesses_of = [&](unsigned b) {
    return b < group.siblings ? min(group.share, runs.count - b * group.share) : 0;
  };
  const unsigned accesses = accesses_of(block);
  Access<Width> x[Values];
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = min(threadIdx.x + k * Block, accesses - 1);
    x[k] = load_access<Width>(input, place_of(runs, channel, block * group.share + i));
  }
  const float gamma_here = gamma[channel];
  const float beta_here = beta[channel];
  end_of_loads();
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const bool counts = threadIdx.x + k * Block < accesses;
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      sum += counts ? component(x[k], w) : 0;
    }
  }
  Part part{};
  part.mean = sum_of_block(sum, sums[0]) / static_cast<float>(accesses * Width);
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const bool counts = threadIdx.x + k * Block < accesses;
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      const float difference = counts ? component(x[k], w) - part.mean : 0;
      part.spread = fmaf(difference, difference, part.spread);
    }
  }
  part.spread = sum_of_block(part.spread, sums[1]);
  // Each block writes its part into memory, and waits for those of its siblings.
  if (is_in_first_wave() && siblings > 1) {
    unsigned long long* messages = exchange.messages + channel * siblings;
    if (threadIdx.x == 0) {
      store_message(messages + block, message_of(part, exchange.parity));
    }
    const unsigned sibling = threadIdx.x < siblings ? threadIdx.x : 0;
    unsigned long long message = 0;
    do {
      message = load_message(messages + sibling);
    } while (blocks_run_together && !__all(message >> 63 == exchange.parity));
    part = part_of(message);
  }
  if (is_in_first_wave()) {
    const auto values = static_cast<float>(accesses_of(threadIdx.x) * Width);
    const Statistics statistics =
        merge_in_wave(part, values, static_cast<float>(runs.count * Width));
    if (threadIdx.x == 0) {
      transform = {.mean = statistics.mean,
                   .scale = scale_of(gamma_here, statistics.variance),
                   .shift = beta_here};
    }
  }
  __syncthreads();
  const Transform all = transform;
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = threadIdx.x + k * Block;
    if (i < accesses) {
#pragma unroll
      for (unsigned w = 0; w < Width; ++w) {
        component(x[k], w) = fmaf(component(x[k], w) - all.mean, all.scale, all.shift);
      }
      reinterpret_cast<Access<Width>*>(output)[place_of(runs, channel, block * group.share + i)] =
          x[k];
    }
  }
}

}  // namespace hipscope::batch_norm::channel_resident
