#include "capacity_findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "findings.h"
#include "hipscope/confidence.h"
#include "misses_findings.h"
#include "text.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::Level;
using hipscope::Results;

namespace {

// How the curve leaves a level.
std::vector<std::string> end_evidence(const Level& level, const hipscope::Capacity& capacity) {
  return {level_text(level),
          "a tenth of the loads misses at " + in_bytes(capacity.knee) + ", half at " +
              in_bytes(capacity.half) + ", nine tenths at " + in_bytes(capacity.full),
          "still there at " + in_bytes(level.end->last_x) + ", risen at " +
              in_bytes(level.end->risen_x) + ", the next level begins at " +
              in_bytes(level.end->next_x)};
}

constexpr double agreement = 0.125;
constexpr double near_interval = 1.0 / 16;

// Whether a value is in an interval, or within that share of one of its ends.
bool is_about(double value, const hipscope::Interval& interval) {
  return value * (1 + near_interval) >= interval.low &&
         value <= interval.high * (1 + near_interval);
}

double octaves_between(double a, double b) { return std::abs(std::log2(a / b)); }

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

namespace {

constexpr double farthest = 0.8;  // octaves: knee to full miss may be as much

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

}  // namespace

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
                    octaves_between(level.end->capacity->value, each.value) < farthest;
           });
  });
  return found;
}

namespace {

double distance(const Cache& cache, const FoundCapacity& found) {
  return octaves_between(cache.level.end->capacity->value, found.value);
}

// Gives caches the capacities that shares of hits tell: the two that lie nearest to one another
// belong together first. What no cache is near to stays.
void give_hits(std::vector<Cache>& caches, std::vector<FoundCapacity>& all) {
  for (;;) {
    Cache* cache = nullptr;
    auto nearest = all.end();
    double least = farthest;
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
    if (known == 0 || distance(*nearest, found) >= farthest) {
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

}  // namespace

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
