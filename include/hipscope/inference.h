// Inference: the parameters of the hardware that a curve shows, with a confidence from the fit of
// the model. Each function answers "not found" (an empty optional) rather than invent a number.
// Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace hipscope {

/// The end of a flat part of a curve: the first one, unless stated otherwise.
struct FirstStep {
  double last_flat_x = 0;    ///< the last x before the curve rises
  double next_x = 0;         ///< the first x after it
  double ratio = 0;          ///< y there over the median of the flat part
  double flat_y = 0;         ///< that median
  double confidence = 0;     ///< 0 ... 1: how clearly the step stands out of the flat part's spread
  std::size_t outliers = 0;  ///< points on the wrong side of the step, which were left out
};

/// "3 of 266 points left out as outliers", for the evidence.
std::string outliers_text(std::size_t outliers, std::size_t points);

/// A step followed by fewer points may be a disturbance of the last ones.
inline constexpr std::size_t fewest_after_step = 3;

/// What a curve must be after a step.
enum class AfterStep { level, anything };

/// Where a curve, flat at first, takes its first step of at least `smallest_ratio` (such as 1.5)
/// over the median of the points before it. The step lasts: at least `fewest_after` points follow
/// it and stay above. Points that stand out before it, a quarter at most, are outliers; of several
/// places the one with the fewest wins. Empty without such a step, when the flat part is shorter
/// than three points or not flat, and when the curve rises on from the step (a slope), unless
/// `after` allows that.
std::optional<FirstStep> find_first_step(std::span<const CurvePoint> curve, double smallest_ratio,
                                         std::size_t fewest_after = fewest_after_step,
                                         AfterStep after = AfterStep::level);

/// Every place where a curve clearly leaves a flat part: from the next point on y stays above all
/// of the flat part, and within one octave of x it rises by `smallest_ratio` (such as 1.05) over
/// the flat part's median, for good. At least two such points must follow. The flat part is the
/// last two octaves before (at least four points over one octave), with a spread of at most a
/// quarter of that rise: smaller steps, slow rises and noise do not count. x is rising and
/// positive. From left to right; empty if there is none.
std::vector<FirstStep> find_clear_rises(std::span<const CurvePoint> curve, double smallest_ratio);

/// Where a curve, which may fall at first, leaves its lowest level for good: from there on every y
/// is more than `smallest_ratio` (such as 1.05) times the level, and above its noise. The level is
/// the median of the last three to eight points before, whichever fit best; no earlier level is
/// lower. To exclude slopes and disturbances, their spread must be small against the rise over the
/// next two points, three points must follow, and the rise must stay. High points within the level,
/// fewer than half, are outliers. Empty if the curve has no such level or stays on it.
std::optional<FirstStep> find_plateau_end(std::span<const CurvePoint> curve, double smallest_ratio);

/// A curve that one of two limits decides: y = max(level, x * slope).
struct TwoLimits {
  double level = 0;
  std::optional<double> slope{};         ///< empty: never the limit here
  std::size_t level_points = 0;          ///< points that the level explains
  double largest_relative_residual = 0;  ///< |measured - model| / measured, over all points

  [[nodiscard]] double at(double x) const { return std::max(level, x * slope.value_or(0)); }
};

/// Fits both limits to a curve of rising x. The limit changes from the level to the slope where the
/// squared logarithmic residual is smallest. Empty with fewer than four points or with one that is
/// not positive.
std::optional<TwoLimits> fit_two_limits(std::span<const CurvePoint> curve);

/// The same for the time in which each of x independent instructions is issued once: `level` is the
/// latency until a result can be used, `slope` the interval from one instruction to the next. An
/// interval that explains no clear rise does not count. Also empty when the model is more than a
/// quarter off anywhere (another law).
std::optional<TwoLimits> fit_issue(std::span<const CurvePoint> rounds);

/// Of several models of a curve, the one that fits best.
struct BestFit {
  std::size_t index = 0;
  double residual = 0;
  double confidence = 0;  ///< 0 ... 1: how much smaller the residual is than the next best one's
};

/// The smallest of the models' residuals. Empty when it does not stand out by a quarter, as on a
/// flat curve, which all of them fit.
std::optional<BestFit> best_fit(std::span<const double> residuals);

/// The piece that one miss fetches.
struct FetchUnit {
  double bytes = 0;       ///< the unit, aligned to its own size
  double hit = 0;         ///< y of a load in a unit that is there
  double miss = 0;        ///< y of a load in another
  double confidence = 0;  ///< 0 ... 1
};

/// The fetch unit by neighbours: x is the size of an aligned block, y the latency of a load in its
/// other half right after one that missed: a hit up to the unit, a miss beyond. The first step is
/// the unit's; where misses go still farther from some distance on, another one follows. The
/// confidence is the gap between the slowest hit and the fastest miss, over the distance of their
/// medians. Empty with fewer than two points on either side or on the first step's level, when a
/// miss takes less than 1.25 times a hit, and when the gap is less than 0.6 of the distance (a
/// slope).
std::optional<FetchUnit> find_fetch_unit(std::span<const CurvePoint> neighbours);

/// A cache's line: the bytes under one tag.
struct LineSize {
  double bytes = 0;
  double flat_reach = 0;  ///< y up to chunks of a line: the geometric mean
  double growth = 0;      ///< octaves of y per octave of x beyond: 1 is in proportion
  double confidence = 0;  ///< 0 ... 1: how much smaller the residual is than the next best line's
};

/// The line by capacity: with one node in each chunk of x bytes a cache holds the nodes of y bytes.
/// y is constant up to chunks of a line and then grows in proportion to the chunk, or a little more
/// slowly where sets fill unevenly: a node takes a whole line however far apart nodes are.
/// Takes the x that fits best as the line. Empty when none stands out by a quarter or fits within a
/// quarter of an octave, when the growth is not 0.6 ... 1.2, when a straight line on logarithmic
/// axes fits as well, and with fewer than two points on either side.
std::optional<LineSize> fit_line_size(std::span<const CurvePoint> reach);

/// A cache's capacity. Which lines miss first depends on how the cache replaces them: the value
/// comes from the laws of replacement that explain the curve, low and high are the lowest and the
/// highest by any of these.
struct Capacity {
  double value = 0;
  double low = 0;
  double high = 0;
  double knee = 0;        ///< where a tenth of the loads miss
  double half = 0;        ///< where half of them miss
  double full = 0;        ///< where nine tenths miss
  double confidence = 0;  ///< 0 ... 1: that the capacity is within an eighth of `value`
};

/// Where a level of a curve ends.
struct LevelEnd {
  double last_x = 0;   ///< the last x on the level: it still fits
  double risen_x = 0;  ///< the first x after it
  double next_x = 0;   ///< the first x on the next level; without a next one, the last of the curve
  std::optional<Capacity> capacity{};  ///< empty without a next level
};

/// A stretch of a curve on which y stays the same.
struct Level {
  double y = 0;            ///< the median there
  double first_x = 0;      ///< the first x on it
  double spread = 0;       ///< largest less smallest y on it, over y; single outliers left out
  std::size_t points = 0;  ///< measured on it
  double confidence = 0;   ///< 0 ... 1: of `y`; lower for spread that noise does not explain
  std::optional<LevelEnd> end{};  ///< empty: the curve ends on this level
};

/// The levels of a curve that rises in steps, such as latency over footprint. x is rising and
/// positive, and distances are counted in octaves. The curve is cut into flat runs, of at least 3
/// points and 0.4 octaves, and rises between them, so that the least is left unexplained. From the
/// end of a level to the beginning of the next, y rises by at least `smallest_ratio` (such
/// as 1.12), by four times the chance difference of their medians, by twice the drift within both
/// levels, and within seven octaves. Any other rise makes one level with a large spread; a level
/// above its successor, or one that ends within three quarters of an octave of the one before, is
/// no level. There is only one level if the levels' own drift is more than a fifth of the curve's
/// whole rise, if they spread much farther than neighbouring points (a random walk), or if the
/// curve never falls for long and a cubic of the octaves fits it within the noise (a slope). A
/// curve without a step is one level without an end. One that never becomes flat has no level. One
/// that rises at last and becomes flat nowhere after that has an end without a next level. The
/// confidence of the capacity is how often it was right in the trial (tests/inference).
std::vector<Level> find_levels(std::span<const CurvePoint> curve, double smallest_ratio);

/// How much of x is enough for nearly the highest y.
struct Saturation {
  double x = 0;           ///< the least with which the middle of the points reaches it
  CurvePoint lightest{};  ///< the smallest x, and the middle of its points
  double confidence = 0;  ///< that no x from here on reaches the limit by noise alone
};

/// The x from which on y reaches `share` (such as 0.95) of its plateau, the median from twice that
/// x on. The points may come in any order, and several may have the same x. Empty if the smallest x
/// already reaches half.
std::optional<Saturation> find_saturation(std::span<const CurvePoint> points, double share);

}  // namespace hipscope
