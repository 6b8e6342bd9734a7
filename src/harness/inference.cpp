#include "hipscope/inference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hipscope/statistics.h"

namespace hipscope {

namespace {

// A time that one of two limits decides: max(first * first_amount, second * second_amount).
struct LimitedTime {
  double time = 0;
  double first_amount = 0;
  double second_amount = 0;
};

struct TwoLimits {
  double first = 0;                // time per amount
  std::optional<double> second{};  // empty: never the limit
  std::size_t first_points = 0;    // that the first limit explains
  double largest_relative_residual = 0;

  [[nodiscard]] double time(const LimitedTime& point) const {
    return std::max(first * point.first_amount, second.value_or(0) * point.second_amount);
  }
};

// The limits when the first `split` points are decided by the first and the others by the second.
TwoLimits limits_for_split(std::span<const LimitedTime> points, std::size_t split) {
  std::vector<double> first;
  std::vector<double> second;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i < split) {
      first.push_back(points[i].time / points[i].first_amount);
    } else {
      second.push_back(points[i].time / points[i].second_amount);
    }
  }
  TwoLimits limits{.first = geometric_mean(first), .first_points = split};
  if (!second.empty()) {
    limits.second = geometric_mean(second);
  }
  for (const LimitedTime& point : points) {
    limits.largest_relative_residual = std::max(
        limits.largest_relative_residual, std::abs(point.time - limits.time(point)) / point.time);
  }
  return limits;
}

double squared_logarithmic_residual(std::span<const LimitedTime> points, const TwoLimits& limits) {
  double sum = 0;
  for (const LimitedTime& point : points) {
    const double residual = std::log(point.time / limits.time(point));
    sum += residual * residual;
  }
  return sum;
}

// Of all places where the limit may change, the one with the smallest squared logarithmic residual.
// Empty with fewer than four points, and with a time or an amount that is not positive.
std::optional<TwoLimits> fit_two_limits(std::span<const LimitedTime> points) {
  constexpr std::size_t fewest_points = 4;
  const bool all_positive = std::all_of(points.begin(), points.end(), [](const LimitedTime& point) {
    return point.time > 0 && point.first_amount > 0 && point.second_amount > 0;
  });
  if (points.size() < fewest_points || !all_positive) {
    return std::nullopt;
  }
  // One limit alone comes first: a second one must explain more than rounding.
  constexpr double rounding = 1e-24;
  TwoLimits best;
  double best_residual = std::numeric_limits<double>::infinity();
  for (std::size_t split = points.size(); split >= 1; --split) {
    const TwoLimits limits = limits_for_split(points, split);
    const double residual = squared_logarithmic_residual(points, limits);
    if (residual + rounding < best_residual) {
      best_residual = residual;
      best = limits;
    }
  }
  return best;
}

}  // namespace

double LaunchRates::seconds(double blocks, double threads) const {
  const double by_blocks = blocks / block_rate;
  return thread_rate ? std::max(by_blocks, threads / *thread_rate) : by_blocks;
}

std::optional<LaunchRates> fit_launch_rates(std::span<const LaunchTime> launches) {
  std::vector<LimitedTime> points;
  for (const LaunchTime& launch : launches) {
    points.push_back(
        {.time = launch.seconds, .first_amount = launch.blocks, .second_amount = launch.threads});
  }
  const auto limits = fit_two_limits(points);
  if (!limits) {
    return std::nullopt;
  }
  LaunchRates rates{.block_rate = 1 / limits->first,
                    .thread_limited_points = points.size() - limits->first_points,
                    .largest_relative_residual = limits->largest_relative_residual};
  if (limits->second) {
    rates.thread_rate = 1 / *limits->second;
  }
  return rates;
}

std::optional<IssueFit> fit_issue(std::span<const CurvePoint> rounds) {
  std::vector<LimitedTime> points;
  for (const CurvePoint& round : rounds) {
    points.push_back({.time = round.y, .first_amount = 1, .second_amount = round.x});
  }
  auto limits = fit_two_limits(points);
  if (!limits) {
    return std::nullopt;
  }
  // An interval that explains no clear rise is noise on the latency.
  constexpr double clear_rise = 1.1;
  if (limits->time(points.back()) < clear_rise * limits->first) {
    limits = limits_for_split(points, points.size());
  }
  constexpr double largest_residual = 0.25;
  if (limits->largest_relative_residual > largest_residual) {
    return std::nullopt;
  }
  return IssueFit{.latency = limits->first,
                  .interval = limits->second,
                  .latency_points = limits->first_points,
                  .largest_relative_residual = limits->largest_relative_residual};
}

}  // namespace hipscope
