// Wave shuffle: two values per thread. Blocks of 256.
//
// Against rung 6: the tree goes through registers, within each wave and then over the waves' sums;
// LDS holds only those, and one barrier is left of 4.
//
// On the H200 463 us, as rung 6: a gain of 0.3 %.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    wave_shuffle_kernel(const Value* values, std::uint64_t count, Value* sums) {
  constexpr unsigned loads = 2;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * (Threads * loads) + threadIdx.x;
  Value loaded[loads];
#pragma unroll
  for (unsigned i = 0; i < loads; ++i) {
    const std::uint64_t at = first + i * Threads;
    loaded[i] = values[at < count ? at : count - 1];
  }
  end_of_loads();
  Value sum{};
#pragma unroll
  for (unsigned i = 0; i < loads; ++i) {
    sum += first + i * Threads < count ? loaded[i] : Value{};
  }
  __shared__ Value wave_sums[largest_block / smallest_wave];
  const unsigned lane = threadIdx.x % wave_lanes();
  const unsigned wave = threadIdx.x / wave_lanes();
  sum = wave_sum(sum);
  if (lane == 0) {
    wave_sums[wave] = sum;
  }
  __syncthreads();
  if (wave == 0) {
    sum = wave_sum(lane < Threads / wave_lanes() ? wave_sums[lane] : Value{});
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256>
Stage<Value> wave_shuffle_stage() {
  return scalar_stage<Value>({.name = "wave shuffle",
                              .kernel = wave_shuffle_kernel<Value, Threads>,
                              .threads = Threads,
                              .loads = 2,
                              .depth = log2_of(Threads),
                              .barriers = 1});
}

}  // namespace hipscope::reduction
