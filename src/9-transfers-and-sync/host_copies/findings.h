// What host_copies concludes: bandwidth and latency of the link to the host, whether its
// two directions add up, and whether a NUMA node is far.
//
// Reads sweeps to-device and to-host ("pinned", "pinned time"), both
// ("bandwidth"; x = 1, 2 alone, 3 at once) and numa ("to device", "to host").
#pragma once

#include "hipscope/experiment.h"

namespace host_copies {

void conclude(hipscope::Results& results);

}  // namespace host_copies
