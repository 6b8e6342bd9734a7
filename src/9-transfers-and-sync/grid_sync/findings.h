// What grid_sync concludes: the cheapest barrier over all blocks. Plain C++, no GPU headers.
//
// Reads "<barrier> step" in ns of sweeps blocks (x: blocks, the last one per CU) and per-cu (x:
// blocks per CU, the last as many as it holds), for the barriers below.
#pragma once

#include <array>

#include "hipscope/experiment.h"

namespace grid_sync {

inline constexpr std::array barrier_names = {
    "one counter", "counter and epoch", "flags, collector", "flags, all look",
    "tree",        "grid.sync()"};

void conclude(hipscope::Results& results);

}  // namespace grid_sync
