// How much a level of the curve holds, by two ways: how a walk begins to miss, and what share of
// single loads hits.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/experiment.h"
#include "hipscope/inference.h"

namespace memory_latency {

/// Whether two values differ by no more than a factor of 1 + tolerance.
inline bool about(double value, double other, double tolerance) {
  return std::abs(std::log(value / other)) < std::log(1 + tolerance);
}

/// The capacities that single loads tell (sweep load-times), each of a mode and those before it.
std::vector<hipscope::CapacityByHits> capacities_by_hits(const hipscope::Results& results);

/// Of each level's end the capacity that single loads tell: the two that lie nearest to one another
/// belong together first.
std::vector<std::optional<hipscope::CapacityByHits>> hits_of(
    const std::vector<hipscope::Level>& levels, std::vector<hipscope::CapacityByHits> all);

/// What is known of a capacity besides the curve.
struct Known {
  std::string also{};          ///< more evidence, unless it is empty
  double driver = 0;           ///< the driver's value, unless that is 0
  double most_confidence = 1;  ///< that it is one, and of this name
};

/// Infers the capacity of a level that has an end.
void infer_capacity(hipscope::Results& results, const std::string& name,
                    const hipscope::Level& level,
                    const std::optional<hipscope::CapacityByHits>& hits, const Known& known);

}  // namespace memory_latency
