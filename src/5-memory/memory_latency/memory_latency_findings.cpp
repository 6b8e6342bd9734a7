#include "memory_latency_findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"
#include "memory_latency_capacity_findings.h"
#include "memory_latency_text.h"
#include "memory_latency_tlb_findings.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::Level;
using hipscope::number;
using hipscope::Results;

namespace {

// Where no law of replacement explains how loads begin to miss, the flat part may be a mixture, and
// there may be a level behind it that is nowhere flat.
double most_confidence(const hipscope::Capacity& end) {
  return end.confidence < smallest_confidence ? hipscope::unsure : 1;
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
// half keeps copies of what is at home in the other; empty where nothing says so. A cache behind
// would hold no line's home: atomics would find all of them at about the latency of `near`.
std::string why_other_half(const Level& near, const Level& far, double l2_bytes,
                           const std::optional<Homes>& found) {
  constexpr double loosely = 0.25;
  constexpr double closely = 0.15;
  if (!near.end || !near.end->capacity || !far.end || !far.end->capacity ||
      !about(far.end->capacity->value, 2 * near.end->capacity->value, loosely)) {
    return {};
  }
  if (found && about(found->nearest, near.y, closely) && about(found->farthest, far.y, closely)) {
    return "atomics find lines at home at " + number(found->nearest, 4) + " to " +
           number(found->farthest, 4) + " cycles: both levels are halves of one cache";
  }
  if (l2_bytes > 0 && about(far.end->capacity->value, l2_bytes, closely)) {
    return "both together are what the driver calls L2: halves of one cache";
  }
  return {};
}

// From a hit in `level` to one in `next`. Where these are close together, what either is off counts
// for more.
void infer_miss_penalty(Results& results, const std::string& name, const Level& level,
                        const hipscope::Capacity& end, const Level& next,
                        const std::string& of_what) {
  constexpr double far_apart = 0.35;
  const double apart = (next.y - level.y) / (next.y + level.y);
  infer_if_sure(results, {.name = name + " miss penalty",
                          .value = next.y - level.y,
                          .unit = "cycles",
                          .confidence = std::min(most_confidence(end),
                                                 std::min(level.confidence, next.confidence) *
                                                     std::min(1.0, apart / far_apart)),
                          .statement = "what the next level takes longer than a hit" + of_what,
                          .evidence = {level_text(level), level_text(next)}});
}

// How the times of single loads are spread that `level` answers, by the largest footprints in it:
// of those hardly any load hits in the level before, which ends at `before`.
void infer_latency_spread(Results& results, const std::string& name, double first_x, double last_x,
                          double before) {
  constexpr double hardly_any = 12;
  std::vector<double> percentiles;
  std::string text;
  for (const char* percentile : {"1 % ", "10 % ", "", "90 % ", "99 % "}) {
    std::vector<double> all;
    for (const auto& point : results.curve("load-times", std::string(percentile) + "latency")) {
      if (point.x >= std::max({first_x, hardly_any * before, last_x / 2}) && point.x <= last_x) {
        all.push_back(point.y);
      }
    }
    if (all.empty()) {
      return;
    }
    percentiles.push_back(hipscope::summarize(all).median);
    text += (text.empty() ? "" : ", ") +
            (*percentile != '\0' ? std::string(percentile) : "median ") +
            number(percentiles.back(), 4);
  }
  results.infer({.name = name + " latency spread",
                 .value = percentiles[3] - percentiles[1],
                 .unit = "cycles",
                 .confidence = 0.9,
                 .statement = "from the fastest tenth of single loads to the slowest tenth",
                 .evidence = {"single loads in cycles: " + text}});
}

// Capacity and latency of each level that ends, named after `prefix`. The driver's size of L2, if
// given, stands beside the level that is nearest to it.
void infer_caches(Results& results, const std::vector<Level>& levels, const std::string& prefix,
                  double l2_bytes, unsigned number_of_first = 1) {
  const auto distance = [&](const Level& level) {
    return level.end && level.end->capacity && l2_bytes > 0
               ? std::abs(std::log(level.end->capacity->value / l2_bytes))
               : 1e9;
  };
  const auto nearest =
      std::min_element(levels.begin(), levels.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const auto found_homes = homes(results);
  const bool is_constant = prefix != "cache";
  const auto hits = hits_of(
      levels, is_constant ? std::vector<hipscope::CapacityByHits>{} : capacities_by_hits(results));
  const auto hits_at = [&](auto level) {
    return hits[static_cast<std::size_t>(level - levels.begin())];
  };
  unsigned level_number = number_of_first;
  double before = 0;  // the capacity of the level before
  for (auto level = levels.begin(); level != levels.end() && level->end && level->end->capacity;
       ++level, ++level_number) {
    const std::string name = prefix + " level " + std::to_string(level_number);
    const Level& hit = *level;
    infer_latency(results, name + " latency", hit, most_confidence(*hit.end->capacity));
    if (!is_constant) {
      infer_latency_spread(results, name, level->first_x, level->end->last_x, before);
    }
    std::string also;
    std::string of_what;
    if (l2_bytes > 0 && level + 1 != levels.end()) {
      also = why_other_half(*level, *(level + 1), l2_bytes, found_homes);
      if (!also.empty()) {
        infer_capacity(results, "near half of " + name + " capacity", *level, hits_at(level), also,
                       0);
        ++level;
        infer_latency(results, "far half of " + name + " latency", *level,
                      most_confidence(*level->end->capacity));
        of_what = " in its near half";
      }
    }
    constexpr double clearly_more = 0.2;
    if (l2_bytes > 0 && level->end->capacity->value > (1 + clearly_more) * l2_bytes) {
      also = "past what the driver calls L2: a cache behind it, or the reach of a TLB";
    }
    infer_capacity(results, name + " capacity", *level, hits_at(level), also,
                   level == nearest && distance(*level) < std::log(2) ? l2_bytes : 0);
    if (level + 1 != levels.end()) {
      infer_miss_penalty(results, name, hit, *level->end->capacity, *(level + 1), of_what);
    }
    before = level->end->capacity->value;
  }
}

// In percent; 0 when the sweep was left out.
double largest_difference_by_events(const Results& results) {
  double largest = 0;
  for (const auto& point : results.curve("events", "difference")) {
    largest = std::max(largest, std::abs(point.y));
  }
  return largest;
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
  const auto levels = hipscope::find_levels(curve, smallest_step);
  const auto l2_bytes = static_cast<double>(results.device().l2_bytes);
  // A curve that rises from its first footprint on shows nothing of its first level.
  constexpr double still_first = 2;
  const bool shows_first =
      !levels.empty() && levels.front().first_x <= still_first * curve.front().x;
  if (!shows_first || !levels.front().end) {
    results.infer({.name = "cache level 1 capacity",
                   .unit = "bytes",
                   .statement = "the curve shows no end of a level"});
  }
  if (const auto difference = largest_difference_by_events(results); difference > 10) {
    results.infer({.name = "cache level 1 latency",
                   .unit = "cycles",
                   .statement = "the counter in the kernel and events around it differ by " +
                                number(difference, 2) +
                                " %: it counts something else than cycles"});
    return;
  }
  infer_caches(results, levels, "cache", l2_bytes, shows_first ? 1 : 2);
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
    memory.confidence = levels.back().confidence;
    memory.statement = "from one dependent load to the next, past all caches";
    memory.evidence = {level_text(levels.back())};
    infer_latency_spread(results, "memory", levels.back().first_x, curve.back().x,
                         levels[levels.size() - 2].end->last_x);
  }
  infer_if_sure(results, memory);
}

void infer_constant(Results& results) {
  const auto levels = hipscope::find_levels(results.curve("constant", "latency"), smallest_step);
  infer_caches(results, levels, "constant cache", 0);
  if (!levels.empty() && !levels.back().end) {
    // The last one serves all the constant memory there is: how much more it holds does not show.
    infer_latency(results, "constant cache level " + std::to_string(levels.size()) + " latency",
                  levels.back());
  }
}

// The caches that another kind of load goes through, and its first one beside that of plain loads.
void infer_path(Results& results, const std::string& kind) {
  const auto levels = hipscope::find_levels(results.curve(kind, "latency"), smallest_step);
  infer_caches(results, levels, kind + " cache", 0);
  const auto plain = hipscope::find_levels(vector_curve(results), smallest_step);
  const auto ends = [](const std::vector<Level>& all) {
    return !all.empty() && all.front().end && all.front().end->capacity;
  };
  if (!ends(levels) || !ends(plain)) {
    return;
  }
  const Level& first = levels.front();
  const Level& plain_first = plain.front();
  const hipscope::Capacity& holds = *first.end->capacity;
  const hipscope::Capacity& plain_holds = *plain_first.end->capacity;
  const bool overlap = holds.low <= plain_holds.high && plain_holds.low <= holds.high;
  infer_if_sure(
      results, {.name = "latency of " + kind + " loads over plain loads",
                .value = first.y / plain_first.y,
                .unit = "x",
                .confidence = std::min(most_confidence(holds), most_confidence(plain_holds)) *
                              first.confidence * plain_first.confidence,
                .statement = std::string("in the first cache of each, which ") +
                             (overlap ? "may be one: they hold as much" : "do not hold as much"),
                .evidence = {number(first.y, 4) + " cycles, up to " + in_bytes(holds.value) + " (" +
                                 in_bytes(holds.low) + " to " + in_bytes(holds.high) + ")",
                             "plain loads: " + number(plain_first.y, 4) + " cycles, up to " +
                                 in_bytes(plain_holds.value) + " (" + in_bytes(plain_holds.low) +
                                 " to " + in_bytes(plain_holds.high) + ")"}});
}

void infer_store_to_load(Results& results) {
  for (const auto& point : results.curve("store-to-load", "latency")) {
    results.infer({.name = "store-to-load latency",
                   .value = point.y,
                   .unit = "cycles",
                   .confidence = 1 - std::min(1.0, point.relative_spread),
                   .statement = "from a store to the next one, whose address was loaded from where "
                                "the first one stored it"});
  }
}

// The spread of a sweep over lines or CUs.
void infer_spread(Results& results, const std::string& sweep, const std::string& over) {
  const auto summary_of = [&](const std::string& value) {
    std::vector<double> all;
    for (const auto& point : results.curve(sweep, value)) {
      all.push_back(point.y);
    }
    return all.size() < 3 ? hipscope::Summary{} : hipscope::summarize(all);
  };
  const auto text = [](const std::string& what, const hipscope::Summary& summary) {
    return what + ": " + number(summary.minimum, 4) + " to " + number(summary.maximum, 4) +
           " cycles, quartiles " + number(summary.first_quartile, 4) + ", " +
           number(summary.median, 4) + ", " + number(summary.third_quartile, 4);
  };
  const hipscope::Summary loads = summary_of("latency");
  const hipscope::Summary atomics = summary_of("atomic");
  if (loads.count == 0 || atomics.count == 0) {
    return;
  }
  const auto count = static_cast<double>(loads.count);
  results.infer({.name = "L2 latency spread over " + over,
                 .value = loads.maximum - loads.minimum,
                 .unit = "cycles",
                 .confidence = count / (count + 1),
                 .statement = "of loads, which may find a copy near by; atomics tell how far "
                              "away lines are at home",
                 .evidence = {text("loads", loads), text("atomics, at the line's home", atomics)}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_levels(results);
  infer_constant(results);
  for (const std::string kind : {"read-only", "texture", "scalar"}) {
    infer_path(results, kind);
  }
  infer_tlb(results);
  infer_store_to_load(results);
  infer_spread(results, "lines", "lines");
  infer_spread(results, "units", "CUs");
}

}  // namespace memory_latency
