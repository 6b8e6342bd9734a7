// What soak concludes from its curves over time. Plain C++, no GPU headers.
#pragma once

#include <optional>
#include <span>

#include "hipscope/experiment.h"

namespace soak {

/// What a curve over time comes to.
struct SteadyState {
  double start = 0;   ///< the median of the first rows, while nothing has become warm
  double steady = 0;  ///< the median of the last third of the time
  double noise = 0;   ///< of a row there, relative: a standard deviation by neighbours' differences
  double seconds = 0;  ///< from when on it stays as it is in the end; 0: from the start
};

/// Reads `curve`, of y over seconds, rising. Steady is what differs from the end by no more than
/// three times the noise there, or half of a percent if that is more. Empty with fewer than six
/// rows, and where the last third still falls or rises by more than that from its first half to its
/// second.
std::optional<SteadyState> find_steady_state(std::span<const hipscope::CurvePoint> curve);

/// Time to steady state and what is lost until then (sweeps "multiply" and "stream": "rate",
/// "clock", "power", "temperature", "held back"). A sweep that was left out says nothing.
void conclude(hipscope::Results& results);

}  // namespace soak
