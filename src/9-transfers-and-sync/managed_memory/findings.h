// What managed_memory concludes: what a page fault of either side costs and how much it brings.
//
// Reads "other half" (us) of sweeps device-fault and host-fault; x is the bytes of the aligned
// block that both words are in.
#pragma once

#include "hipscope/experiment.h"

namespace managed_memory {

void conclude(hipscope::Results& results);

}  // namespace managed_memory
