// What store_divergence concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace store_divergence {

/// From value "cycles per access" of each sweep, and of the same sweep within L2 ("-l2"): access
/// granularity, from stride-loads and stride-stores; cost of a scattered lane, from
/// scattered-stores. What a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace store_divergence
