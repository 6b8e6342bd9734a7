// What memory_channels concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace memory_channels {

/// Channel interleave and worst stride, from sweep stride (values "power-of-two rate", "neighbour
/// rate", "of neighbour"); worst stride within L2, from stride-l2 ("of neighbour"). What a
/// sweep that was left out would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace memory_channels
