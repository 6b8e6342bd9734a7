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

constexpr double bandwidth_tolerance = 0.1;

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
      DeviceDescription device = fake::describe_with(&DeviceDescription::l2_bytes, l2);
      constexpr double of_l2 = 0.4;  // all that the CUs' first caches hold together, at most
      device.compute_units = static_cast<int>(std::clamp(of_l2 * l2 / l1, 1.0, 60.0));
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
          .add({.value = fast, .tolerance = bandwidth_tolerance},
               made.inference("cache level 1 read bandwidth"));
      tally("L2 bandwidth, " + disturbance.name)
          .add({.value = middle, .tolerance = bandwidth_tolerance},
               made.inference("cache level 2 read bandwidth"));
    }
  }
  for (const Disturbance& disturbance : disturbances()) {
    expect_goals(tally("level 1 bandwidth, " + disturbance.name));
    expect_goals(tally("L2 bandwidth, " + disturbance.name));
  }
}

const Seeds further_seeds(113);

// Each CU's part of L2 ends in the sweep of level 1, too; past what the driver calls L2, which may
// be one of several, there may be a further cache.
TEST(BandwidthTrial, OfFurtherCaches) {
  constexpr unsigned machines = 100;
  for (unsigned i = 0; i < machines; ++i) {
    for (const Disturbance& disturbance : disturbances()) {
      Random random(further_seeds(i));
      const double l1 = kib * one_of(random, std::vector<double>{16, 32, 64, 128});
      const double l2 = mib * one_of(random, std::vector<double>{4, 6, 8, 40});
      const double per_cu = std::max(l2 / 304, l1 * between_octaves(random, 2, 8));
      const double parts = one_of(random, std::vector<double>{1, 1, 4, 8});
      const double fast = between_octaves(random, 4000, 40000);
      const double middle = fast / between_octaves(random, 1.4, 4);
      const double behind = middle / between_octaves(random, 1.4, 3);
      const double slow = behind / between_octaves(random, 1.4, 3);
      const bool is_behind = happens(random, 0.6);
      DeviceDescription device = fake::describe();
      device.l2_bytes = static_cast<std::uint64_t>(l2 / parts);
      device.compute_units = static_cast<int>(l2 / per_cu);
      const Machine of_a_cu = {.caches = {cache_of(random, l1, fast),
                                          cache_of(random, l2 / device.compute_units, middle)},
                               .bandwidth = behind};
      Machine all = {.caches = {cache_of(random, l2, middle)}, .bandwidth = slow};
      if (is_behind) {
        all.caches.push_back(cache_of(
            random, l2 * between_octaves(random, 4, std::min(32.0, 512 * mib / l2)), behind));
      }
      MadeResults made("memory_bandwidth", device);
      made.curve("footprint-l1", "bandwidth",
                 disturbed(curve_of(of_a_cu, quarter_octaves(4 * kib, mib), 0, random),
                           of_rates(disturbance), random));
      made.curve("footprint-read", "bandwidth",
                 disturbed(curve_of(all, quarter_octaves(512 * kib, 4096 * mib), 0, random),
                           of_rates(disturbance), random));
      memory_bandwidth::conclude(made.results());
      tally("level 1 bandwidth, L2 in sight")
          .add({.value = fast, .tolerance = bandwidth_tolerance},
               made.inference("cache level 1 read bandwidth"));
      const Inference answer = made.inference("bandwidth of a cache past L2");
      tally("bandwidth behind L2")
          .add(is_behind      ? Truth{.value = behind, .tolerance = bandwidth_tolerance}
               : answer.value ? Truth{.value = 1e-9}
                              : Truth{},
               answer);
    }
  }
  expect_goals(tally("level 1 bandwidth, L2 in sight"), {.right = 0.3});
  expect_goals(tally("bandwidth behind L2"), {.right = 0.3});
}

const Seeds flight_seeds(114);

// s / (1 + s^k)^(1/k): the larger k is, the sharper is the knee.
TEST(BandwidthTrial, BytesInFlight) {
  Tally& answers = tally("bytes in flight");
  for (unsigned i = 0; i < 500; ++i) {
    Random random(flight_seeds(i));
    Disturbance disturbance = one_of(random, disturbances());
    disturbance.drift = 0;
    const double knee = between_octaves(random, 4 * kib, 32 * kib);
    const double sharpness = one_of(random, std::vector<double>{2, 4, 8, 50});
    const auto share = [&](double bytes) {
      const double s = bytes / knee;
      return s / std::pow(1 + std::pow(s, sharpness), 1 / sharpness);
    };
    MadeResults made("memory_bandwidth");
    double enough = 1e18;
    for (const double loads : {1, 2, 4, 8}) {
      Curve in_flight;
      Curve bandwidth;
      for (const double threads : {64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}) {
        const double bytes = 16 * threads * loads;
        in_flight.push_back({.x = threads, .y = bytes});
        bandwidth.push_back({.x = threads, .y = 1000 * share(bytes)});
        enough = share(bytes) >= 0.95 ? std::min(enough, bytes) : enough;
      }
      const std::string sweep = "occupancy-" + std::to_string(static_cast<int>(loads));
      made.curve(sweep, "in flight per CU", in_flight);
      made.curve(sweep, "bandwidth", disturbed(bandwidth, of_rates(disturbance), random));
    }
    memory_bandwidth::conclude(made.results());
    answers.add({.value = enough, .tolerance = 0.01},
                made.inference("bytes in flight per CU for 95 % of the read bandwidth"));
  }
  expect_goals(answers);
}

const Seeds no_bandwidth_level_seeds(4);

TEST(BandwidthTrial, NothingIsInvented) {
  constexpr unsigned curves = 500;
  for (unsigned i = 0; i < curves; ++i) {
    Random random(no_bandwidth_level_seeds(i));
    MadeResults made("memory_bandwidth",
                     fake::describe_with(&DeviceDescription::l2_bytes, 8 * mib));
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
