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

/// A cache that ends within the sweep: its level of the walk, and what single loads say of it.
struct Cache {
  hipscope::Level level{};
  std::optional<hipscope::CapacityByHits> hits{};
  bool is_in_walk = true;  ///< if not, only single loads show it, and the level has just an end
};

/// The capacities that the mean of single loads tells (sweep load-times).
std::vector<hipscope::CapacityByHits> capacities_by_mean(const hipscope::Results& results);

/// The caches of the walk's `levels`, from the smallest on: each with the one of `by_hits` that is
/// its own, and beside them those of `by_mean` that the walk does not show.
std::vector<Cache> caches_of(const std::vector<hipscope::Level>& levels,
                             const std::vector<hipscope::CapacityByHits>& by_hits = {},
                             const std::vector<hipscope::CapacityByHits>& by_mean = {});

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
