// What dgemm concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace dgemm {

/// The x of D's last step in sweep one-block, whose rows stand at 1, 2, 3 ...
inline constexpr double last_step_of_d = 6;

/// D's way from its first step to its last, from sweep one-block (values "speed-up on the first
/// stage", "device speed-up on the first stage"); what a lane more at a bank costs, from
/// bank-conflicts ("time of the block's load"); what operands cost that are all new, from operands
/// ("FMA rate"). What a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace dgemm
