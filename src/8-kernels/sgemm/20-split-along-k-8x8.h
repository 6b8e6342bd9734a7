// Tiles split along k with 8 x 8 per thread: for matrices of few tiles.
//
// Against 19: the kernel of 16, tiles of 128 x 128, two blocks on each CU.
// On the H200 49.15 TFLOP/s at 4096, 0.987 of 16; 1.74 at 256, 1.32 times 13.
// Compiled by clang 15 for gfx906, gfx90a and gfx1030: 125, 130 and 122 VGPRs, 24960 bytes of LDS,
// no scratch; 84.8, 81.9 and 84.5 % of the loop are FMAs.
#pragma once

#include "19-split-along-k.h"

namespace sgemm {

using EightByEightSplitAlongK = SplitAlongK<AsynchronousCopies<ThreadTile<8, 8>>>;

}  // namespace sgemm
