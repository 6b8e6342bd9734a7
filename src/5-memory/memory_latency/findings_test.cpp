// What memory_latency concludes from made curves: what its trials do not ask.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "hipscope/inference.h"
#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;

// Eight footprints an octave.
const std::vector<double> sizes = footprints(kib, 1920 * mib);

// 16 KiB of level 1, `level_2` bytes of level 2, then memory.
MadeResults staircase_curve(double level_2, double noise = 0) {
  MadeResults made("memory_latency", fake::describe_with(&DeviceDescription::l2_bytes, level_2));
  made.curve("footprint", "latency",
             made_curve(
                 sizes,
                 [=](double bytes) {
                   return bytes <= 16 * kib ? 120.0 : bytes <= level_2 ? 300.0 : 700.0;
                 },
                 noise));
  return made;
}

MadeResults staircase(double level_2, double noise = 0) {
  MadeResults made = staircase_curve(level_2, noise);
  memory_latency::conclude(made.results());
  return made;
}

TEST(MemoryLatencyTest, EachLevelHasItsCapacityAndLatency) {
  const MadeResults made = staircase(4 * mib, 0.001);
  EXPECT_EQ(made.inference("cache level 1 capacity").value, 16 * kib);
  EXPECT_EQ(made.inference("cache level 2 capacity").value, 4 * mib);
  EXPECT_EQ(made.inference("cache level 2 capacity").driver, 4 * mib);
  EXPECT_NEAR(*made.inference("cache level 1 latency").value, 120, 1);
  EXPECT_NEAR(*made.inference("cache level 2 latency").value, 300, 1);
  EXPECT_NEAR(*made.inference("memory latency").value, 700, 1);
}

// Fetches of texels as memory_latency has them: from a first cache, then L2.
MadeResults with_texels(double cache, double latency) {
  MadeResults made = staircase_curve(4 * mib);
  std::vector<double> bytes = sizes;
  std::erase_if(bytes, [](double x) { return x > mib; });
  made.curve("texture", "latency",
             made_curve(bytes, [=](double x) { return x <= cache ? latency : 350.0; }));
  memory_latency::conclude(made.results());
  return made;
}

TEST(MemoryLatencyTest, OtherKindsOfLoadHaveCachesOfTheirOwn) {
  const MadeResults made = with_texels(16 * kib, 180);
  EXPECT_EQ(made.inference("texture cache level 1 capacity").value, 16 * kib);
  EXPECT_NEAR(*made.inference("texture cache level 1 latency").value, 180, 1e-6);
  EXPECT_TRUE(made.inference("read-only cache level 1 latency").name.empty());
}

TEST(MemoryLatencyTest, APathWithoutAnEndHasNoCapacity) {
  const MadeResults made = with_texels(1e9, 180);
  EXPECT_TRUE(made.inference("texture cache level 1 capacity").name.empty());
}

// Of an L2 of 8 MiB each half keeps copies of lines that are at home in the other.
MadeResults halves(std::uint64_t driver, double farthest_home) {
  MadeResults made("memory_latency", fake::describe_with(&DeviceDescription::l2_bytes, driver));
  made.curve("footprint", "latency", made_curve(sizes, [](double bytes) {
               return bytes <= 16 * kib  ? 30.0
                      : bytes <= 4 * mib ? 280.0
                      : bytes <= 8 * mib ? 510.0
                                         : 660.0;
             }));
  made.curve("lines", "atomic", made_curve(multiples(1, 32), [=](double line) {
               return line <= 16 ? 280.0 : farthest_home;
             }));
  memory_latency::conclude(made.results());
  return made;
}

TEST(MemoryLatencyTest, HalvesOfOneCacheAreOneLevel) {
  for (const auto& [driver, farthest] :
       {std::pair{8 * mib, 510.0}, {4 * mib, 510.0}, {8 * mib, 280.0}}) {
    const MadeResults made = halves(static_cast<std::uint64_t>(driver), farthest);
    EXPECT_EQ(made.inference("cache level 2 capacity").value, 8 * mib);
    EXPECT_EQ(made.inference("near half of cache level 2 capacity").value, 4 * mib);
    EXPECT_NEAR(*made.inference("near half of cache level 2 latency").value, 280, 1);
    EXPECT_NEAR(*made.inference("far half of cache level 2 latency").value, 510, 1);
    EXPECT_TRUE(made.inference("cache level 3 capacity").name.empty());
  }
}

// Where all lines are at home near by, and the driver's L2 is the smaller one.
TEST(MemoryLatencyTest, ACacheBehindIsALevelOfItsOwn) {
  const MadeResults made = halves(static_cast<std::uint64_t>(4 * mib), 280.0);
  EXPECT_EQ(made.inference("cache level 2 capacity").value, 4 * mib);
  EXPECT_EQ(made.inference("cache level 3 capacity").value, 8 * mib);
  EXPECT_TRUE(made.inference("far half of cache level 2 latency").name.empty());
}

// A device has 64 KiB of constant memory: what the curve ends on holds that much, and maybe more.
TEST(MemoryLatencyTest, TheLastLevelOfConstantsHoldsAtLeastAllThereIs) {
  const auto concluded = [](double level_1) {
    std::vector<double> all = sizes;
    std::erase_if(all, [](double bytes) { return bytes > 64 * kib; });
    MadeResults made("memory_latency");
    made.curve("constant", "latency",
               made_curve(all, [=](double bytes) { return bytes <= level_1 ? 28.0 : 98.0; }));
    memory_latency::conclude(made.results());
    return made;
  };
  const Inference found = concluded(4 * kib).inference("constant cache level 2 capacity, at least");
  EXPECT_EQ(found.value, 64 * kib);
  EXPECT_GT(found.confidence, 0.9);
  const MadeResults one = concluded(64 * kib);
  EXPECT_EQ(one.inference("constant cache level 1 latency").value, 28);
  for (const Inference& inference : one.inferences()) {
    EXPECT_EQ(inference.name.find("at least"), std::string::npos) << inference.name;
  }
}

// A curve that rises from its first footprint on shows nothing of level 1: the first that it shows
// is level 2.
TEST(MemoryLatencyTest, ARiseFromTheFirstFootprintHidesLevel1) {
  MadeResults made("memory_latency");
  made.curve("footprint", "latency", made_curve(sizes, [](double bytes) {
               return bytes < 16 * kib   ? 100 + 200 * std::log2(bytes / kib) / 4
                      : bytes <= 4 * mib ? 300.0
                                         : 700.0;
             }));
  memory_latency::conclude(made.results());
  EXPECT_FALSE(made.inference("cache level 1 capacity").value);
  EXPECT_EQ(made.inference("cache level 2 capacity").value, 4 * mib);
}

TEST(MemoryLatencyTest, WhatIsFlatUpToTheEndMayBeACache) {
  const MadeResults made = staircase(1024 * mib);
  EXPECT_FALSE(made.inference("memory latency").value.has_value());
}

TEST(MemoryLatencyTest, ACounterThatDiffersFromEventsTellsNothing) {
  MadeResults made("memory_latency");
  made.curve("footprint", "latency",
             made_curve(sizes, [](double bytes) { return bytes <= 16 * kib ? 120.0 : 700.0; }));
  made.curve("events", "difference", std::vector<CurvePoint>{{.x = 1, .y = -60}});
  memory_latency::conclude(made.results());
  EXPECT_FALSE(made.inference("cache level 1 latency").value.has_value());
  EXPECT_TRUE(made.inference("memory latency").name.empty());
}

// --- Single loads -------------------------------------------------------------------------------

// In percent: what `capacity` bytes of a footprint are.
std::vector<CurvePoint> shares_of(double capacity, double smaller = 0) {
  return made_curve(sizes, [=](double bytes) {
    return 100 * (std::min(1.0, capacity / bytes) - std::min(1.0, smaller / bytes));
  });
}

// 16 KiB of level 1 and 4 MiB of level 2 by a walk, and so much by single loads.
MadeResults with_single_loads(double level_1, double level_2) {
  MadeResults made = staircase_curve(4 * mib);
  made.curve("load-times", "mode 1", shares_of(level_1));
  made.curve("load-times", "mode 2", shares_of(level_2, level_1));
  made.curve("load-times", "mode 3", shares_of(1e18, level_2));
  memory_latency::conclude(made.results());
  return made;
}

TEST(MemoryLatencyTest, TwoWaysThatAgreeAreSurerThanOne) {
  const Inference alone = staircase(4 * mib).inference("cache level 2 capacity");
  const Inference both = with_single_loads(16 * kib, 4.1 * mib).inference("cache level 2 capacity");
  EXPECT_NEAR(*both.value, 4.1 * mib, 0.05 * mib);
  EXPECT_GT(both.confidence, alone.confidence);
  ASSERT_TRUE(both.interval);
  EXPECT_LE(both.interval->low, 4 * mib);
  EXPECT_GE(both.interval->high, 4.1 * mib);
}

TEST(MemoryLatencyTest, TwoWaysThatPartAreUnsure) {
  const Inference parted = with_single_loads(16 * kib, 6 * mib).inference("cache level 2 capacity");
  EXPECT_NEAR(*parted.value, 6 * mib, 0.1 * mib);
  EXPECT_LE(parted.confidence, 0.5);
  const Inference other = with_single_loads(16 * kib, 6 * mib).inference("cache level 1 capacity");
  EXPECT_GT(other.confidence, 0.9);
}

// A walk shows no step at 256 KiB, the mean of single loads does.
TEST(MemoryLatencyTest, WhatOnlySingleLoadsShowHasItsNumberAndIsUnsure) {
  MadeResults made = staircase_curve(4 * mib, 0.001);
  made.curve("load-times", "mean latency", made_curve(sizes, [](double bytes) {
               return 150 + 60 * std::max(0.0, 1 - 16 * kib / bytes) +
                      60 * std::max(0.0, 1 - 256 * kib / bytes) +
                      300 * std::max(0.0, 1 - 4 * mib / bytes);
             }));
  memory_latency::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 1 capacity").value, 16 * kib);
  const Inference middle = made.inference("cache level 2 capacity");
  ASSERT_TRUE(middle.value);
  EXPECT_NEAR(*middle.value, 256 * kib, 32 * kib);
  EXPECT_LE(middle.confidence, 0.5);
  EXPECT_EQ(made.inference("cache level 3 capacity").value, 4 * mib);
  EXPECT_FALSE(made.inference("cache level 2 latency").value);
}

TEST(LatencyModesTest, ModesAreWhereManyLoadsFall) {
  std::vector<memory_latency::LatencyHistogram> all(20);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (int load = 0; load < 1000; ++load) {
      const bool hits = i < 10 || load % 2 == 0;
      all[i].add(load == 7 ? 5000 : hits ? 30 + load % 3 : 280 + load % 40);
    }
  }
  const auto modes = memory_latency::find_latency_modes(all);
  ASSERT_EQ(modes.size(), 2U);  // what one load in a thousand takes is none
  EXPECT_EQ(modes[0].begin, 0U);
  EXPECT_GT(modes[0].end, memory_latency::LatencyHistogram::bin_of(33));
  EXPECT_LT(modes[0].end, memory_latency::LatencyHistogram::bin_of(270));
  EXPECT_EQ(modes[1].end, memory_latency::LatencyHistogram::bins);
  EXPECT_NEAR(all[15].share(modes[0].begin, modes[0].end), 0.5, 0.01);
}

TEST(LatencyModesTest, ARampIsOneMode) {
  std::vector<memory_latency::LatencyHistogram> all(60);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (int load = 0; load < 100; ++load) {
      all[i].add((100 + 10 * static_cast<double>(i)) * (1 + load / 400.0));
    }
  }
  EXPECT_EQ(memory_latency::find_latency_modes(all).size(), 1U);
  EXPECT_TRUE(memory_latency::find_latency_modes({}).empty());
}

TEST(MemoryLatencyTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("memory_latency", memory_latency::conclude);
}

}  // namespace
}  // namespace hipscope
