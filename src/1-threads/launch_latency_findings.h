// What launch_latency concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace launch_latency {

/// Launch latency (sweep single: "completion", "enqueue", "device"), intervals between launches in
/// a stream and in a graph (sweeps stream and graph, the same values) and the largest grid that
/// costs no more than one block (sweep grid: "device cycles"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace launch_latency
