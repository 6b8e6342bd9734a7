// What host_costs concludes: up to which size an allocation is a part of a block that is there
// already.
//
// Reads sweeps device, stream-trimmed, pinned and managed ("allocate" in us over bytes).
#pragma once

#include "hipscope/experiment.h"

namespace host_costs {

void conclude(hipscope::Results& results);

}  // namespace host_costs
