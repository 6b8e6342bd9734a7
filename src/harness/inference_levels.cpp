// The levels of a curve that rises in steps, as latency does over the footprint.
#include <algorithm>
#include <cmath>
#include <limits>

#include "hipscope/confidence.h"
#include "hipscope/inference.h"
#include "hipscope/logarithmic.h"
#include "hipscope/statistics.h"
#include "inference_capacity.h"

namespace hipscope {

namespace {

constexpr std::size_t fewest_points = 3;
constexpr double fewest_octaves = 0.4;

// The points [begin, end) of a curve.
struct PointRun {
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_usable(std::span<const CurvePoint> curve) {
  const auto is_positive = [](const CurvePoint& point) { return point.x > 0 && point.y > 0; };
  const auto not_rising = [](const CurvePoint& a, const CurvePoint& b) { return a.x >= b.x; };
  return curve.size() >= fewest_points && std::all_of(curve.begin(), curve.end(), is_positive) &&
         std::adjacent_find(curve.begin(), curve.end(), not_rising) == curve.end();
}

double octaves_of(const Logarithmic& curve, const PointRun& run) {
  return curve.octaves[run.end - 1] - curve.octaves[run.begin];
}

// Cuts the curve into flat runs and what is between them, so that least is left unexplained: the
// squared distance of a run's points from their mean, in units of the noise, and a price for each
// run and for each point that is in none.
std::vector<PointRun> flat_runs(const Logarithmic& curve) {
  constexpr double price_of_run = 6;
  constexpr double price_of_point = 2.5;
  const double noise = curve.noise_of_levels;
  const std::size_t count = curve.y.size();
  std::vector<double> sums(count + 1, 0);
  std::vector<double> squares(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    sums[i + 1] = sums[i] + curve.y[i];
    squares[i + 1] = squares[i] + curve.y[i] * curve.y[i];
  }
  std::vector<double> least(count + 1, 0);
  std::vector<std::size_t> begins(count + 1, 0);  // of the run that ends there; itself: none does
  for (std::size_t end = 1; end <= count; ++end) {
    least[end] = least[end - 1] + price_of_point;
    begins[end] = end;
    for (std::size_t begin = 0; begin + fewest_points <= end; ++begin) {
      if (octaves_of(curve, {.begin = begin, .end = end}) < fewest_octaves) {
        break;
      }
      const double sum = sums[end] - sums[begin];
      const double spread =
          squares[end] - squares[begin] - sum * sum / static_cast<double>(end - begin);
      const double cost = least[begin] + price_of_run + spread / (2 * noise * noise);
      if (cost < least[end]) {
        least[end] = cost;
        begins[end] = begin;
      }
    }
  }
  std::vector<PointRun> runs;
  for (std::size_t end = count; end > 0;) {
    if (begins[end] == end) {
      --end;
      continue;
    }
    runs.push_back({.begin = begins[end], .end = end});
    end = begins[end];
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

double median_y(const Logarithmic& curve, std::size_t begin, std::size_t end) {
  return summarize(std::span(curve.y).subspan(begin, end - begin)).median;
}

// How much higher `right` begins than `left` ends.
double rise_between(const Logarithmic& curve, const PointRun& left, const PointRun& right) {
  constexpr std::size_t points = 6;
  return median_y(curve, right.begin, std::min(right.end, right.begin + points)) -
         median_y(curve, std::max(left.begin + points, left.end) - points, left.end);
}

// What rises less from one run to the next may do so by chance: four standard deviations of two
// medians of as many points as rise_between takes.
double rise_by_chance(const Logarithmic& curve, const PointRun& left, const PointRun& right) {
  constexpr double clearly = 4;
  constexpr double of_a_median = 1.25;
  constexpr double most_points = 6;
  const auto variance = [&](const PointRun& run) {
    return 1 / std::min(most_points, static_cast<double>(run.end - run.begin));
  };
  return clearly * of_a_median * curve.noise * std::sqrt(variance(left) + variance(right));
}

// Joins neighbours with less than `smallest_rise` from one to the other, which noise or a drift has
// cut in two, and takes out what the curve falls from: of two neighbours, the narrower.
void keep_steps_only(const Logarithmic& curve, double smallest_step, std::vector<PointRun>& runs) {
  for (std::size_t i = 0; i + 1 < runs.size();) {
    const double rise = rise_between(curve, runs[i], runs[i + 1]);
    const double smallest_rise =
        std::max(smallest_step, rise_by_chance(curve, runs[i], runs[i + 1]));
    if (rise >= smallest_rise) {
      ++i;
      continue;
    }
    if (rise > -smallest_rise) {
      runs[i].end = runs[i + 1].end;
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      const bool first_is_narrower = octaves_of(curve, runs[i]) < octaves_of(curve, runs[i + 1]);
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(first_is_narrower ? i : i + 1));
    }
    i = i > 0 ? i - 1 : 0;  // the pair before has changed
  }
}

// Caches that follow one another differ more in size: what ends as soon after the level before is a
// kink in that one's end, where some sets are full before others.
void drop_kinks(const Logarithmic& curve, std::vector<PointRun>& runs) {
  constexpr double fewest_octaves_apart = 0.75;
  for (std::size_t i = 1; i + 1 < runs.size();) {
    const double apart = curve.octaves[runs[i].end - 1] - curve.octaves[runs[i - 1].end - 1];
    if (apart < fewest_octaves_apart) {
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// To each run belong all points beside it that are within the noise of its median.
void widen(const Logarithmic& curve, double smallest_rise, std::vector<PointRun>& runs) {
  const double tolerance = std::min(smallest_rise / 2, std::max(0.02, 2.5 * curve.noise));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    PointRun& run = runs[i];
    const double median = median_y(curve, run.begin, run.end);
    const auto belongs = [&](std::size_t point) {
      return std::abs(curve.y[point] - median) <= tolerance;
    };
    const std::size_t first = i > 0 ? runs[i - 1].end : 0;
    const std::size_t last = i + 1 < runs.size() ? runs[i + 1].begin : curve.y.size();
    while (run.begin > first && belongs(run.begin - 1)) {
      --run.begin;
    }
    while (run.end < last && belongs(run.end)) {
      ++run.end;
    }
  }
}

// How far a run drifts from its first third to its last, beyond what noise alone makes of it.
double drift_of(const Logarithmic& curve, const PointRun& run) {
  const std::size_t third = (run.end - run.begin) / 3;
  const double drift = std::abs(median_y(curve, run.end - third, run.end) -
                                median_y(curve, run.begin, run.begin + third));
  constexpr double deviations = 2.6;  // of two medians of neighbours' medians
  const double by_noise = deviations * curve.noise / std::sqrt(run.end - run.begin);
  return std::max(0.0, drift - by_noise);
}

// The same of the octaves beside its step, at its beginning or at its end.
double drift_beside(const Logarithmic& curve, PointRun run, bool at_end) {
  constexpr double octaves_beside = 3;
  while (octaves_of(curve, run) > octaves_beside && run.end - run.begin > fewest_points) {
    at_end ? ++run.begin : --run.end;
  }
  return drift_of(curve, run);
}

// A run on the way from one level to the next looks flat only for its noise.
void drop_slopes(const Logarithmic& curve, std::vector<PointRun>& runs) {
  constexpr double steepest = 0.07;  // over an octave
  std::erase_if(runs, [&](const PointRun& run) {
    return drift_of(curve, run) > steepest * octaves_of(curve, run);
  });
}

// A step rises by several times of what the levels on both sides of it drift, and within a few
// octaves; what does not is one level that rises.
void join_slopes(const Logarithmic& curve, std::vector<PointRun>& runs) {
  constexpr double smallest_ratio = 2.2;
  while (runs.size() > 1) {
    std::size_t worst = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
      const double drift =
          std::max(drift_beside(curve, runs[i], true), drift_beside(curve, runs[i + 1], false));
      constexpr double widest = 7;  // octaves: of a cache that replaces any line, 6 show
      const bool is_step =
          curve.octaves[runs[i + 1].begin] - curve.octaves[runs[i].end - 1] < widest;
      const double ratio =
          is_step ? rise_between(curve, runs[i], runs[i + 1]) / std::max(drift, 1e-9) : 0;
      if (ratio < smallest) {
        smallest = ratio;
        worst = i;
      }
    }
    if (smallest >= smallest_ratio) {
      return;
    }
    runs[worst].end = runs[worst + 1].end;
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(worst) + 1);
  }
}

// Of all that the curve rises, the levels' own drift must be a small part: else it is a slope, in
// which noise has made some flat places. And on its levels it must spread as its noise from point
// to point does: a random walk spreads farther.
bool is_staircase(const Logarithmic& curve, const std::vector<PointRun>& runs) {
  constexpr double largest_share = 0.2;
  constexpr double largest_spread = 2.5;  // in units of the noise
  double drift = 0;
  double rise = 0;
  std::vector<double> distances;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    drift += drift_of(curve, runs[i]);
    rise += i > 0 ? rise_between(curve, runs[i - 1], runs[i]) : 0;
    const double median = median_y(curve, runs[i].begin, runs[i].end);
    for (std::size_t point = runs[i].begin; point < runs[i].end; ++point) {
      distances.push_back(std::abs(curve.measured[point] - median));
    }
  }
  const double spread = deviations_per_median * summarize(distances).median;
  return drift <= largest_share * rise && spread <= largest_spread * curve.noise_of_levels;
}

// Whether a cubic goes through a curve of more than four points as near as its noise lets anything:
// then that is a slope, in which noise has made some flat places. One staircase in 300 is taken for
// one.
bool is_smooth(const Logarithmic& curve) {
  constexpr std::size_t free = 4;         // of a cubic
  constexpr double largest_misfit = 2.4;  // of noise alone: 1
  const std::vector<double> errors(curve.y.size(), curve.noise_of_levels);
  return squares_of_cubic(curve, errors) <=
         largest_misfit * static_cast<double>(curve.y.size() - free);
}

Level level_of(std::span<const CurvePoint> curve, const Logarithmic& smooth, const PointRun& run) {
  std::vector<double> ys;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    ys.push_back(curve[i].y);
  }
  const auto first = smooth.y.begin() + static_cast<std::ptrdiff_t>(run.begin);
  const auto last = smooth.y.begin() + static_cast<std::ptrdiff_t>(run.end);
  const auto [low, high] = std::minmax_element(first, last);
  Level level{.y = summarize(ys).median, .first_x = curve[run.begin].x, .points = ys.size()};
  level.spread = (std::exp(*high) - std::exp(*low)) / level.y;
  // Noise alone spreads the medians of five by so much; what is more is a slope or a small step.
  constexpr double spread_of_noise = 2.7;
  const double unexplained = std::max(0.0, level.spread - spread_of_noise * smooth.noise);
  constexpr double unharmful = 0.02;
  constexpr double largest_unexplained = 0.1;
  const auto count = static_cast<double>(level.points);
  level.confidence = (1 - ramp(unexplained, unharmful, largest_unexplained)) * count / (count + 1) *
                     (0.7 + 0.3 * ramp(octaves_of(smooth, run), fewest_octaves, 2));
  return level;
}

// 0 ... 1: how clearly a step stands out of what the levels on both sides of it drift, and how well
// both are seen.
double clarity(const Logarithmic& curve, const PointRun& level, const PointRun& next) {
  constexpr double unharmful = 0.1;  // of the rise
  constexpr double too_much = 0.4;
  constexpr double enough_points = 8;
  const double drift = std::max(drift_beside(curve, level, true), drift_beside(curve, next, false));
  const auto points = static_cast<double>(std::min(level.end - level.begin, next.end - next.begin));
  return (1 - ramp(drift / rise_between(curve, level, next), unharmful, too_much)) *
         (0.6 + 0.4 * ramp(points, fewest_points, enough_points));
}

// The share of loads that miss in a level, from well within it to well within the next one.
std::vector<CurvePoint> misses_between(std::span<const CurvePoint> curve, const Logarithmic& smooth,
                                       const PointRun& run, const PointRun& next) {
  constexpr double octaves_beside = 4;
  std::size_t begin = run.begin;
  while (smooth.octaves[begin] < smooth.octaves[run.end - 1] - octaves_beside) {
    ++begin;
  }
  std::size_t end = next.end;
  while (smooth.octaves[end - 1] > smooth.octaves[next.begin] + octaves_beside) {
    --end;
  }
  const double hit = std::exp(median_y(smooth, begin, run.end));
  const double miss = std::exp(median_y(smooth, next.begin, end));
  std::vector<CurvePoint> misses;
  for (std::size_t i = begin; i < end; ++i) {
    const double share = (std::exp(smooth.y[i]) - hit) / (miss - hit);
    misses.push_back({.x = curve[i].x, .y = std::clamp(share, 0.0, 1.0)});
  }
  return misses;
}

// The end of a level, where the curve goes on to the next one at `next_x`.
LevelEnd end_of(std::span<const CurvePoint> curve, const PointRun& run, double next_x) {
  return {.last_x = curve[run.end - 1].x, .risen_x = curve[run.end].x, .next_x = next_x};
}

// The end of the last level, where at least two points after it are on a rise that gets flat
// nowhere.
std::optional<LevelEnd> end_in_rise(std::span<const CurvePoint> curve, const Logarithmic& smooth,
                                    const PointRun& run, double smallest_rise) {
  if (curve.size() - run.end < 2) {
    return std::nullopt;
  }
  const double last = std::min(smooth.y.back(), smooth.y[smooth.y.size() - 2]);
  if (last - smooth.y[run.end - 1] < smallest_rise) {
    return std::nullopt;
  }
  return end_of(curve, run, curve.back().x);
}

// The rise after curve[last] if that is a clear one: see find_clear_rises.
std::optional<FirstStep> clear_rise(std::span<const CurvePoint> curve, std::size_t last,
                                    double smallest_ratio) {
  constexpr std::size_t fewest_flat_points = 4;
  constexpr double largest_share_of_rise = 0.25;
  const double last_x = curve[last].x;
  std::vector<double> flat;
  double octaves = 0;
  for (std::size_t i = last + 1; i-- > 0 && 4 * curve[i].x >= last_x;) {
    flat.push_back(curve[i].y);
    octaves = std::log2(last_x / curve[i].x);
  }
  if (flat.size() < fewest_flat_points || octaves < 1 || curve.size() - last < 3) {
    return std::nullopt;
  }
  const Summary summary = summarize(flat);
  const double spread = (summary.maximum - summary.minimum) / summary.median;
  const double risen_y = smallest_ratio * summary.median;
  std::size_t risen = last + 1;
  while (risen < curve.size() && curve[risen].y < risen_y) {
    ++risen;
  }
  const auto stays_above = [&](std::size_t first, double y) {
    return std::all_of(curve.begin() + static_cast<std::ptrdiff_t>(first), curve.end(),
                       [&](const CurvePoint& point) { return point.y > y; });
  };
  if (spread > largest_share_of_rise * (smallest_ratio - 1) || curve.size() - risen < 2 ||
      curve.size() <= risen || curve[risen].x > 2 * last_x || !stays_above(risen, risen_y) ||
      !stays_above(last + 1, summary.maximum)) {
    return std::nullopt;
  }
  const double ratio = curve[risen].y / summary.median;
  const auto count = static_cast<double>(flat.size());
  return FirstStep{.last_flat_x = last_x,
                   .next_x = curve[last + 1].x,
                   .ratio = ratio,
                   .confidence = (1 - spread / (ratio - 1)) * count / (count + 1) *
                                 std::sqrt(last_x / curve[risen].x)};
}

}  // namespace

std::vector<Level> find_levels(std::span<const CurvePoint> curve, double smallest_ratio) {
  if (!is_usable(curve)) {
    return {};
  }
  const Logarithmic smooth = logarithmic(curve);
  // What changes from point to point by as much may be a step by chance.
  constexpr double clearly = 4;
  const double smallest_rise = std::max(std::log(smallest_ratio), clearly * smooth.noise);
  std::vector<PointRun> runs = flat_runs(smooth);
  drop_slopes(smooth, runs);
  keep_steps_only(smooth, std::log(smallest_ratio), runs);
  join_slopes(smooth, runs);
  drop_kinks(smooth, runs);
  widen(smooth, smallest_rise, runs);
  if (runs.size() > 1 &&
      (!is_staircase(smooth, runs) || !never_falls(smooth) || is_smooth(smooth))) {
    runs = {{.begin = runs.front().begin, .end = runs.back().end}};
  }
  std::vector<Level> levels;
  levels.reserve(runs.size());
  for (const PointRun& run : runs) {
    levels.push_back(level_of(curve, smooth, run));
  }
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    levels[i].end = end_of(curve, runs[i], levels[i + 1].first_x);
    levels[i].end->capacity = fit_capacity(misses_between(curve, smooth, runs[i], runs[i + 1]));
    if (levels[i].end->capacity) {
      levels[i].end->capacity->confidence *= clarity(smooth, runs[i], runs[i + 1]);
    }
  }
  if (!levels.empty()) {
    levels.back().end = end_in_rise(curve, smooth, runs.back(), smallest_rise);
  }
  // In noise a level may be two that are close together.
  constexpr double per_noise = 10;
  for (Level& level : levels) {
    level.confidence *= 1 - std::min(1.0, per_noise * smooth.noise);
  }
  return levels;
}

std::vector<FirstStep> find_clear_rises(std::span<const CurvePoint> curve, double smallest_ratio) {
  std::vector<FirstStep> rises;
  if (!is_usable(curve)) {
    return rises;
  }
  // From the right: what is beyond a rise does not belong to the one before it.
  for (std::size_t last = curve.size(); last-- > 0;) {
    if (const auto rise = clear_rise(curve, last, smallest_ratio)) {
      rises.push_back(*rise);
      curve = curve.first(last + 1);
    }
  }
  std::reverse(rises.begin(), rises.end());
  return rises;
}

}  // namespace hipscope
