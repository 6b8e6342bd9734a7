// What lds_phases concludes of simulated LDS, those of MI300 and MI350 among them.
#include "findings.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "made_results.h"
#include "normal_noise.h"

namespace hipscope {
namespace {

using Phases = std::vector<unsigned>;

// The phase of each lane, as `phase_of` says it.
Phases phases(unsigned lanes, const std::function<unsigned(unsigned lane)>& phase_of) {
  Phases made;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    made.push_back(phase_of(lane));
  }
  return made;
}

// How ds_read_b128 is served, by triton-lang/triton, pull request 11365: on MI300 lanes 0-3 with
// 20-23, 4-7 with 16-19 and so on, on MI350 two such pairs together. Each phase by its first lane.
const Phases mi300 =
    phases(64, [](unsigned lane) { return lane / 32 * 32 + (lane / 4 % 4 ^ lane / 16 % 2) * 4; });
const Phases mi350 = phases(64, [](unsigned lane) {
  const unsigned four = lane / 4 % 8;
  return lane / 32 * 32 + (four % 2 ^ four / 2 % 2 ^ four / 4) * 4;
});
// Of 8 bytes each of MI350's two phases takes half of the lanes (pull request 9662 there).
const Phases halves = phases(64, [](unsigned lane) { return lane / 32 * 32; });
const Phases neighbours = phases(32, [](unsigned lane) { return lane / 8 * 8; });

// What is said of accesses of `sweep` by an LDS that serves them in these phases. `cost` says what
// a conflict of two lanes takes, if not a cycle for those of one phase.
using ConflictCost = std::function<double(unsigned one, unsigned other)>;
Inference phases_told(const Phases& phases, double noise, const ConflictCost& cost,
                      std::size_t access = 2) {
  const auto& [sweep, title] = lds_phases::access_names[access];
  const auto lanes = static_cast<unsigned>(phases.size());
  MadeResults made("lds_phases", fake::describe_with(&DeviceDescription::wave_size, lanes));
  std::mt19937 random(1);
  NormalNoise error(1, noise);
  const auto passes = static_cast<double>(std::set(phases.begin(), phases.end()).size());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::vector<double> cycles;
    for (unsigned other = 0; other < lanes; ++other) {
      const double more = other == lane ? 0
                          : cost        ? cost(lane, other)
                                        : phases[lane] == phases[other];
      cycles.push_back((passes + more) * error(random));
    }
    for (const auto& [name, value, unit] : lds_phases::phase_of(lane, cycles)) {
      made.curve(sweep, name, std::vector<CurvePoint>{{1.0 * lane, value}});
    }
  }
  lds_phases::conclude(made.results());
  return made.inference(std::string("phases of ") + title);
}

TEST(LdsPhasesTest, PhasesAreFoundAsTritonTellsThem) {
  struct Case {
    Phases phases;
    double count;
    std::string lanes;
    std::size_t access = 2;
  };
  for (const Case& each :
       {Case{mi300, 8,
             "0-3, 20-23 | 4-7, 16-19 | 8-11, 28-31 | 12-15, 24-27 | 32-35, 52-55 | 36-39, 48-51 "
             "| 40-43, 60-63 | 44-47, 56-59"},
        Case{mi350, 4,
             "0-3, 12-15, 20-27 | 4-11, 16-19, 28-31 | 32-35, 44-47, 52-59 | 36-43, 48-51, 60-63"},
        Case{halves, 2, "0-31 | 32-63", 8}, Case{neighbours, 4, "0-7 | 8-15 | 16-23 | 24-31"},
        Case{Phases(32, 0), 1, "0-31"}}) {
    const Inference found = phases_told(each.phases, 0.005, {}, each.access);
    EXPECT_EQ(found.value, each.count);
    EXPECT_EQ(found.statement, "lanes that are served together: " + each.lanes);
    EXPECT_GT(found.confidence, 0.6);
  }
}

TEST(LdsPhasesTest, WhatIsNoGroupingIsNone) {
  const auto found = [](double noise, const ConflictCost& cost) {
    return phases_told(neighbours, noise, cost).value;
  };
  EXPECT_EQ(found(0, {}), 4);
  EXPECT_FALSE(found(0, [](unsigned, unsigned) { return 0; }));
  EXPECT_FALSE(found(0.1, {}));
  // No pass more, but a little.
  EXPECT_FALSE(
      found(0, [](unsigned one, unsigned other) { return one / 8 == other / 8 ? 0.1 : 0; }));
  // Each lane with its neighbours, but these not with each other.
  EXPECT_FALSE(
      found(0, [](unsigned one, unsigned other) { return one + 1 == other || other + 1 == one; }));
}

// One pair of lanes costs less than the others, so that it is less clear who is in the phase.
TEST(LdsPhasesTest, TheLeastClearLaneTellsTheConfidence) {
  const Inference found = phases_told(neighbours, 0, [](unsigned one, unsigned other) {
    return one / 8 != other / 8 ? 0 : one == 8 && other == 9 ? 0.6 : 1;
  });
  EXPECT_NEAR(found.confidence, 0.6, 1e-9);
}

}  // namespace
}  // namespace hipscope
