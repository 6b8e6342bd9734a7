// What the hardware computes to about one ulp. Without the option `approximate` these round to
// nearest (FP32), or are off by what AMD documents (FP64).
#pragma once

#include "wave.h"

namespace emulator {

/// The FP32 result of v_rcp_f32 and its like.
float approximate(Wave& wave, double exact);
/// The FP64 result of v_rcp_f64 and its like, good to about 2^-24: whatever refines it must cope.
double approximate_double(Wave& wave, double exact);

}  // namespace emulator
