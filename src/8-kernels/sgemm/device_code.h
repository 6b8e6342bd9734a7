// What the rungs share: accesses of several values, how C is stored, and where an order is held.
#pragma once

#include <hip/hip_runtime.h>

namespace sgemm {

/// The launch bound of a kernel of fileaccent's, who states none: clang for AMD then compiles for
/// blocks of up to 1024 threads, whose registers must fit into a CU together. That leaves 64 VGPRs
/// to a thread of gfx900, gfx906 and gfx908. nvcc would assume nothing; with the bound stated it
/// also leaves 64 registers, so that the H200 shows the same.
inline constexpr unsigned assumed_threads = 1024;

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

/// C = alpha sum + beta C. Where beta is 0, C is not read: it may hold anything, NaN as well.
__device__ inline void store_result(float* c, float alpha, float sum, float beta) {
  *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

/// The same for four neighbours, by accesses of 16 bytes.
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

/// A place in a matrix or a tile.
struct Place {
  unsigned row;
  unsigned column;
};

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

/// The same for loads whose values are used behind a loop: clang moves such from before it.
__device__ inline void hold_loads() {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" ::: "memory");
#endif
  hold_order();
}

/// Waits for all loads from LDS, where the compiler would wait for them one by one as they are
/// used. (NVIDIA has no such instruction: the hardware tracks registers.)
__device__ inline void wait_for_lds() {
#if defined(__GFX9__) || defined(__GFX10__)
  __builtin_amdgcn_s_waitcnt(0xC07F);  // lgkmcnt(0), the others at their most
#elif defined(__GFX11__)
  __builtin_amdgcn_s_waitcnt(0xFC07);  // the same; its bits lie elsewhere
#elif defined(__GFX12__) && __has_builtin(__builtin_amdgcn_s_wait_dscnt)
  __builtin_amdgcn_s_wait_dscnt(0);
#endif
}

}  // namespace sgemm
