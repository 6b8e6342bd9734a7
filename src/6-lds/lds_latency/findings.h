// What lds_latency concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace lds_latency {

/// Rows of sweeps chase and lanes.
inline constexpr double raw_row = 1;
inline constexpr double net_row = 2;

/// LDS latency (sweep chase: "latency" and "latency by events" of its net row), and the latency of
/// a shuffle (lanes, likewise). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace lds_latency
