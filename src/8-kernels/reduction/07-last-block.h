// Single pass, last block: each block stores its sum and counts itself; the last one adds up the
// sums of all. Blocks of 256, no more than fit at once.
//
// Against 06: one launch, and the order is fixed, so the total is the same every time. But a fence
// and the counter come between a block's last load and its end.
#pragma once

#include "05-vector-loads.h"

namespace hipscope::reduction {

// Counts the block among the `blocks` that have stored their sums, and says whether it is the last.
// The counter then starts again at 0.
__device__ inline bool is_last(unsigned* finished, unsigned blocks) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    __threadfence();  // who sees the count sees the sum
    is_last = atomicInc(finished, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  const bool last = is_last;
  if (last) {
    __threadfence();
  }
  return last;
}

// (Without the second launch bound the compilers keep to few registers, and have fewer loads in
// flight than are written here.)
template <typename Value, unsigned Threads, unsigned Loads>
__global__ void __launch_bounds__(Threads, 1)
    last_block_kernel(Vectors<Value> input, unsigned blocks, Value* sums, Value* total,
                      unsigned* counter) {
  Value sum = sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  sum = block_sum<Threads>(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
  if (is_last(counter, blocks)) {
    const Vectors<Value> all = vectors_of<Value>(sums, blocks);
    sum = block_sum<Threads>(sum_tiles<Threads, Loads>(all, 0, 1) + sum_ends(all));
    if (threadIdx.x == 0) {
      *total = sum;
    }
  }
}

template <typename Value, unsigned Threads = 256, unsigned Loads = 8>
Stage<Value> last_block_stage(Spread spread = to_resident_blocks) {
  return vector_stage<Value>({.name = "single pass, last block",
                              .kernel = last_block_kernel<Value, Threads, Loads>,
                              .threads = Threads,
                              .loads = Loads,
                              .spread = spread,
                              .finish = Finish::last_block});
}

}  // namespace hipscope::reduction
