// What sgpr_limit concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace sgpr_limit {

/// How many uniform values run at full rate in registers of their own, from the values "registers"
/// and "operation rate" of sweep uniform.
void conclude(hipscope::Results& results);

}  // namespace sgpr_limit
