// 4 values per step and as many barriers as 2 values per step take: 8. Blocks of 256, one value per
// thread.
//
// Against 03 with 4: another barrier in every step, between its loads and its store, where nothing
// needs one. What that costs is what 03 gains by having fewer barriers; sweep `barriers`.
//
// On the H200 906 us where 4 values per step take 852 and 2 948: fewer round trips alone gain 4.5
// %.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    four_values_eight_barriers_kernel(const Value* values, std::uint64_t count, Value* sums) {
  Value sum = sum_of_loads<Threads, 1>(values, count);
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
    }
    __syncthreads();
    if (threadIdx.x < next) {
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
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256>
Stage<Value> four_values_eight_barriers_stage() {
  constexpr unsigned values_per_step = 4;
  const TreeShape shape = tree_shape(Threads, values_per_step);
  return scalar_stage<Value>({.name = "8 barriers, 4 round trips",
                              .kernel = four_values_eight_barriers_kernel<Value, Threads>,
                              .threads = Threads,
                              .loads = 1,
                              .depth = shape.depth,
                              .barriers = 2 * shape.steps});
}

}  // namespace hipscope::reduction
