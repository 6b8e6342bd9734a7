// Spatial batch normalization: a mean for each channel, over the images and its plane. In NCHW
// order a channel's values are one run of height * width floats in every image; at the source's
// size 128 runs of 3136 bytes, 401 KB: more than the registers of a compute unit. Stages:
//   three passes, two passes  one block per channel
//   backwards                 the second pass begins with what the first has read last, of which
//                             more is still in L2
//   resident                  several blocks share a channel, each keeps its part in registers, and
//                             they exchange partial sums through memory: one read, one write
//   blocks that stay          the same with no more blocks than the device runs at a time: each
//                             goes on to a next channel, and loads it while it stores
//   cluster                   resident, on NVIDIA: the blocks of a cluster reach each other's
//                             shared memory
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>
#include <hipscope/message.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "batchnorm_moments.h"
#include "batchnorm_reference.h"

namespace hipscope::batch_norm {

// A tensor in accesses of 1 or 4 floats.
struct Runs {
  unsigned channels;
  unsigned count;  // accesses of a channel
  unsigned run;    // accesses of its run in one image
  Divisor by_run;
};

inline Runs runs_of(const Tensor& tensor, unsigned width) {
  const unsigned run = tensor.plane / width;
  return {.channels = tensor.channels,
          .count = tensor.images * run,
          .run = run,
          .by_run = divisor_of(run)};
}

// Why no stage takes the tensor; empty if they do.
inline std::string refusal(const Runs& runs) {
  const bool fits = std::uint64_t{runs.channels} * runs.count >> 32 == 0;
  return fits ? "" : "the tensor has 2^32 accesses or more";
}

// Where access `i` of a channel lies. 32 bits: half the registers of an address.
__device__ inline unsigned place_of(const Runs& runs, unsigned channel, unsigned i) {
  const unsigned n = divide(i, runs.by_run);
  return (n * runs.channels + channel) * runs.run + (i - n * runs.run);
}

constexpr unsigned most_waves = 32;  // of a block: 1024 threads in waves of 32

__device__ inline float sum_of_wave(float value) {
  for (unsigned distance = warpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor(value, static_cast<int>(distance));
  }
  return value;
}

__device__ inline bool is_in_first_wave() { return threadIdx.x < static_cast<unsigned>(warpSize); }

// The sum over a block, in every thread. `wave_sums` is LDS that nothing else uses.
__device__ inline float sum_of_block(float value, float (&wave_sums)[most_waves]) {
  value = sum_of_wave(value);
  if (threadIdx.x % warpSize == 0) {
    wave_sums[threadIdx.x / warpSize] = value;
  }
  __syncthreads();
  float sum = 0;
  for (unsigned wave = 0; wave < blockDim.x / warpSize; ++wave) {
    sum += wave_sums[wave];
  }
  return sum;
}

template <unsigned Width>
using Access = typename FloatVector<Width>::Type;

template <unsigned Width>
__device__ Access<Width> load_access(const float* input, unsigned place) {
  return reinterpret_cast<const Access<Width>*>(input)[place];
}

struct Transform {
  float mean;
  float scale;
  float shift;
};

template <unsigned Width>
__device__ Access<Width> transformed(Access<Width> x, const Transform& transform) {
#pragma unroll
  for (unsigned w = 0; w < Width; ++w) {
    component(x, w) = fmaf(component(x, w) - transform.mean, transform.scale, transform.shift);
  }
  return x;
}

// --- One block per channel ---------------------------------------------------------------------

constexpr unsigned channel_block = 1024;
constexpr unsigned channel_batch = 4;  // loads under way

// Calls body(place, access) for this thread's accesses of channel blockIdx.x.
template <unsigned Width, bool backwards, typename Body>
__device__ void for_channel(const float* __restrict__ input, const Runs& runs, const Body& body) {
  const unsigned rounds = (runs.count + channel_block - 1 - threadIdx.x) / channel_block;
  const auto place = [&](unsigned round) {
    const unsigned i = (backwards ? rounds - 1 - round : round) * channel_block + threadIdx.x;
    return place_of(runs, blockIdx.x, i);
  };
  unsigned round = 0;
#pragma unroll 1
  for (; round + channel_batch <= rounds; round += channel_batch) {
    unsigned places[channel_batch];
    Access<Width> x[channel_batch];
#pragma unroll
    for (unsigned k = 0; k < channel_batch; ++k) {
      places[k] = place(round + k);
      x[k] = load_access<Width>(input, places[k]);
    }
    end_of_loads();
#pragma unroll
    for (unsigned k = 0; k < channel_batch; ++k) {
      body(places[k], x[k]);
    }
  }
#pragma unroll 1
  for (; round < rounds; ++round) {
    body(place(round), load_access<Width>(input, place(round)));
  }
}

template <unsigned Width>
__global__ void __launch_bounds__(channel_block, second_bound(channel_block, channel_batch* Width))
    three_passes_channel_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                                const float* __restrict__ beta, float* __restrict__ output,
                                Runs runs) {
  __shared__ float sums[2][most_waves];
  const auto values = static_cast<float>(runs.count * Width);
  float sum = 0;
  for_channel<Width, false>(input, runs, [&](unsigned, Access<Width> x) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      sum += component(x, w);
    }
  });
  const float mean = sum_of_block(sum, sums[0]) / values;
  float spread = 0;
  for_channel<Width, false>(input, runs, [&](unsigned, Access<Width> x) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      const float difference = component(x, w) - mean;
      spread = fmaf(difference, difference, spread);
    }
  });
  const float variance = sum_of_block(spread, sums[1]) / values;
  const Transform transform = {
      .mean = mean, .scale = scale_of(gamma[blockIdx.x], variance), .shift = beta[blockIdx.x]};
  for_channel<Width, false>(input, runs, [&](unsigned place, Access<Width> x) {
    reinterpret_cast<Access<Width>*>(output)[place] = transformed<Width>(x, transform);
  });
}

// Sums of value - first value: one loop for both, and no cancellation.
template <unsigned Width, bool backwards>
__global__ void __launch_bounds__(channel_block, second_bound(channel_block, channel_batch* Width))
    two_passes_channel_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                              const float* __restrict__ beta, float* __restrict__ output,
                              Runs runs) {
  __shared__ float sums[2][most_waves];
  const float first = input[std::size_t{place_of(runs, blockIdx.x, 0)} * Width];
  Partial all{};
  for_channel<Width, false>(input, runs, [&](unsigned, Access<Width> x) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      const float difference = component(x, w) - first;
      all.sum += difference;
      all.spread = fmaf(difference, difference, all.spread);
    }
  });
  all = {.sum = sum_of_block(all.sum, sums[0]), .spread = sum_of_block(all.spread, sums[1])};
  const auto one = [&](unsigned) { return all; };
  const Statistics statistics =
      merge<Moments::shifted>(1, runs.count * Width, first, one, [](unsigned) { return 0U; });
  const Transform transform = {.mean = statistics.mean,
                               .scale = scale_of(gamma[blockIdx.x], statistics.variance),
                               .shift = beta[blockIdx.x]};
  for_channel<Width, backwards>(input, runs, [&](unsigned place, Access<Width> x) {
    reinterpret_cast<Access<Width>*>(output)[place] = transformed<Width>(x, transform);
  });
}

// --- Several blocks per channel, the values stay in registers -----------------------------------

// How channels are shared: each by `siblings` blocks, block b of them with accesses b * share
// to (b + 1) * share - 1, the last with what is left.
struct Group {
  unsigned siblings;
  Divisor by_siblings;
  unsigned share;
};

// Blocks meet in one wave of each, a lane for every sibling.
constexpr unsigned most_siblings = 32;

// What a block knows of its part: mean, and sum of squared deviations from it.
struct Part {
  float mean;
  float spread;
};

// Statistics of the whole from the parts that the lanes of a wave have (Chan, Golub and LeVeque
// 1979; a lane without a part has 0 values).
__device__ inline Statistics merge_in_wave(const Part& part, float values, float all_values) {
  const float mean = sum_of_wave(part.mean * values) / all_values;
  const float difference = part.mean - mean;
  const float spread =
      sum_of_wave(values > 0 ? fmaf(values * difference, difference, part.spread) : 0);
  return {.mean = mean, .variance = spread / all_values};
}

// Makes the compiler forget what `value` was, so that it does not keep what follows from it.
__device__ inline void forget([[maybe_unused]] unsigned& value) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(value));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
}

// Block `block` of a group, which normalizes channel `channel`, and with `stays` also those `step`,
// 2 step ... further. All loads are issued before the first value is used; a block that stays loads
// the next channel's value as soon as it has stored this one's from the same register. exchange(
// part, channel), which all threads call, returns sibling i's part to lane i of the first wave.
template <unsigned Width, unsigned Values, unsigned Block, bool stays, typename Exchange>
__device__ void normalize_parts(const float* __restrict__ input, const float* gamma,
                                const float* beta, float* __restrict__ output, const Runs& runs,
                                const Group& group, unsigned channel, unsigned step, unsigned block,
                                const Exchange& exchange) {
  __shared__ float sums[2][most_waves];
  __shared__ Transform transform;
  const auto accesses_of = [&](unsigned b) {
    return b < group.siblings ? min(group.share, runs.count - b * group.share) : 0;
  };
  const unsigned accesses = accesses_of(block);
  unsigned thread = threadIdx.x;
  const auto load = [&](unsigned k, unsigned of_channel) {
    const unsigned i = min(thread + k * Block, accesses - 1);
    return load_access<Width>(input, place_of(runs, of_channel, block * group.share + i));
  };
  Access<Width> x[Values];
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    x[k] = load(k, channel);
  }
  while (true) {
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
    part = exchange(part, channel);
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
    const unsigned next = channel + step;
    const bool goes_on = stays && next < runs.channels;
    if constexpr (stays) {
      forget(thread);  // or else registers would hold the places of all values for the next round
    }
#pragma unroll
    for (unsigned k = 0; k < Values; ++k) {
      const unsigned i = thread + k * Block;
      if (i < accesses) {
        reinterpret_cast<Access<Width>*>(output)[place_of(runs, channel, block * group.share + i)] =
            transformed<Width>(x[k], all);
      }
      if (goes_on) {
        x[k] = load(k, next);
      }
    }
    if (!goes_on) {
      return;
    }
    channel = next;
  }
}

// A part as one word of 64 bits, so that it is there as a whole or not at all, and needs no fence.
// A sum of squares has no sign: its sign bit says which launch the word is from, an odd or an even
// one. So nothing must be cleared between launches: every launch writes every word once.
__device__ inline unsigned long long message_of(const Part& part, unsigned parity) {
  const unsigned spread = (__float_as_uint(part.spread) & 0x7fffffffU) | parity << 31;
  return static_cast<unsigned long long>(spread) << 32 | __float_as_uint(part.mean);
}

__device__ inline Part part_of(unsigned long long message) {
  return {.mean = __uint_as_float(static_cast<unsigned>(message)),
          .spread = __uint_as_float(static_cast<unsigned>(message >> 32) & 0x7fffffffU)};
}

// What the blocks of a launch share in memory.
struct Exchange {
  unsigned* tickets;
  unsigned groups;               // that start; each takes every so-manieth channel
  unsigned long long* messages;  // one for each part of each channel
  unsigned parity;               // of the launch
};

// On the host backend blocks run one after another, and waiting would not end. There a stage is
// launched twice: the second launch finds the messages of the first.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr bool blocks_run_together = false;
#else
constexpr bool blocks_run_together = true;
#endif

// Siblings wait for each other, which must not wait for ever. A block takes its number from a
// counter when it starts, not from the grid, whose blocks may start in any order. Look at the group
// with the lowest numbers that is not finished. As long as one of its numbers is not taken, no
// higher one is, so the only blocks that run are siblings, fewer than a group has. The device has
// room for a whole group (the host made sure), so it starts another block, and that one takes the
// next number. Once all have started they meet, for nothing else keeps a block waiting.
template <unsigned Width, unsigned Values, unsigned Block, bool stays>
__global__ void __launch_bounds__(Block, second_bound(Block, Values* Width))
    resident_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                    const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                    Group group, Exchange exchange) {
  __shared__ unsigned taken;
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
  const auto meet = [&](Part part, unsigned channel) {
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
  };
  normalize_parts<Width, Values, Block, stays>(input, gamma, beta, output, runs, group,
                                               first_channel, exchange.groups, block, meet);
}

#if defined(__CUDACC__)
constexpr unsigned cluster_blocks = 8;  // the most that every GPU with clusters takes

// A cluster's blocks run at the same time by definition: no tickets, no waiting in memory.
template <unsigned Width, unsigned Values, unsigned Block>
__global__ void __cluster_dims__(cluster_blocks, 1, 1)
    __launch_bounds__(Block, second_bound(Block, Values* Width))
        cluster_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                       const float* __restrict__ beta, float* __restrict__ output, Runs runs,
                       Group group) {
#if __CUDA_ARCH__ >= 900
  __shared__ Part parts[cluster_blocks];
  const unsigned block = __clusterRelativeBlockRank();
  // No block writes to a sibling that has not started.
  __cluster_barrier_arrive();
  const auto meet = [&](Part part, unsigned) {
    __cluster_barrier_wait();
    if (threadIdx.x < cluster_blocks) {
      *static_cast<Part*>(__cluster_map_shared_rank(&parts[block], threadIdx.x)) = part;
    }
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    return threadIdx.x < cluster_blocks ? parts[threadIdx.x] : Part{};
  };
  normalize_parts<Width, Values, Block, false>(input, gamma, beta, output, runs, group,
                                               blockIdx.x / cluster_blocks, 0, block, meet);
#endif
}
#endif

// --- Stages --------------------------------------------------------------------------------------

using ChannelKernel = void (*)(const float*, const float*, const float*, float*, Runs);

// The widest access that every run in an image begins and ends with.
inline unsigned width_of(const Tensor& tensor) { return tensor.plane % 4 == 0 ? 4 : 1; }

constexpr unsigned wave_additions = 6;  // of a wave of 64

inline Stage channel_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                           ChannelKernel kernel, Moments moments, unsigned reads) {
  const Runs runs = runs_of(arrays.tensor, width_of(arrays.tensor));
  const unsigned of_thread = values_of(arrays.tensor, Scope::spatial) / channel_block + 4;
  const LaunchShape shape{.grid = dim3(runs.channels), .block = dim3(channel_block)};
  Stage stage;
  stage.name = name;
  stage.arithmetic = {
      .moments = moments, .additions = of_thread + wave_additions + most_waves, .is_exact = false};
  stage.is_exact_on_integers = true;
  stage.reads = reads;
  stage.footprint = footprint_of(sweep, kernel, channel_block);
  stage.why_not = refusal(runs);
  if (stage.why_not.empty()) {
    stage.run = [kernel, shape, runs, &arrays] {
      launch(kernel, shape, arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
             arrays.output.data(), runs);
    };
  }
  return stage;
}

inline std::vector<Stage> channel_stages(const Sweep& sweep, Arrays& arrays) {
  const bool is_wide = width_of(arrays.tensor) == 4;
  const auto stage = [&](const std::string& name, ChannelKernel wide, ChannelKernel narrow,
                         Moments moments, unsigned reads) {
    return channel_stage(sweep, arrays, name, is_wide ? wide : narrow, moments, reads);
  };
  return {stage("three passes", three_passes_channel_kernel<4>, three_passes_channel_kernel<1>,
                Moments::centred, 3),
          stage("two passes", two_passes_channel_kernel<4, false>,
                two_passes_channel_kernel<1, false>, Moments::shifted, 2),
          stage("two passes, backwards", two_passes_channel_kernel<4, true>,
                two_passes_channel_kernel<1, true>, Moments::shifted, 2)};
}

// Channels cut into as few parts as blocks of so many accesses allow.
inline Group group_of(const Runs& runs, unsigned accesses_of_block) {
  const unsigned fewest = (runs.count + accesses_of_block - 1) / accesses_of_block;
  const unsigned share = (runs.count + fewest - 1) / fewest;
  const unsigned siblings = (runs.count + share - 1) / share;
  return {.siblings = siblings, .by_siblings = divisor_of(siblings), .share = share};
}

// So many blocks the device runs at the same time.
inline unsigned room_for(const Sweep& sweep, const Footprint& footprint) {
  return static_cast<unsigned>(footprint.resident_blocks) *
         static_cast<unsigned>(sweep.device().compute_units);
}

// Why blocks that wait for each other cannot run; empty if they can.
inline std::string refusal(const Sweep& sweep, const Runs& runs, const Group& group,
                           const Footprint& footprint) {
  const unsigned siblings = group.siblings;
  const std::string of_any_stage = refusal(runs);
  if (!of_any_stage.empty()) {
    return of_any_stage;
  }
  if (siblings > most_siblings) {
    return "a channel takes " + std::to_string(siblings) + " blocks, more than " +
           std::to_string(most_siblings);
  }
  if (blocks_run_together && siblings > room_for(sweep, footprint)) {
    return "a channel takes " + std::to_string(siblings) +
           " blocks, which this device does not run at the same time";
  }
  return "";
}

template <unsigned Width, unsigned Values, unsigned Block, bool stays>
Stage resident_stage_of_width(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  const Runs runs = runs_of(arrays.tensor, Width);
  const Group group = group_of(runs, Values * Block);
  const unsigned siblings = group.siblings;
  Stage stage;
  stage.name = name;
  stage.arithmetic = {.moments = Moments::centred,
                      .additions = Values * Width + wave_additions + most_waves + wave_additions,
                      .is_exact = false};
  stage.is_exact_on_integers = siblings == 1 || group.share * Width % 2 == 0;
  stage.footprint = footprint_of(sweep, resident_kernel<Width, Values, Block, stays>, Block);
  stage.why_not = refusal(sweep, runs, group, stage.footprint);
  if (!stage.why_not.empty()) {
    return stage;
  }
  // Between launches the counter is 0 and all words are from the last one.
  struct State {
    DeviceBuffer<unsigned> tickets{1};
    DeviceBuffer<unsigned long long> messages;
    unsigned parity = 0;
  };
  const unsigned room = room_for(sweep, stage.footprint) / siblings;
  const unsigned groups = stays ? std::clamp(room, 1U, runs.channels) : runs.channels;
  const auto state = std::make_shared<State>(
      State{.messages = DeviceBuffer<unsigned long long>(std::size_t{runs.channels} * siblings)});
  state->tickets.clear();
  state->messages.clear();
  stage.run = [state, groups, siblings, runs, group, &arrays] {
    state->parity ^= 1U;
    for (unsigned launches = blocks_run_together ? 1 : 2; launches > 0; --launches) {
      launch(resident_kernel<Width, Values, Block, stays>,
             {.grid = dim3(groups * siblings), .block = dim3(Block)}, arrays.input.data(),
             arrays.gamma.data(), arrays.beta.data(), arrays.output.data(), runs, group,
             Exchange{.tickets = state->tickets.data(),
                      .groups = groups,
                      .messages = state->messages.data(),
                      .parity = state->parity});
    }
  };
  return stage;
}

// `Values` accesses of 16 bytes per thread; where runs are no whole number of these, 16 of 4 bytes.
template <unsigned Values, unsigned Block, bool stays>
Stage resident_stage(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  if (width_of(arrays.tensor) == 4) {
    return resident_stage_of_width<4, Values, Block, stays>(sweep, arrays, name);
  }
  return resident_stage_of_width<1, 16, 512, stays>(sweep, arrays, name);
}

// Eight blocks hold a channel of the source's size with nothing left.
constexpr unsigned cluster_values = 7;  // of 16 bytes per thread
constexpr unsigned cluster_block = 448;

inline Stage cluster_stage([[maybe_unused]] const Sweep& sweep, [[maybe_unused]] Arrays& arrays) {
  Stage stage;
  stage.name = "resident, cluster";
  stage.why_not = "not on this device";
#if defined(__CUDACC__)
  const unsigned width = width_of(arrays.tensor);
  const Runs runs = runs_of(arrays.tensor, width);
  // Every block of a cluster has a part, and none more than fits.
  const unsigned share = (runs.count + cluster_blocks - 1) / cluster_blocks;
  const Group group = {
      .siblings = cluster_blocks, .by_siblings = divisor_of(cluster_blocks), .share = share};
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(
                                              cluster_kernel<4, cluster_values, cluster_block>)));
  constexpr int first_with_clusters = 90;
  if (attributes.binaryVersion < first_with_clusters) {
    return stage;
  }
  if (width != 4 || share > cluster_values * cluster_block ||
      share * (cluster_blocks - 1) >= runs.count) {
    stage.why_not = "a channel is no eight parts of 4 to " +
                    std::to_string(4 * cluster_values * cluster_block) + " floats";
    return stage;
  }
  stage.why_not = refusal(runs);
  if (!stage.why_not.empty()) {
    return stage;
  }
  stage.arithmetic = {
      .moments = Moments::centred,
      .additions = cluster_values * 4 + wave_additions + most_waves + wave_additions,
      .is_exact = false};
  stage.is_exact_on_integers = true;
  stage.footprint =
      footprint_of(sweep, cluster_kernel<4, cluster_values, cluster_block>, cluster_block);
  stage.run = [runs, group, &arrays] {
    launch(cluster_kernel<4, cluster_values, cluster_block>,
           {.grid = dim3(runs.channels * cluster_blocks), .block = dim3(cluster_block)},
           arrays.input.data(), arrays.gamma.data(), arrays.beta.data(), arrays.output.data(), runs,
           group);
  };
#endif
  return stage;
}

}  // namespace hipscope::batch_norm
