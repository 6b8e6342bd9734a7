// Shared device code of the stages: accesses of several values, stores of C, and barriers that keep
// clang from undoing an order.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/scheduling_barrier.h>
#include <hipscope/wait_for_lds.h>

#include <utility>

#include "8-kernels/gemm/split_tiles.h"

namespace sgemm {

/// The launch bound of a kernel of fileaccent's, who states none: clang for AMD then compiles for
/// blocks of up to 1024 threads, whose registers must fit into a CU together. That leaves 64 VGPRs
/// to a thread of gfx900, gfx906 and gfx908. nvcc would assume nothing; with the bound stated it
/// also leaves 64 registers, so that the H200 shows the same.
inline constexpr unsigned assumed_threads = 1024;
inline constexpr unsigned no_bound = 0;  ///< what nvcc takes as none stated

/// Waves are taken for 64 lanes, as on fileaccent's GPU. With waves of 32 such a group is two of
/// them; it is right on both.
inline constexpr unsigned wave_lanes = 64;

/// Four values by one access; the address is a multiple of 16 bytes.
__device__ inline float4 load_four(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
__device__ inline void store_four(float* to, float4 values) {
  *reinterpret_cast<float4*>(to) = values;
}

/// Two or four values by one access of 8 or 16 bytes.
__device__ inline void load(float (&values)[2], const float* from) {
  const float2 two = *reinterpret_cast<const float2*>(from);
  values[0] = two.x;
  values[1] = two.y;
}
__device__ inline void load(float (&values)[4], const float* from) {
  const float4 four = load_four(from);
  values[0] = four.x;
  values[1] = four.y;
  values[2] = four.z;
  values[3] = four.w;
}

/// Four values to places `pitch` apart: a row that becomes a column.
__device__ inline void store_transposed(float* to, unsigned pitch, float4 values) {
  to[0] = values.x;
  to[pitch] = values.y;
  to[2 * pitch] = values.z;
  to[3 * pitch] = values.w;
}

struct CopyPlace {
  int row;
  int column;
};
/// Where in a tile of `rows` x `columns` the neighbours begin that a thread copies.
__device__ __forceinline__ CopyPlace place_to_copy(int rows, int columns, int thread, int threads) {
  const int value = thread * ((rows * columns + threads - 1) / threads);
  return {value / columns, value % columns};
}

/// Stores four values of a row of A, from `k` on, to a transposed tile.
__device__ __forceinline__ void store_column(float* tile, int pitch, int k, int row,
                                             float4 values) {
  tile[k * pitch + row] = values.x;
  tile[(k + 1) * pitch + row] = values.y;
  tile[(k + 2) * pitch + row] = values.z;
  tile[(k + 3) * pitch + row] = values.w;
}

/// C = alpha sum + beta C. Where beta is 0, C is not read: it may hold anything, NaN as well.
__device__ inline void store_result(float* c, float alpha, float sum, float beta) {
  *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

/// The same for four or eight neighbours, by accesses of 16 bytes.
__device__ inline void store_results(float* c, float alpha, const float (&sums)[4], float beta) {
  float4 results = make_float4(alpha * sums[0], alpha * sums[1], alpha * sums[2], alpha * sums[3]);
  if (beta != 0) {
    const float4 before = load_four(c);
    results.x += beta * before.x;
    results.y += beta * before.y;
    results.z += beta * before.z;
    results.w += beta * before.w;
  }
  store_four(c, results);
}
__device__ inline void store_results(float* c, float alpha, const float (&sums)[8], float beta) {
  const float left[4] = {sums[0], sums[1], sums[2], sums[3]};
  const float right[4] = {sums[4], sums[5], sums[6], sums[7]};
  store_results(c, alpha, left, beta);
  store_results(c + 4, alpha, right, beta);
}

/// Two values side by side: what a packed FMA of gfx90a and later takes from two registers.
#if defined(__HIP_DEVICE_COMPILE__)
using Pair = float __attribute__((ext_vector_type(2)));
#else
struct Pair {
  float x;
  float y;
};
#endif

/// sum += a * b for both of a pair: one instruction where there are packed FMAs, else two.
__device__ inline void multiply_add(Pair& sum, float a, Pair b) {
#if defined(__HIP_DEVICE_COMPILE__)
  sum += a * b;
#else
  sum.x += a * b.x;
  sum.y += a * b.y;
#endif
}

/// The same for one.
__device__ inline void multiply_add(float& sum, float a, float b) { sum += a * b; }

/// What one multiply-add of a pipelined stage takes: two neighbouring columns where there are
/// packed FMAs, else one.
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
using FmaColumns = Pair;
#else
using FmaColumns = float;
#endif
inline constexpr unsigned fma_columns = sizeof(FmaColumns) / sizeof(float);

__device__ inline void load(Pair (&values)[2], const float* from) {
  const float4 four = load_four(from);
  values[0] = {four.x, four.y};
  values[1] = {four.z, four.w};
}

__device__ inline float value_of(float sum, unsigned) { return sum; }
__device__ inline float value_of(Pair sums, unsigned column) {
  return column == 0 ? sums.x : sums.y;
}
__device__ inline void add_to(float& sum, unsigned, float value) { sum += value; }
__device__ inline void add_to(Pair& sums, unsigned column, float value) {
  if (column == 0) {
    sums.x += value;
  } else {
    sums.y += value;
  }
}

using gemm::Place;

/// Moves a value that all lanes share to a scalar register: clang computes some of them, divisions
/// above all, with vector instructions.
__device__ inline unsigned same_for_all_lanes(unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  value = __builtin_amdgcn_readfirstlane(value);
#endif
  return value;
}
__device__ inline Place same_for_all_lanes(Place place) {
  return {same_for_all_lanes(place.row), same_for_all_lanes(place.column)};
}

/// Hides from clang what `value` was before this place. Else it would compute all addresses that
/// follow from it before the loop over tiles, and keep them in registers until there are none.
template <typename Value>
__device__ inline Value computed_here(Value value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}
/// threadIdx.x, of which clang knows only that it is under 1024: its multiples have 32 bits.
__device__ inline unsigned thread_index() {
#if defined(__HIP_DEVICE_COMPILE__)
  return computed_here<unsigned>(threadIdx.x) % 1024;
#else
  return threadIdx.x;
#endif
}

/// Loaded values in neighbouring registers. For gfx90a clang else puts one beside a factor of
/// packed FMAs, of which only the factor counts; they would wait for the load all the same.
template <unsigned count>
__device__ void keep_together([[maybe_unused]] float (&values)[count]) {
#if defined(__HIP_DEVICE_COMPILE__)
  using Together = float __attribute__((ext_vector_type(count)));
  Together together;
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    together[i] = values[i];
  }
  asm volatile("" : "+v"(together));
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    values[i] = together[i];
  }
#endif
}

/// An element's place. On AMD as 32 bits of offset in bytes, which a load adds by itself to an
/// address that all lanes have: so it must be within 4 GiB from there.
__device__ inline const float* at(const float* base, unsigned index) {
#if defined(__HIP_DEVICE_COMPILE__)
  unsigned bytes = index * static_cast<unsigned>(sizeof(float));
  asm volatile("" : "+v"(bytes));  // else clang makes 64 bits of it before a loop
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(base) + bytes);
#else
  return base + index;
#endif
}

template <unsigned count>
using UpTo = std::make_integer_sequence<unsigned, count>;

/// Calls body<0>() ... body<count - 1>(), so that each knows its k when it compiles; where k counts
/// by a `period` alone, as often body<0>() ... body<period - 1>(). (One function more between body
/// and kernel, and clang would simplify all that they hold once more before it inlines it.)
template <unsigned period, unsigned... k, typename Body>
__device__ void for_each_k(std::integer_sequence<unsigned, k...>, const Body& body) {
  (body.template operator()<k % period>(), ...);
}

using hipscope::memory_scheduling_barrier;
using hipscope::scheduling_barrier;
using hipscope::wait_for_lds;

}  // namespace sgemm
