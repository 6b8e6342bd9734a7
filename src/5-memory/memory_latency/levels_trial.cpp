// Cache levels from latency over footprint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache_simulator.h"
#include "capacity_findings.h"
#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "simulated_loads.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

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
  Curve again{};
  Curve edges{};
  ModeCurves modes{};
  Curve mean{};
};

template <class Latency>
Measured measure(const Latency& latency, const Disturbance& disturbance, unsigned per_octave,
                 double largest, Random& random) {
  Measured made;
  for (const double bytes : footprints(kib, largest, per_octave)) {
    made.footprint.push_back({.x = bytes, .y = latency(bytes)});
  }
  made.footprint = disturbed(made.footprint, disturbance, random);
  std::set<double> second;
  for (const auto& range : memory_latency::second_pass(made.footprint)) {
    for (const double bytes : footprints(kib, largest, range.per_octave)) {
      if (bytes >= range.first && bytes <= range.last) {
        second.insert(bytes);
      }
    }
  }
  for (const double bytes : second) {
    made.edges.push_back({.x = bytes, .y = latency(bytes)});
  }
  made.edges = disturbed(made.edges, disturbance, random);
  Disturbance at_the_end = disturbance;
  at_the_end.drift = 0;
  for (const double bytes : footprints(kib, largest / 16, 1)) {
    made.again.push_back({.x = bytes, .y = (1 + disturbance.drift) * latency(bytes)});
  }
  made.again = disturbed(made.again, at_the_end, random);
  return made;
}

MadeResults concluded(const Measured& measured, double l2_bytes) {
  MadeResults made("memory_latency", fake::describe_with(&DeviceDescription::l2_bytes, l2_bytes));
  made.curve("footprint", "latency", measured.footprint);
  made.curve("footprint", "again", measured.again);
  if (!measured.edges.empty()) {
    made.curve("edges", "latency", measured.edges);
  }
  for (std::size_t i = 0; i < measured.modes.size(); ++i) {
    made.curve("load-times", "mode " + std::to_string(i + 1), measured.modes[i]);
  }
  if (!measured.mean.empty()) {
    made.curve("load-times", "mean latency", measured.mean);
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

// Whether a capacity that was found is told with the number of its level.
void enter_numbers(Tally& tally, const std::vector<Inference>& answers,
                   const std::vector<Cache>& caches) {
  const std::string prefix = "cache level ";
  for (const Inference& answer : answers) {
    if (!answer.name.starts_with(prefix) || !answer.name.ends_with("capacity") || !answer.value) {
      continue;
    }
    for (std::size_t i = 0; i < caches.size(); ++i) {
      if (std::abs(*answer.value / caches[i].bytes - 1) <= capacity_tolerance) {
        Inference numbered = answer;
        numbered.interval.reset();
        numbered.value = std::stod(answer.name.substr(prefix.size()));
        tally.add({.value = static_cast<double>(i + 1)}, numbered);
      }
    }
  }
}

// What the shares of hits say alone.
std::vector<Inference> by_hits(MadeResults& made) {
  std::vector<Inference> found;
  for (const auto& capacity : memory_latency::capacities_by_hits(made.results())) {
    found.push_back({.name = "capacity",
                     .value = capacity.value,
                     .confidence = capacity.confidence,
                     .interval = Interval{.low = capacity.low, .high = capacity.high}});
  }
  return found;
}

const Seeds level_seeds(1);
const Seeds load_seeds(60);

TEST(LevelsTrial, CapacityAndLatencyOfCaches) {
  constexpr unsigned machines = 400;
  for (unsigned i = 0; i < machines; ++i) {
    Random walk_random(level_seeds(i));
    const Machine machine = random_machine(walk_random);
    const auto per_octave = one_of(walk_random, std::vector<unsigned>{8, 8, 4, 3});
    const double largest = one_of(walk_random, std::vector<double>{2048 * mib, 512 * mib});
    // Single loads of the same machine; draws of their own, so that the walks stay as they are.
    Random single_random(load_seeds(i));
    const auto all_footprints = footprints(kib, largest, per_octave);
    const Loads single = loads_of(machine, all_footprints, single_random);
    for (const Disturbance& disturbance : disturbances()) {
      Random random = walk_random;
      const auto latency = [&](double bytes) { return latency_at(machine, bytes, random); };
      Measured measured = measure(latency, disturbance, per_octave, largest, random);
      const bool driver_knows = happens(random, 0.7) && machine.caches.size() > 1;
      const double l2_bytes = driver_knows ? machine.caches.at(1).bytes : 0;
      const MadeResults made = concluded(measured, l2_bytes);
      // The mean of the same loads; draws of its own, so that the modes stay as they are.
      Random loads_random = single_random;
      Random mean_random = single_random;
      measured.modes = mode_curves(all_footprints, single, disturbance, loads_random);
      measured.mean = mean_loads(all_footprints, single, disturbance, mean_random);
      MadeResults both = concluded(measured, l2_bytes);
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
      enter(tally("capacity by hits, " + disturbance.name), by_hits(both), "capacity", held,
            capacity_tolerance, held_beyond);
      enter(tally("cache capacity with single loads, " + disturbance.name), both.inferences(),
            "capacity", capacities, capacity_tolerance, beyond);
      enter_numbers(tally("number of a level, " + disturbance.name), both.inferences(),
                    machine.caches);
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
    expect_goals(tally("cache capacity, " + disturbance.name), {.right = is_noisy ? 0.3 : 0.6});
    expect_goals(tally("capacity by hits, " + disturbance.name), {.right = is_noisy ? 0.2 : 0.5});
    expect_goals(tally("cache capacity with single loads, " + disturbance.name),
                 {.right = is_noisy ? 0.2 : 0.5});
    expect_goals(tally("number of a level, " + disturbance.name));
    expect_goals(tally("cache latency, " + disturbance.name), {.right = is_noisy ? 0.3 : 0.6});
    expect_goals(tally("memory latency, " + disturbance.name), {.right = is_noisy ? 0.3 : 0.6});
  }
}

const Seeds drift_seeds(115);

// By more than a latency may be wrong, up and down, the walk alone.
TEST(LevelsTrial, MemoryLatencyUnderDrift) {
  constexpr unsigned machines = 200;
  Tally& answers = tally("memory latency, drift of 5 to 12 %");
  for (unsigned i = 0; i < machines; ++i) {
    Random random(drift_seeds(i));
    Machine machine = random_machine(random);
    machine.tlb_reach = 0;
    const double drift = between(random, 0.05, 0.12) * (happens(random, 0.5) ? -1 : 1);
    const double largest = 2048 * mib;
    if (largest >= 16 * machine.caches.back().bytes) {
      const Measured measured =
          measure([&](double bytes) { return latency_at(machine, bytes, random); },
                  {.noise = 0.01, .drift = drift}, 8, largest, random);
      answers.add({.value = machine.latency, .tolerance = latency_tolerance},
                  concluded(measured, 0).inference("memory latency"));
    }
  }
  expect_goals(answers);
}

// Machines of a kind, on some of which a reader was once wrong, or saw nothing.
struct Kind {
  std::string name{};
  Machine (*make)(Random&) = nullptr;
  std::vector<unsigned> per_octave = {8};
  double found = 0.5;  // the least share of the levels
};

// A TLB whose reach ends past the last cache, and whose misses cost as much as a level.
Machine with_a_tlb(Random& random) {
  Machine machine = random_machine(random);
  machine.tlb_reach = machine.caches.back().bytes * between_octaves(random, 1.5, 16);
  machine.tlb_cost = machine.latency * between(random, 0.15, 0.6);
  machine.is_tlb_sharp = happens(random, 0.7);
  return machine;
}

// A first cache of a few sets, or an L2 of a few colours of pages: each is full at another place.
Machine with_few_sets(Random& random) {
  Machine machine{.caches = {{.bytes = 16 * kib, .ways = 32, .sets = Sets::hashed},
                             {.bytes = 1024 * kib, .ways = 16, .sets = Sets::pages, .page = 4096}}};
  machine.caches[0].bytes *= one_of(random, std::vector<double>{1, 2, 4});
  machine.caches[0].ways *= one_of(random, std::vector<unsigned>{1, 1, 2});
  machine.caches[1].bytes *= one_of(random, std::vector<double>{1, 2, 4});
  machine.caches[1].page *= one_of(random, std::vector<double>{1, 4, 16});
  machine.caches[0].latency = between_octaves(random, 25, 150);
  machine.caches[1].latency = machine.caches[0].latency * between_octaves(random, 1.5, 4);
  machine.latency = machine.caches[1].latency * between_octaves(random, 1.5, 4);
  return machine;
}

// Two caches that are about as far, then one behind.
Machine with_small_steps(Random& random) {
  Machine machine = random_machine(random);
  machine.caches = {random_cache(random, 256 * kib, 200),
                    random_cache(random, 2 * mib, 200 * between(random, 1.1, 1.2))};
  machine.latency = between_octaves(random, 400, 800);
  machine.tlb_reach = 0;
  return machine;
}

// L0, L1, L2 and Infinity Cache, each a little farther than the one before.
Machine rdna(Random& random) {
  Machine machine;
  double latency = between_octaves(random, 60, 120);
  for (const double bytes : {16 * kib * one_of(random, std::vector<double>{1, 2}),
                             128 * kib * one_of(random, std::vector<double>{1, 2}),
                             mib * one_of(random, std::vector<double>{2, 4, 6}),
                             mib * one_of(random, std::vector<double>{32, 64, 96, 128})}) {
    machine.caches.push_back(random_cache(random, bytes, latency));
    latency *= between(random, 1.12, 1.2);
  }
  machine.latency = latency * between_octaves(random, 1, 2);
  return machine;
}

// L1, an L2 for each XCD, and an Infinity Cache across which a TLB's reach ends.
Machine mi300(Random& random) {
  Machine machine;
  double latency = between_octaves(random, 100, 140);
  for (const double bytes : {32 * kib, 4 * mib, 256 * mib}) {
    machine.caches.push_back(random_cache(random, bytes, latency));
    latency *= between_octaves(random, 1.5, 2.2);
  }
  machine.latency = latency;
  machine.tlb_reach = mib * one_of(random, std::vector<double>{32, 64, 128});
  machine.tlb_cost = machine.caches.back().latency * between(random, 0.1, 0.3);
  return machine;
}

const Seeds kind_seeds(110);
const Seeds kind_loads_seeds(111);

TEST(LevelsTrial, KindsOfMachines) {
  // A GPU may be of any kind: a number's confidence is held to all of them together.
  Tally& numbers = tally("number of a level, kinds of machines");
  unsigned index = 0;
  for (const Kind& kind : {
           Kind{.name = "a TLB behind", .make = with_a_tlb, .found = 0.4},
           Kind{.name = "few sets", .make = with_few_sets, .per_octave = {2, 4, 8}},
           Kind{.name = "small steps", .make = with_small_steps, .found = 0.7},
           Kind{.name = "RDNA", .make = rdna, .found = 0.75},
           Kind{.name = "MI300", .make = mi300, .found = 0.85},
       }) {
    constexpr unsigned machines = 60;
    for (unsigned i = 0; i < machines; ++i, ++index) {
      for (const Disturbance& disturbance : disturbances()) {
        Random random(kind_seeds(index));
        const Machine machine = kind.make(random);
        const auto per_octave = one_of(random, kind.per_octave);
        const double largest = 2048 * mib;
        const auto latency = [&](double bytes) { return latency_at(machine, bytes, random); };
        Measured measured = measure(latency, disturbance, per_octave, largest, random);
        const double l2_bytes = machine.caches.size() > 1 && happens(random, 0.8)
                                    ? machine.caches.at(machine.caches.size() > 3 ? 2 : 1).bytes
                                    : 0;
        std::vector<double> capacities;
        for (const Cache& cache : machine.caches) {
          capacities.push_back(cache.bytes);
        }
        const MadeResults walk = concluded(measured, l2_bytes);
        enter(tally("capacity, " + kind.name), walk.inferences(), "capacity", capacities,
              capacity_tolerance);
        enter_numbers(numbers, walk.inferences(), machine.caches);
        Random loads_random(kind_loads_seeds(index));
        Disturbance loads = disturbance;
        loads.outlier_share = happens(loads_random, 0.2) ? 1.0 / 7 : loads.outlier_share;
        // The mean of the same loads; draws of its own, so that the modes stay as they are.
        const auto all_footprints = footprints(kib, largest, per_octave);
        const Loads single = loads_of(machine, all_footprints, loads_random);
        Random mean_random = loads_random;
        measured.modes = mode_curves(all_footprints, single, loads, loads_random);
        measured.mean = mean_loads(all_footprints, single, loads, mean_random);
        MadeResults both = concluded(measured, l2_bytes);
        enter(tally("capacity with single loads, " + kind.name), both.inferences(), "capacity",
              capacities, capacity_tolerance);
        enter_numbers(numbers, both.inferences(), machine.caches);
      }
    }
    expect_goals(tally("capacity, " + kind.name), {.right = 0});
    expect_goals(tally("capacity with single loads, " + kind.name), {.right = kind.found});
  }
  expect_goals(numbers);
}

const Seeds twice_seeds(112);

// Every seventh load takes twice as long, by chance as long as one of the next level.
TEST(LevelsTrial, LoadsThatTakeTwiceAsLong) {
  Tally& answers = tally("capacity by hits, every seventh load doubled");
  constexpr unsigned machines = 200;
  for (unsigned i = 0; i < machines; ++i) {
    Random random(twice_seeds(i));
    Machine machine;
    double latency = between_octaves(random, 30, 150);
    std::vector<double> capacities;
    for (double bytes : {16 * kib * one_of(random, std::vector<double>{1, 2, 8}),
                         mib * one_of(random, std::vector<double>{2, 4, 8, 40})}) {
      machine.caches.push_back(random_cache(random, bytes, latency));
      latency *= between_octaves(random, 1.7, 2.6);
      capacities.push_back(bytes);
    }
    machine.latency = latency;
    const Disturbance disturbance = {
        .noise = 0.01, .outlier_share = between(random, 0.08, 0.16), .outlier_factor = 2};
    const auto all_footprints = footprints(kib, 2048 * mib, 8);
    const Loads single = loads_of(machine, all_footprints, random);
    MadeResults made =
        concluded({.modes = mode_curves(all_footprints, single, disturbance, random)}, 0);
    enter(answers, by_hits(made), "capacity", capacities, capacity_tolerance);
  }
  expect_goals(answers);
}

const Seeds no_level_seeds(2);
const Seeds nothing_loads_seeds(61);

TEST(LevelsTrial, NothingIsInvented) {
  constexpr unsigned curves = 500;
  for (unsigned i = 0; i < curves; ++i) {
    Random random(no_level_seeds(i));
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
    const auto all_footprints = footprints(kib, 2048 * mib, per_octave);
    Loads single;
    for (const double bytes : all_footprints) {
      single.push_back({{1, latency(bytes), deviation}});
    }
    Random mean_random = loads_random;
    measured.modes = mode_curves(all_footprints, single, disturbance, loads_random);
    measured.mean = mean_loads(all_footprints, single, disturbance, mean_random);
    MadeResults made = concluded(measured, 8 * mib);
    enter(tally("capacity by hits, of nothing"), by_hits(made), "capacity", {}, 0);
    enter(tally("cache capacity, of nothing"), made.inferences(), "capacity", {}, 0);
    enter(tally("memory latency, of nothing"), made.inferences(), "memory latency", {}, 0);
  }
  expect_goals(tally("cache capacity, of nothing"));
  expect_goals(tally("capacity by hits, of nothing"));
  expect_goals(tally("memory latency, of nothing"));
}

}  // namespace
}  // namespace hipscope::trial
