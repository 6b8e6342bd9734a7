// Inference: what a curve says about the hardware, with a confidence that rests on how well the
// model fits. Each function answers "not found" (an empty optional) rather than invent a number.
// Plain C++, no GPU headers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hipscope/experiment.h"

namespace hipscope {

/// A launch as the dispatcher sees it: so many blocks of so many threads took so long.
struct LaunchTime {
  double blocks = 0;
  double threads = 0;
  double seconds = 0;
};

/// t = max(blocks / block_rate, threads / thread_rate).
struct LaunchRates {
  double block_rate = 0;                  ///< blocks per second
  std::optional<double> thread_rate{};    ///< threads per second; empty: never the limit here
  std::size_t thread_limited_points = 0;  ///< launches that the thread rate explains
  double largest_relative_residual = 0;   ///< |measured - model| / measured, over all launches

  /// The model's time of a launch, in seconds.
  [[nodiscard]] double seconds(double blocks, double threads) const;
};

/// Fits the two rates to `launches` of one kernel, sorted by rising block size. Of all places where
/// the limit may change from blocks to threads it takes the one with the smallest squared
/// logarithmic residual. Empty with fewer than four launches or with a time that is not positive.
std::optional<LaunchRates> fit_launch_rates(std::span<const LaunchTime> launches);

/// The end of a flat part of a curve, its start where nothing else is said.
struct FirstStep {
  double last_flat_x = 0;  ///< the last x before the curve rises
  double next_x = 0;       ///< the first x after it
  double ratio = 0;        ///< y there over the median of the flat part
  double confidence = 0;   ///< 0 ... 1: how clearly the step stands out of the flat part's spread
};

/// Where a curve, flat at first, takes its first step of at least `smallest_ratio` (such as 1.5)
/// over the median of the points before it. Empty when it takes none, and when the flat part is
/// shorter than three points or not flat, so that a slope is not taken for a step.
std::optional<FirstStep> find_first_step(std::span<const CurvePoint> curve, double smallest_ratio);

/// Where a curve leaves a flat part, each time that it does so clearly: from the first point after
/// it on y stays above all of the flat part, and within one octave of x it rises by
/// `smallest_ratio` (such as 1.05) over the flat part's median, for good. Two such points at least
/// must follow. The flat part are the last two octaves before (at least four points over one
/// octave), whose spread is no more than a quarter of that rise: smaller steps, slow rises and
/// noise are none. x is rising and positive. From left to right; empty when there is none.
std::vector<FirstStep> find_clear_rises(std::span<const CurvePoint> curve, double smallest_ratio);

/// Where a falling curve reaches its floor.
struct LastDrop {
  double last_high_x = 0;   ///< the last x before the curve falls to its floor
  double first_flat_x = 0;  ///< the first x from which on it is flat
  double ratio = 0;         ///< y at last_high_x over the median of the flat part
  double confidence = 0;    ///< 0 ... 1: how clearly the drop stands out of the flat part's spread
};

/// Where a curve that ends flat takes its last drop, of at least `smallest_ratio` (such as 1.5)
/// over the median of the points after it. Empty when it takes none, when the flat part is shorter
/// than three points or not flat, and when the curve has been down there before.
std::optional<LastDrop> find_last_drop(std::span<const CurvePoint> curve, double smallest_ratio);

/// The period of a staircase.
struct StepPeriod {
  double period = 0;      ///< distance between steps, in the unit of x
  std::size_t steps = 0;  ///< steps that the curve shows
  double confidence = 0;  ///< the share of steps that lie on a multiple of the period
};

/// The period of the steps in a curve that is flat between them and sampled at equal distances
/// dx: the greatest common divisor of the last x before each rise. A rise is a change of
/// more than `threshold` (relative) and of several times the curve's own noise, that lasts for two
/// points at least.
/// Empty with fewer than three steps, with unequal distances, or when the common divisor is dx
/// itself, which the sampling cannot tell from no period.
std::optional<StepPeriod> find_step_period(std::span<const CurvePoint> curve, double threshold);

/// Where a curve, which may fall at first, leaves its lowest level for good: from there on every y
/// is more than `smallest_ratio` (such as 1.05) times the lowest. A single high point before that
/// is none. The level is the median from the first point within that ratio on; at least three
/// points must lie on it. Empty when the curve stays on its level or has no such one.
std::optional<FirstStep> find_plateau_end(std::span<const CurvePoint> curve, double smallest_ratio);

/// The time in which each of n independent instructions is issued once:
/// max(latency, n * interval).
struct IssueFit {
  double latency = 0;                    ///< in the unit of y: until a result can be used
  std::optional<double> interval{};      ///< from one instruction to the next; empty: not the limit
  std::size_t latency_points = 0;        ///< points that the latency explains
  double largest_relative_residual = 0;  ///< over all points
};

/// Fits latency and interval to `rounds`: x is n, y the time of a round, x rising. Of all places
/// where the limit may change from one to the other it takes the one with the smallest squared
/// logarithmic residual. Empty with fewer than four points, with one that is not positive, and when
/// the model is more than a quarter off anywhere, so that another law is not taken for this one.
std::optional<IssueFit> fit_issue(std::span<const CurvePoint> rounds);

/// Where a level of a curve ends.
struct LevelEnd {
  double last_x = 0;   ///< the last x on the level: what is there still fits
  double risen_x = 0;  ///< the first x after it
  double next_x = 0;   ///< the first x on the next level; without a next one, the last of the curve
  double confidence = 0;  ///< 0 ... 1, see find_levels
};

/// A stretch of a curve on which y stays the same.
struct Level {
  double y = 0;            ///< the median there
  double first_x = 0;      ///< the first x on it
  double spread = 0;       ///< largest less smallest y on it, over y; single outliers left out
  std::size_t points = 0;  ///< measured on it
  double confidence = 0;   ///< 0 ... 1: of `y`, (1 - spread) * points / (points + 1)
  std::optional<LevelEnd> end{};  ///< empty: the curve ends on this level
};

/// The levels of a curve that rises in steps, such as latency over footprint. x is rising and
/// positive, and distances are counted in octaves. A level is at least 3 points and 0.4 octaves
/// long; from its last point to the next one's first, y rises by at least `smallest_ratio` (such as
/// 1.12). What rises more slowly is one level with a large spread, and a level above its successor
/// is no level.
/// A curve without a step is one level without an end. One that never gets flat has no level. One
/// that rises at last and gets flat nowhere after has an end without a next level.
/// The confidence of an end is the product of how clearly the step stands out of the level's own
/// spread, 1 - spread / (ratio - 1), of points / (points + 1), and of sqrt(last_x / next_x), which
/// is small where the rise is gradual.
std::vector<Level> find_levels(std::span<const CurvePoint> curve, double smallest_ratio);

/// The levels of a rate that falls in steps, such as bandwidth over footprint: find_levels of its
/// reciprocal, each with the rate as y.
std::vector<Level> find_rate_levels(std::span<const CurvePoint> curve, double smallest_ratio);

/// How much of x is enough for nearly the highest y.
struct Saturation {
  double x = 0;           ///< the least with which any point reaches it
  CurvePoint lightest{};  ///< the point with the smallest x
  double confidence = 0;  ///< the share of the points from x on that reach it
};

/// From which x on y reaches `share` (such as 0.95) of its highest. The points may come in any
/// order, and several of them may have the same x. Empty where the smallest x already gives half.
std::optional<Saturation> find_saturation(std::span<const CurvePoint> points, double share);

}  // namespace hipscope
