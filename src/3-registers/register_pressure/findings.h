// What register_pressure concludes from its curves, and what the stages, the sweeps and the values
// are called that tell of them. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace hipscope::register_pressure {

// The stages that are spoken of in more than one place.
constexpr const char* moved_name = "definitions moved";
constexpr const char* bounded_name = "launch bound of 256";
constexpr const char* restrict_all_name = "bound, restrict on all";
constexpr const char* loop_name = "loops";

/// The sweep of the stages, whose x is 1 for the first one.
constexpr const char* stages_sweep = "stages";
/// Its references come before the stages.
constexpr double copy_x = -1;
constexpr double streams_x = 0;

constexpr const char* updates = "updates";
constexpr const char* updates_unit = "million/s";
constexpr const char* share_of_copy = "share of copy";

/// A sweep over the waves on each CU, and the stage of which it is.
struct WavesOf {
  std::string sweep;
  std::string stage;
};

/// From the sweeps over waves (updates): how many waves a stage needs.
void conclude(Results& results, const std::vector<WavesOf>& waves);

}  // namespace hipscope::register_pressure
