// Steps: where a flat part of a curve ends. A step lasts; what does not is an outlier.
#include <algorithm>
#include <cmath>

#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

constexpr std::size_t fewest_flat_points = 3;

bool all_values_positive(std::span<const CurvePoint> curve) {
  return std::all_of(curve.begin(), curve.end(), [](const CurvePoint& p) { return p.y > 0; });
}

// A curve cut in two after point `last`: a level, and what is above it.
struct Cut {
  std::size_t last = 0;
  double level = 0;             // median of the points before
  std::size_t outliers = 0;     // points before that are not on the level
  std::size_t fallen_back = 0;  // points after that are not above it
};

// Half of the step, as a factor: what is further from the level than this is not on it.
double tolerance_of(double smallest_ratio) { return std::sqrt(smallest_ratio); }

Cut cut_after(std::span<const CurvePoint> curve, std::size_t last, double level, double tolerance) {
  Cut cut{.last = last, .level = level};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const bool is_above = curve[i].y > level * tolerance;
    const bool is_below = curve[i].y < level / tolerance;
    cut.outliers += i <= last && (is_above || is_below) ? 1 : 0;
    cut.fallen_back += i > last && !is_above ? 1 : 0;
  }
  return cut;
}

// What a measurement suffers makes it longer: a point that is too low counts twice.
std::size_t cost_of(const Cut& cut) { return cut.outliers + 2 * cut.fallen_back; }

// Of all places where the curve goes from its level so far to above it, the one with the fewest
// points on the wrong side. Of two that are alike the later: more is flat.
std::optional<Cut> best_cut(std::span<const CurvePoint> curve, double smallest_ratio) {
  const double tolerance = tolerance_of(smallest_ratio);
  std::optional<Cut> best;
  std::vector<double> sorted;
  for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), curve[i].y), curve[i].y);
    const double level = quantile(sorted, 0.5);
    const bool rises = curve[i].y <= level * tolerance && curve[i + 1].y > level * tolerance;
    if (i + 1 < fewest_flat_points || !rises) {
      continue;
    }
    const Cut cut = cut_after(curve, i, level, tolerance);
    if (!best || cost_of(cut) <= cost_of(*best)) {
      best = cut;
    }
  }
  return best;
}

// The points of [begin, end) on one side of `limit`, at most the first `count`.
std::vector<double> some_above(std::span<const CurvePoint> curve, std::size_t begin, double limit,
                               std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = begin; i < curve.size() && values.size() < count; ++i) {
    if (curve[i].y > limit) {
      values.push_back(curve[i].y);
    }
  }
  return values;
}

// Whether most of `values` are within a quarter of the rise from `level` to their own median.
bool is_level(const std::vector<double>& values, double level) {
  const double median = median_of(values);
  const double allowed = (median - level) / 4;
  const auto near = std::count_if(values.begin(), values.end(),
                                  [&](double y) { return std::abs(y - median) <= allowed; });
  return 10 * near >= 7 * static_cast<std::ptrdiff_t>(values.size());
}

// The relative noise of a curve: how far points are from the middle of their neighbours. Most have
// nothing else that moves them from there.
double noise_of(std::span<const CurvePoint> curve) {
  std::vector<double> distances;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    distances.push_back(
        std::abs(std::log(curve[i].y * curve[i].y / (curve[i - 1].y * curve[i + 1].y))) / 2);
  }
  const double sigmas = std::sqrt(1.5);  // the variance of a point and of the middle of two others
  return distances.empty() ? 0 : deviations_per_median * median_of(distances) / sigmas;
}

// The level on which a curve is up to a point: see find_plateau_end.
struct Plateau {
  double level = 0;
  double limit = 0;   // y above it is not on the level
  double spread = 0;  // of what is on it, as a natural logarithm
  std::size_t points = 0;
  std::size_t outliers = 0;
};

double median_deviation(const std::vector<double>& values, double from) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) {
    deviations.push_back(std::abs(value - from));
  }
  return median_of(deviations);
}

// Of the last `count` points up to `last`.
Plateau plateau_of(std::span<const CurvePoint> curve, std::size_t last, std::size_t count,
                   double smallest_ratio, double noise) {
  constexpr double certain_sigmas = 4;
  std::vector<double> window;
  for (const CurvePoint& point : curve.subspan(last + 1 - count, count)) {
    window.push_back(point.y);
  }
  const double level = median_of(window);
  const double sigma =
      std::max(noise, deviations_per_median * median_deviation(window, level) / level);
  Plateau plateau{.level = level,
                  .limit = level * std::max(smallest_ratio, 1 + certain_sigmas * sigma),
                  .points = count};
  double low = level;
  double high = level;
  for (const double y : window) {
    plateau.outliers += y > plateau.limit ? 1 : 0;
    low = std::min(low, y);
    high = y > plateau.limit ? high : std::max(high, y);
  }
  plateau.spread = std::log(high / low);
  return plateau;
}

// How far a curve rises after a plateau, as natural logarithms.
struct Rise {
  double early = 0;  // over two points
  double kept = 0;   // the least from there on
  double all = 0;    // in the end
};

Rise rise_above(const Plateau& plateau, std::span<const CurvePoint> rest) {
  const auto least =
      std::min_element(rest.begin() + 1, rest.end(),
                       [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; });
  const double end = std::min(rest.back().y, rest[rest.size() - 2].y);
  return {.early = std::log(std::max(rest[0].y, rest[1].y) / plateau.level),
          .kept = std::log(least->y / plateau.level),
          .all = std::log(end / plateau.level)};
}

// Whether a curve ends its lowest level after `last`, for good and at once.
bool ends_after(std::span<const CurvePoint> curve, std::size_t last, const Plateau& plateau,
                const Rise& rise, double smallest_ratio) {
  constexpr double least_kept = 2.0 / 3;  // of it
  constexpr double least_early = 0.3;     // of the rise in the end
  const auto rest = curve.subspan(last + 1);
  const auto lower = std::count_if(curve.begin(), rest.begin(), [&](const CurvePoint& point) {
    return point.y * plateau.limit < plateau.level * plateau.level;
  });
  const std::size_t on_level = plateau.points - plateau.outliers;
  if (on_level < fewest_flat_points || on_level <= plateau.outliers ||
      curve[last].y > plateau.limit) {
    return false;
  }
  // The spread of a few points tells little of the noise: after three the next two must rise eight
  // times as far, after eight not quite four times.
  const double least_times = 2 + 12.0 / static_cast<double>(on_level - 1);
  constexpr double largest_limit = 1.4;  // times the level: beyond, the points are on none
  return plateau.limit <= std::max(largest_limit, smallest_ratio) * plateau.level && lower <= 1 &&
         std::all_of(rest.begin(), rest.end(),
                     [&](const CurvePoint& point) { return point.y > plateau.limit; }) &&
         least_times * plateau.spread <= rise.early && rise.kept >= least_kept * rise.early &&
         rise.early >= least_early * rise.all;
}

// The end of the lowest level after `last`, by those of the points before that tell it best: some
// may be where the curve still falls to its level.
std::optional<FirstStep> plateau_end_after(std::span<const CurvePoint> curve, std::size_t last,
                                           double smallest_ratio, double noise) {
  constexpr std::size_t most_points = 8;
  std::optional<FirstStep> best;
  double best_weight = 0;
  for (std::size_t points = fewest_flat_points; points <= std::min(most_points, last + 1);
       ++points) {
    const Plateau plateau = plateau_of(curve, last, points, smallest_ratio, noise);
    const Rise rise = rise_above(plateau, curve.subspan(last + 1));
    if (!ends_after(curve, last, plateau, rise, smallest_ratio)) {
      continue;
    }
    const auto count = static_cast<double>(points);
    const auto on_level = static_cast<double>(points - plateau.outliers);
    const double confidence = (1 - plateau.spread / rise.early) * on_level / count;
    const double weight = confidence * on_level / (on_level + 1);
    if (weight > best_weight) {
      best_weight = weight;
      best = FirstStep{.last_flat_x = curve[last].x,
                       .next_x = curve[last + 1].x,
                       .ratio = curve[last + 1].y / plateau.level,
                       .flat_y = plateau.level,
                       .confidence = confidence,
                       .outliers = plateau.outliers};
    }
  }
  return best;
}

}  // namespace

std::string outliers_text(std::size_t outliers, std::size_t points) {
  return std::to_string(outliers) + " of " + std::to_string(points) +
         " points left out as outliers";
}

std::optional<FirstStep> find_first_step(std::span<const CurvePoint> curve, double smallest_ratio,
                                         std::size_t fewest_after, AfterStep after) {
  const auto cut = all_values_positive(curve) ? best_cut(curve, smallest_ratio) : std::nullopt;
  if (!cut) {
    return std::nullopt;
  }
  constexpr std::size_t most_outliers = 4;      // one of this many points before
  constexpr std::size_t most_fallen_back = 25;  // one of this many points after
  const std::size_t before_count = cut->last + 1;
  const std::size_t after_count = curve.size() - before_count;
  if (most_outliers * cut->outliers > before_count ||
      most_fallen_back * cut->fallen_back > after_count ||
      after_count - cut->fallen_back < fewest_after) {
    return std::nullopt;
  }
  constexpr std::size_t enough_for_a_level = 6;
  const double tolerance = tolerance_of(smallest_ratio);
  std::vector<double> flat;
  for (std::size_t i = 0; i <= cut->last; ++i) {
    if (curve[i].y <= cut->level * tolerance && curve[i].y >= cut->level / tolerance) {
      flat.push_back(curve[i].y);
    }
  }
  const std::vector<double> next = some_above(curve, cut->last + 1, cut->level * tolerance,
                                              std::max(enough_for_a_level, before_count / 2));
  const double ratio = (after == AfterStep::level ? median_of(next) : next.front()) / cut->level;
  const double local_ratio = curve[cut->last + 1].y / curve[cut->last].y;
  constexpr double most_of_it = 0.6;
  const std::size_t fallen_back =
      cut_after(curve, cut->last, cut->level, tolerance_of(ratio)).fallen_back;
  if (ratio < smallest_ratio || most_fallen_back * fallen_back > after_count ||
      std::log(local_ratio) < most_of_it * std::log(ratio) ||
      (after == AfterStep::level && !is_level(next, cut->level))) {
    return std::nullopt;
  }
  std::sort(flat.begin(), flat.end());
  const double spread = (quantile(flat, 0.9) - quantile(flat, 0.1)) / cut->level;
  const double clearness = 1 - spread / (ratio - 1);
  constexpr double least_clearness = 0.3;
  if (flat.size() < fewest_flat_points || clearness < least_clearness) {
    return std::nullopt;
  }
  const double undisturbed = static_cast<double>(flat.size()) / static_cast<double>(before_count);
  return FirstStep{.last_flat_x = curve[cut->last].x,
                   .next_x = curve[cut->last + 1].x,
                   .ratio = ratio,
                   .flat_y = cut->level,
                   .confidence = clearness * undisturbed,
                   .outliers = cut->outliers + cut->fallen_back};
}

std::optional<FirstStep> find_plateau_end(std::span<const CurvePoint> curve,
                                          double smallest_ratio) {
  if (!all_values_positive(curve)) {
    return std::nullopt;
  }
  const double noise = noise_of(curve);
  for (std::size_t last = fewest_flat_points - 1; last + fewest_after_step < curve.size(); ++last) {
    if (const auto end = plateau_end_after(curve, last, smallest_ratio, noise)) {
      return end;
    }
  }
  return std::nullopt;
}

}  // namespace hipscope
