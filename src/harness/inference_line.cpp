// Inference of the units in which a cache fetches and keeps memory.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

bool all_positive(std::span<const CurvePoint> curve) {
  return std::all_of(curve.begin(), curve.end(),
                     [](const CurvePoint& point) { return point.x > 0 && point.y > 0; });
}

std::vector<double> values(std::span<const CurvePoint> curve) {
  std::vector<double> ys;
  for (const CurvePoint& point : curve) {
    ys.push_back(point.y);
  }
  return ys;
}

double root_mean_square(std::span<const double> residuals) {
  double sum = 0;
  for (const double residual : residuals) {
    sum += residual * residual;
  }
  return std::sqrt(sum / static_cast<double>(residuals.size()));
}

// Octaves of y over octaves of x beyond `line`: a straight line, level up to there.
struct ReachFit {
  double growth = 0;    // octaves of y per octave of x
  double residual = 0;  // root mean square, in octaves
};

ReachFit fit_reach(std::span<const CurvePoint> reach, double line) {
  std::vector<double> beyond;
  std::vector<double> octaves;
  for (const CurvePoint& point : reach) {
    beyond.push_back(std::max(0.0, std::log2(point.x / line)));
    octaves.push_back(std::log2(point.y));
  }
  const LineFit fit = fit_line(beyond, octaves);
  std::vector<double> residuals;
  for (std::size_t i = 0; i < octaves.size(); ++i) {
    residuals.push_back(octaves[i] - fit.intercept - fit.slope * beyond[i]);
  }
  return {.growth = fit.slope, .residual = root_mean_square(residuals)};
}

// Root mean square distance of y from a straight line of x, in octaves: how badly a curve is a
// slope that only looks level at its small x.
double misfit_of_slope(std::span<const CurvePoint> reach) {
  std::vector<double> xs;
  for (const CurvePoint& point : reach) {
    xs.push_back(point.x);
  }
  const LineFit slope = fit_robust_line(xs, values(reach));
  std::vector<double> residuals;
  for (const CurvePoint& point : reach) {
    const double modelled = slope.intercept + slope.slope * point.x;
    residuals.push_back(modelled > 0 ? std::log2(point.y / modelled) : 1);
  }
  return root_mean_square(residuals);
}

}  // namespace

std::optional<BestFit> best_fit(std::span<const double> residuals) {
  if (residuals.size() < 2) {
    return std::nullopt;
  }
  const auto best = std::min_element(residuals.begin(), residuals.end());
  double next = std::numeric_limits<double>::infinity();
  for (auto each = residuals.begin(); each != residuals.end(); ++each) {
    next = each == best ? next : std::min(next, *each);
  }
  const BestFit found{.index = static_cast<std::size_t>(best - residuals.begin()),
                      .residual = *best,
                      .confidence = next > 0 ? 1 - *best / next : 0};
  constexpr double smallest_confidence = 0.25;
  return found.confidence < smallest_confidence ? std::nullopt : std::optional(found);
}

std::optional<FetchUnit> find_fetch_unit(std::span<const CurvePoint> neighbours) {
  constexpr std::size_t fewest_on_a_side = 2;
  constexpr double smallest_ratio = 1.25;
  constexpr double smallest_confidence = 0.6;
  if (neighbours.size() < 2 * fewest_on_a_side || !all_positive(neighbours)) {
    return std::nullopt;
  }
  const std::vector<double> latencies = values(neighbours);
  for (std::size_t i = fewest_on_a_side; i + fewest_on_a_side <= latencies.size(); ++i) {
    const std::span hits = std::span(latencies).first(i);
    const std::span misses = std::span(latencies).subspan(i);
    const double hit = summarize(hits).median;
    // The first step counts, though a further one may follow. What stands alone between two steps
    // is none of both.
    const bool is_level = misses[1] <= smallest_ratio * misses[0];
    if (misses[0] < smallest_ratio * hit || !is_level) {
      continue;
    }
    std::vector<double> level;
    std::copy_if(misses.begin(), misses.end(), std::back_inserter(level),
                 [&](double latency) { return latency <= smallest_ratio * misses[0]; });
    const double miss = summarize(level).median;
    const double gap = *std::min_element(misses.begin(), misses.end()) -
                       *std::max_element(hits.begin(), hits.end());
    // Without a gap the medians tell nothing, not even which is the larger.
    const double confidence = gap > 0 ? std::min(1.0, gap / (miss - hit)) : 0;
    if (confidence >= smallest_confidence) {
      return FetchUnit{
          .bytes = neighbours[i - 1].x, .hit = hit, .miss = miss, .confidence = confidence};
    }
  }
  return std::nullopt;
}

std::optional<LineSize> fit_line_size(std::span<const CurvePoint> reach) {
  constexpr std::size_t fewest_on_a_side = 2;
  constexpr double largest_residual = 0.25;
  constexpr double smallest_growth = 0.6;
  constexpr double largest_growth = 1.2;
  if (reach.size() < 2 * fewest_on_a_side || !all_positive(reach)) {
    return std::nullopt;
  }
  std::vector<double> residuals;
  for (const CurvePoint& point : reach.first(reach.size() - 1)) {
    residuals.push_back(fit_reach(reach, point.x).residual);
  }
  const auto best = best_fit(residuals);
  if (!best || best->residual > largest_residual || best->index + 1 < fewest_on_a_side ||
      best->index + 1 + fewest_on_a_side > reach.size() ||
      misfit_of_slope(reach) <= best->residual) {
    return std::nullopt;
  }
  const double line = reach[best->index].x;
  const double growth = fit_reach(reach, line).growth;
  if (growth < smallest_growth || growth > largest_growth) {
    return std::nullopt;
  }
  return LineSize{.bytes = line,
                  .flat_reach = geometric_mean(values(reach.first(best->index + 1))),
                  .growth = growth,
                  .confidence = best->confidence};
}

}  // namespace hipscope
