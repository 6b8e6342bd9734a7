// What memory_channels concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace memory_channels {

/// Channel interleave, from sweep stride (values "neighbour rate", "of
/// neighbour"), unless it was left out.
void conclude(hipscope::Results& results);

}  // namespace memory_channels
