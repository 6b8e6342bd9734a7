// 4 values per step, whose sums go through LDS as often as with 2 values per step: 8 times. Blocks
// of 256, one value per thread.
//
// Against 03 with 4: a thread stores the sum of three values and loads it again before it adds the
// fourth, so that every step is two round trips, one after the other, after one barrier. What that
// costs is what 03 gains by having fewer round trips; sweep `barriers`.
//
// On the H200 902 us where 4 values per step take 852 and 2 948: fewer barriers alone gain 4.9 %.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

// Makes the compiler forget what `index` was, so that it loads again what it has just stored.
__device__ inline void forget(unsigned& index) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(index));
#else
  asm volatile("" : "+r"(index));
#endif
}

template <typename Value, unsigned Threads>
__global__ void __launch_bounds__(Threads)
    four_values_eight_round_trips_kernel(const Value* values, std::uint64_t count, Value* sums) {
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
      for (unsigned other = 2 * next; other < left; other += next) {
        sum += in_lds[threadIdx.x + other];
      }
      unsigned place = threadIdx.x;
      in_lds[place] = sum;
      forget(place);
      sum = in_lds[place] + in_lds[threadIdx.x + next];
      in_lds[threadIdx.x] = sum;
    }
  }
  __syncthreads();
  // The constant bound is for nvcc, which unrolls no loop that ends at a variable of another.
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned other = 2; other < 4 && other < left; ++other) {
      sum += in_lds[other];
    }
    unsigned place = 0;
    in_lds[place] = sum;
    forget(place);
    sum = in_lds[place] + in_lds[1];
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256>
Stage<Value> four_values_eight_round_trips_stage() {
  constexpr unsigned values_per_step = 4;
  const TreeShape shape = tree_shape(Threads, values_per_step);
  return scalar_stage<Value>({.name = "4 barriers, 8 round trips",
                              .kernel = four_values_eight_round_trips_kernel<Value, Threads>,
                              .threads = Threads,
                              .loads = 1,
                              .depth = shape.depth,
                              .barriers = shape.steps});
}

}  // namespace hipscope::reduction
