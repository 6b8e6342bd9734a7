// What wave_divergence concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace wave_divergence {

/// Wave size, from sweeps granularity ("cycles") and paths ("FMA rate"). What a sweep that was left
/// out would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace wave_divergence
