// Why 4 values per step are faster than 2 (02): two trees that each have only one of the two
// savings. For sweep `barriers`; no stages.
//
// With a second, unneeded barrier in every step the tree saves only round trips through LDS: on the
// H200 901 us, where 2 values per step take 945 and 4 take 850, a gain of 4.7 %. With a second
// round trip in every step (a thread stores the sum of three values and loads it again before it
// adds the fourth) the tree saves only barriers: 918 us, 2.9 %.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

enum class Twice { barriers, round_trips };  // in each step

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

// As tree_sum in 02, with one of the two twice.
template <unsigned Threads, unsigned PerStep, Twice twice, typename Value>
__device__ Value tree_apart_sum(Value sum) {
  constexpr unsigned first = twice == Twice::round_trips ? 2 : 1;
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
      if constexpr (twice == Twice::round_trips) {
        sum = through_lds(in_lds, next, sum);
        in_lds[threadIdx.x] = sum;
      }
    }
    if constexpr (twice == Twice::barriers) {
      __syncthreads();
      if (threadIdx.x < next) {
        in_lds[threadIdx.x] = sum;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned other = first; other < PerStep && other < left; ++other) {
      sum += in_lds[other];
    }
    if constexpr (twice == Twice::round_trips) {
      sum = through_lds(in_lds, 1, sum);
    }
  }
  if constexpr (twice == Twice::barriers) {
    __syncthreads();
  }
  return sum;
}

template <typename Value, unsigned Threads, unsigned PerStep, Twice twice>
__global__ void __launch_bounds__(Threads)
    tree_apart_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum =
      tree_apart_sum<Threads, PerStep, twice>(sum_of_loads<Threads, 1>(values, count));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, Twice twice>
Stage<Value> tree_apart_stage() {
  constexpr unsigned threads = 256;
  constexpr unsigned per_step = 4;
  const TreeShape shape = tree_shape(threads, per_step);
  return scalar_stage<Value>(
      {.name = "4 values per step",
       .kernel = tree_apart_kernel<Value, threads, per_step, twice>,
       .threads = threads,
       .loads = 1,
       .depth = shape.depth,
       .barriers = twice == Twice::barriers ? 2 * shape.steps : shape.steps});
}

}  // namespace hipscope::reduction
