// How much a level of the curve holds: by how a walk begins to miss, by what share of single loads
// hits, and by the latency of both as a whole.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/experiment.h"
#include "hipscope/inference.h"
#include "text.h"

namespace memory_latency {

/// Whether two values differ by no more than a factor of 1 + tolerance.
inline bool about(double value, double other, double tolerance) {
  return std::abs(std::log(value / other)) < std::log(1 + tolerance);
}

/// The capacities that single loads tell (sweep load-times), each of a mode and those before it.
std::vector<FoundCapacity> capacities_by_hits(const hipscope::Results& results);

/// A cache that ends within the sweep: its level of the walk, and what single loads say of it.
struct Cache {
  hipscope::Level level{};
  std::optional<FoundCapacity> misses{};  ///< what latency as a whole says of it
  std::optional<FoundCapacity> hits{};
  std::string steps_of{};  ///< what shows its end, unless that is flat runs
  bool is_flat = true;     ///< in the walk; if not, the level has just an end
};

/// The capacities that the mean latency of single `loads` and that of a `walk` tell as a whole;
/// without loads, where the walk's `levels` leave room for one: where no law explains the end of
/// one, and between two that are far apart.
std::vector<FoundCapacity> capacities_by_misses(const std::vector<hipscope::CurvePoint>& loads,
                                                const std::vector<hipscope::CurvePoint>& walk,
                                                const std::vector<hipscope::Level>& levels);

/// The caches of the walk's `levels`, from the smallest on: each with the one of `by_hits` that is
/// its own, and beside them those that are flat nowhere in the walk, of `by_misses` and `by_hits`.
std::vector<Cache> caches_of(const std::vector<hipscope::Level>& levels,
                             const std::vector<FoundCapacity>& by_misses = {},
                             std::vector<FoundCapacity> by_hits = {});

/// What is known of a capacity besides the curve.
struct Known {
  std::string also{};                             ///< more evidence, unless it is empty
  double driver = 0;                              ///< the driver's value, unless that is 0
  double most_confidence = 1;                     ///< that it is one, and of this name
  double least_confidence = smallest_confidence;  ///< with less it is not found
};

/// Infers the capacity of a cache.
void infer_capacity(hipscope::Results& results, const std::string& name, const Cache& cache,
                    const Known& known);

}  // namespace memory_latency
