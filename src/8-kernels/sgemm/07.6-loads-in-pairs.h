// The double buffer in registers with its loads together: those of the next two k come before this
// step's FMAs, those of the k after them in the middle. B by pairs of columns. Compiled for its 256
// threads.
//
// Against 07.5: not one load after each row's FMAs but five and three at once, 8 bytes each in the
// source; the compiler may move them, or join two to one of 16 bytes. (fileaccent's list calls it a
// register double buffer in assembly, unfinished since some places in LDS could not be read: the
// code has the loads from memory in assembly, those from LDS are ordinary.) Corrected as 07.4.
// fileaccent's kernel also loads rows 2 and 3 of A from row 1's place, for all k but the first two,
// and B's second row as four values into a pair, past the end of the array: the result is wrong,
// and the published time includes these loads. On the H200 as fast as 7.5 (0.999 times).
#pragma once

#include "07.4-two-lds-buffers.h"

namespace sgemm {

/// The FMAs of a tile, operands a step ahead and loaded together.
template <typename PaddedTiles>
__device__ void multiply_in_pairs(float (&sums)[4][4], const float* a, const float* b) {
  float a_fragment[2][4][2];
  float b_fragment[2][2][2][2];  // half, k, pair of columns, column
  int half = 0;
  const auto load_b = [&](float(&pairs)[2][2], const float* from) {
    load(pairs[0], from);
    load(pairs[1], from + 2);
  };
  const auto multiply_add_row = [&](int i, int k) {
    for (int j = 0; j < 4; ++j) {
      sums[i][j] += a_fragment[half][i][k] * b_fragment[half][k][j / 2][j % 2];
    }
  };
  for (int i = 0; i < 4; ++i) {
    load(a_fragment[half][i], a + i * PaddedTiles::a_pitch);
  }
  load_b(b_fragment[half][0], b);
  load_b(b_fragment[half][1], b + PaddedTiles::b_pitch);
  load(a_fragment[half ^ 1][0], a + 2);
  load_b(b_fragment[half ^ 1][0], b + 2 * PaddedTiles::b_pitch);
#pragma unroll
  for (int step = 0; step < PaddedTiles::depth; step += 2) {
    const int ahead = step + 2;
    if (ahead < PaddedTiles::depth) {
      for (int i = 1; i < 4; ++i) {
        load(a_fragment[half ^ 1][i], a + i * PaddedTiles::a_pitch + ahead);
      }
      load_b(b_fragment[half ^ 1][1], b + (ahead + 1) * PaddedTiles::b_pitch);
    }
    for (int i = 0; i < 4; ++i) {
      multiply_add_row(i, 0);
    }
    multiply_add_row(0, 1);
    if (ahead + 2 < PaddedTiles::depth) {
      load(a_fragment[half][0], a + ahead + 2);
      load_b(b_fragment[half][0], b + (ahead + 2) * PaddedTiles::b_pitch);
    }
    for (int i = 1; i < 4; ++i) {
      multiply_add_row(i, 1);
    }
    half ^= 1;
  }
}

static __global__ void __launch_bounds__(256)
    loads_in_pairs_kernel(Sizes size, float alpha, const float* a, const float* b, float beta,
                          float* c) {
  using PaddedTiles = TilesOf64<8>;
  multiply_with_two_lds_buffers<PaddedTiles>(
      size, alpha, a, b, beta, c, [](float(&sums)[4][4], const float* a_mine, const float* b_mine) {
        multiply_in_pairs<PaddedTiles>(sums, a_mine, b_mine);
      });
}

}  // namespace sgemm
