// Ours: 2, 4 or 8 values per step, and a total. Blocks of 256, one value per thread (and of 512,
// the source's 8 * 8 * 8, in sweep `steps`); further launches of the same kernel sum the blocks'
// sums until one is left.
//
// Against the source's (01): any number of values, FP32 as well; each thread keeps its own sum in a
// register, so that a step reads one value less from LDS, and the last step stores none there. With
// 4 values per step there are 4 steps in place of 8, so half the barriers and half the round trips
// through LDS, and each value is still added once (03.1 and 03.2 have but one of the two gains);
// with 8, what the source leaves to its reader, 3, the last of 4 values.
//
// On the H200 946 us for 2^28 values with 2 values per step, 24.5 % of the rate of 00; with 4 851
// us, 1.11 times as fast; with 8 776 us, 1.10 times as fast again, 1.23 times in blocks of 512.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

/// Adds up the threads' sums through LDS, `PerStep` at a time; the total is thread 0's.
template <unsigned Threads, unsigned PerStep, typename Value>
__device__ Value tree_sum(Value sum) {
  __shared__ Value in_lds[Threads];
  in_lds[threadIdx.x] = sum;
  unsigned left = Threads;
#pragma unroll
  for (; left > PerStep; left /= PerStep) {
    const unsigned next = left / PerStep;
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
    for (unsigned other = 1; other < PerStep && other < left; ++other) {
      sum += in_lds[other];
    }
  }
  return sum;
}

template <typename Value, unsigned Threads, unsigned PerStep>
__global__ void __launch_bounds__(Threads)
    values_per_step_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum = tree_sum<Threads, PerStep>(sum_of_loads<Threads, 1>(values, count));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned PerStep, unsigned Threads = 256>
Stage<Value> values_per_step_stage() {
  const TreeShape shape = tree_shape(Threads, PerStep);
  return scalar_stage<Value>({.name = std::to_string(PerStep) + " values per step",
                              .kernel = values_per_step_kernel<Value, Threads, PerStep>,
                              .threads = Threads,
                              .loads = 1,
                              .depth = shape.depth,
                              .barriers = shape.steps});
}

}  // namespace hipscope::reduction
