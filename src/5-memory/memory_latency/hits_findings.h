// The capacity of a cache from the share of single loads that hit.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "hipscope/experiment.h"

namespace memory_latency {

/// How much a cache holds, as single loads or latency as a whole tell it.
struct FoundCapacity {
  double value = 0;
  double low = 0;
  double high = 0;
  double confidence = 0;  ///< 0 ... 1: that the capacity is within an eighth of `value`
  std::string evidence{};
};

/// The capacity by the share of loads that hit, 0 ... 1, over the footprint, where each load may
/// read any line, independent of the last: past the capacity the share is capacity over footprint,
/// whatever line is replaced. Empty if the share does not begin near 1, if fewer than four
/// footprints have a share between a tenth and three quarters, and if share times footprint is not
/// the same for all of these.
std::optional<FoundCapacity> fit_capacity_by_hits(std::span<const hipscope::CurvePoint> hits);

}  // namespace memory_latency
