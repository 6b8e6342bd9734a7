// Waves of 4 x 16 lanes, neighbouring lanes in pairs of rows: lanes 0 and 1 stand one above the
// other, lanes 2 and 3 beside them.
//
// Against 08.4: each 4 neighbouring lanes stand in a square of 2 x 2 and need 2 + 2 different rows
// and columns in place of 1 + 4. (In fileaccent's files, there with blocks of 16 x 16 threads in
// the same order, and not in its list: no figure is published.)
// On the H200 28.73 TFLOP/s, 1.07 times 08.4.
#pragma once

#include "08.1-waves-8x8.h"

namespace sgemm {

struct LanesInPairs {
  __device__ static int row(int wave, int lane) { return wave * 4 + lane / 32 * 2 + lane % 2; }
  __device__ static int column([[maybe_unused]] int wave, int lane) { return lane % 32 / 2; }
};

}  // namespace sgemm
