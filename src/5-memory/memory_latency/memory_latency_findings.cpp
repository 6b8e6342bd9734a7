#include "memory_latency_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::Level;
using hipscope::number;
using hipscope::Results;

namespace {

using Curve = std::vector<hipscope::CurvePoint>;

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;

std::string in_bytes(double bytes) {
  return bytes < mib          ? number(bytes / kib, 5) + " KiB"
         : bytes < 1024 * mib ? number(bytes / mib, 5) + " MiB"
                              : number(bytes / (1024 * mib), 5) + " GiB";
}

std::string level_text(const Level& level) {
  return number(level.y, 4) + " cycles from " + in_bytes(level.first_x) + " on, over " +
         std::to_string(level.points) + " points within " + number(100 * level.spread, 2) + " %";
}

// How the curve leaves a level.
std::vector<std::string> end_evidence(const Level& level, const hipscope::Capacity& capacity) {
  return {level_text(level),
          "a tenth of the loads misses at " + in_bytes(capacity.knee) + ", half at " +
              in_bytes(capacity.half) + ", nine tenths at " + in_bytes(capacity.full),
          "still there at " + in_bytes(level.end->last_x) + ", risen at " +
              in_bytes(level.end->risen_x) + ", the next level begins at " +
              in_bytes(level.end->next_x)};
}

// What is told with less is wrong more often than not: it is evidence and no value.
constexpr double smallest_confidence = 0.3;

void infer_if_sure(Results& results, Inference inference) {
  if (inference.confidence < smallest_confidence) {
    inference.value.reset();
    inference.interval.reset();
    inference.confidence = 0;
    inference.statement = "the curve does not show it clearly";
  }
  results.infer(inference);
}

void infer_latency(Results& results, const std::string& name, const Level& level) {
  infer_if_sure(results, {.name = name,
                          .value = level.y,
                          .unit = "cycles",
                          .confidence = level.confidence,
                          .statement = "from one dependent load to the next",
                          .evidence = {level_text(level)}});
}

bool about(double value, double other, double tolerance) {
  return std::abs(std::log(value / other)) < std::log(1 + tolerance);
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

void infer_capacity(Results& results, const std::string& name, const Level& level,
                    const std::string& also, double driver) {
  const hipscope::Capacity& found = *level.end->capacity;
  Inference capacity{
      .name = name,
      .value = found.value,
      .unit = "bytes",
      .confidence = found.confidence,
      .statement = in_bytes(found.low) + " to " + in_bytes(found.high) +
                   ", by the laws of replacement that explain how loads begin to miss",
      .evidence = end_evidence(level, found),
      .interval = hipscope::Interval{.low = found.low, .high = found.high}};
  if (!also.empty()) {
    capacity.evidence.push_back(also);
  }
  if (driver > 0) {
    capacity.driver = driver;
  }
  infer_if_sure(results, capacity);
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
  unsigned level_number = number_of_first;
  for (auto level = levels.begin(); level != levels.end() && level->end && level->end->capacity;
       ++level, ++level_number) {
    const std::string name = prefix + " level " + std::to_string(level_number);
    infer_latency(results, name + " latency", *level);
    std::string also;
    if (l2_bytes > 0 && level + 1 != levels.end()) {
      also = why_other_half(*level, *(level + 1), l2_bytes, found_homes);
      if (!also.empty()) {
        infer_capacity(results, "near half of " + name + " capacity", *level, also, 0);
        ++level;
        infer_latency(results, "far half of " + name + " latency", *level);
      }
    }
    constexpr double clearly_more = 0.2;
    if (l2_bytes > 0 && level->end->capacity->value > (1 + clearly_more) * l2_bytes) {
      also = "past what the driver calls L2: a cache behind it, or the reach of a TLB";
    }
    infer_capacity(results, name + " capacity", *level, also,
                   level == nearest && distance(*level) < std::log(2) ? l2_bytes : 0);
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

void infer_levels(Results& results) {
  Curve curve = results.curve("footprint", "latency");
  if (curve.empty()) {
    return;
  }
  const Curve finer = results.curve("edges", "latency");
  curve.insert(curve.end(), finer.begin(), finer.end());
  std::stable_sort(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.x < b.x; });
  curve.erase(std::unique(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.x == b.x; }),
              curve.end());
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

// Pages cost a few per cent long before a TLB's reach, by a miss in a first TLB that hits in the
// second: a rise that is larger than that.
constexpr std::array tlb_rises = {1.05, 1.1, 1.15};

// The clear rises of a curve, the smallest that its noise does not hide. The middle one of three
// points counts: a single slow launch is no rise.
std::vector<hipscope::FirstStep> clear_rises(const Curve& curve) {
  Curve calm = curve;
  for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
    const auto [low, high] = std::minmax(curve[i - 1].y, curve[i + 1].y);
    calm[i].y = std::clamp(curve[i].y, low, high);
  }
  std::vector<double> changes = {0};
  for (std::size_t i = 1; i < curve.size(); ++i) {
    changes.push_back(std::abs(std::log(curve[i].y / curve[i - 1].y)));
  }
  constexpr double clearly = 7;
  const double usual_change = hipscope::summarize(changes).median;
  for (const double smallest : tlb_rises) {
    if (std::log(smallest) < clearly * usual_change) {
      continue;
    }
    if (auto rises = hipscope::find_clear_rises(calm, smallest); !rises.empty()) {
      // What only a larger rise shows has begun before it shows.
      for (hipscope::FirstStep& rise : rises) {
        rise.confidence *= smallest > tlb_rises.front() ? 0.5 : 1;
      }
      return rises;
    }
  }
  return {};
}

void infer_tlb(Results& results) {
  const Curve large = results.curve("tlb-2m", "paged over dense");
  if (large.empty()) {
    return;
  }
  const auto small_rises = clear_rises(results.curve("tlb-64k", "paged over dense"));
  const auto rises = clear_rises(large);
  const double last_flat = rises.empty() ? large.back().x : rises.front().last_flat_x;
  const auto beyond = std::find_if(large.begin(), large.end(),
                                   [&](const auto& point) { return point.x > last_flat; });
  const auto [low, high] = std::minmax_element(
      large.begin(), beyond, [](const auto& a, const auto& b) { return a.y < b.y; });
  const auto at = [](const hipscope::CurvePoint& point) {
    return number(point.y, 4) + " at " + number(point.x, 6);
  };
  const std::string range = "up to " + number(last_flat, 6) + " pages of 2 MiB " + at(*low) +
                            " to " + at(*high) + " times as long as dense lines";
  if (rises.empty()) {
    Inference reach{.name = "TLB level 1 reach",
                    .unit = "bytes",
                    .statement = "no clear rise up to " + in_bytes(last_flat * large_page),
                    .evidence = {range}};
    if (!small_rises.empty()) {
      reach.evidence.push_back("one page per 64 KiB: a rise at " +
                               in_bytes(small_rises.front().last_flat_x * small_page) +
                               ", which pages of 2 MiB do not show");
    }
    results.infer(reach);
  }
  for (std::size_t i = 0; i < rises.size(); ++i) {
    const hipscope::FirstStep& rise = rises[i];
    Inference reach{.name = "TLB level " + std::to_string(i + 1) + " reach",
                    .unit = "bytes",
                    .confidence = rise.confidence,
                    .evidence = {range, "then " + number(rise.ratio, 4) +
                                            " times the plateau within an octave"}};
    const auto set_reach = [&](const hipscope::FirstStep& step, double page_bytes) {
      reach.value = step.last_flat_x * page_bytes;
      reach.interval = {.low = *reach.value, .high = step.next_x * page_bytes};
      reach.statement = "from " + in_bytes(*reach.value) + " to " +
                        in_bytes(step.next_x * page_bytes) +
                        " of pages a line begins to take clearly longer";
    };
    set_reach(rise, large_page);
    for (const hipscope::FirstStep& small : small_rises) {
      reach.evidence.push_back("one page per 64 KiB: a rise at " +
                               in_bytes(small.last_flat_x * small_page));
      // Pages of 64 KiB share an entry that covers more: so many more of them fit.
      const double per_entry = small.last_flat_x / rise.last_flat_x;
      constexpr double agreement = 1.5;
      if (per_entry > 1 / agreement && per_entry < large_page / small_page / agreement) {
        reach.evidence.push_back(per_entry < agreement
                                     ? "as many pages of 64 KiB: an entry covers no more than that"
                                     : "an entry covers " + in_bytes(per_entry * small_page));
        set_reach(small, small_page);
        break;
      }
    }
    infer_if_sure(results, reach);
  }
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
  infer_tlb(results);
  infer_store_to_load(results);
  infer_spread(results, "lines", "lines");
  infer_spread(results, "units", "CUs");
}

}  // namespace memory_latency
