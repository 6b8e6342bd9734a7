// What dgemm concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace dgemm {

/// What a lane more at a bank costs, from sweep bank-conflicts ("time of the block's load"), and
/// what operands cost that are all new, from operands ("FMA rate"). What a sweep that was left out
/// would have told is left out.
void conclude(hipscope::Results& results);

}  // namespace dgemm
