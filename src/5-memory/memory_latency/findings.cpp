#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "capacity_findings.h"
#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"
#include "text.h"
#include "tlb_findings.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::Level;
using hipscope::number;
using hipscope::Results;

namespace {

// What changes while sweep `footprint` runs, such as a clock beside the one that counts, in the
// logarithm of latency from the first footprint to the last: some of its footprints are read again
// at the end. By the steady rate from which the readings differ least; 0 where they may differ by
// chance.
double drift_of(const Curve& first, const Curve& again) {
  struct Pair {
    double left = 0;  // share of the sweep between the two readings
    double change = 0;
    [[nodiscard]] double rate() const { return change / left; }
  };
  std::vector<Pair> pairs;
  for (const auto& point : again) {
    const auto before = std::ranges::lower_bound(first, point.x, {}, &hipscope::CurvePoint::x);
    if (before != first.end() && before->x == point.x && before->y > 0 && point.y > 0) {
      pairs.push_back(
          {.left = static_cast<double>(first.end() - before) / static_cast<double>(first.size()),
           .change = std::log(point.y / before->y)});
    }
  }
  constexpr std::size_t fewest = 6;
  if (pairs.size() < fewest) {
    return 0;
  }
  // The median of the rates, each of the weight of its time.
  std::ranges::sort(pairs, {}, &Pair::rate);
  double weights = 0;
  double squares = 0;
  for (const Pair& pair : pairs) {
    weights += pair.left;
    squares += pair.left * pair.left;
  }
  std::size_t middle = 0;
  for (double sum = pairs[0].left; 2 * sum < weights; sum += pairs[middle].left) {
    ++middle;
  }
  const double drift = pairs[middle].rate();
  std::vector<double> left;
  for (const Pair& pair : pairs) {
    left.push_back(std::abs(pair.change - drift * pair.left));
  }
  constexpr double of_a_median = 1.25;
  const double error = of_a_median * hipscope::deviations_per_median * hipscope::median_of(left) /
                       std::sqrt(squares);
  constexpr double clearly = 3;
  constexpr double matters = 0.005;
  return std::abs(drift) > std::max(matters, clearly * error) ? drift : 0;
}

// Without what has drifted until the level was measured.
Level without(double drift, Level level, const Curve& first) {
  const auto index = [&](double x) {
    return static_cast<double>(std::ranges::lower_bound(first, x, {}, &hipscope::CurvePoint::x) -
                               first.begin());
  };
  const double middle =
      (index(level.first_x) + index(level.end ? level.end->last_x : first.back().x)) / 2;
  level.y *= std::exp(-drift * middle / static_cast<double>(first.size()));
  return level;
}

// Where no law of replacement explains how loads begin to miss, the flat part may be a mixture, and
// there may be a level behind it that is nowhere flat.
double most_confidence(const Cache& cache) {
  const bool is_explained =
      cache.steps_of.empty() && cache.level.end->capacity->confidence >= smallest_confidence;
  return hipscope::sure_if(is_explained, 1);
}

void infer_latency(Results& results, const std::string& name, const Level& level,
                   double at_most = 1) {
  infer_if_sure(results, {.name = name,
                          .value = level.y,
                          .unit = "cycles",
                          .confidence = std::min(level.confidence, at_most),
                          .statement = "from one dependent load to the next",
                          .evidence = {level_text(level)}});
}

// From the nearest to the farthest home of a line, by atomics, which are done there.
struct Homes {
  double nearest = 0;
  double farthest = 0;
};

std::optional<Homes> homes(const Results& results) {
  std::vector<double> all;
  for (const char* sweep : {"lines", "units"}) {
    for (const auto& point : results.curve(sweep, "atomic")) {
      all.push_back(point.y);
    }
  }
  constexpr std::size_t fewest = 16;
  if (all.size() < fewest) {
    return std::nullopt;
  }
  std::sort(all.begin(), all.end());
  constexpr double outermost = 0.05;
  return Homes{.nearest = hipscope::quantile(all, outermost),
               .farthest = hipscope::quantile(all, 1 - outermost)};
}

// Why `far` is no further cache behind `near` but the other half of the same one, of which each
// half keeps copies of what is at home in the other. A cache behind would hold no line's home:
// atomics would find all of them at about the latency of `near`.
struct OtherHalf {
  std::string why{};
  bool is_sure = false;
};

// Empty where nothing says so.
std::optional<OtherHalf> other_half(const Cache& near_cache, const Cache& far_cache,
                                    double l2_bytes, const std::optional<Homes>& found) {
  const Level& near = near_cache.level;
  const Level& far = far_cache.level;
  constexpr double loosely = 0.25;
  constexpr double closely = 0.15;
  if (!near_cache.is_flat || !far_cache.is_flat ||
      !about(far.end->capacity->value, 2 * near.end->capacity->value, loosely)) {
    return std::nullopt;
  }
  if (found && about(found->nearest, near.y, closely) && about(found->farthest, far.y, closely)) {
    return OtherHalf{.why = "atomics find lines at home at " + number(found->nearest, 4) + " to " +
                            number(found->farthest, 4) +
                            " cycles: both levels are halves of one cache",
                     .is_sure = true};
  }
  if (l2_bytes > 0 && about(far.end->capacity->value, l2_bytes, closely)) {
    return OtherHalf{.why =
                         "both together are what the driver calls L2: halves of one cache, or a "
                         "cache whose sets do not fill alike"};
  }
  return std::nullopt;
}

// Whether a level may end because a TLB's reach does: past what the driver calls L2, unless pages
// were measured and none of their TLBs ends near.
std::string why_maybe_a_tlb(const Level& level, double l2_bytes,
                            const std::optional<std::vector<double>>& reaches) {
  constexpr double clearly_more = 1.2;
  constexpr double near = 1.0;
  const double bytes = level.end->capacity->value;
  const bool is_far = reaches && std::none_of(reaches->begin(), reaches->end(), [&](double reach) {
                        return about(reach, bytes, near);
                      });
  return bytes <= clearly_more * l2_bytes || is_far
             ? ""
             : "past what the driver calls L2: a cache behind it, or the reach of a TLB";
}

// What the walk gets flat nowhere in has no latency.
void infer_latency(Results& results, const std::string& name, const Cache& cache) {
  if (cache.is_flat) {
    infer_latency(results, name, cache.level, most_confidence(cache));
  }
}

// Capacity and latency of each level that ends, named after `prefix`. The driver's size of L2, if
// given, stands beside the level that is nearest to it.
void infer_caches(Results& results, const std::vector<Cache>& caches, const std::string& prefix,
                  double l2_bytes, unsigned number_of_first = 1) {
  const auto distance = [&](const Cache& cache) {
    return l2_bytes > 0 ? std::abs(std::log(cache.level.end->capacity->value / l2_bytes)) : 1e9;
  };
  const auto nearest =
      std::min_element(caches.begin(), caches.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const auto found_homes = homes(results);
  const auto reaches = tlb_reaches(results);
  const bool is_plain = prefix == "cache";
  // Where a level may be two, is not flat, or noise hides one, the numbers from there on are in
  // doubt.
  bool is_numbered = true;
  unsigned level_number = number_of_first;
  for (auto cache = caches.begin(); cache != caches.end(); ++cache, ++level_number) {
    const std::string name = prefix + " level " + std::to_string(level_number);
    is_numbered = is_numbered && cache->is_flat && cache->level.confidence > hipscope::unsure;
    std::string also;
    const auto half = l2_bytes > 0 && cache + 1 != caches.end()
                          ? other_half(*cache, *(cache + 1), l2_bytes, found_homes)
                          : std::nullopt;
    if (half) {
      also = half->why;
      infer_latency(results, "near half of " + name + " latency", *cache);
      infer_capacity(
          results, "near half of " + name + " capacity", *cache,
          {.also = also, .most_confidence = hipscope::sure_if(half->is_sure && is_numbered, 1)});
      ++cache;
    }
    infer_latency(results, (half ? "far half of " : "") + name + " latency", *cache);
    const double hardly_sure = cache->steps_of.empty() ? 0.4 : smallest_confidence;
    std::string doubt;
    if (is_plain && (l2_bytes > 0 || level_number > 1)) {
      doubt = why_maybe_a_tlb(cache->level, l2_bytes, reaches);
    }
    infer_capacity(
        results, name + " capacity", *cache,
        {.also = doubt.empty() ? also : doubt,
         .driver = cache == nearest && distance(*cache) < std::log(2) ? l2_bytes : 0,
         .most_confidence = doubt.empty() ? hipscope::sure_if(is_numbered, 1) : hardly_sure,
         // Other ways lead to the same memory, which plain loads look at with more footprints.
         .least_confidence = is_plain ? smallest_confidence : hipscope::unsure});
  }
}

// Both passes of plain loads: sweep edges has finer points.
Curve vector_curve(const Results& results) {
  Curve curve = results.curve("footprint", "latency");
  if (curve.empty()) {
    return curve;
  }
  const Curve finer = results.curve("edges", "latency");
  curve.insert(curve.end(), finer.begin(), finer.end());
  std::stable_sort(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.x < b.x; });
  curve.erase(std::unique(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.x == b.x; }),
              curve.end());
  return curve;
}

void infer_levels(Results& results) {
  const Curve curve = vector_curve(results);
  if (curve.empty()) {
    return;
  }
  auto levels = hipscope::find_levels(curve, smallest_step);
  const Curve first = results.curve("footprint", "latency");
  const double drift = drift_of(first, results.curve("footprint", "again"));
  for (Level& level : levels) {
    level = without(drift, level, first);
  }
  const auto l2_bytes = static_cast<double>(results.device().l2_bytes);
  // A curve that rises from its first footprint on shows nothing of its first level.
  constexpr double still_first = 2;
  const auto caches = caches_of(
      levels, capacities_by_misses(results.curve("load-times", "mean latency"), curve, levels),
      capacities_by_hits(results));
  const bool shows_first =
      levels.empty() ? !caches.empty() : levels.front().first_x <= still_first * curve.front().x;
  if (!shows_first || caches.empty()) {
    results.infer({.name = "cache level 1 capacity",
                   .unit = "bytes",
                   .statement = "the curve shows no end of a level"});
  }
  double difference = 0;  // in percent; 0 when the sweep was left out
  for (const auto& point : results.curve("events", "difference")) {
    difference = std::max(difference, std::abs(point.y));
  }
  constexpr double largest_difference = 10;
  if (difference > largest_difference) {
    results.infer({.name = "cache level 1 latency",
                   .unit = "cycles",
                   .statement = "the counter in the kernel and events around it differ by " +
                                number(difference, 2) +
                                " %: it counts something else than cycles"});
    return;
  }
  infer_caches(results, caches, "cache", l2_bytes, shows_first ? 1 : 2);
  Inference memory{.name = "memory latency",
                   .unit = "cycles",
                   .statement = "the curve does not get flat past the last cache"};
  // What is flat up to the end may still be a cache: it must be well past the driver's L2, and past
  // the caches behind L2, of which drivers do not tell; the largest so far has 256 MiB (MI300X).
  constexpr double well_past = 4;
  constexpr double largest_cache = 256 * mib;
  constexpr double shortest_level = 3;
  if (levels.size() > 1 && curve.back().x >= shortest_level * levels.back().first_x &&
      !levels.back().end && curve.back().x >= std::max(well_past * l2_bytes, 2 * largest_cache)) {
    memory.value = levels.back().y;
    constexpr double largest_drift = 0.15;  // beyond it nothing says that it was steady
    memory.confidence =
        hipscope::sure_if(std::abs(drift) < largest_drift, levels.back().confidence);
    memory.statement = "from one dependent load to the next, past all caches";
    memory.evidence = {level_text(levels.back())};
    if (drift != 0) {
      memory.evidence.push_back("a drift of " + number(100 * std::expm1(drift), 2) +
                                " % over the sweep is taken off: footprints read again at its end "
                                "tell it");
    }
  }
  infer_if_sure(results, memory);
}

void infer_constant(Results& results) {
  const Curve curve = results.curve("constant", "latency");
  const auto levels = hipscope::find_levels(curve, smallest_step);
  infer_caches(results, caches_of(levels), "constant cache", 0);
  if (!levels.empty() && !levels.back().end) {
    const std::string name = "constant cache level " + std::to_string(levels.size());
    infer_latency(results, name + " latency", levels.back());
    // How much more it holds does not show; where no level ends before it, not even that it is one.
    if (levels.size() > 1) {
      results.infer({.name = name + " capacity, at least",
                     .value = curve.back().x,
                     .unit = "bytes",
                     .confidence = levels.back().confidence,
                     .statement = "it holds all the constant memory there is",
                     .evidence = {level_text(levels.back())}});
    }
  }
}

}  // namespace

std::vector<Footprints> second_pass(const Curve& curve) {
  std::vector<Footprints> all;
  constexpr double margin = 1.07;
  constexpr unsigned fine_points = 64;
  for (const Level& level : hipscope::find_levels(curve, smallest_step)) {
    if (level.end) {
      all.push_back({.first = level.end->last_x / margin,
                     .last = level.end->risen_x * margin,
                     .per_octave = fine_points});
    }
  }
  return all;
}

void conclude(hipscope::Results& results) {
  infer_levels(results);
  infer_constant(results);
  for (const std::string kind : {"read-only", "texture", "scalar"}) {
    const auto levels = hipscope::find_levels(results.curve(kind, "latency"), smallest_step);
    infer_caches(results, caches_of(levels), kind + " cache", 0);
  }
  infer_tlb(results);
}

}  // namespace memory_latency
