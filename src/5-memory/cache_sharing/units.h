// Which CUs share a cache of level 1? Each keeps a few lines and looks at them again later; one of
// them walks through far more in between. Whose lines are gone shares its cache.
//
// No block waits for another. Caches of level 1 are emptied between launches, so all is done in
// one: each CU's first block fills, lets a time pass by the timer and looks, however far the others
// are; the second block on the CU that disturbs walks for three quarters of that time.
#pragma once

#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "pairs.h"

namespace cache_sharing {

// No CU has this number.
inline constexpr unsigned no_unit = ~0U;
// CUs are numbered by shader engine and the like, with gaps.
inline constexpr unsigned most_units = 1U << 12;

struct Neighbours {
  Ring kept;
  Ring walked;
  unsigned passes;        // of the walk
  unsigned disturber;     // the CU on which it is
  long long pause;        // of the others, in ticks of the timer
  unsigned longest_wait;  // readings of the timer, so that one that stands still ends
};

struct UnitOutcome {
  unsigned blocks;           // that came to this CU
  unsigned walked;           // 1 if one of them was the disturber
  std::uint64_t looked;      // where it has arrived
  std::uint64_t walk_ended;  // where the disturber has
  long long cycles;
  long long walk_ticks;  // of the disturber's walk, all passes
  long long walk_ended_at;
  long long looked_at;  // both by the timer, which is one for all CUs
};

using NeighbourKernel = void (*)(Neighbours, UnitOutcome*);

static __global__ void __launch_bounds__(1) unit_ids_kernel(unsigned* ids) {
  ids[blockIdx.x] = hipscope::compute_unit_id();
}

// More blocks than there are CUs, so that each gets several.
inline unsigned crew(const Sweep& sweep) {
  return sweep.is_hardware() ? 4 * sweep.device().compute_units : 2;
}

inline std::set<unsigned> unit_ids(const Sweep& sweep) {
  const DeviceBuffer<unsigned> ids(crew(sweep));
  hipscope::launch(unit_ids_kernel, {.grid = dim3(crew(sweep)), .block = dim3(1)}, ids.data());
  std::set<unsigned> found;
  for (const unsigned id : ids.to_host()) {
    if (id < most_units) {
      found.insert(id);
    }
  }
  return found;
}

class UnitRuns {
 public:
  UnitRuns(const Sweep& sweep, NeighbourKernel kernel, Path path, std::uint64_t evict)
      : sweep_(sweep),
        kernel_(kernel),
        kept_(kept_ring(path, sweep.seed())),
        walked_(evicting_ring(path, evict, sweep.seed() + 1)) {
    prefer_lds(kernel);
    // How long a walk takes: the pause of the others is a third longer than the second one's.
    static_cast<void>(run(no_unit));
    const std::set<unsigned> ids = unit_ids(sweep);
    for (int i = 0; i < 2; ++i) {
      for (const UnitOutcome& outcome : run(*ids.begin())) {
        if (outcome.walked != 0) {
          pause_ = outcome.walk_ticks / passes * (passes + 1);
        }
      }
    }
  }

  // What each CU has seen while `disturber` walked.
  std::vector<UnitOutcome> run(unsigned disturber) {
    outcomes_.clear();
    constexpr unsigned longest_wait = 1U << 20;
    hipscope::launch(kernel_, {.grid = dim3(crew(sweep_)), .block = dim3(1)},
                     Neighbours{.kept = kept_.ring(),
                                .walked = walked_.ring(),
                                .passes = passes,
                                .disturber = disturber,
                                .pause = pause_,
                                .longest_wait = sweep_.is_hardware() ? longest_wait : 1},
                     outcomes_.data());
    auto all = outcomes_.to_host();
    for (const UnitOutcome& outcome : all) {
      if (outcome.blocks > 0) {
        ends_.compare(kept_, kept_nodes, outcome.looked);
      }
      if (outcome.walked != 0) {
        ends_.compare(walked_, std::uint64_t{passes} * walked_.ring().nodes, outcome.walk_ended);
      }
    }
    return all;
  }

  // The median latency that each of `units` has seen; NaN where none of its blocks has looked, or
  // where nothing has disturbed.
  std::vector<double> latencies(const std::vector<unsigned>& units, unsigned disturber,
                                std::uint64_t repeats) {
    std::vector<std::vector<double>> seen(units.size());
    for (std::uint64_t i = 0; i < repeats; ++i) {
      const auto outcomes = run(disturber);
      if (disturber != no_unit && outcomes[disturber].walked == 0) {
        continue;
      }
      for (std::size_t b = 0; b < units.size(); ++b) {
        if (outcomes[units[b]].blocks > 0) {
          seen[b].push_back(static_cast<double>(outcomes[units[b]].cycles) / kept_nodes);
        }
      }
    }
    std::vector<double> medians;
    for (const auto& each : seen) {
      medians.push_back(each.empty() ? std::numeric_limits<double>::quiet_NaN()
                                     : sweep_.counted(median_of(each)));
    }
    return medians;
  }

  // Checks since the last call.
  void verify(Point& point) { ends_.verify(point); }

 private:
  static constexpr unsigned passes = 3;

  const Sweep& sweep_;
  NeighbourKernel kernel_;
  NodeRing kept_;
  NodeRing walked_;
  DeviceBuffer<UnitOutcome> outcomes_{most_units};
  long long pause_ = 0;
  Ends ends_;
};

inline void measure_units(Sweep& sweep, const Sizes& sizes, NeighbourKernel kernel, Path path) {
  sweep.axis({.name = "CU"});
  sweep.headline("beside itself");
  sweep.note(
      "cycles per load of what was kept; quiet: no CU walks; beside itself: a second block on the "
      "same CU walks; looked after the walk: by the constant-rate timer, negative if it was before "
      "its end");
  sweep.require_memory(2 * sizes.evict, "--evict");
  const std::set<unsigned> found = unit_ids(sweep);
  const std::vector<unsigned> units(found.begin(), found.end());
  UnitRuns runs(sweep, kernel, path, sizes.evict);
  const std::uint64_t repeats = std::min<std::uint64_t>(3, sizes.repeats);
  const auto quiet = runs.latencies(units, no_unit, repeats);
  std::vector<std::vector<double>> disturbed;
  for (const unsigned unit : units) {
    disturbed.push_back(runs.latencies(units, unit, repeats));
  }
  const auto groups = groups_by_disturbance(quiet, disturbed);
  for (std::size_t a = 0; a < units.size(); ++a) {
    auto point = sweep.point(std::to_string(units[a]), units[a]);
    const UnitOutcome last = runs.run(units[a])[units[a]];
    runs.verify(point);
    point.value("quiet", quiet[a], "cycles");
    point.value("beside itself", disturbed[a][a], "cycles");
    point.value("looked after the walk",
                last.walked != 0
                    ? sweep.counted(static_cast<double>(last.looked_at - last.walk_ended_at))
                    : std::numeric_limits<double>::quiet_NaN(),
                "ticks");
    if (!groups.empty()) {
      point.value("first of its group", units[groups[a]], "");
    }
  }
}

}  // namespace cache_sharing
