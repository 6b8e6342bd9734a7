// What sgemm concludes from its curves beside what every ladder does. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace sgemm {

/// What ends the names of stages that are compiled for their own number of threads.
inline constexpr const char* bounded_suffix = ", launch bounds";

/// A stage as the findings know it: stage i is at x = i + 1 in sweep stages.
struct Rung {
  std::string technique;
  std::string label;  ///< its row's name
};

/// The gain by launch bounds, from sweep stages (value "rate"): stages of one technique with
/// `bounded_suffix` behind it against those without. What was left out is left out.
void conclude(hipscope::Results& results, const std::vector<Rung>& rungs);

}  // namespace sgemm
