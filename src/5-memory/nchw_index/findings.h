// What nchw_index concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace nchw_index {

/// Cost of the index, from sweep large (value "bandwidth"), whose row of stage number i, counted
/// from 1, is at x = i: the time of stage "naive" over that of stage "fill". Some of `stages` may
/// not have been measured; without those two, or without the sweep, there is nothing to tell.
void conclude(hipscope::Results& results, const std::vector<std::string>& stages);

}  // namespace nchw_index
