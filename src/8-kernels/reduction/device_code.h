// What the stages of reduction.hip share and none of them is about: the sum of a wave and of a
// block, loads in batches, and an array as vectors of 16 bytes. `Value` is float or
// unsigned, whose sums wrap.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/scheduling_barrier.h>

#include <cstdint>
#include <type_traits>

namespace hipscope::reduction {

constexpr unsigned smallest_wave = 32;
constexpr unsigned largest_block = 1024;
constexpr unsigned vector_values = 4;  // of 32 bits in the widest load

// --- The sum of a wave ------------------------------------------------------------------------

#if defined(__HIP_DEVICE_COMPILE__)
// The value of another lane of the same row of 16, by AMD's DPP: as part of the instruction that
// uses it, without LDS hardware.
template <int Control, typename Value>
__device__ Value of_row(Value value) {
  constexpr int all = 0xF;
  return __builtin_bit_cast(
      Value, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, value), Control, all, all, true));
}

template <typename Value>
__device__ Value of_lane(Value value, int lane) {
  return __builtin_bit_cast(Value, __builtin_amdgcn_readlane(__builtin_bit_cast(int, value), lane));
}
#endif

// NVIDIA's warpSize is no constant for the compiler: it divides by it, and loops.
__device__ inline unsigned wave_lanes() {
#if defined(__CUDA_ARCH__)
  return smallest_wave;
#else
  return warpSize;
#endif
}

// The sum over the wave, all of whose lanes are active, in each of them.
template <typename Value>
__device__ Value wave_sum(Value sum) {
#if defined(__HIP_DEVICE_COMPILE__)
  constexpr int swap_neighbours = 0xB1;  // quad_perm:[1,0,3,2]
  constexpr int swap_pairs = 0x4E;       // quad_perm:[2,3,0,1]
  constexpr int half_mirror = 0x141;
  constexpr int mirror = 0x140;
  constexpr int row = 16;
  sum += of_row<swap_neighbours>(sum);
  sum += of_row<swap_pairs>(sum);
  sum += of_row<half_mirror>(sum);
  sum += of_row<mirror>(sum);
  const Value two_rows = of_lane(sum, 0) + of_lane(sum, row);
  return warpSize == 2 * row ? two_rows
                             : two_rows + (of_lane(sum, 2 * row) + of_lane(sum, 3 * row));
#else
  for (int distance = static_cast<int>(wave_lanes()) / 2; distance > 0; distance /= 2) {
#if defined(__CUDA_ARCH__)
    // The mask is a constant: to ask which lanes are active takes as long as the shuffle, or
    // longer.
    constexpr unsigned all_lanes = 0xFFFFFFFF;
    sum += __shfl_xor_sync(all_lanes, sum, distance);
#else
    sum += __shfl_xor(sum, distance);
#endif
  }
  return sum;
#endif
}

// The sum over the block, in all lanes of its first wave.
template <unsigned Threads, typename Value>
__device__ Value block_sum(Value sum) {
  __shared__ Value wave_sums[largest_block / smallest_wave];
  const unsigned lane = threadIdx.x % wave_lanes();
  const unsigned wave = threadIdx.x / wave_lanes();
  sum = wave_sum(sum);
  if (lane == 0) {
    wave_sums[wave] = sum;
  }
  __syncthreads();
  if (wave == 0) {
    sum = wave_sum(lane < Threads / wave_lanes() ? wave_sums[lane] : Value{});
  }
  return sum;
}

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

// Adds `Loads` vectors to `sum`: all loads first, then a tree. Those from `end` on do not count;
// they are loaded from `at`, which is before it, so that no load depends on a branch.
template <unsigned Threads, unsigned Loads, bool Whole, typename Access>
__device__ void add_tile(Access& sum, const Access* vectors, std::uint64_t at,
                         [[maybe_unused]] std::uint64_t end) {
  Access loaded[Loads];
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    const std::uint64_t place = at + i * Threads;
    loaded[i] = vectors[Whole || place < end ? place : at];
  }
  scheduling_barrier();
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    if (!Whole && at + i * Threads >= end) {
      loaded[i] = Access{};
    }
  }
  add_halves<Loads / 2>(loaded);
  add(sum, loaded[0]);
}

// Sums tile `first` of `Loads` vectors per thread, then the one `step` further, and so on; the last
// tile may be a part.
template <unsigned Threads, unsigned Loads, typename Value>
__device__ Value sum_tiles(const Vectors<Value>& input, unsigned first, unsigned step) {
  constexpr unsigned tile_vectors = Threads * Loads;
  const auto whole_tiles = static_cast<unsigned>(input.count / tile_vectors);
  Vector<Value> sum{};
  unsigned tile = first;
#pragma unroll 1
  for (; tile < whole_tiles; tile += step) {
    add_tile<Threads, Loads, true>(sum, input.vectors,
                                   std::uint64_t{tile} * tile_vectors + threadIdx.x, input.count);
  }
  const std::uint64_t at = std::uint64_t{tile} * tile_vectors + threadIdx.x;
  if (tile == whole_tiles && at < input.count) {
    add_tile<Threads, Loads, false>(sum, input.vectors, at, input.count);
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

}  // namespace hipscope::reduction
