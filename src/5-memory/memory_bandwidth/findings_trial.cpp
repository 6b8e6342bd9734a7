// Bandwidth of level 1 and of L2 from bandwidth over footprint.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cache_simulator.h"
#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr double tolerance = 0.1;

// As the lesson spaces them, in quarter octaves.
std::vector<double> quarter_octaves(double first, double last) {
  std::vector<double> all;
  for (double x = first; x <= last * 1.001; x *= std::exp2(0.25)) {
    all.push_back(std::floor(x / (4 * kib)) * 4 * kib);
  }
  return all;
}

Cache cache_of(Random& random, double bytes, double bandwidth) {
  Cache cache{.bytes = bytes, .bandwidth = bandwidth};
  cache.ways = one_of(random, std::vector<unsigned>{4, 8, 16});
  cache.replacement = one_of(
      random,
      std::vector<Replacement>{Replacement::lru, Replacement::tree_plru, Replacement::random});
  cache.sets = one_of(random, std::vector<Sets>{Sets::in_turn, Sets::hashed});
  cache.laps = 4;
  return cache;
}

// Slower from footprint to footprint for its own reasons, as an H200's L2 is.
Curve curve_of(const Machine& machine, const std::vector<double>& xs, double lean, Random& random) {
  Curve curve;
  for (const double x : xs) {
    const double uneven = 1 - lean * between(random, 0, 1);
    curve.push_back({.x = x, .y = bandwidth_at(machine, x) * uneven});
  }
  return curve;
}

Disturbance of_rates(Disturbance disturbance) {
  disturbance.outlier_factor = 0.5;
  disturbance.drift = -disturbance.drift;
  return disturbance;
}

const Seeds cache_seeds(3);

TEST(BandwidthTrial, OfCaches) {
  constexpr unsigned machines = 300;
  for (unsigned i = 0; i < machines; ++i) {
    for (const Disturbance& disturbance : disturbances()) {
      Random random(cache_seeds(i));
      const double l1 = kib * one_of(random, std::vector<double>{16, 16, 32, 64, 128, 192, 256});
      const double l2 = mib * one_of(random, std::vector<double>{2, 4, 6, 8, 40, 50, 96});
      const double fast = between_octaves(random, 2000, 40000);
      const double middle = fast / between_octaves(random, 1.8, 6);
      const double slow = middle / between_octaves(random, 1.8, 5);
      const Machine through_l1 = {.caches = {cache_of(random, l1, fast)}, .bandwidth = middle};
      const Machine past_l1 = {.caches = {cache_of(random, l2, middle)}, .bandwidth = slow};
      DeviceDescription device = fake::describe();
      device.l2_bytes = static_cast<std::uint64_t>(l2);
      MadeResults made("memory_bandwidth", device);
      made.curve("footprint-l1", "bandwidth",
                 disturbed(curve_of(through_l1, quarter_octaves(4 * kib, mib), 0, random),
                           of_rates(disturbance), random));
      made.curve("footprint-read", "bandwidth",
                 disturbed(curve_of(past_l1, quarter_octaves(512 * kib, 4096 * mib),
                                    between(random, 0, 0.1), random),
                           of_rates(disturbance), random));
      // Some GPUs read a few MiB faster in another way than over footprints.
      if (happens(random, 0.5)) {
        Curve ways;
        for (unsigned way = 1; way <= 15; ++way) {
          ways.push_back(
              {.x = double(way), .y = middle * (way % 4 == 0 ? 1 : between(random, 0.5, 1))});
        }
        made.curve("l2", "bandwidth", disturbed(ways, of_rates(disturbance), random));
      }
      memory_bandwidth::conclude(made.results());
      tally("level 1 bandwidth, " + disturbance.name)
          .add({.value = fast, .tolerance = tolerance},
               made.inference("cache level 1 read bandwidth"));
      tally("L2 bandwidth, " + disturbance.name)
          .add({.value = middle, .tolerance = tolerance},
               made.inference("cache level 2 read bandwidth"));
    }
  }
  for (const Disturbance& disturbance : disturbances()) {
    expect_goals(tally("level 1 bandwidth, " + disturbance.name));
    expect_goals(tally("L2 bandwidth, " + disturbance.name));
  }
}

const Seeds nothing_seeds(4);

TEST(BandwidthTrial, NothingIsInvented) {
  constexpr unsigned curves = 500;
  for (unsigned i = 0; i < curves; ++i) {
    Random random(nothing_seeds(i));
    DeviceDescription device = fake::describe();
    device.l2_bytes = static_cast<std::uint64_t>(8 * mib);
    MadeResults made("memory_bandwidth", device);
    const Disturbance disturbance = of_rates(one_of(random, disturbances()));
    for (const auto& [sweep, xs] :
         {std::pair{"footprint-l1", quarter_octaves(4 * kib, mib)},
          std::pair{"footprint-read", quarter_octaves(512 * kib, 4096 * mib)}}) {
      made.curve(sweep, "bandwidth",
                 disturbed(non_structure(xs, 5000, true, random).curve, disturbance, random));
    }
    memory_bandwidth::conclude(made.results());
    tally("level 1 bandwidth, of nothing").add({}, made.inference("cache level 1 read bandwidth"));
    tally("L2 bandwidth, of nothing").add({}, made.inference("cache level 2 read bandwidth"));
  }
  expect_goals(tally("level 1 bandwidth, of nothing"));
  expect_goals(tally("L2 bandwidth, of nothing"));
}

}  // namespace
}  // namespace hipscope::trial
