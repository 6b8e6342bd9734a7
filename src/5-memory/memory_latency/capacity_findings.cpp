#include "capacity_findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "findings.h"
#include "hipscope/confidence.h"
#include "hipscope/statistics.h"
#include "misses_findings.h"
#include "text.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::Level;
using hipscope::Results;

namespace {

constexpr double agreement = 0.125;

double octaves_between(double a, double b) { return std::abs(std::log2(a / b)); }

// --- By the share of single loads that hit ------------------------------------------------------

constexpr double nearly_all = 0.8;

// Share times footprint, over the footprints that are past a capacity; `seen` is the share of the
// loads in the cache that look like hits.
Curve past_knee(std::span<const hipscope::CurvePoint> hits, double seen) {
  constexpr double clearly_past = 0.75;  // where hardly a set has room left
  constexpr double too_few = 0.1;        // to tell them from what is taken for a hit
  const auto last_inside = std::find_if(hits.rbegin(), hits.rend(),
                                        [](const auto& point) { return point.y >= nearly_all; });
  Curve past;
  for (const auto& point : hits.last(static_cast<std::size_t>(last_inside - hits.rbegin()))) {
    const double share = point.y / seen;
    if (share >= too_few && share <= clearly_past) {
      past.push_back({.x = point.x, .y = share * point.x});
    }
  }
  return past;
}

// Of loads that hit some look like misses, because something slows them down: so does what is seen
// on the way to the knee say, not only at the smallest footprints, which other levels may hold. 0
// where too little is seen there.
double seen_before(std::span<const hipscope::CurvePoint> hits, double capacity) {
  constexpr double well_within = 1.6;
  constexpr double octaves_before = 8;  // as a ratio
  constexpr std::size_t fewest = 2;
  std::vector<double> before;
  for (const auto& point : hits) {
    if (octaves_before * point.x >= capacity && well_within * point.x <= capacity) {
      before.push_back(point.y);
    }
  }
  return before.size() < fewest ? 0 : hipscope::median_of(before);
}

std::vector<double> octaves_of(const Curve& past) {
  std::vector<double> octaves;
  for (const auto& point : past) {
    octaves.push_back(std::log2(point.y));
  }
  return octaves;
}

// The capacity by the share of loads that hit, 0 ... 1, over the footprint, where each load may
// read any line, independent of the last: past the capacity the share is capacity over footprint,
// whatever line is replaced. Empty if the share does not begin near 1, if fewer than four
// footprints have a share between a tenth and three quarters, and if share times footprint is not
// the same for all of these.
std::optional<FoundCapacity> fit_capacity_by_hits(std::span<const hipscope::CurvePoint> hits) {
  constexpr std::size_t fewest_points = 4;
  constexpr double fewest_octaves = 0.8;
  Curve past = past_knee(hits, 1);
  if (past.empty()) {
    return std::nullopt;
  }
  const double seen = seen_before(hits, std::exp2(hipscope::median_of(octaves_of(past))));
  if (seen < nearly_all) {
    return std::nullopt;
  }
  past = past_knee(hits, seen);
  if (past.size() < fewest_points || std::log2(past.back().x / past.front().x) < fewest_octaves) {
    return std::nullopt;
  }
  std::vector<double> octaves = octaves_of(past);
  const auto half = octaves.size() / 2;
  const double middle = hipscope::median_of(octaves);
  const double drift = hipscope::summarize(std::span(octaves).last(half)).median -
                       hipscope::summarize(std::span(octaves).first(half)).median;
  for (double& each : octaves) {
    each = std::abs(each - middle);
  }
  const double spread = hipscope::median_of(octaves);
  constexpr double largest_spread = 0.15;  // of what falls in another way
  constexpr double largest_drift = 0.4;
  if (spread > largest_spread || std::abs(drift) > largest_drift) {
    return std::nullopt;
  }
  // In the trial (tests/inference, the seeds for fitting).
  using hipscope::Knot;
  constexpr std::array by_drift = {Knot{0.05, 0.97}, Knot{0.15, 0.8}, Knot{0.4, 0.3}};
  constexpr std::array by_points = {Knot{4, 0.8}, Knot{8, 1}};
  constexpr std::array by_seen = {Knot{0.8, 0.8}, Knot{0.97, 1}};
  constexpr double always = 0.03;  // octaves: of sets that are not quite full
  const auto points = static_cast<double>(past.size());
  const double margin = always + std::abs(drift) / 2 + 3 * spread / std::sqrt(points);
  return FoundCapacity{
      .value = std::exp2(middle),
      .low = std::exp2(middle - margin),
      .high = std::exp2(middle + margin),
      .confidence =
          along(by_drift, std::abs(drift)) * along(by_points, points) * along(by_seen, seen),
      .evidence = "single loads hit by " + in_bytes(std::exp2(middle)) +
                  " over the footprint, from " + in_bytes(past.front().x) + " to " +
                  in_bytes(past.back().x) + ", over " + std::to_string(past.size()) + " points"};
}

// --- By latency as a whole ----------------------------------------------------------------------

constexpr double widest_end = 0.8;  // octaves: knee to full miss may be as much

// Whether a law of replacement explains where a level ends.
bool is_explained(const Level& level) {
  return level.end && level.end->capacity && level.end->capacity->confidence >= smallest_confidence;
}

// Where flat runs leave room for a level that is flat nowhere.
bool leave_room(const std::vector<Level>& levels) {
  constexpr double far_apart = 1.5;  // octaves: what ends in between is 3/4 from both
  return levels.size() < 2 || std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
           return level.end && (!is_explained(level) ||
                                std::log2(level.end->next_x / level.end->last_x) > far_apart);
         });
}

// Whether a walk is flat about there, with other levels: then no cache ends there.
bool is_flat_at(const std::vector<Level>& levels, double x) {
  constexpr double margin = 1.3;  // of a capacity
  return levels.size() > 1 && std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
           return level.first_x <= x && (!level.end || margin * x < level.end->last_x);
         });
}

// --- Caches -------------------------------------------------------------------------------------

double distance(const Cache& cache, const FoundCapacity& found) {
  return octaves_between(cache.level.end->capacity->value, found.value);
}

// Gives caches the capacities that shares of hits tell: the two that lie nearest to one another
// belong together first. What no cache is near to stays.
void give_hits(std::vector<Cache>& caches, std::vector<FoundCapacity>& all) {
  for (;;) {
    Cache* cache = nullptr;
    auto nearest = all.end();
    double least = widest_end;
    for (Cache& each : caches) {
      for (auto one = all.begin(); one != all.end() && !each.hits; ++one) {
        if (distance(each, *one) < least) {
          least = distance(each, *one);
          cache = &each;
          nearest = one;
        }
      }
    }
    if (cache == nullptr) {
      return;
    }
    cache->hits = *nearest;
    all.erase(nearest);
  }
}

// Adds what is flat nowhere in the walk to the caches, each that is far from those. What is near to
// one is another way to its capacity, and takes its place where it is surer and the two do not
// agree. One way alone does not make it sure.
void add(std::vector<Cache>& caches, const std::vector<FoundCapacity>& all, const char* name) {
  const std::size_t known = caches.size();
  for (const auto& found : all) {
    if (found.confidence < smallest_confidence) {
      continue;
    }
    const hipscope::Capacity capacity = {
        .value = found.value,
        .low = found.low,
        .high = found.high,
        .confidence = std::min(found.confidence, hipscope::unsure)};
    const auto nearest = std::min_element(
        caches.begin(), caches.begin() + static_cast<std::ptrdiff_t>(known),
        [&](const Cache& a, const Cache& b) { return distance(a, found) < distance(b, found); });
    if (known == 0 || distance(*nearest, found) >= widest_end) {
      Cache cache{.steps_of = name, .is_flat = false};
      cache.level.confidence = found.confidence;
      cache.level.end = hipscope::LevelEnd{.capacity = capacity};
      caches.push_back(cache);
    } else if (is_explained(nearest->level) &&
               about(nearest->level.end->capacity->value, found.value, agreement)) {
      nearest->misses = found;
    } else if (found.confidence > nearest->level.end->capacity->confidence &&
               !(nearest->hits &&
                 about(nearest->level.end->capacity->value, nearest->hits->value, agreement))) {
      nearest->steps_of = name;
      nearest->level.end->capacity = capacity;
    }
  }
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

// Whether a value is in an interval, or within a sixteenth of one of its ends.
bool is_about(double value, const hipscope::Interval& interval) {
  constexpr double near_interval = 1.0 / 16;
  return value * (1 + near_interval) >= interval.low &&
         value <= interval.high * (1 + near_interval);
}

// Two ways to a capacity, by how a walk begins to miss and by how many single loads hit. Where they
// agree, both are right more often than either; where they part, the one that does not depend on
// replacement is told, with less confidence than one half, the less the more else is in doubt, and
// an interval that holds both.
void join_hits(Inference& capacity, const FoundCapacity& hits, double most_confidence,
               bool is_of_loads) {
  capacity.evidence.push_back(hits.evidence);
  if (about(*capacity.value, hits.value, agreement) || is_about(hits.value, *capacity.interval)) {
    capacity.confidence = is_of_loads ? std::max(capacity.confidence, hits.confidence)
                                      : 1 - (1 - capacity.confidence) * (1 - hits.confidence);
    capacity.interval = {.low = std::min(hits.low, *capacity.value),
                         .high = std::max(hits.high, *capacity.value)};
    capacity.statement += "; the share of single loads that hit agrees";
  } else {
    capacity.evidence.push_back("by the laws of replacement " + in_bytes(*capacity.value) + " in " +
                                in_bytes(capacity.interval->low) + " to " +
                                in_bytes(capacity.interval->high));
    capacity.confidence = hipscope::unsure * hits.confidence * most_confidence;
    capacity.interval = {.low = std::min(hits.low, capacity.interval->low),
                         .high = std::max(hits.high, capacity.interval->high)};
    capacity.statement =
        "by the share of single loads that hit; the laws of replacement part from it";
  }
  capacity.value = hits.value;
  capacity.interval->low = std::min(capacity.interval->low, *capacity.value);
}

}  // namespace

std::vector<FoundCapacity> capacities_by_hits(const Results& results) {
  std::vector<FoundCapacity> all;
  Curve hits;
  constexpr double percent = 0.01;
  for (int mode = 1;; ++mode) {
    const Curve shares = results.curve("load-times", "mode " + std::to_string(mode));
    if (shares.empty()) {
      return all;
    }
    hits.resize(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      hits[i].x = shares[i].x;
      hits[i].y += percent * shares[i].y;
    }
    if (const auto found = fit_capacity_by_hits(hits)) {
      all.push_back(*found);
    }
  }
}

std::vector<FoundCapacity> capacities_by_misses(const Curve& loads, const Curve& walk,
                                                const std::vector<Level>& levels) {
  if (!loads.empty()) {
    return fit_misses(loads, walk, smallest_step);
  }
  if (!leave_room(levels)) {
    return {};
  }
  auto found = fit_misses({}, walk, smallest_step);
  // Where none of its steps is clear, it is a slope; that a part of them is not, each has in its
  // own confidence.
  if (std::none_of(found.begin(), found.end(),
                   [](const auto& each) { return each.confidence >= hipscope::unsure; })) {
    return {};
  }
  // Where flat runs tell a capacity, the same walk is no second way to it.
  std::erase_if(found, [&](const auto& each) {
    return is_flat_at(levels, each.value) ||
           std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
             return is_explained(level) &&
                    octaves_between(level.end->capacity->value, each.value) < widest_end;
           });
  });
  return found;
}

std::vector<Cache> caches_of(const std::vector<Level>& levels,
                             const std::vector<FoundCapacity>& by_misses,
                             std::vector<FoundCapacity> by_hits) {
  std::vector<Cache> caches;
  for (std::size_t i = 0; i < levels.size() && levels[i].end && levels[i].end->capacity; ++i) {
    caches.push_back({.level = levels[i]});
  }
  give_hits(caches, by_hits);
  add(caches, by_misses, "latency, by the share of loads that miss");
  give_hits(caches, by_hits);
  // A cut through modes that overlap tells a capacity between two.
  std::erase_if(by_hits, [](const auto& each) {
    constexpr double clear = 0.8;
    return each.confidence < clear;
  });
  add(caches, by_hits, "the share of single loads that hit");
  std::sort(caches.begin(), caches.end(), [](const Cache& a, const Cache& b) {
    return a.level.end->capacity->value < b.level.end->capacity->value;
  });
  return caches;
}

void infer_capacity(Results& results, const std::string& name, const Cache& cache,
                    const Known& known) {
  const Level& level = cache.level;
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
  if (!cache.steps_of.empty()) {
    capacity.statement =
        in_bytes(found.low) + " to " + in_bytes(found.high) + ", as a step of " + cache.steps_of;
    capacity.evidence.clear();
  }
  if (!known.also.empty()) {
    capacity.evidence.push_back(known.also);
  }
  if (known.driver > 0) {
    capacity.driver = known.driver;
  }
  if (cache.misses) {
    capacity.confidence =
        1 - (1 - capacity.confidence) * (1 - std::min(hipscope::unsure, cache.misses->confidence));
    capacity.evidence.push_back(cache.misses->evidence);
  }
  if (cache.hits) {
    join_hits(capacity, *cache.hits, known.most_confidence, !cache.steps_of.empty());
  }
  capacity.confidence = std::min(capacity.confidence, known.most_confidence);
  infer_if_sure(results, capacity, known.least_confidence);
}

}  // namespace memory_latency
