// Waves of 4 x 16 lanes with two k per step.
//
// Against 08.1: nothing but the lanes' places; against 08.2: nothing but two k of the operands in
// registers. (fileaccent's list says "z-order" of this number; the time beside it is that of its
// function test8_4, whose lanes stand in rows. Its lanes in pairs of rows: 08.5.)
// On the H200 26.92 TFLOP/s, 1.24 times 08.1, and as 08.2.
#pragma once

#include "08.1-waves-8x8.h"

namespace sgemm {

struct Lanes4x16 {
  __device__ static int row(int wave, int lane) { return wave * 4 + lane / 16; }
  __device__ static int column([[maybe_unused]] int wave, int lane) { return lane % 16; }
};

}  // namespace sgemm
