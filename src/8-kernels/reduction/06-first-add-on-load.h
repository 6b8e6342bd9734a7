// First add on load: two values per thread, 4 values per step. Blocks of 256.
//
// Against rung 4: the first addition comes before the tree, so half as many blocks do as much, and
// twice as many bytes are on their way.
//
// On the H200 465 us, 50.0 % of rung 0's rate: 1.83 times as fast as rung 4.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    first_add_on_load_kernel(const Value* values, std::uint64_t count, Value* sums) {
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
  __shared__ Value in_lds[Threads];
  in_lds[threadIdx.x] = sum;
  unsigned left = Threads;
#pragma unroll
  for (; left > 4; left /= 4) {
    const unsigned next = left / 4;
    __syncthreads();
    if (threadIdx.x < next) {
#pragma unroll
      for (unsigned other = next; other < left; other += next) {
        sum += in_lds[threadIdx.x + other];
      }
      in_lds[threadIdx.x] = sum;
    }
  }
  __syncthreads();
  // The constant bound is for nvcc, which unrolls no loop that ends at a variable of another.
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned other = 1; other < 4 && other < left; ++other) {
      sum += in_lds[other];
    }
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
