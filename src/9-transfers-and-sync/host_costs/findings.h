// What host_costs concludes: up to which size an allocation has one price, and what each further
// MiB adds.
//
// Reads sweeps device, stream-trimmed, pinned and managed ("allocate" in us over bytes).
#pragma once

#include "hipscope/experiment.h"

namespace host_costs {

void conclude(hipscope::Results& results);

}  // namespace host_costs
