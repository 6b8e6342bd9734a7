// What the kernels of spatial batch normalization share: where a channel's values are, sums over a
// wave and a block, and how several blocks share a channel. In NCHW order a channel's values are
// one run of height * width floats in every image; at the source's size 128 runs of 3136 bytes,
// 401 KB: more than the registers of a compute unit. Device code.
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include "8-kernels/message.h"
#include "accesses.h"

namespace hipscope::batch_norm {

// --- Where values are --------------------------------------------------------------------------

/// A tensor in accesses of 1 or 4 floats.
struct Runs {
  unsigned channels;
  unsigned count;  // accesses of a channel
  unsigned run;    // accesses of its run in one image
  Divisor by_run;
};

/// Where access `i` of a channel is. 32 bits: half the registers of an address.
__device__ inline unsigned place_of(const Runs& runs, unsigned channel, unsigned i) {
  const unsigned n = divide(i, runs.by_run);
  return (n * runs.channels + channel) * runs.run + (i - n * runs.run);
}

template <unsigned Width>
__device__ Access<Width> load_access(const float* input, unsigned place) {
  return reinterpret_cast<const Access<Width>*>(input)[place];
}

/// What becomes of a channel's values.
struct Transform {
  float mean;
  float scale;
  float shift;
};

template <unsigned Width>
__device__ void store_transformed(float* output, unsigned place, Access<Width> x,
                                  const Transform& transform) {
#pragma unroll
  for (unsigned w = 0; w < Width; ++w) {
    component(x, w) = fmaf(component(x, w) - transform.mean, transform.scale, transform.shift);
  }
  reinterpret_cast<Access<Width>*>(output)[place] = x;
}

// --- Sums --------------------------------------------------------------------------------------

template <unsigned Width>
__device__ float sum_of_access(const Access<Width>& x) {
  if constexpr (Width == 4) {
    return (x.x + x.y) + (x.z + x.w);
  } else {
    return x;
  }
}

constexpr unsigned most_waves = 32;  // of a block: 1024 threads in waves of 32

/// NVIDIA's warpSize is no constant for the compiler: it divides by it, and loops.
__device__ inline unsigned wave_lanes() {
#if defined(__CUDA_ARCH__)
  return 32;
#else
  return warpSize;
#endif
}

/// The sum over the wave, all of whose lanes are active, in each of them.
__device__ inline float sum_of_wave(float value) {
  for (unsigned distance = wave_lanes() / 2; distance > 0; distance /= 2) {
#if defined(__CUDA_ARCH__)
    // To ask which lanes are active takes as long as the shuffle, or longer.
    constexpr unsigned all_lanes = 0xFFFFFFFF;
    value += __shfl_xor_sync(all_lanes, value, static_cast<int>(distance));
#else
    value += __shfl_xor(value, static_cast<int>(distance));
#endif
  }
  return value;
}

__device__ inline bool is_in_first_wave() { return threadIdx.x < wave_lanes(); }

/// The sum over a block, in every thread. `wave_sums` is LDS that nothing else uses.
__device__ inline float sum_of_block(float value, float (&wave_sums)[most_waves]) {
  value = sum_of_wave(value);
  if (threadIdx.x % wave_lanes() == 0) {
    wave_sums[threadIdx.x / wave_lanes()] = value;
  }
  __syncthreads();
  float sum = 0;
  for (unsigned wave = 0; wave < blockDim.x / wave_lanes(); ++wave) {
    sum += wave_sums[wave];
  }
  return sum;
}

constexpr unsigned wave_additions = 6;  // of a wave of 64

// --- Several blocks for a channel --------------------------------------------------------------

/// How channels are shared: each by `siblings` blocks, block b of them with accesses b * share
/// to (b + 1) * share - 1, the last with what is left.
struct Group {
  unsigned siblings;
  Divisor by_siblings;
  unsigned share;
};

__device__ inline unsigned accesses_of(const Runs& runs, const Group& group, unsigned block) {
  return block < group.siblings ? min(group.share, runs.count - block * group.share) : 0;
}

/// Blocks meet in one wave of each, a lane for every sibling.
constexpr unsigned most_siblings = 32;

/// What blocks that wait for each other share in memory.
struct Exchange {
  unsigned* tickets;
  unsigned groups;               // that start; each takes every so-manieth channel
  unsigned long long* messages;  // one for each part of each channel
  unsigned parity;               // of the launch
};

/// On the host backend blocks run one after another, and waiting would not end. There a stage is
/// launched twice: the second launch finds the messages of the first.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr bool blocks_run_together = false;
#else
constexpr bool blocks_run_together = true;
#endif

/// The block's number. Siblings wait for each other, which must not wait for ever. A block takes
/// its number from a counter when it starts, not from the grid, whose blocks may start in any
/// order. Look at the group with the lowest numbers that is not finished. As long as one of its
/// numbers is not taken, no higher one is, so the only blocks that run are siblings, fewer than a
/// group has. The device has room for a whole group (the host made sure), so it starts another
/// block, and that one takes the next number. Once all have started they meet, for nothing else
/// keeps a block waiting.
__device__ inline unsigned take_number(const Exchange& exchange, const Group& group) {
  __shared__ unsigned taken;
  if (threadIdx.x == 0) {
    taken = atomicAdd(exchange.tickets, 1U);
    if (taken + 1 == exchange.groups * group.siblings) {
      // Nobody takes one after the last: ready for the next launch.
      atomicExch(exchange.tickets, 0U);
    }
  }
  __syncthreads();
  return taken;
}

/// What a block knows of its part: mean, and sum of squared deviations from it.
struct Part {
  float mean;
  float spread;
};

/// A part as one word of 64 bits, so that it is there as a whole or not at all, and needs no fence.
/// A sum of squares has no sign: its sign bit says which launch the word is from, an odd or an even
/// one. So nothing must be cleared between launches: every launch writes every word once.
__device__ inline unsigned long long message_of(const Part& part, unsigned parity) {
  const unsigned spread = (__float_as_uint(part.spread) & 0x7fffffffU) | parity << 31;
  return static_cast<unsigned long long>(spread) << 32 | __float_as_uint(part.mean);
}

__device__ inline Part part_of(unsigned long long message) {
  return {.mean = __uint_as_float(static_cast<unsigned>(message)),
          .spread = __uint_as_float(static_cast<unsigned>(message >> 32) & 0x7fffffffU)};
}

/// Writes this block's part into memory, and waits for those of its siblings: lane i of the first
/// wave gets sibling i's.
__device__ inline Part exchange_parts(Part part, const Exchange& exchange, unsigned siblings,
                                      unsigned channel, unsigned block) {
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
  return part;
}

/// What becomes of the channel's values, in every thread, where lane i of the first wave has
/// sibling i's part (Chan, Golub and LeVeque 1979; a lane without a part has 0 values).
template <unsigned Width>
__device__ Transform merge_parts(const Part& part, const Runs& runs, const Group& group,
                                 float gamma, float beta) {
  __shared__ Transform transform;
  if (is_in_first_wave()) {
    const auto values = static_cast<float>(accesses_of(runs, group, threadIdx.x) * Width);
    const auto all_values = static_cast<float>(runs.count * Width);
    const float mean = sum_of_wave(part.mean * values) / all_values;
    const float difference = part.mean - mean;
    const float spread =
        sum_of_wave(values > 0 ? fmaf(values * difference, difference, part.spread) : 0);
    if (threadIdx.x == 0) {
      transform = {.mean = mean, .scale = scale_of(gamma, spread / all_values), .shift = beta};
    }
  }
  __syncthreads();
  return transform;
}

}  // namespace hipscope::batch_norm
