// What cache_line concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace cache_line {

/// Sector and line of each cache level (sweeps sector-l1 and -l2: "second load" and "across the
/// middle"; line-l1 and -l2: "footprint"; stride: "past level 1"). What was not measured is left
/// out.
void conclude(hipscope::Results& results);

}  // namespace cache_line
