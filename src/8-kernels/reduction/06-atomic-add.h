// Single pass, atomic add: the blocks add their sums to the total, which starts as 0. Blocks of
// 256, no more than fit at once.
//
// Against 05: no second launch for the sums, but one before it that zeroes the total; the order of
// additions is the order in which blocks end.
#pragma once

#include "05-vector-loads.h"

namespace hipscope::reduction {

// (Without the second launch bound the compilers keep to few registers, and have fewer loads in
// flight than are written here.)
template <typename Value, unsigned Threads, unsigned Loads>
__global__ void __launch_bounds__(Threads, 1)
    atomic_add_kernel(Vectors<Value> input, unsigned blocks, Value* /*sums*/, Value* total,
                      unsigned* /*counter*/) {
  Value sum = sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  sum = block_sum<Threads>(sum);
  if (threadIdx.x == 0) {
    atomicAdd(total, sum);
  }
}

template <typename Value, unsigned Threads = 256, unsigned Loads = 8>
Stage<Value> atomic_add_stage() {
  return vector_stage<Value>({.name = "single pass, atomic add",
                              .kernel = atomic_add_kernel<Value, Threads, Loads>,
                              .threads = Threads,
                              .loads = Loads,
                              .spread = to_resident_blocks,
                              .finish = Finish::add});
}

}  // namespace hipscope::reduction
