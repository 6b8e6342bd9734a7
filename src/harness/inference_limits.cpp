// Curves that one of two limits decides.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

// The limits when the first `split` points are decided by the level and the others by the slope.
TwoLimits limits_for_split(std::span<const CurvePoint> curve, std::size_t split) {
  std::vector<double> levels;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    i < split ? levels.push_back(curve[i].y) : slopes.push_back(curve[i].y / curve[i].x);
  }
  TwoLimits limits{.level = geometric_mean(levels), .level_points = split};
  if (!slopes.empty()) {
    limits.slope = geometric_mean(slopes);
  }
  for (const CurvePoint& point : curve) {
    limits.largest_relative_residual = std::max(limits.largest_relative_residual,
                                                std::abs(point.y - limits.at(point.x)) / point.y);
  }
  return limits;
}

double squared_logarithmic_residual(std::span<const CurvePoint> curve, const TwoLimits& limits) {
  double sum = 0;
  for (const CurvePoint& point : curve) {
    const double residual = std::log(point.y / limits.at(point.x));
    sum += residual * residual;
  }
  return sum;
}

}  // namespace

std::optional<TwoLimits> fit_two_limits(std::span<const CurvePoint> curve) {
  constexpr std::size_t fewest = 4;
  const bool all_positive = std::all_of(curve.begin(), curve.end(), [](const CurvePoint& point) {
    return point.x > 0 && point.y > 0;
  });
  if (curve.size() < fewest || !all_positive) {
    return std::nullopt;
  }
  // One limit alone comes first: a second one must explain more than rounding.
  constexpr double rounding = 1e-24;
  TwoLimits best;
  double best_residual = std::numeric_limits<double>::infinity();
  for (std::size_t split = curve.size(); split >= 1; --split) {
    const TwoLimits limits = limits_for_split(curve, split);
    const double residual = squared_logarithmic_residual(curve, limits);
    if (residual + rounding < best_residual) {
      best_residual = residual;
      best = limits;
    }
  }
  return best;
}

std::optional<TwoLimits> fit_issue(std::span<const CurvePoint> rounds) {
  auto limits = fit_two_limits(rounds);
  if (!limits) {
    return std::nullopt;
  }
  constexpr double clear_rise = 1.1;
  if (limits->at(rounds.back().x) < clear_rise * limits->level) {
    limits = limits_for_split(rounds, rounds.size());
  }
  constexpr double largest_residual = 0.25;
  return limits->largest_relative_residual > largest_residual ? std::nullopt : limits;
}

}  // namespace hipscope
