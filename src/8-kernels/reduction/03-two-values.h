// Ours: 2 values per step, and a total. Blocks of 256, one value per thread; further launches of
// the same kernel sum the blocks' sums until one is left.
//
// Against V's (rung 1): any number of values, FP32 as well; each thread keeps its own sum in a
// register, so that a step reads one value from LDS, not two, and the last step stores none there.
//
// On the H200 946 us for 2^28 values, 24.5 % of rung 0's rate.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    two_values_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * Threads + threadIdx.x;
  const Value loaded = values[at < count ? at : count - 1];
  end_of_loads();
  Value sum{};
  sum += at < count ? loaded : Value{};
  __shared__ Value in_lds[Threads];
  in_lds[threadIdx.x] = sum;
  unsigned left = Threads;
#pragma unroll
  for (; left > 2; left /= 2) {
    const unsigned next = left / 2;
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
    for (unsigned other = 1; other < 2 && other < left; ++other) {
      sum += in_lds[other];
    }
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256>
Stage<Value> two_values_stage() {
  constexpr unsigned values_per_step = 2;
  const TreeShape shape = tree_shape(Threads, values_per_step);
  return scalar_stage<Value>({.name = "2 values per step",
                              .kernel = two_values_kernel<Value, Threads>,
                              .threads = Threads,
                              .loads = 1,
                              .depth = shape.depth,
                              .barriers = shape.steps});
}

}  // namespace hipscope::reduction
