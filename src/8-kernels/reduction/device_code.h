// Shared by the stages of reduction.hip: a thread's loads of single values, and an array as vectors
// of 16 bytes. `Value` is float or unsigned, whose sums wrap.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/scheduling_barrier.h>

#include <cstdint>
#include <type_traits>

namespace hipscope::reduction {

constexpr unsigned vector_values = 4;  // of 32 bits in the widest load

// --- Loads ------------------------------------------------------------------------------------

// All loads come before scheduling_barrier(). Left to itself, clang loads a few at a time where
// that saves registers.

// The sum of a thread's values: `Loads` of its block's tile, of which those from `count` on do not
// count; the last one is loaded in their place, so that no load depends on a branch.
template <unsigned Threads, unsigned Loads, typename Value>
__device__ Value sum_of_loads(const Value* values, std::uint64_t count) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * (Threads * Loads) + threadIdx.x;
  Value loaded[Loads];
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    const std::uint64_t at = first + i * Threads;
    loaded[i] = values[at < count ? at : count - 1];
  }
  scheduling_barrier();
  Value sum{};
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    sum += first + i * Threads < count ? loaded[i] : Value{};
  }
  return sum;
}

// --- Vectors ----------------------------------------------------------------------------------

template <typename Value>
using Vector = std::conditional_t<std::is_same_v<Value, float>, float4, uint4>;

template <typename Access>
__device__ void add(Access& sum, const Access& other) {
  sum.x += other.x;
  sum.y += other.y;
  sum.z += other.z;
  sum.w += other.w;
}

// Adds the first 2 * `Half` vectors up, into the first one. (As a loop of its own the tree is not
// unrolled for gfx900 with 16 vectors, which then are in scratch.)
template <unsigned Half, typename Access>
__device__ void add_halves(Access* vectors) {
  if constexpr (Half > 0) {
#pragma unroll
    for (unsigned i = 0; i < Half; ++i) {
      add(vectors[i], vectors[i + Half]);
    }
    add_halves<Half / 2>(vectors);
  }
}

// An array as vectors on their own boundaries, and what is left over before and after them.
template <typename Value>
struct Vectors {
  const Vector<Value>* vectors;
  std::uint64_t count;
  const Value* head;
  const Value* tail;
  unsigned head_count;
  unsigned tail_count;
};

template <typename Value>
__host__ __device__ Vectors<Value> vectors_of(const Value* values, std::uint64_t count) {
  const std::uint64_t past =
      reinterpret_cast<std::uintptr_t>(values) / sizeof(Value) % vector_values;
  const std::uint64_t to_boundary = (vector_values - past) % vector_values;
  const std::uint64_t head = to_boundary < count ? to_boundary : count;
  const std::uint64_t whole = (count - head) / vector_values;
  return {.vectors = reinterpret_cast<const Vector<Value>*>(values + head),
          .count = whole,
          .head = values,
          .tail = values + head + whole * vector_values,
          .head_count = static_cast<unsigned>(head),
          .tail_count = static_cast<unsigned>(count - head - whole * vector_values)};
}

// What is no part of a vector: at most three values at either end.
template <typename Value>
__device__ Value sum_ends(const Vectors<Value>& input) {
  Value sum{};
  if (threadIdx.x < input.head_count) {
    sum += input.head[threadIdx.x];
  }
  if (threadIdx.x < input.tail_count) {
    sum += input.tail[threadIdx.x];
  }
  return sum;
}

}  // namespace hipscope::reduction
