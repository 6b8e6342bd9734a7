// A double buffer in registers too: the operands of the next two k are loaded between the FMAs of
// these, A's first row and B's first row one step further ahead still. Compiled for its 256
// threads.
//
// Against 07.4, whose loop over the tiles it has (multiply_ahead stands for 07.3's
// multiply_placed): an FMA never waits for a load that has just begun. It takes twice the operand
// registers, which the launch bound allows. The half in use is a variable in the source; unrolling
// the loop's eight steps makes it constant in the machine code. Corrected as 07.4.
// On the H200 32.73 TFLOP/s, as 07.4.
#pragma once

#include "07.4-two-lds-buffers.h"

namespace sgemm {

/// The FMAs of a tile, operands a step ahead.
template <typename PaddedTiles>
__device__ void multiply_ahead(float (&sums)[4][4], const float* a, const float* b) {
  float a_fragment[2][4][2];
  float b_fragment[2][2][4];
  int half = 0;
  const auto multiply_add_row = [&](int i, int k, int from = 0, int end = 4) {
    for (int j = from; j < end; ++j) {
      sums[i][j] += a_fragment[half][i][k] * b_fragment[half][k][j];
    }
  };
  for (int i = 0; i < 4; ++i) {
    load(a_fragment[half][i], a + i * PaddedTiles::a_pitch);
  }
  load(b_fragment[half][0], b);
  load(b_fragment[half][1], b + PaddedTiles::b_pitch);
  load(a_fragment[half ^ 1][0], a + 2);
  load(b_fragment[half ^ 1][0], b + 2 * PaddedTiles::b_pitch);
#pragma unroll
  for (int step = 0; step < PaddedTiles::depth; step += 2) {
    const int ahead = step + 2;
    multiply_add_row(0, 0);
    if (ahead < PaddedTiles::depth) {
      load(a_fragment[half ^ 1][1], a + PaddedTiles::a_pitch + ahead);
    }
    multiply_add_row(1, 0);
    if (ahead < PaddedTiles::depth) {
      load(a_fragment[half ^ 1][2], a + 2 * PaddedTiles::a_pitch + ahead);
    }
    multiply_add_row(2, 0);
    if (ahead < PaddedTiles::depth) {
      load(a_fragment[half ^ 1][3], a + 3 * PaddedTiles::a_pitch + ahead);
    }
    multiply_add_row(3, 0);
    if (ahead < PaddedTiles::depth) {
      load(b_fragment[half ^ 1][1], b + (ahead + 1) * PaddedTiles::b_pitch);
    }
    multiply_add_row(0, 1);
    multiply_add_row(1, 1);
    if (ahead + 2 < PaddedTiles::depth) {
      load(a_fragment[half][0], a + ahead + 2);
    }
    multiply_add_row(2, 1, 0, 3);
    if (ahead + 2 < PaddedTiles::depth) {
      load(b_fragment[half][0], b + (ahead + 2) * PaddedTiles::b_pitch);
    }
    multiply_add_row(2, 1, 3, 4);
    multiply_add_row(3, 1);
    half ^= 1;
  }
}

static __global__ void __launch_bounds__(256)
    two_register_buffers_kernel(Sizes size, float alpha, const float* a, const float* b, float beta,
                                float* c) {
  using PaddedTiles = TilesOf64<8>;
  multiply_with_two_lds_buffers<PaddedTiles>(
      size, alpha, a, b, beta, c, [](float(&sums)[4][4], const float* a_mine, const float* b_mine) {
        multiply_ahead<PaddedTiles>(sums, a_mine, b_mine);
      });
}

}  // namespace sgemm
