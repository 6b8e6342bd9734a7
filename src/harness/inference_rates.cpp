// Rates over what is in flight.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

// The chance that a normally distributed value is below this many standard deviations.
double chance_below(double deviations) { return std::erfc(-deviations / std::sqrt(2.0)) / 2; }

// The rates from x on, over all sums of threads and loads.
std::vector<double> rates_from(std::span<const CurvePoint> points, double x) {
  std::vector<double> rates;
  for (const CurvePoint& point : points) {
    if (point.x >= x) {
      rates.push_back(point.y);
    }
  }
  return rates;
}

}  // namespace

std::optional<Saturation> find_saturation(std::span<const CurvePoint> points, double share) {
  if (points.empty()) {
    return std::nullopt;
  }
  std::map<double, std::vector<double>> at;
  double highest = 0;
  for (const CurvePoint& point : points) {
    at[point.x].push_back(point.y);
    highest = std::max(highest, point.y);
  }
  Saturation found{.lightest = {.x = at.begin()->first, .y = median_of(at.begin()->second)}};
  constexpr double still_far = 0.5;
  if (!(found.lightest.y < still_far * highest)) {
    return std::nullopt;
  }
  // The highest of many is too high by noise: what counts is the middle of those well beyond, at
  // first of the heaviest quarter.
  std::vector<double> xs;
  for (const CurvePoint& point : points) {
    xs.push_back(point.x);
  }
  std::sort(xs.begin(), xs.end());
  constexpr double heaviest = 0.75;
  double beyond_x = quantile(xs, heaviest);
  double top = 0;
  double noise = 0;
  double most_noise = 0;
  double top_error = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<double> beyond = rates_from(points, beyond_x);
    top = median_of(beyond);
    const auto enough = std::find_if(at.begin(), at.end(), [&](const auto& each) {
      return median_of(each.second) >= share * top;
    });
    found.x = enough == at.end() ? at.rbegin()->first : enough->first;
    top_error = std::abs(top - median_of(rates_from(points, found.x)));  // it may rise on
    for (double& rate : beyond) {
      rate = std::abs(rate - top);
    }
    noise = deviations_per_median * median_of(beyond);
    // Of a few rates it may be too low by chance.
    most_noise = noise * (1 + 2 / std::sqrt(static_cast<double>(beyond.size())));
    beyond_x = std::min(beyond_x, 2 * found.x);
  }
  const std::vector<double> from_there = rates_from(points, found.x);
  const auto reaching = std::count_if(from_there.begin(), from_there.end(),
                                      [&](double rate) { return rate >= share * top - 2 * noise; });
  found.confidence = static_cast<double>(reaching) / static_cast<double>(from_there.size());
  // Each that is near the limit may be on the other side of it, the more so as it was chosen.
  constexpr double chosen = 1.5;
  double chance = 1;
  for (const auto& [x, rates] : at) {
    const double deviation =
        chosen * std::hypot(most_noise / std::sqrt(static_cast<double>(rates.size())), top_error);
    const double beyond = median_of(rates) - share * top;
    if (x <= found.x && deviation > 0) {
      chance *= chance_below((x < found.x ? -beyond : beyond) / deviation);
    }
  }
  constexpr double surely = 0.95;
  found.confidence = sure_if(chance >= surely, chance * found.confidence);
  return found;
}

}  // namespace hipscope
