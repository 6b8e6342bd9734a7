// What the pattern of accesses to memory costs: the size of what is moved, and collisions on
// channels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "hipscope/inference.h"

namespace hipscope {

namespace {

constexpr unsigned dword_bytes = 4;

// The segments of `bytes` that a wave touches whose lane i accesses dword i * stride.
double segments_touched(double stride, unsigned lanes, double bytes) {
  std::set<std::uint64_t> touched;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    touched.insert(static_cast<std::uint64_t>(lane * stride * dword_bytes / bytes));
  }
  return static_cast<double>(touched.size());
}

// Whether costs follow the segments of `bytes`: in proportion up to the stride at which each lane
// has one of its own, and flat over the next octave, in which larger segments still become more.
std::optional<AccessGranularity> fit_candidate(std::span<const CurvePoint> costs, unsigned lanes,
                                               double bytes) {
  std::vector<CurvePoint> by_segments;
  for (const CurvePoint& cost : costs) {
    if (cost.x * dword_bytes <= 2 * bytes) {
      by_segments.push_back({.x = segments_touched(cost.x, lanes, bytes), .y = cost.y});
    }
  }
  std::stable_sort(by_segments.begin(), by_segments.end(),
                   [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; });
  const auto fit = fit_issue(by_segments);
  constexpr double largest_residual = 0.15;
  if (!fit || !fit->interval || 2 * fit->latency_points > by_segments.size() ||
      fit->largest_relative_residual > largest_residual) {
    return std::nullopt;
  }
  // A slope that bends is not taken for the one: the cost at least doubles and then stays.
  constexpr double smallest_rise = 2;
  constexpr double flat = 1.2;
  const auto first_flat = std::find_if(costs.begin(), costs.end(), [=](const CurvePoint& cost) {
    return cost.x * dword_bytes >= bytes;
  });
  const auto last_flat = std::find_if(first_flat, costs.end(), [=](const CurvePoint& cost) {
    return cost.x * dword_bytes >= 2 * bytes;
  });
  if (last_flat == costs.end() || last_flat->y > flat * first_flat->y ||
      first_flat->y < smallest_rise * fit->latency) {
    return std::nullopt;
  }
  return AccessGranularity{.bytes = bytes,
                           .cost_per_segment = *fit->interval,
                           .least_cost = fit->latency,
                           .largest_relative_residual = fit->largest_relative_residual};
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

std::optional<AccessGranularity> find_access_granularity(std::span<const CurvePoint> costs,
                                                         unsigned lanes) {
  std::optional<AccessGranularity> best;
  double second = std::numeric_limits<double>::infinity();
  for (const double bytes : {16.0, 32.0, 64.0, 128.0, 256.0}) {
    const auto fit = costs.empty() || costs.back().x * dword_bytes < 2 * bytes
                         ? std::nullopt
                         : fit_candidate(costs, lanes, bytes);
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
