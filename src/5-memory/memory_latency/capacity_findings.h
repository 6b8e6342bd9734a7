// How much a level of the curve holds, by two ways: how a walk begins to miss, and what share of
// single loads hits.
#pragma once

#include <algorithm>
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

/// A cache, by each way that shows it.
struct Cache {
  hipscope::Level level{};  ///< by the walk; of no points where that does not show it
  std::optional<hipscope::Capacity> by_walk{};
  std::optional<hipscope::Capacity> by_loads{};

  /// By loads if these show it.
  [[nodiscard]] double bytes() const { return (by_loads ? by_loads : by_walk)->value; }

  /// Of the surer way.
  [[nodiscard]] double confidence() const {
    return std::max(by_walk ? by_walk->confidence : 0, by_loads ? by_loads->confidence : 0);
  }
};

/// The levels that single loads show (sweep load-times); empty where they were not measured.
std::optional<std::vector<hipscope::Level>> levels_of_loads(const hipscope::Results& results);

/// The caches that end within the sweep, from the smallest on: those of the walk's `levels` and
/// those of single loads, the two nearest to one another as one first.
std::vector<Cache> caches_of(const std::vector<hipscope::Level>& levels,
                             const std::optional<std::vector<hipscope::Level>>& loads);

/// What is known of a capacity besides the curve.
struct Known {
  std::string also{};          ///< more evidence, unless it is empty
  double driver = 0;           ///< the driver's value, unless that is 0
  double most_confidence = 1;  ///< that it is one, and of this name
};

/// Infers the capacity of a cache.
void infer_capacity(hipscope::Results& results, const std::string& name, const Cache& cache,
                    const Known& known);

}  // namespace memory_latency
