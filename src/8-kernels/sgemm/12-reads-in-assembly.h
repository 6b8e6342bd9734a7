// The loads from LDS in assembly, each step's together with the wait for them in one asm statement,
// whose outputs are valid when it ends. (AMD; elsewhere ordinary loads.)
//
// Against 11, with 07.4's copies, buffers and padding: fileaccent tried this, and lost data.
// Between two statements, one that loads and one that waits, the registers are not loaded yet, and
// the compiler does not know. One statement is safe, but nothing overlaps with the FMAs, and
// addresses are computed again for each statement.
// On the H200, by ordinary loads, 33.08 TFLOP/s, 1.01 times 07.4.
#pragma once

#include <hipscope/lds.h>
#include <hipscope/wait_for_lds.h>

#include "device_code.h"
#include "stage.h"

namespace sgemm {

/// A thread's operands for two k: 4 rows of A's tile, `a_pitch` apart, and 2 of B's. They must not
/// share registers with the addresses, which later loads still need ("&").
template <unsigned a_pitch, unsigned b_pitch>
__device__ void read_two_k_in_assembly(float (&a)[4][2], float (&b)[2][4], const float* a_from,
                                       const float* b_from) {
#if defined(__HIP_DEVICE_COMPILE__)
  using Two = float __attribute__((ext_vector_type(2)));
  using Four = float __attribute__((ext_vector_type(4)));
  Two of_a[4];
  Four of_b[2];
  asm volatile(
      "ds_read_b64 %0, %6\n\t"
      "ds_read_b64 %1, %6 offset:%8\n\t"
      "ds_read_b64 %2, %6 offset:%9\n\t"
      "ds_read_b64 %3, %6 offset:%10\n\t"
      "ds_read_b128 %4, %7\n\t"
      "ds_read_b128 %5, %7 offset:%11\n\t" HIPSCOPE_WAIT_FOR_LDS
      : "=&v"(of_a[0]), "=&v"(of_a[1]), "=&v"(of_a[2]), "=&v"(of_a[3]), "=&v"(of_b[0]),
        "=&v"(of_b[1])
      : "v"(hipscope::lds_address(reinterpret_cast<const unsigned*>(a_from))),
        "v"(hipscope::lds_address(reinterpret_cast<const unsigned*>(b_from))),
        "n"(a_pitch * sizeof(float)), "n"(2 * a_pitch * sizeof(float)),
        "n"(3 * a_pitch * sizeof(float)), "n"(b_pitch * sizeof(float))
      : "memory");
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    a[i / 2][i % 2] = of_a[i / 2][i % 2];
    b[i / 4][i % 4] = of_b[i / 4][i % 4];
  }
#else
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    load(a[i], a_from + i * a_pitch);
  }
#pragma unroll
  for (unsigned s = 0; s < 2; ++s) {
    load(b[s], b_from + s * b_pitch);
  }
#endif
}

static __global__ void __launch_bounds__(assumed_threads)
    reads_in_assembly_kernel(Extents extents, float alpha, const float* __restrict__ a,
                             const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned step = 2;
  constexpr unsigned padding = 8;
  constexpr unsigned a_pitch = depth + padding;
  constexpr unsigned b_pitch = block_columns + padding;
  alignas(16) __shared__ float a_tile[2][block_rows * a_pitch];
  alignas(16) __shared__ float b_tile[2][depth * b_pitch];
  const Place place = {threadIdx.x / 16, threadIdx.x % 16};
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * thread_rows) * extents.ldc +
       blockIdx.x * block_columns + place.column * thread_columns;
  const auto store_tiles = [&](unsigned buffer, float4 of_a, float4 of_b) {
    store_four(a_tile[buffer] + a_copy_row * a_pitch + a_copy_k, of_a);
    store_four(b_tile[buffer] + b_copy_k * b_pitch + b_copy_column, of_b);
  };
  float sums[thread_rows][thread_columns] = {};
  store_tiles(0, load_four(a), load_four(b));
  __syncthreads();
  const unsigned tiles = extents.k / depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    // After the last tile the same is loaded once more: in the loop there is nothing to decide.
    const unsigned advance = tile + 1 < tiles ? 1 : 0;
    a += advance * depth;
    b += advance * depth * extents.ldb;
    const float4 next_of_a = load_four(a);
    const float4 next_of_b = load_four(b);
    scheduling_barrier();
    const float* const a_mine = a_tile[tile % 2] + place.row * thread_rows * a_pitch;
    const float* const b_mine = b_tile[tile % 2] + place.column * thread_columns;
#pragma unroll
    for (unsigned k = 0; k < depth; k += step) {
      float a_fragment[thread_rows][step];
      float b_fragment[step][thread_columns];
      read_two_k_in_assembly<a_pitch, b_pitch>(a_fragment, b_fragment, a_mine + k,
                                               b_mine + k * b_pitch);
#pragma unroll
      for (unsigned s = 0; s < step; ++s) {
#pragma unroll
        for (unsigned i = 0; i < thread_rows; ++i) {
#pragma unroll
          for (unsigned j = 0; j < thread_columns; ++j) {
            sums[i][j] += a_fragment[i][s] * b_fragment[s][j];
          }
        }
      }
    }
    scheduling_barrier();
    store_tiles((tile + 1) % 2, next_of_a, next_of_b);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + i * extents.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
