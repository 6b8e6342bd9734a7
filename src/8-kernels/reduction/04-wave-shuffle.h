// Wave shuffle: two values per thread. Blocks of 256.
//
// Against 03: block_sum in place of tree_sum. The tree goes through registers, within each wave and
// then over the waves' sums; LDS holds only those, and one barrier is left of 4.
#pragma once

#include "block_sum.h"
#include "stage.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    wave_shuffle_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum = block_sum<Threads>(sum_of_loads<Threads, 2>(values, count));
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
