// What the pattern of accesses to memory costs: the size of what is moved, and collisions on
// channels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hipscope/inference.h"

namespace hipscope {

namespace {

// The costs over one candidate's counts, by rising count.
std::vector<CurvePoint> cost_curve(std::span<const double> costs,
                                   std::span<const double> segments) {
  std::vector<CurvePoint> curve;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    curve.push_back({.x = segments[i], .y = costs[i]});
  }
  std::stable_sort(curve.begin(), curve.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  return curve;
}

// The fit of one candidate, where segments decide at least half of the costs.
std::optional<AccessGranularity> fit_candidate(std::span<const double> costs,
                                               const SegmentCounts& candidate) {
  if (candidate.segments.size() != costs.size()) {
    return std::nullopt;
  }
  const auto fit = fit_issue(cost_curve(costs, candidate.segments));
  if (!fit || !fit->interval || 2 * fit->latency_points > costs.size()) {
    return std::nullopt;
  }
  return AccessGranularity{.bytes = candidate.bytes,
                           .cost_per_segment = *fit->interval,
                           .least_cost = fit->latency,
                           .largest_relative_residual = fit->largest_relative_residual,
                           .second_best_residual = std::numeric_limits<double>::infinity()};
}

// The ratios of the two rates; empty when the strides do not double or are not the same.
std::vector<double> ratios_of(std::span<const CurvePoint> power,
                              std::span<const CurvePoint> neighbour) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < power.size(); ++i) {
    const bool is_pair = i < neighbour.size() && neighbour[i].x == power[i].x;
    const bool doubles = i == 0 || power[i].x == 2 * power[i - 1].x;
    if (!is_pair || !doubles || !(neighbour[i].y > 0)) {
      return {};
    }
    ratios.push_back(power[i].y / neighbour[i].y);
  }
  return ratios;
}

// Strides in a row from `first` on whose ratio halves each time; their mean distance from it.
struct Halvings {
  std::size_t count = 0;
  double mean_error = 0;
};

Halvings count_halvings(std::span<const double> ratios, std::size_t first) {
  constexpr double largest_error = 0.25;
  Halvings halvings;
  double expected = 1;
  double errors = 0;
  for (std::size_t i = first; i < ratios.size(); ++i) {
    expected /= 2;
    const double error = std::abs(ratios[i] / expected - 1);
    if (error > largest_error) {
      break;
    }
    errors += error;
    ++halvings.count;
  }
  halvings.mean_error = halvings.count > 0 ? errors / static_cast<double>(halvings.count) : 0;
  return halvings;
}

}  // namespace

std::optional<AccessGranularity> find_access_granularity(
    std::span<const double> costs, std::span<const SegmentCounts> candidates) {
  std::optional<AccessGranularity> best;
  double second = std::numeric_limits<double>::infinity();
  for (const SegmentCounts& candidate : candidates) {
    const auto fit = fit_candidate(costs, candidate);
    if (!fit) {
      continue;
    }
    if (!best || fit->largest_relative_residual < best->largest_relative_residual) {
      second = best ? best->largest_relative_residual : second;
      best = fit;
    } else {
      second = std::min(second, fit->largest_relative_residual);
    }
  }
  constexpr double clearly_better = 0.5;
  if (!best || best->largest_relative_residual > clearly_better * second) {
    return std::nullopt;
  }
  best->second_best_residual = second;
  best->confidence = 1 - best->largest_relative_residual / std::min(second, 1.0);
  return best;
}

std::optional<ChannelInterleave> find_channel_interleave(std::span<const CurvePoint> power,
                                                         std::span<const CurvePoint> neighbour) {
  constexpr double clear_fall = 0.8;
  constexpr double nearly_equal = 0.1;
  constexpr std::size_t fewest_equal = 2;
  constexpr std::size_t fewest_halvings = 2;
  const std::vector<double> ratios = ratios_of(power, neighbour);
  const auto is_fallen = [](double ratio) { return ratio < clear_fall; };
  const auto fall = std::find_if(ratios.begin(), ratios.end(), is_fallen);
  const auto first = static_cast<std::size_t>(fall - ratios.begin());
  const bool equal_before = std::all_of(
      ratios.begin(), fall, [](double ratio) { return std::abs(ratio - 1) <= nearly_equal; });
  // With one channel left a longer stride changes nothing.
  const bool stays_fallen = std::all_of(fall, ratios.end(), is_fallen);
  if (first < fewest_equal || !equal_before || !stays_fallen) {
    return std::nullopt;
  }
  const Halvings halvings = count_halvings(ratios, first);
  if (halvings.count < fewest_halvings) {
    return std::nullopt;
  }
  return ChannelInterleave{.bytes = power[first - 1].x,
                           .halvings = halvings.count,
                           .lowest_ratio = *std::min_element(ratios.begin(), ratios.end()),
                           .confidence = 1 - halvings.mean_error / (1 - 0.5)};
}

}  // namespace hipscope
