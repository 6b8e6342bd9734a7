// 8 values per step: what V leaves to its reader. Blocks of 256, one value per thread (and of 512,
// V's 8 * 8 * 8, in sweep `steps`).
//
// Against rung 4: 3 steps in place of 4, the last of 4 values; with 512 threads 3 whole steps of 8.
//
// On the H200 776 us: 1.10 times as fast as rung 4; 1.23 times in blocks of 512.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    eight_values_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * Threads + threadIdx.x;
  const Value loaded = values[at < count ? at : count - 1];
  end_of_loads();
  Value sum{};
  sum += at < count ? loaded : Value{};
  __shared__ Value in_lds[Threads];
  in_lds[threadIdx.x] = sum;
  unsigned left = Threads;
#pragma unroll
  for (; left > 8; left /= 8) {
    const unsigned next = left / 8;
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
    for (unsigned other = 1; other < 8 && other < left; ++other) {
      sum += in_lds[other];
    }
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256>
Stage<Value> eight_values_stage() {
  constexpr unsigned values_per_step = 8;
  const TreeShape shape = tree_shape(Threads, values_per_step);
  return scalar_stage<Value>({.name = "8 values per step",
                              .kernel = eight_values_kernel<Value, Threads>,
                              .threads = Threads,
                              .loads = 1,
                              .depth = shape.depth,
                              .barriers = shape.steps});
}

}  // namespace hipscope::reduction
