// First add on load: two values per thread, 4 values per step. Blocks of 256.
//
// Against 02 with 4 values per step: a thread loads two values (sum_of_loads<Threads, 2>) and adds
// them before the tree, so half as many blocks do as much, and twice as many bytes are in flight.
#pragma once

#include "02-values-per-step.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    first_add_on_load_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum = tree_sum<Threads, 4>(sum_of_loads<Threads, 2>(values, count));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256>
Stage<Value> first_add_on_load_stage() {
  constexpr unsigned values_per_step = 4;
  const TreeShape shape = tree_shape(Threads, values_per_step);
  return scalar_stage<Value>({.name = "first add on load",
                              .kernel = first_add_on_load_kernel<Value, Threads>,
                              .threads = Threads,
                              .loads = 2,
                              .depth = shape.depth,
                              .barriers = shape.steps});
}

}  // namespace hipscope::reduction
