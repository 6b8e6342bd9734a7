// What launch_latency concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace launch_latency {

/// Launch latency (sweep single: "completion", "enqueue", "device") and intervals between launches
/// in a stream and in a graph (sweeps stream and graph, the same values). What was not measured is
/// left out.
void conclude(hipscope::Results& results);

}  // namespace launch_latency
