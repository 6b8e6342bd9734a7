// Against 4.07: 8 x 8 elements per thread. 4 x 4 ask LDS for 4 bytes per FMA: at 128 bytes per
// cycle that feeds 32 FMAs per cycle and CU, half of what an H200, an MI200 or an MI300 can do. 8 x
// 8 ask for 2, exactly what 64 FMAs per cycle need. The sums take 128 registers; tiles of 128 x
// 128, read in pairs that lie side by side for neighbouring lanes.
// On the H200 21.42 TFLOP/s, 1.33 times 4.07, 64.1 % of the peak.
#pragma once

#include "stage.h"

namespace dgemm {

static __global__ void __launch_bounds__(256, 1)
    register_tile_kernel(Extents extents, double alpha, const double* __restrict__ a,
                         const double* __restrict__ b, double beta, double* __restrict__ c) {
  constexpr unsigned side = 128;
  constexpr unsigned depth = 8;
  constexpr unsigned tile_of_thread = 8;
  constexpr unsigned pairs = tile_of_thread / 2;
  constexpr unsigned distance = 32;  // from a thread's pair to its next
  constexpr unsigned copies = 2;     // of 16 bytes, per thread and matrix
  alignas(16) __shared__ double a_tiles[2][depth][side + 2];
  alignas(16) __shared__ double b_tiles[2][depth][side + 2];
  const unsigned first_row = threadIdx.x / 16 * 2;
  const unsigned first_column = threadIdx.x % 16 * 2;
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 2;
  const unsigned b_k = threadIdx.x / 64;
  const unsigned b_column = threadIdx.x % 64 * 2;
  a += (blockIdx.y * side + a_row) * extents.lda + a_k;
  b += b_k * extents.ldb + blockIdx.x * side + b_column;
  c += (blockIdx.y * side + first_row) * extents.ldc + blockIdx.x * side + first_column;
  double2 next_of_a[copies];
  double2 next_of_b[copies];
  const auto load_tiles = [&] {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      next_of_a[i] = load_two(a + i * 64 * extents.lda);
      next_of_b[i] = load_two(b + i * 4 * extents.ldb);
    }
  };
  const auto store_tiles = [&](unsigned buffer) {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      a_tiles[buffer][a_k][a_row + i * 64] = next_of_a[i].x;
      a_tiles[buffer][a_k + 1][a_row + i * 64] = next_of_a[i].y;
      *reinterpret_cast<double2*>(&b_tiles[buffer][b_k + i * 4][b_column]) = next_of_b[i];
    }
  };
  double sums[tile_of_thread][tile_of_thread] = {};
  load_tiles();
  store_tiles(0);
  __syncthreads();
  const auto multiply = [&](unsigned buffer) {
  // No more k at once: clang would load all operands first, more than registers hold.
#pragma unroll 2
    for (unsigned k = 0; k < depth; ++k) {
      double of_a[tile_of_thread];
      double of_b[tile_of_thread];
#pragma unroll
      for (unsigned i = 0; i < pairs; ++i) {
        const double2 left = load_two(&a_tiles[buffer][k][first_row + i * distance]);
        const double2 right = load_two(&b_tiles[buffer][k][first_column + i * distance]);
        of_a[2 * i] = left.x;
        of_a[2 * i + 1] = left.y;
        of_b[2 * i] = right.x;
        of_b[2 * i + 1] = right.y;
      }
#pragma unroll
      for (unsigned i = 0; i < tile_of_thread; ++i) {
#pragma unroll
        for (unsigned j = 0; j < tile_of_thread; ++j) {
          sums[i][j] += of_a[i] * of_b[j];
        }
      }
    }
  };
  const unsigned last = extents.k / depth - 1;
#pragma unroll 1
  for (unsigned tile = 0; tile < last; ++tile) {
    a += depth;
    b += depth * extents.ldb;
    load_tiles();
    multiply(tile % 2);
    store_tiles((tile + 1) % 2);
    __syncthreads();
  }
  multiply(last % 2);
#pragma unroll
  for (unsigned i = 0; i < tile_of_thread; ++i) {
    double* const row = c + (i / 2 * distance + i % 2) * extents.ldc;
#pragma unroll
    for (unsigned j = 0; j < tile_of_thread; ++j) {
      store_result(row + j / 2 * distance + j % 2, alpha, sums[i][j], beta);
    }
  }
}

inline Stage register_tile_stage() {
  Stage stage = gemm::stage_of<double, register_tile_kernel>("8 x 8 per thread", "",
                                                             {.block_rows = 128,
                                                              .block_columns = 128,
                                                              .depth = 8,
                                                              .threads = 256,
                                                              .thread_rows = 8,
                                                              .thread_columns = 8});
  stage.is_contender = true;
  return stage;
}

}  // namespace dgemm
