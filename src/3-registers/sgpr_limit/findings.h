// What sgpr_limit concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace sgpr_limit {

/// Where uniform values live, from the value "registers" of sweeps uniform and per-lane, and how
/// many run at full rate, from "operation rate" of sweep uniform. Nothing without sweep uniform.
void conclude(hipscope::Results& results);

}  // namespace sgpr_limit
