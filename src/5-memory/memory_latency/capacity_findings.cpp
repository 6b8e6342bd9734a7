#include "capacity_findings.h"

#include <algorithm>
#include <cstddef>

#include "findings.h"
#include "hipscope/confidence.h"
#include "hipscope/format.h"
#include "text.h"

namespace memory_latency {

using hipscope::Inference;
using hipscope::Level;
using hipscope::Results;

namespace {

double octaves_between(double a, double b) { return std::abs(std::log2(a / b)); }

// How the curve leaves a level.
std::string end_text(const hipscope::Capacity& capacity) {
  return "a tenth of the loads misses at " + in_bytes(capacity.knee) + ", half at " +
         in_bytes(capacity.half) + ", nine tenths at " + in_bytes(capacity.full);
}

std::string range_text(const hipscope::Capacity& capacity) {
  return in_bytes(capacity.low) + " to " + in_bytes(capacity.high);
}

// Two ways to a capacity, by how a walk begins to miss and by how many single loads hit. Where they
// agree, both are right more often than either; where they part, the one that does not depend on
// replacement is told, with less confidence than one half, and an interval that holds both.
void join(Inference& capacity, const hipscope::Capacity& walk, const hipscope::Capacity& loads) {
  constexpr double agreement = 0.125;
  if (about(walk.value, loads.value, agreement)) {
    capacity.confidence = 1 - (1 - walk.confidence) * (1 - loads.confidence);
    capacity.statement = "by the share of single loads that hit, with which a walk agrees";
  } else {
    constexpr double less = 0.9;
    capacity.confidence = less * std::min(hipscope::unsure, loads.confidence);
    capacity.statement =
        "by the share of single loads that hit; the laws of replacement part from it";
  }
  capacity.evidence.push_back("by the laws of replacement " + in_bytes(walk.value) + " in " +
                              range_text(walk));
  capacity.interval = {.low = std::min(loads.low, walk.low),
                       .high = std::max(loads.high, walk.high)};
}

}  // namespace

std::optional<std::vector<Level>> levels_of_loads(const Results& results) {
  Curve mean = results.curve("load-times", "mean latency");
  // Results from before there was a mean have the share of loads in each mode.
  for (int mode = 1; mean.empty() || mode > 1; ++mode) {
    const Curve shares = results.curve("load-times", "mode " + std::to_string(mode));
    if (shares.empty()) {
      break;
    }
    mean.resize(shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      mean[i].x = shares[i].x;
      mean[i].y += mode * shares[i].y;
    }
  }
  return mean.empty()
             ? std::nullopt
             : std::optional(hipscope::find_levels(mean, smallest_step, hipscope::Visits::any));
}

std::vector<Cache> caches_of(const std::vector<Level>& levels,
                             const std::optional<std::vector<Level>>& loads) {
  std::vector<Cache> caches;
  for (const Level& level : levels) {
    if (level.end && level.end->capacity) {
      caches.push_back({.level = level, .by_walk = level.end->capacity});
    }
  }
  std::vector<hipscope::Capacity> left;
  for (const Level& level : loads.value_or(std::vector<Level>())) {
    if (level.end && level.end->capacity) {
      left.push_back(*level.end->capacity);
    }
  }
  // A walk that shows no step clearly is a slope, whatever single loads make of it.
  if (std::none_of(caches.begin(), caches.end(), [](const Cache& cache) {
        constexpr double hardly = 0.1;
        return cache.by_walk->confidence >= hardly;
      })) {
    left.clear();
  }
  while (!left.empty()) {
    constexpr double farthest = 0.8;  // octaves: knee to full miss may be as much
    Cache* cache = nullptr;
    auto nearest = left.begin();
    double least = farthest;
    for (Cache& each : caches) {
      for (auto one = left.begin(); one != left.end() && each.by_walk && !each.by_loads; ++one) {
        if (const double apart = octaves_between(one->value, each.by_walk->value); apart < least) {
          least = apart;
          cache = &each;
          nearest = one;
        }
      }
    }
    if (cache != nullptr) {
      cache->by_loads = *nearest;
    } else {
      caches.push_back({.by_loads = *nearest});
    }
    left.erase(nearest);
  }
  // What a walk alone shows of the two, not surely and near to another one, is a kink in its end.
  if (loads) {
    constexpr double octaves_near = 2.5;
    const auto all = caches;
    std::erase_if(caches, [&](const Cache& cache) {
      return !cache.by_loads && cache.by_walk->confidence <= hipscope::unsure &&
             std::any_of(all.begin(), all.end(), [&](const Cache& other) {
               return other.by_loads &&
                      octaves_between(other.bytes(), cache.bytes()) < octaves_near;
             });
    });
  }
  std::sort(caches.begin(), caches.end(),
            [](const Cache& a, const Cache& b) { return a.bytes() < b.bytes(); });
  return caches;
}

void infer_capacity(Results& results, const std::string& name, const Cache& cache,
                    const Known& known) {
  const hipscope::Capacity& found = cache.by_loads ? *cache.by_loads : *cache.by_walk;
  Inference capacity{.name = name,
                     .value = found.value,
                     .unit = "bytes",
                     .confidence = found.confidence,
                     .interval = hipscope::Interval{.low = found.low, .high = found.high}};
  if (cache.by_walk) {
    capacity.statement =
        range_text(found) + ", by the laws of replacement that explain how loads begin to miss";
    capacity.evidence = {level_text(cache.level), end_text(*cache.by_walk)};
  } else {
    capacity.statement =
        range_text(found) + ", by the share of single loads that hit; the walk shows no step there";
  }
  if (!known.also.empty()) {
    capacity.evidence.push_back(known.also);
  }
  if (known.driver > 0) {
    capacity.driver = known.driver;
  }
  if (cache.by_walk && cache.by_loads) {
    join(capacity, *cache.by_walk, *cache.by_loads);
  }
  capacity.confidence = std::min(capacity.confidence, known.most_confidence);
  infer_if_sure(results, capacity);
}

}  // namespace memory_latency
