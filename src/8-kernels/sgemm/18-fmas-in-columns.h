// The same kernel with its instructions in another order.
//
// Against 17: FMAs go up and down the columns, a load for the next k comes after every fourth, and
// the next tile's copies begin at the fourth k. ptxas moves instructions as it likes, and what it
// makes of one order or another differs by some percent: this one was found best by measurement.
// For clang the order holds, but copies begin at the first k: amid FMAs they take more registers.
// On the H200 51.35 TFLOP/s, 1.09 times 17, 1.002 times cuBLAS.
// Compiled by clang 15 for gfx906, gfx90a and gfx1030: 208, 222 and 209 VGPRs, 37248 bytes of LDS,
// no scratch; 89.4, 87.7 and 89.2 % of the loop are FMAs.
#pragma once

#include "17-eight-by-sixteen.h"

namespace sgemm {

struct FmasInColumns : EightBySixteen {
  static constexpr FmaOrder order = FmaOrder::up_and_down;
  static constexpr unsigned fmas_between_loads = 4;
#if !defined(__HIP_DEVICE_COMPILE__)
  static constexpr unsigned copies_begin_at = 3;
#endif
};

}  // namespace sgemm
