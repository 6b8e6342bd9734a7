// The levels of a curve that rises in steps, as latency does over the footprint.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

constexpr std::size_t fewest_points = 3;
constexpr double fewest_octaves = 0.4;

// The points [begin, end) of a curve.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A curve on logarithmic axes, each y the median of itself and its two neighbours: steps stay where
// they are, and a single point that stands out is gone.
struct Logarithmic {
  std::vector<double> octaves{};
  std::vector<double> y{};  // natural logarithms
};

Logarithmic logarithmic(std::span<const CurvePoint> curve) {
  Logarithmic made;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::size_t middle = std::clamp<std::size_t>(i, 1, curve.size() - 2);
    const double below = curve[middle - 1].y;
    const double above = curve[middle + 1].y;
    const auto [low, high] = std::minmax(below, above);
    made.octaves.push_back(std::log2(curve[i].x));
    made.y.push_back(std::log(std::clamp(curve[middle].y, low, high)));
  }
  return made;
}

bool is_usable(std::span<const CurvePoint> curve) {
  const auto is_positive = [](const CurvePoint& point) { return point.x > 0 && point.y > 0; };
  const auto not_rising = [](const CurvePoint& a, const CurvePoint& b) { return a.x >= b.x; };
  return curve.size() >= fewest_points && std::all_of(curve.begin(), curve.end(), is_positive) &&
         std::adjacent_find(curve.begin(), curve.end(), not_rising) == curve.end();
}

double octaves_of(const Logarithmic& curve, const Run& run) {
  return curve.octaves[run.end - 1] - curve.octaves[run.begin];
}

// The widest run in [begin, end) whose y stay within a band of `height`.
Run widest_run(const Logarithmic& curve, std::size_t begin, std::size_t end, double height) {
  Run widest{.begin = begin, .end = begin + 1};
  for (std::size_t first = begin; first < end; ++first) {
    double low = curve.y[first];
    double high = low;
    std::size_t last = first;
    for (std::size_t i = first; i < end; ++i) {
      low = std::min(low, curve.y[i]);
      high = std::max(high, curve.y[i]);
      if (high - low > height) {
        break;
      }
      last = i;
    }
    const Run run{.begin = first, .end = last + 1};
    if (octaves_of(curve, run) > octaves_of(curve, widest)) {
      widest = run;
    }
  }
  return widest;
}

// All flat runs, from left to right: the widest, then the widest on both sides of it, and so on.
std::vector<Run> flat_runs(const Logarithmic& curve, double height) {
  std::vector<Run> runs;
  std::vector<Run> gaps = {{.begin = 0, .end = curve.y.size()}};
  while (!gaps.empty()) {
    const Run gap = gaps.back();
    gaps.pop_back();
    if (gap.end - gap.begin < fewest_points) {
      continue;
    }
    const Run run = widest_run(curve, gap.begin, gap.end, height);
    if (run.end - run.begin >= fewest_points && octaves_of(curve, run) >= fewest_octaves) {
      runs.push_back(run);
      gaps.push_back({.begin = gap.begin, .end = run.begin});
      gaps.push_back({.begin = run.end, .end = gap.end});
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const Run& left, const Run& right) { return left.begin < right.begin; });
  return runs;
}

// Joins neighbours with less than `smallest_rise` from one to the other, which noise or a drift has
// cut in two, and takes out what the curve falls from: of two neighbours, the narrower.
void keep_steps_only(const Logarithmic& curve, double smallest_rise, std::vector<Run>& runs) {
  for (std::size_t i = 0; i + 1 < runs.size();) {
    const double rise = curve.y[runs[i + 1].begin] - curve.y[runs[i].end - 1];
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

// Noise may have cut off the ends of the runs: to each belong all points beside it within
// `tolerance` of its median.
void widen(const Logarithmic& curve, double tolerance, std::vector<Run>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Run& run = runs[i];
    const std::vector<double> ys(curve.y.begin() + static_cast<std::ptrdiff_t>(run.begin),
                                 curve.y.begin() + static_cast<std::ptrdiff_t>(run.end));
    const double median = summarize(ys).median;
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

Level level_of(std::span<const CurvePoint> curve, const Logarithmic& smooth, const Run& run) {
  std::vector<double> ys;
  for (std::size_t i = run.begin; i < run.end; ++i) {
    ys.push_back(curve[i].y);
  }
  const auto first = smooth.y.begin() + static_cast<std::ptrdiff_t>(run.begin);
  const auto last = smooth.y.begin() + static_cast<std::ptrdiff_t>(run.end);
  const auto [low, high] = std::minmax_element(first, last);
  Level level{.y = summarize(ys).median, .first_x = curve[run.begin].x, .points = ys.size()};
  level.spread = (std::exp(*high) - std::exp(*low)) / level.y;
  const auto count = static_cast<double>(level.points);
  level.confidence = std::max(0.0, 1 - level.spread) * count / (count + 1);
  return level;
}

// The end of `level`, which is `run`, where the curve goes on to `next_y` at `next_x`.
LevelEnd end_of(std::span<const CurvePoint> curve, const Level& level, const Run& run,
                double next_x, double next_y) {
  LevelEnd end{.last_x = curve[run.end - 1].x, .risen_x = curve[run.end].x, .next_x = next_x};
  const double clearness = 1 - level.spread / (next_y / level.y - 1);
  const auto count = static_cast<double>(level.points);
  end.confidence =
      std::max(0.0, clearness) * count / (count + 1) * std::sqrt(end.last_x / end.next_x);
  return end;
}

// The end of the last level, where at least two points after it lie on a rise that gets flat
// nowhere.
std::optional<LevelEnd> end_in_rise(std::span<const CurvePoint> curve, const Logarithmic& smooth,
                                    const Level& level, const Run& run, double smallest_rise) {
  if (curve.size() - run.end < 2) {
    return std::nullopt;
  }
  const double last = std::min(smooth.y.back(), smooth.y[smooth.y.size() - 2]);
  if (last - smooth.y[run.end - 1] < smallest_rise) {
    return std::nullopt;
  }
  return end_of(curve, level, run, curve.back().x, std::exp(last));
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
  const double smallest_rise = std::log(smallest_ratio);
  std::vector<Run> runs = flat_runs(smooth, smallest_rise / 2);
  keep_steps_only(smooth, smallest_rise, runs);
  widen(smooth, smallest_rise / 2, runs);
  std::vector<Level> levels;
  levels.reserve(runs.size());
  for (const Run& run : runs) {
    levels.push_back(level_of(curve, smooth, run));
  }
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    levels[i].end = end_of(curve, levels[i], runs[i], levels[i + 1].first_x, levels[i + 1].y);
  }
  if (!levels.empty()) {
    levels.back().end = end_in_rise(curve, smooth, levels.back(), runs.back(), smallest_rise);
  }
  return levels;
}

std::vector<FirstStep> find_clear_rises(std::span<const CurvePoint> curve, double smallest_ratio) {
  std::vector<FirstStep> rises;
  if (!is_usable(curve)) {
    return rises;
  }
  // From the right: what lies beyond a rise does not belong to the one before it.
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
