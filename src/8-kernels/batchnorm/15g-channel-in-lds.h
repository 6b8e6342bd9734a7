// Spatial, resident, in LDS too. Against 15d: a block keeps a part of its values in LDS, which 15d
// leaves empty, so that it has more of a channel, and fewer siblings to wait for.
//
// On the H200 434 Gpixel/s, 82.1 % of the copy.
#pragma once

#include "../message.h"
#include "accesses.h"
#include "channel_parts.h"
#include "fetch.h"

namespace hipscope::batch_norm::channel_in_lds {

#if !defined(HIPSCOPE_BACKEND_AMD)

// Within 1 % of the best on an H200 (sweep spatial-shapes); the host backend's LDS is smaller.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr InLdsShape best_shape = {.in_lds = 4, .in_registers = 3, .block = 128, .blocks = 1};
#else
constexpr InLdsShape best_shape = {.in_lds = 8, .in_registers = 25, .block = 256, .blocks = 2};
#endif

// Siblings wait for each other, which must not wait for ever. A block takes its number from a
// counter when it starts, not from the grid, whose blocks may start in any order. Look at the group
// with the lowest numbers that is not finished. As long as one of its numbers is not taken, no
// higher one is, so the only blocks that run are siblings, fewer than a group has. The device has
// room for a whole group (the host made sure), so it starts another block, and that one takes the
// next number. Once all have started they meet, for nothing else keeps a block waiting.
template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned BlocksPerUnit>
__global__ void __launch_bounds__(Block, BlocksPerUnit)
    kernel(const float* __restrict__ input, const float* __restrict__ gamma,
           const float* __restrict__ beta, float* __restrict__ output, Runs runs, Group group,
           Exchange exchange) {
  constexpr unsigned width = 4;
  HIP_DYNAMIC_SHARED(float4, kept)
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
  const auto place = [&](unsigned i) {
    return std::size_t{place_of(runs, channel, block * group.share + i)};
  };
  // The thread's own values alone: no barrier is needed.
#pragma unroll
  for (unsigned k = 0; k < InLds; ++k) {
    const unsigned i = min(threadIdx.x + k * Block, accesses - 1);
    fetch(kept + k * Block + threadIdx.x, input + place(i) * width);
  }
  float4 x[InRegisters];
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    const unsigned i = min(threadIdx.x + (InLds + k) * Block, accesses - 1);
    x[k] = load_access<width>(input, place(i));
  }
  const float gamma_here = gamma[channel];
  const float beta_here = beta[channel];
  wait_for_fetches();
  const auto counts = [&](unsigned k) { return threadIdx.x + k * Block < accesses; };
  float sum = 0;
  const auto add = [&](const float4& value, unsigned k) {
    sum += counts(k) ? (value.x + value.y) + (value.z + value.w) : 0;
  };
#pragma unroll 4
  for (unsigned k = 0; k < InLds; ++k) {
    add(kept[k * Block + threadIdx.x], k);
  }
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    add(x[k], InLds + k);
  }
  Part part{};
  part.mean = sum_of_block(sum, sums[0]) / static_cast<float>(accesses * width);
  const auto add_square = [&](float4 value, unsigned k) {
#pragma unroll
    for (unsigned w = 0; w < width; ++w) {
      const float difference = counts(k) ? component(value, w) - part.mean : 0;
      part.spread = fmaf(difference, difference, part.spread);
    }
  };
#pragma unroll 4
  for (unsigned k = 0; k < InLds; ++k) {
    add_square(kept[k * Block + threadIdx.x], k);
  }
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    add_square(x[k], InLds + k);
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
    const auto values = static_cast<float>(accesses_of(threadIdx.x) * width);
    const Statistics statistics =
        merge_in_wave(part, values, static_cast<float>(runs.count * width));
    if (threadIdx.x == 0) {
      transform = {.mean = statistics.mean,
                   .scale = scale_of(gamma_here, statistics.variance),
                   .shift = beta_here};
    }
  }
  __syncthreads();
  const Transform all = transform;
  const auto store = [&](float4 value, unsigned k) {
    if (counts(k)) {
#pragma unroll
      for (unsigned w = 0; w < width; ++w) {
        component(value, w) = fmaf(component(value, w) - all.mean, all.scale, all.shift);
      }
      reinterpret_cast<float4*>(output)[place(threadIdx.x + k * Block)] = value;
    }
  };
#pragma unroll
  for (unsigned k = 0; k < InRegisters; ++k) {
    store(x[k], InLds + k);
  }
#pragma unroll 4
  for (unsigned k = 0; k < InLds; ++k) {
    store(kept[k * Block + threadIdx.x], k);
  }
}

#endif

}  // namespace hipscope::batch_norm::channel_in_lds
