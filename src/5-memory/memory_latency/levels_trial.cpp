// Cache levels from latency over footprint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "cache_simulator.h"
#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "simulated_loads.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;

// How far off a capacity is still right.
constexpr double capacity_tolerance = 0.125;
constexpr double latency_tolerance = 0.05;

Cache random_cache(Random& random, double bytes, double latency) {
  Cache cache{.bytes = bytes, .latency = latency};
  cache.line = one_of(random, std::vector<double>{64, 128});
  cache.ways = one_of(random, std::vector<unsigned>{4, 8, 16, 32});
  cache.replacement = one_of(
      random, std::vector<Replacement>{Replacement::lru, Replacement::lru, Replacement::tree_plru,
                                       Replacement::random, Replacement::not_most_recent});
  cache.sets =
      one_of(random, std::vector<Sets>{Sets::in_turn, Sets::in_turn, Sets::hashed, Sets::pages});
  cache.laps = one_of(random, std::vector<unsigned>{1, 2, 4});
  return cache;
}

double round_capacity(Random& random, double bytes) {
  const double power = std::exp2(std::floor(std::log2(bytes)));
  return power * one_of(random, std::vector<double>{1, 1, 1, 1.25, 1.5, 1.75});
}

// One to four levels, at least six times as large as the one before, and memory; one step in four
// is as small as 15 to 40 %.
Machine random_machine(Random& random) {
  Machine machine;
  const auto levels = one_of(random, std::vector<int>{1, 2, 2, 2, 3, 3, 4});
  double bytes = between_octaves(random, 8 * kib, 256 * kib);
  double latency = between_octaves(random, 25, 150);
  for (int level = 0; level < levels && bytes < 300 * mib; ++level) {
    machine.caches.push_back(random_cache(random, round_capacity(random, bytes), latency));
    bytes *= between_octaves(random, 12, 100);
    latency *= happens(random, 0.25) ? between(random, 1.15, 1.4) : between_octaves(random, 1.4, 5);
  }
  machine.latency = latency;
  machine.fetches_pairs = happens(random, 0.1);
  machine.slices = happens(random, 0.3) ? between(random, 0.02, 0.15) : 0;
  if (happens(random, 0.15)) {
    machine.tlb_reach = between_octaves(random, 4, 20) * machine.caches.back().bytes;
    machine.tlb_cost = latency * between(random, 0.1, 0.5);
  }
  return machine;
}

// The lesson's two sweeps over a machine, or over a curve that is none.
struct Measured {
  Curve footprint{};
  Curve edges{};
  ModeCurves modes{};
};

template <class Latency>
Measured measure(const Latency& latency, const Disturbance& disturbance, unsigned per_octave,
                 double largest, Random& random) {
  Measured made;
  for (const double bytes : footprints(kib, largest, per_octave)) {
    made.footprint.push_back({.x = bytes, .y = latency(bytes)});
  }
  made.footprint = disturbed(made.footprint, disturbance, random);
  constexpr double margin = 1.07;
  constexpr unsigned fine_points = 64;
  for (const Level& level : find_levels(made.footprint, memory_latency::smallest_step)) {
    if (level.end) {
      for (const double bytes : footprints(kib, largest, fine_points)) {
        if (bytes >= level.end->last_x / margin && bytes <= level.end->risen_x * margin &&
            (made.edges.empty() || bytes > made.edges.back().x)) {
          made.edges.push_back({.x = bytes, .y = latency(bytes)});
        }
      }
    }
  }
  made.edges = disturbed(made.edges, disturbance, random);
  return made;
}

MadeResults concluded(const Measured& measured, double l2_bytes) {
  DeviceDescription device = fake::describe();
  device.l2_bytes = static_cast<std::uint64_t>(l2_bytes);
  MadeResults made("memory_latency", device);
  made.curve("footprint", "latency", measured.footprint);
  if (!measured.edges.empty()) {
    made.curve("edges", "latency", measured.edges);
  }
  for (std::size_t i = 0; i < measured.modes.size(); ++i) {
    made.curve("load-times", "mode " + std::to_string(i + 1), measured.modes[i]);
  }
  memory_latency::conclude(made.results());
  return made;
}

// Each answer that is named NAME level N KIND counts against the nearest of the true values that no
// answer has had; a true one without an answer was not found. Who finds one of `beyond`, of which
// the sweep shows the beginning, is right, and who does not has missed nothing.
void enter(Tally& tally, const std::vector<Inference>& answers, const std::string& kind,
           std::vector<double> truths, double tolerance, std::vector<double> beyond = {}) {
  if (truths.empty() && beyond.empty()) {
    // One curve of nothing is one case, whatever is found in it.
    std::optional<Inference> worst;
    for (const Inference& answer : answers) {
      if (answer.name.ends_with(kind) && answer.value) {
        worst = !worst || worst->confidence < answer.confidence ? answer : *worst;
      }
    }
    tally.add({}, worst.value_or(Inference{}));
    return;
  }
  for (const Inference& answer : answers) {
    if (!answer.name.ends_with(kind) || !answer.value) {
      continue;
    }
    const auto nearer = [&](double a, double b) {
      return std::abs(std::log(a / *answer.value)) < std::abs(std::log(b / *answer.value));
    };
    const auto nearest = std::min_element(truths.begin(), truths.end(), nearer);
    const auto farther = std::min_element(beyond.begin(), beyond.end(), nearer);
    if (farther != beyond.end() && (nearest == truths.end() || nearer(*farther, *nearest))) {
      tally.add({.value = *farther, .tolerance = tolerance}, answer);
      beyond.erase(farther);
    } else if (nearest != truths.end()) {
      tally.add({.value = *nearest, .tolerance = tolerance}, answer);
      truths.erase(nearest);
    } else {
      tally.add({.value = 1e-9}, answer);  // one too many: wrong
    }
  }
  for (std::size_t i = 0; i < truths.size(); ++i) {
    tally.add_not_found();
  }
}

// What the shares of hits say alone.
std::vector<Inference> by_hits(const ModeCurves& modes) {
  std::vector<Inference> found;
  Curve hits;
  for (const Curve& mode : modes) {
    hits.resize(mode.size());
    for (std::size_t i = 0; i < mode.size(); ++i) {
      hits[i].x = mode[i].x;
      hits[i].y += mode[i].y / 100;
    }
    if (const auto capacity = fit_capacity_by_hits(hits)) {
      found.push_back({.name = "capacity",
                       .value = capacity->value,
                       .confidence = capacity->confidence,
                       .interval = Interval{.low = capacity->low, .high = capacity->high}});
    }
  }
  return found;
}

const Seeds level_seeds(1);
const Seeds load_seeds(60);

TEST(LevelsTrial, CapacityAndLatencyOfCaches) {
  constexpr unsigned machines = 400;
  for (unsigned i = 0; i < machines; ++i) {
    for (const Disturbance& disturbance : disturbances()) {
      Random random(level_seeds(i));
      const Machine machine = random_machine(random);
      const auto per_octave = one_of(random, std::vector<unsigned>{8, 8, 4, 3});
      const double largest = one_of(random, std::vector<double>{2048 * mib, 512 * mib});
      const auto latency = [&](double bytes) { return latency_at(machine, bytes, random); };
      Measured measured = measure(latency, disturbance, per_octave, largest, random);
      const bool driver_knows = happens(random, 0.7) && machine.caches.size() > 1;
      const double l2_bytes = driver_knows ? machine.caches.at(1).bytes : 0;
      const MadeResults made = concluded(measured, l2_bytes);
      // Single loads of the same machine; draws of their own, so that the walks stay as they are.
      Random loads_random(load_seeds(i));
      measured.modes =
          mode_curves(machine, footprints(kib, largest, per_octave), disturbance, loads_random);
      const MadeResults both = concluded(measured, l2_bytes);
      std::vector<double> capacities;
      std::vector<double> latencies;
      std::vector<double> beyond;
      for (std::size_t level = 0; level < machine.caches.size(); ++level) {
        const Cache& cache = machine.caches[level];
        if (4 * cache.bytes <= largest) {
          capacities.push_back(cache.bytes);
          latencies.push_back(cache.latency);
        } else {
          beyond.push_back(cache.bytes);
        }
      }
      enter(tally("cache capacity, " + disturbance.name), made.inferences(), "capacity", capacities,
            capacity_tolerance, beyond);
      // What a TLB reaches shows in the same way; the walk tells it from a cache.
      std::vector<double> held = capacities;
      std::vector<double> held_beyond = beyond;
      if (machine.tlb_reach > 0) {
        (4 * machine.tlb_reach <= largest ? held : held_beyond).push_back(machine.tlb_reach);
      }
      enter(tally("capacity by hits, " + disturbance.name), by_hits(measured.modes), "capacity",
            held, capacity_tolerance, held_beyond);
      enter(tally("cache capacity with single loads, " + disturbance.name), both.inferences(),
            "capacity", capacities, capacity_tolerance, beyond);
      enter(tally("cache latency, " + disturbance.name), made.inferences(), "level 1 latency",
            {latencies.front()}, latency_tolerance);
      const bool memory_shows = largest >= 16 * machine.caches.back().bytes &&
                                machine.tlb_reach == 0 && largest > 1024 * mib;
      if (memory_shows) {
        tally("memory latency, " + disturbance.name)
            .add({.value = machine.latency, .tolerance = latency_tolerance},
                 made.inference("memory latency"));
      }
    }
  }
  for (const Disturbance& disturbance : disturbances()) {
    // In noise of 5 % a step must be as large as 20 %.
    const bool is_noisy = disturbance.noise > 0.02;
    expect_goals(tally("cache capacity, " + disturbance.name), {.right = is_noisy ? 0.1 : 0.35});
    expect_goals(tally("capacity by hits, " + disturbance.name), {.right = is_noisy ? 0.2 : 0.5});
    expect_goals(tally("cache capacity with single loads, " + disturbance.name),
                 {.right = is_noisy ? 0.2 : 0.5});
    expect_goals(tally("cache latency, " + disturbance.name), {.right = is_noisy ? 0.3 : 0.6});
    expect_goals(tally("memory latency, " + disturbance.name), {.right = is_noisy ? 0.3 : 0.6});
  }
}

const Seeds nothing_seeds(2);
const Seeds nothing_loads_seeds(61);

TEST(LevelsTrial, NothingIsInvented) {
  constexpr unsigned curves = 500;
  for (unsigned i = 0; i < curves; ++i) {
    Random random(nothing_seeds(i));
    const auto per_octave = one_of(random, std::vector<unsigned>{8, 8, 4, 3});
    const std::vector<double> all = footprints(kib, 2048 * mib, 64);
    const Curve curve = non_structure(all, 100, false, random).curve;
    const auto latency = [&](double bytes) {
      return std::lower_bound(curve.begin(), curve.end(), bytes,
                              [](const CurvePoint& point, double x) { return point.x < x; })
          ->y;
    };
    const Disturbance& disturbance = one_of(random, disturbances());
    Measured measured = measure(latency, disturbance, per_octave, 2048 * mib, random);
    Random loads_random(nothing_loads_seeds(i));
    const double deviation = between_octaves(loads_random, 0.003, 0.2);
    const auto loads_at = [&](double bytes) {
      return std::vector<LoadsOfLevel>{{1, latency(bytes), deviation}};
    };
    measured.modes =
        mode_curves(footprints(kib, 2048 * mib, per_octave), loads_at, disturbance, loads_random);
    enter(tally("capacity by hits, of nothing"), by_hits(measured.modes), "capacity", {}, 0);
    const MadeResults made = concluded(measured, 8 * mib);
    enter(tally("cache capacity, of nothing"), made.inferences(), "capacity", {}, 0);
    enter(tally("memory latency, of nothing"), made.inferences(), "memory latency", {}, 0);
  }
  expect_goals(tally("cache capacity, of nothing"));
  expect_goals(tally("capacity by hits, of nothing"));
  expect_goals(tally("memory latency, of nothing"));
}

}  // namespace
}  // namespace hipscope::trial
