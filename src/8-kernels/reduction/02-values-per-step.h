// Ours: 2, 4 or 8 values per step, and a total. Blocks of 256, one value per thread (in sweep
// `steps` also of 512, which are 8 * 8 * 8, and of 1024); further launches of the same kernel sum
// the blocks' sums until one is left.
//
// Against the source's (01): any number of values, FP32 as well; each thread keeps its own sum in a
// register, so that a step reads one value less from LDS, and the last step stores none there. 2
// values per step make 8 steps of 256 threads' sums, 4 make 4: half the barriers and half the round
// trips through LDS (a sum that is stored and loaded again), and each value is still added once. 8
// values, which the source leaves to its reader, make 3 steps, the last one of 4 values. Which of
// the two savings counts: trees_apart.h.
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
