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

// How far the two points after point i lie above the two up to it, relative to y there: a single
// point that stands out is no rise.
double lasting_rise(std::span<const CurvePoint> curve, std::size_t i) {
  const double before = i > 0 ? std::max(curve[i - 1].y, curve[i].y) : curve[i].y;
  const double after =
      i + 2 < curve.size() ? std::min(curve[i + 1].y, curve[i + 2].y) : curve[i + 1].y;
  return (after - before) / curve[i].y;
}

// The last x before each rise. The noise is estimated by the median of the absolute changes: most
// neighbours lie on the same step.
std::vector<double> positions_of_rises(std::span<const CurvePoint> curve, double threshold) {
  std::vector<double> magnitudes;
  magnitudes.reserve(curve.size());
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    magnitudes.push_back(std::abs(curve[i + 1].y - curve[i].y) / curve[i].y);
  }
  constexpr double sigma_per_median_deviation = 1.4826;  // of a normal distribution
  constexpr double certain_sigmas = 4;
  const double limit = std::max(
      threshold, certain_sigmas * sigma_per_median_deviation * summarize(magnitudes).median);
  std::vector<double> rises;
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    if (lasting_rise(curve, i) > limit) {
      rises.push_back(curve[i].x);
    }
  }
  return rises;
}

bool is_equally_spaced(std::span<const CurvePoint> curve, double distance) {
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    if (curve[i + 1].x - curve[i].x != distance) {
      return false;
    }
  }
  return distance > 0;
}

std::size_t count_on_multiples(std::span<const double> rises, double period) {
  return static_cast<std::size_t>(std::count_if(
      rises.begin(), rises.end(), [&](double rise) { return std::fmod(rise, period) == 0; }));
}

// How likely so many of `tries` or more succeed, each with this probability.
double chance_of_at_least(std::size_t successes, std::size_t tries, double probability) {
  double chance = 0;
  double one = std::pow(1 - probability, static_cast<double>(tries));  // of exactly i
  for (std::size_t i = 0; i <= tries; ++i) {
    chance += i >= successes ? one : 0;
    one *= static_cast<double>(tries - i) / static_cast<double>(i + 1) * probability /
           (1 - probability);
  }
  return chance;
}

// Whether the rises lie on multiples of so many sampling distances: nearly all, or most of so many
// that no chance puts them there.
bool have_period(std::size_t on_multiples, std::size_t rises, int distances) {
  constexpr double nearly_all = 0.9;
  constexpr double most = 0.8;
  constexpr double no_chance = 1e-4;
  const double share = static_cast<double>(on_multiples) / static_cast<double>(rises);
  return share >= nearly_all ||
         (share >= most && chance_of_at_least(on_multiples, rises, 1.0 / distances) < no_chance);
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

std::optional<StepPeriod> find_step_period(std::span<const CurvePoint> curve, double threshold) {
  constexpr std::size_t fewest_steps = 3;
  if (curve.size() < 2 * fewest_steps || !is_equally_spaced(curve, curve[1].x - curve[0].x)) {
    return std::nullopt;
  }
  const double distance = curve[1].x - curve[0].x;
  const std::vector<double> rises = positions_of_rises(curve, threshold);
  if (rises.size() < fewest_steps) {
    return std::nullopt;
  }
  const double range = rises.back() - rises.front();
  const auto most_distances = static_cast<int>(range / (fewest_steps - 1) / distance);
  for (int distances = most_distances; distances >= 2; --distances) {
    const double period = distances * distance;
    const std::size_t on_multiples = count_on_multiples(rises, period);
    if (!have_period(on_multiples, rises.size(), distances)) {
      continue;
    }
    // A period that skips most of its own multiples is a coincidence, not a staircase.
    const double expected_steps = range / period + 1;
    const double coverage = std::min(1.0, static_cast<double>(rises.size()) / expected_steps);
    const double share = static_cast<double>(on_multiples) / static_cast<double>(rises.size());
    return StepPeriod{.period = period, .steps = rises.size(), .confidence = share * coverage};
  }
  return std::nullopt;
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
