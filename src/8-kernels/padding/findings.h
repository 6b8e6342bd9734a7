// What padding concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace padding {

/// Whether 4 channels per thread are as fast as 16, what an array costs that is indexed at run
/// time, and how near the best stage is to a copy; from these sweeps:
///   channels-run-time, channels-compile-time  over the channels of a thread: "time" of fsword73's
///   kernel;
///       "side by side" and "blocks of 256", times of ours in blocks of 1024 and 256; "scratch,
///       side by side", bytes
///   stages  "share of copy" in %, and "bandwidth" in GB/s, whose point at 0 is the stream of the
///       same reads and writes; the stages are 1 ...
/// `stages` are the names of the stages, in order. What a sweep that was left out would have told
/// is left out.
void conclude(hipscope::Results& results, const std::vector<std::string>& stages);

}  // namespace padding
