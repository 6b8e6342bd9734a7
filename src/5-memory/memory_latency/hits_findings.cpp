#include "hits_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/statistics.h"
#include "text.h"

namespace memory_latency {

namespace {

constexpr double nearly_all = 0.8;

// Share times footprint, over the footprints that are past a capacity; `seen` is the share of the
// loads in the cache that look like hits.
Curve past_knee(std::span<const hipscope::CurvePoint> hits, double seen) {
  constexpr double clearly_past = 0.75;  // where hardly a set has room left
  constexpr double too_few = 0.1;        // to tell them from what is taken for a hit
  const auto last_inside = std::find_if(hits.rbegin(), hits.rend(),
                                        [](const auto& point) { return point.y >= nearly_all; });
  Curve past;
  for (const auto& point : hits.last(static_cast<std::size_t>(last_inside - hits.rbegin()))) {
    const double share = point.y / seen;
    if (share >= too_few && share <= clearly_past) {
      past.push_back({.x = point.x, .y = share * point.x});
    }
  }
  return past;
}

// Of loads that hit some look like misses, because something slows them down: so does what is seen
// on the way to the knee say, not only at the smallest footprints, which other levels may hold. 0
// where too little is seen there.
double seen_before(std::span<const hipscope::CurvePoint> hits, double capacity) {
  constexpr double well_within = 1.6;
  constexpr double octaves_before = 8;  // as a ratio
  constexpr std::size_t fewest = 2;
  std::vector<double> before;
  for (const auto& point : hits) {
    if (octaves_before * point.x >= capacity && well_within * point.x <= capacity) {
      before.push_back(point.y);
    }
  }
  return before.size() < fewest ? 0 : hipscope::median_of(before);
}

std::vector<double> octaves_of(const Curve& past) {
  std::vector<double> octaves;
  for (const auto& point : past) {
    octaves.push_back(std::log2(point.y));
  }
  return octaves;
}

}  // namespace

std::optional<FoundCapacity> fit_capacity_by_hits(std::span<const hipscope::CurvePoint> hits) {
  constexpr std::size_t fewest_points = 4;
  constexpr double fewest_octaves = 0.8;
  Curve past = past_knee(hits, 1);
  if (past.empty()) {
    return std::nullopt;
  }
  const double seen = seen_before(hits, std::exp2(hipscope::median_of(octaves_of(past))));
  if (seen < nearly_all) {
    return std::nullopt;
  }
  past = past_knee(hits, seen);
  if (past.size() < fewest_points || std::log2(past.back().x / past.front().x) < fewest_octaves) {
    return std::nullopt;
  }
  std::vector<double> octaves = octaves_of(past);
  const auto half = octaves.size() / 2;
  const double middle = hipscope::median_of(octaves);
  const double drift = hipscope::summarize(std::span(octaves).last(half)).median -
                       hipscope::summarize(std::span(octaves).first(half)).median;
  for (double& each : octaves) {
    each = std::abs(each - middle);
  }
  const double spread = hipscope::median_of(octaves);
  constexpr double largest_spread = 0.15;  // of what falls in another way
  constexpr double largest_drift = 0.4;
  if (spread > largest_spread || std::abs(drift) > largest_drift) {
    return std::nullopt;
  }
  // In the trial (tests/inference, the seeds for fitting).
  using hipscope::Knot;
  constexpr std::array by_drift = {Knot{0.05, 0.97}, Knot{0.15, 0.8}, Knot{0.4, 0.3}};
  constexpr std::array by_points = {Knot{4, 0.8}, Knot{8, 1}};
  constexpr std::array by_seen = {Knot{0.8, 0.8}, Knot{0.97, 1}};
  constexpr double always = 0.03;  // octaves: of sets that are not quite full
  const auto points = static_cast<double>(past.size());
  const double margin = always + std::abs(drift) / 2 + 3 * spread / std::sqrt(points);
  return FoundCapacity{
      .value = std::exp2(middle),
      .low = std::exp2(middle - margin),
      .high = std::exp2(middle + margin),
      .confidence =
          along(by_drift, std::abs(drift)) * along(by_points, points) * along(by_seen, seen),
      .evidence = "single loads hit by " + in_bytes(std::exp2(middle)) +
                  " over the footprint, from " + in_bytes(past.front().x) + " to " +
                  in_bytes(past.back().x) + ", over " + std::to_string(past.size()) + " points"};
}

}  // namespace memory_latency
