// The 16 k of a tile written out, the loads from LDS placed between the FMAs by hand.
//
// Against 07: operands are loaded shortly before the first FMA that needs them, the next row's pair
// of A's values after each row's FMAs, so fewer registers are in use and loads are spread over the
// FMAs. So says the source; the compiler may move the loads (11 keeps them in place). Neighbouring
// blocks share rows of A; LDS is dynamic.
// On the H200 31.46 TFLOP/s, 1.03 times 07.
#pragma once

#include "tiles.h"

namespace sgemm {

/// The FMAs of a tile: `a` is at a thread's first row, `b` at its first column.
template <typename PaddedTiles>
__device__ void multiply_placed(float (&sums)[4][4], const float* a, const float* b) {
  float a_fragment[4][2];
  float b_fragment[2][4];
  const auto multiply_add_row = [&](int i, int k, int from = 0, int end = 4) {
    for (int j = from; j < end; ++j) {
      sums[i][j] += a_fragment[i][k] * b_fragment[k][j];
    }
  };
  load(a_fragment[0], a);
  load(b_fragment[0], b);
#pragma unroll
  for (int step = 0; step < PaddedTiles::depth; step += 2) {
    const int ahead = step + 2;
    multiply_add_row(0, 0);
    load(a_fragment[1], a + PaddedTiles::a_pitch + step);
    multiply_add_row(1, 0);
    load(a_fragment[2], a + 2 * PaddedTiles::a_pitch + step);
    multiply_add_row(2, 0);
    load(a_fragment[3], a + 3 * PaddedTiles::a_pitch + step);
    multiply_add_row(3, 0);
    load(b_fragment[1], b + (step + 1) * PaddedTiles::b_pitch);
    multiply_add_row(0, 1);
    multiply_add_row(1, 1);
    if (ahead < PaddedTiles::depth) {
      load(a_fragment[0], a + ahead);
    }
    multiply_add_row(2, 1, 0, 3);
    if (ahead < PaddedTiles::depth) {
      load(b_fragment[0], b + ahead * PaddedTiles::b_pitch);
    }
    multiply_add_row(2, 1, 3, 4);
    multiply_add_row(3, 1);
  }
}

static __global__ void __launch_bounds__(assumed_threads)
    placed_reads_kernel(Sizes size, float alpha, const float* __restrict__ a,
                        const float* __restrict__ b, float beta, float* __restrict__ c) {
  using PaddedTiles = TilesOf64<4>;
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + PaddedTiles::a_size;
  const PaddedTiles at(size);
  const float* const a_mine = a_tile + at.first_row * PaddedTiles::a_pitch;
  const float* const b_mine = b_tile + at.first_column;
  float sums[4][4] = {};
  for (int index = 0; index < at.tiles; ++index) {
    store_four(at.a_to(a_tile), load_four(a + at.a_place + index * PaddedTiles::depth));
    store_four(at.b_to(b_tile), load_four(b + at.b_place + index * PaddedTiles::depth * size.ldb));
    __syncthreads();
    multiply_placed<PaddedTiles>(sums, a_mine, b_mine);
    __syncthreads();
  }
  c += (at.block_row + at.first_row) * size.ldc + at.block_column + at.first_column;
  store_rows(c, size.ldc, alpha, sums, beta);
}

}  // namespace sgemm
