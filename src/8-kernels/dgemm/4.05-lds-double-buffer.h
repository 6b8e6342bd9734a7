// 4.05, against 4.04: while one tile is multiplied, the next one's loads are in flight, and then go
// to the other buffer: one barrier per tile. A thread still has four neighbouring columns, so lanes
// read every fourth value of a row of B's tile: of 16 lanes four use the same of LDS's 32 banks.
// On the H200 9.27 TFLOP/s, 1.02 times 4.04.
//
// 4.06, against 4.05: a thread's columns are two pairs, 32 apart: of 16 lanes two want the same
// banks. On the H200 13.03 TFLOP/s, 1.41 times 4.05.
//
// 4.07, against 4.06: a thread's columns are 16 apart, so that 16 lanes read 16 neighbours, each
// from banks of its own. On the H200 16.14 TFLOP/s, 1.24 times 4.06; 48.4 % of the peak, of 50 that
// LDS allows.
#pragma once

#include "bank_conflicts.h"
#include "stage.h"

namespace dgemm {

template <Spread spread>
__global__ void __launch_bounds__(256)
    lds_double_buffer_kernel(Extents extents, double alpha, const double* __restrict__ a,
                             const double* __restrict__ b, double beta, double* __restrict__ c) {
  constexpr unsigned side = 64;
  constexpr unsigned depth = 8;
  __shared__ double a_tile[2][depth][side + 1];
  __shared__ double b_tile[2][depth][side + 1];
  // A thread's share of a tile: two k of a row of A, two columns of a row of B.
  const unsigned a_k = threadIdx.x % 4 * 2;
  const unsigned a_row = threadIdx.x / 4;
  const unsigned b_k = threadIdx.x / 32;
  const unsigned b_column = threadIdx.x % 32 * 2;
  a = a + (blockIdx.y * side + a_row) * extents.lda + a_k;
  b += b_k * extents.ldb + blockIdx.x * side + b_column;
  double2 next_of_a;
  double2 next_of_b;
  const auto load = [&] {
    next_of_a = load_two(a);
    next_of_b = load_two(b);
    a += depth;
    b += depth * extents.ldb;
  };
  const auto store = [&](unsigned buffer) {
    a_tile[buffer][a_k][a_row] = next_of_a.x;
    a_tile[buffer][a_k + 1][a_row] = next_of_a.y;
    b_tile[buffer][b_k][b_column] = next_of_b.x;
    b_tile[buffer][b_k][b_column + 1] = next_of_b.y;
  };
  double sums[4][4] = {};
  const auto multiply = [&](unsigned buffer) {
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      double of_a[4];
      double of_b[4];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        of_a[i] = a_tile[buffer][k][place_of<spread>(threadIdx.x / 16, i)];
        of_b[i] = b_tile[buffer][k][place_of<spread>(threadIdx.x % 16, i)];
      }
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          sums[i][j] += of_a[i] * of_b[j];
        }
      }
    }
  };
  load();
  store(0);
  __syncthreads();
  // The last tile has no next one, so it comes after the loop: in the loop there is nothing to
  // decide (with conditions in it clang computes only after the next tile has come).
  const unsigned last = extents.k / depth - 1;
#pragma unroll 1
  for (unsigned tile = 0; tile < last; ++tile) {
    load();
    multiply(tile % 2);
    store((tile + 1) % 2);
    __syncthreads();
  }
  multiply(last % 2);
  c += blockIdx.y * side * extents.ldc + blockIdx.x * side;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = place_of<spread>(threadIdx.x / 16, i);
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      store_result(c + row * extents.ldc + place_of<spread>(threadIdx.x % 16, j), alpha, sums[i][j],
                   beta);
    }
  }
}

}  // namespace dgemm
