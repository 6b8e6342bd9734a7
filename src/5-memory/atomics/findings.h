// What atomics concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include "hipscope/experiment.h"

namespace atomics {

/// How many additions per second one word of L2 takes from lanes that all add to it, and how many
/// CUs it takes to reach that rate (sweep units: "one address"); what a CU's LDS takes per cycle
/// (lds: row 1, "spread"), and how much longer an addition of floats takes there than one of
/// integers (latency: rows 1 and 4, "LDS"), which tells a loop from an instruction. What was not
/// measured is left out.
void conclude(hipscope::Results& results);

}  // namespace atomics
