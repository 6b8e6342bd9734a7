// What the kernels of spatial batch normalization share beside their arithmetic: where a channel's
// values lie, sums over a wave and a block, and how several blocks share a channel. In NCHW order a
// channel's values are one run of height * width floats in every image; at V's size 128 runs of
// 3136 bytes, 401 KB: more than the registers of a compute unit.
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include <string>
#include <string_view>

#include "../message.h"
#include "accesses.h"
#include "reference.h"
#include "stage.h"

namespace hipscope::batch_norm {

// --- Where values lie --------------------------------------------------------------------------

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

template <unsigned Width>
using Access = typename FloatVector<Width>::Type;

template <unsigned Width>
__device__ Access<Width> load_access(const float* input, unsigned place) {
  return reinterpret_cast<const Access<Width>*>(input)[place];
}

// The widest access that every run in an image begins and ends with.
inline unsigned width_of(const Tensor& tensor) { return tensor.plane % 4 == 0 ? 4 : 1; }

// --- Sums --------------------------------------------------------------------------------------

constexpr unsigned most_waves = 32;  // of a block: 1024 threads in waves of 32

// NVIDIA's warpSize is no constant for the compiler: it divides by it, and loops.
__device__ inline unsigned wave_lanes() {
#if defined(__CUDA_ARCH__)
  return 32;
#else
  return warpSize;
#endif
}

// The sum over the wave, all of whose lanes are active, in each of them.
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

// The sum over a block, in every thread. `wave_sums` is LDS that nothing else uses.
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

struct Transform {
  float mean;
  float scale;
  float shift;
};

struct Statistics {
  float mean;
  float variance;  // divided by the number of values (biased), as batch normalization has it
};

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

// The XCDs that a GPU has at most. Workgroups are dealt to them in turn, whichever has room (AMD's
// guide "Instinct MI300X workload optimization"): the last that others wait for may all be one
// XCD's.
inline unsigned most_xcds(std::string_view architecture) {
  return architecture.starts_with("gfx94") || architecture.starts_with("gfx950") ? 8 : 1;
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
  const unsigned xcds = most_xcds(sweep.device().architecture);
  if (blocks_run_together && siblings > room_for(sweep, footprint) / xcds) {
    return "a channel takes " + std::to_string(siblings) +
           " blocks, which this device does not run at the same time" +
           (xcds > 1 ? " on one XCD" : "");
  }
  return "";
}

}  // namespace hipscope::batch_norm
