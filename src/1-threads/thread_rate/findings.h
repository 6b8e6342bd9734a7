// What thread_rate concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace thread_rate {

/// Block rate and thread rate, from sweeps null-1d (values "time", "launched", "thread rate") and
/// block-size ("cycles per block"). What a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace thread_rate
