// What vgpr_limit concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace vgpr_limit {

/// Of blocks of 256 and 1024 threads the register budget, from the values
/// "FMA rate", "registers" and "scratch" of sweeps live-256 and live-1024; the registers of a CU,
/// from "counted" and "registers" of sweep waiting. What a sweep that was left out
/// would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace vgpr_limit
