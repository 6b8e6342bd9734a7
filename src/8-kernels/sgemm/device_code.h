// What the kernels share: loads and stores of several values, the FMAs of a thread tile, how C is
// stored, and where a thread stands in a block.
#pragma once

#include <hip/hip_runtime.h>

namespace sgemm {

/// The launch bound of a kernel of the source, which states none: clang for AMD then compiles for
/// blocks of up to 1024 threads, whose registers must fit into a CU together. That leaves 64 VGPRs
/// to a thread of gfx900, gfx906 and gfx908. nvcc would assume nothing; with the bound stated it
/// also leaves 64 registers, so that the H200 shows the same.
inline constexpr unsigned assumed_threads = 1024;

/// Waves are taken for 64 lanes, as on the source's GPU. With waves of 32 such a group is two of
/// them; it is right on both.
inline constexpr unsigned wave_lanes = 64;

/// Four values by one access; the address is a multiple of 16 bytes.
__device__ inline float4 load_four(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}
__device__ inline void store_four(float* to, float4 values) {
  *reinterpret_cast<float4*>(to) = values;
}

/// `count` values by as few accesses as their number allows, of 16, 8 or 4 bytes.
template <unsigned count>
__device__ void load(float (&values)[count], const float* from) {
  if constexpr (count % 4 == 0) {
#pragma unroll
    for (unsigned i = 0; i < count; i += 4) {
      const float4 four = load_four(from + i);
      values[i] = four.x;
      values[i + 1] = four.y;
      values[i + 2] = four.z;
      values[i + 3] = four.w;
    }
  } else if constexpr (count % 2 == 0) {
#pragma unroll
    for (unsigned i = 0; i < count; i += 2) {
      const float2 two = *reinterpret_cast<const float2*>(from + i);
      values[i] = two.x;
      values[i + 1] = two.y;
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
      values[i] = from[i];
    }
  }
}

/// Four values to places `pitch` apart: a row that becomes a column.
__device__ inline void store_transposed(float* to, unsigned pitch, float4 values) {
  to[0] = values.x;
  to[pitch] = values.y;
  to[2 * pitch] = values.z;
  to[3 * pitch] = values.w;
}

/// The FMAs of a thread tile for `depth` k: `a` holds its rows' values, `b` its columns'.
template <unsigned rows, unsigned columns, unsigned depth>
__device__ void multiply_add(float (&sums)[rows][columns], const float (&a)[rows][depth],
                             const float (&b)[depth][columns]) {
#pragma unroll
  for (unsigned k = 0; k < depth; ++k) {
#pragma unroll
    for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
      for (unsigned j = 0; j < columns; ++j) {
        sums[i][j] += a[i][k] * b[k][j];
      }
    }
  }
}

/// The FMAs of a thread tile for one k.
template <unsigned rows, unsigned columns>
__device__ void multiply_add(float (&sums)[rows][columns], const float (&a)[rows],
                             const float (&b)[columns]) {
#pragma unroll
  for (unsigned i = 0; i < rows; ++i) {
#pragma unroll
    for (unsigned j = 0; j < columns; ++j) {
      sums[i][j] += a[i] * b[j];
    }
  }
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

/// C = alpha sum + beta C. Where beta is 0, C is not read: it may hold anything, NaN as well.
__device__ inline void store_result(float* c, float alpha, float sum, float beta) {
  *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

/// The same for `count` neighbours, four at a time.
template <unsigned count>
__device__ void store_results(float* c, float alpha, const float (&sums)[count], float beta) {
  static_assert(count % 4 == 0);
#pragma unroll
  for (unsigned i = 0; i < count; i += 4) {
    float4 results =
        make_float4(alpha * sums[i], alpha * sums[i + 1], alpha * sums[i + 2], alpha * sums[i + 3]);
    if (beta != 0) {
      const float4 before = load_four(c + i);
      results.x += beta * before.x;
      results.y += beta * before.y;
      results.z += beta * before.z;
      results.w += beta * before.w;
    }
    store_four(c + i, results);
  }
}

/// No load or store moves from before this place in the code to behind it, or back, and on AMD no
/// instruction does once there are instructions: loads that are to be on their way early stay
/// early. (Before, clang may move arithmetic: for gfx90a it does, to join FMAs by two, unless the
/// source has them in pairs.) ptxas, which makes NVIDIA's machine code, keeps to it as far as it
/// likes.
__device__ inline void hold_order() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#elif defined(__CUDA_ARCH__)
  asm volatile("" ::: "memory");
#endif
}

/// A thread's place among the 16 x 16 of its block.
struct Place {
  unsigned row;
  unsigned column;
};

/// How 256 threads are laid over a block's tile.
enum class Layout {
  rows_of_16,          ///< thread t at row t / 16, column t % 16
  waves_8x8,           ///< 2 x 2 waves of 8 x 8 lanes
  waves_4x16,          ///< 4 waves, one above the other, of 4 rows of 16 lanes
  waves_4x16_z_order,  ///< the same, the lanes along a z-order curve
  waves_8x8_z_order,   ///< 2 x 2 waves of 8 x 8 lanes along a z-order curve
};

/// Bit `from` of `lane`, as bit `to`.
__device__ constexpr unsigned move_bit(unsigned lane, unsigned from, unsigned to) {
  return (lane >> from & 1U) << to;
}

template <Layout layout>
__device__ Place place_of(unsigned thread) {
  const unsigned wave = thread / wave_lanes;
  const unsigned lane = thread % wave_lanes;
  if constexpr (layout == Layout::waves_8x8) {
    return {wave / 2 * 8 + lane / 8, wave % 2 * 8 + lane % 8};
  } else if constexpr (layout == Layout::waves_4x16) {
    return {wave * 4 + lane / 16, lane % 16};
  } else if constexpr (layout == Layout::waves_4x16_z_order) {
    const unsigned row = move_bit(lane, 1, 0) | move_bit(lane, 3, 1);
    const unsigned column = move_bit(lane, 0, 0) | move_bit(lane, 2, 1) | (lane >> 4) << 2;
    return {wave * 4 + row, column};
  } else if constexpr (layout == Layout::waves_8x8_z_order) {
    const unsigned row = move_bit(lane, 1, 0) | move_bit(lane, 3, 1) | move_bit(lane, 5, 2);
    const unsigned column = move_bit(lane, 0, 0) | move_bit(lane, 2, 1) | move_bit(lane, 4, 2);
    return {wave / 2 * 8 + row, wave % 2 * 8 + column};
  } else {
    return {thread / 16, thread % 16};
  }
}

}  // namespace sgemm
