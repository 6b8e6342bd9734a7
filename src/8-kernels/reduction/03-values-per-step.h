// Ours: 2, 4 or 8 values per step, and a total. Blocks of 256, one value per thread (and of 512,
// the source's 8 * 8 * 8, in sweep `steps`); further launches of the same kernel sum the blocks'
// sums until one is left.
//
// Against the source's (01): any number of values, FP32 as well; each thread keeps its own sum in a
// register, so that a step reads one value less from LDS, and the last step stores none there. With
// 4 values per step there are 4 steps in place of 8, so half the barriers and half the round trips
// through LDS, and each value is still added once; with 8, what the source leaves to its reader, 3,
// the last of 4 values.
//
// On the H200 946 us for 2^28 values with 2 values per step, 24.5 % of the rate of 00; with 4 851
// us, 1.11 times as fast; with 8 776 us, 1.10 times as fast again, 1.23 times in blocks of 512.
//
// What 4 values per step gain on 2 is taken apart in sweep `barriers`, by two trees that have but
// one of the two gains. With a second barrier in every step, where nothing needs one, 906 us where
// 4 values per step take 852 and 2 948: fewer round trips alone gain 4.5 %. With a second round
// trip, for which a thread stores the sum of three values and loads it again before it adds the
// fourth, 902 us: fewer barriers alone gain 4.9 %.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

enum class Tree { plain, two_barriers, two_round_trips };  // of a step

// Makes the compiler forget what `index` was, so that it loads again what it has just stored.
__device__ inline void forget(unsigned& index) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(index));
#else
  asm volatile("" : "+r"(index));
#endif
}

// The second round trip of a step: `sum` goes through LDS, before the step's first value is added.
template <typename Value>
__device__ Value through_lds(Value* in_lds, unsigned next, Value sum) {
  unsigned place = threadIdx.x;
  in_lds[place] = sum;
  forget(place);
  return in_lds[place] + in_lds[threadIdx.x + next];
}

/// Adds up the threads' sums through LDS, `PerStep` at a time; the total is thread 0's.
template <unsigned Threads, unsigned PerStep, Tree tree = Tree::plain, typename Value>
__device__ Value tree_sum(Value sum) {
  constexpr unsigned first = tree == Tree::two_round_trips ? 2 : 1;
  __shared__ Value in_lds[Threads];
  in_lds[threadIdx.x] = sum;
  unsigned left = Threads;
#pragma unroll
  for (; left > PerStep; left /= PerStep) {
    const unsigned next = left / PerStep;
    __syncthreads();
    if (threadIdx.x < next) {
#pragma unroll
      for (unsigned other = first * next; other < left; other += next) {
        sum += in_lds[threadIdx.x + other];
      }
      if constexpr (tree == Tree::two_round_trips) {
        sum = through_lds(in_lds, next, sum);
      }
      if constexpr (tree != Tree::two_barriers) {
        in_lds[threadIdx.x] = sum;
      }
    }
    if constexpr (tree == Tree::two_barriers) {
      __syncthreads();
      if (threadIdx.x < next) {
        in_lds[threadIdx.x] = sum;
      }
    }
  }
  __syncthreads();
  // The constant bound is for nvcc, which unrolls no loop that ends at a variable of another.
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned other = first; other < PerStep && other < left; ++other) {
      sum += in_lds[other];
    }
    if constexpr (tree == Tree::two_round_trips) {
      sum = through_lds(in_lds, 1, sum);
    }
  }
  if constexpr (tree == Tree::two_barriers) {
    __syncthreads();
  }
  return sum;
}

template <typename Value, unsigned Threads, unsigned PerStep, Tree tree>
__global__ void __launch_bounds__(Threads)
    values_per_step_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum = tree_sum<Threads, PerStep, tree>(sum_of_loads<Threads, 1>(values, count));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned PerStep, unsigned Threads = 256, Tree tree = Tree::plain>
Stage<Value> values_per_step_stage() {
  const TreeShape shape = tree_shape(Threads, PerStep);
  return scalar_stage<Value>(
      {.name = std::to_string(PerStep) + " values per step",
       .kernel = values_per_step_kernel<Value, Threads, PerStep, tree>,
       .threads = Threads,
       .loads = 1,
       .depth = shape.depth,
       .barriers = tree == Tree::two_barriers ? 2 * shape.steps : shape.steps});
}

}  // namespace hipscope::reduction
