// What lds_banks concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace lds_banks {

/// What sweeps of throughput measure.
inline constexpr const char* throughput = "cycles per access";

/// The published series of a wave's chase against its stride.
inline constexpr const char* published_series = "chase, 64 lanes";

/// The number of banks and what a conflict costs (sweeps chase-4: "latency", and loads-4:
/// throughput), the width of a bank (width: throughput) and the bandwidth (loads-4, -8, -16:
/// "rate"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace lds_banks
