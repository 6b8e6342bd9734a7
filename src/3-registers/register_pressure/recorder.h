// When each wave of a kernel was on which compute unit: two lines that are no part of the lesson.
// kernel<false> has no code of them; kernel<true> is launched once, apart.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/compute_unit.h>
#include <hipscope/timer.h>

#include <cstddef>

namespace hipscope::register_pressure {

/// From when to when a wave was on a compute unit, by a timer that all share.
struct WaveSpan {
  long long start = 0;
  long long end = 0;  ///< 0: it did not say
  unsigned unit = 0;
};

__device__ inline unsigned thread_of_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/// So that nothing of the start must be kept in a register for it.
__device__ inline bool is_first_lane() {
#if defined(__HIP_DEVICE_COMPILE__)
  return __lane_id() == 0;
#else
  return thread_of_block() % warpSize == 0;
#endif
}

/// The number of the calling thread's wave in its block; on AMD a scalar.
__device__ inline unsigned wave_of_block() {
  const unsigned wave = thread_of_block() / warpSize;
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_readfirstlane(wave);
#else
  return wave;
#endif
}

/// Returns where the calling thread's wave says when it was where.
template <bool records>
__device__ WaveSpan* record_start([[maybe_unused]] WaveSpan* spans) {
  if constexpr (records) {
    const unsigned waves = (blockDim.x * blockDim.y * blockDim.z + warpSize - 1) / warpSize;
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    WaveSpan* const span = spans + std::size_t{block} * waves + wave_of_block();
    if (is_first_lane()) {
      span->unit = compute_unit_id();
      span->start = timer_ticks();
    }
    return span;
  } else {
    return nullptr;
  }
}

/// After all that the wave stores. A wave whose first lane has no cell has no end.
template <bool records>
__device__ void record_end([[maybe_unused]] WaveSpan* span) {
  if constexpr (records) {
    if (is_first_lane()) {
      asm volatile("" ::: "memory");
      span->end = timer_ticks();
    }
  }
}

/// A cell's number, by which it is found in arrays. In a kernel that records, clang 15 for gfx900
/// and gfx906 may compute places from it a second time after it has given the upper half of its two
/// registers to something else (seen in 05). What is hidden here it keeps whole.
template <bool records>
__device__ auto index_of(int cell) {
#if defined(__gfx900__) || defined(__gfx906__)
  if constexpr (records) {
    std::ptrdiff_t index = cell;
    asm("" : "+v"(index));
    return index;
  } else {
    return cell;
  }
#else
  return cell;
#endif
}

}  // namespace hipscope::register_pressure
