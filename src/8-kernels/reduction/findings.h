// What reduction concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace reduction {

/// Whether steps of 8 values help, what barriers have to do with it, and how near the best stage is
/// to a kernel that only reads and to the vendor's library; from these sweeps:
///   stages     "time" and "bandwidth" over x: 0 the read kernel, 1 ... the stages, of which the
///              first three add up 2, 4 and 8 values per step, and after the last the library
///   published  "time" at -2 and -1: the source's kernel with 2 and 4 values per step
///   steps      "speed-up of 8 on 4" over the block's size
///   barriers   "time": 1 has 8 barriers and 8 round trips through LDS, 2 8 and 4, 3 4 and 8, 4 4
///              and 4
///   sizes      "rate over the vendor's" over the number of values
/// `stages` are the names of the stages, in order; `library` is what the library calls itself. What
/// a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results, const std::vector<std::string>& stages,
              const std::string& library);

}  // namespace reduction
