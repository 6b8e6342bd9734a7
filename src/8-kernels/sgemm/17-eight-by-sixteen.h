// 8 x 16 per thread, tiles of 128 x 256, one block on each CU.
//
// Against 16: per k six loads of 16 bytes from LDS for 128 FMAs in place of four for 64. But only
// two waves are left for each scheduler.
// On the H200 47.14 TFLOP/s, 0.95 of 16.
// Compiled by clang 15 for gfx906, gfx90a and gfx1030: 216, 228 and 217 VGPRs, 37248 bytes of LDS,
// no scratch; 89.4, 87.7 and 89.2 % of the loop are FMAs.
#pragma once

#include "16-asynchronous-copies.h"

namespace sgemm {

using EightBySixteen = AsynchronousCopies<ThreadTile<8, 16>>;

}  // namespace sgemm
