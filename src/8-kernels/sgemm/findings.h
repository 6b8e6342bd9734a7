// What sgemm concludes from its curves beside what every ladder does. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace sgemm {

/// What ends the names of stages that are compiled for their own number of threads.
inline constexpr const char* bounded_suffix = ", launch bounds";

/// A stage as the findings know it: stage i is at x = i + 1 in sweep stages.
struct StageName {
  std::string technique;
  std::string label;  ///< its row's name
};

/// Rows of sweep limit by their x.
inline constexpr double limit_no_factor_twice = 1;
inline constexpr double limit_up_and_down = 4;

/// The gain by launch bounds, from sweep stages (value "rate"): stages of one technique with
/// `bounded_suffix` after it against those without; from sweep limit (value "share of peak") what
/// FMAs lose whose operands are all new. Where rows are missing, nothing is said of them.
void conclude(hipscope::Results& results, const std::vector<StageName>& names);

}  // namespace sgemm
