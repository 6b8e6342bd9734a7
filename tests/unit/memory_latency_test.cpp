// What memory_latency concludes from made curves.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "memory_latency_findings.h"

namespace hipscope {
namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;

// Eight footprints an octave from 1 KiB to 2 GiB.
std::vector<double> footprints() {
  std::vector<double> all;
  for (double octave = kib; octave < 2048 * mib; octave *= 2) {
    for (int i = 0; i < 8; ++i) {
      all.push_back(octave * (8 + i) / 8);
    }
  }
  return all;
}

// 16 KiB of level 1, `level_2` bytes of level 2, then memory.
MadeResults staircase(double level_2, double noise = 0) {
  DeviceDescription device = fake::describe();
  device.l2_bytes = static_cast<std::uint64_t>(level_2);
  MadeResults made("memory_latency", device);
  made.curve("footprint", "latency",
             made_curve(
                 footprints(),
                 [=](double bytes) {
                   return bytes <= 16 * kib ? 120.0 : bytes <= level_2 ? 300.0 : 700.0;
                 },
                 noise));
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

// Of an L2 of 8 MiB each half keeps copies of lines that are at home in the other.
MadeResults halves(std::uint64_t driver, double farthest_home) {
  DeviceDescription device = fake::describe();
  device.l2_bytes = driver;
  MadeResults made("memory_latency", device);
  made.curve("footprint", "latency", made_curve(footprints(), [](double bytes) {
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
    EXPECT_NEAR(*made.inference("cache level 2 latency").value, 280, 1);
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

TEST(MemoryLatencyTest, ACapacityHasAnInterval) {
  const MadeResults made = staircase(4 * mib, 0.001);
  const Inference capacity = made.inference("cache level 2 capacity");
  ASSERT_TRUE(capacity.interval);
  EXPECT_EQ(capacity.interval->low, 4 * mib);
  EXPECT_EQ(capacity.interval->high, 4.5 * mib);
}

TEST(MemoryLatencyTest, SlopesAndWalksHaveNoLevels) {
  for (const double power : {0.05, 0.2, 0.5, 1.0}) {
    MadeResults made("memory_latency");
    made.curve("footprint", "latency", made_curve(footprints(), [&](double bytes) {
                 return 100 * std::pow(bytes / kib, power);
               }));
    memory_latency::conclude(made.results());
    for (const Inference& inference : made.inferences()) {
      EXPECT_FALSE(inference.value) << power << " " << inference.name;
    }
  }
}

// A curve that rises from its first footprint on shows nothing of level 1: the first that it shows
// is level 2.
TEST(MemoryLatencyTest, ARiseFromTheFirstFootprintHidesLevel1) {
  MadeResults made("memory_latency");
  made.curve("footprint", "latency", made_curve(footprints(), [](double bytes) {
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
  made.curve("footprint", "latency", made_curve(footprints(), [](double bytes) {
               return bytes <= 16 * kib ? 120.0 : 700.0;
             }));
  made.curve("events", "difference", std::vector<CurvePoint>{{.x = 1, .y = -60}});
  memory_latency::conclude(made.results());
  EXPECT_FALSE(made.inference("cache level 1 latency").value.has_value());
  EXPECT_TRUE(made.inference("memory latency").name.empty());
}

TEST(MemoryLatencyTest, PagesThatTakeLongerTellTheReachOfATlb) {
  const auto pages = [](double reach) {
    std::vector<double> all;
    for (double x = 4; x <= 65536; x *= std::sqrt(std::sqrt(2.0))) {
      all.push_back(x);
    }
    return made_curve(all, [=](double x) { return x <= reach ? 1.0 : 1.5; });
  };
  MadeResults made("memory_latency");
  made.curve("tlb-2m", "paged over dense", pages(1024));
  memory_latency::conclude(made.results());
  EXPECT_NEAR(*made.inference("TLB level 1 reach").value / (1024.0 * 2 * mib), 1, 0.2);
  MadeResults flat("memory_latency");
  flat.curve("tlb-2m", "paged over dense", pages(1e9));
  memory_latency::conclude(flat.results());
  EXPECT_FALSE(flat.inference("TLB level 1 reach").value.has_value());
}

TEST(MemoryLatencyTest, TheSpreadOverLinesIsThatOfLoads) {
  MadeResults made("memory_latency");
  made.curve("lines", "latency", made_curve({1, 2, 3, 4}, [](double x) { return 200 + 10 * x; }));
  made.curve("lines", "atomic", made_curve({1, 2, 3, 4}, [](double x) { return 400 + 50 * x; }));
  memory_latency::conclude(made.results());
  EXPECT_EQ(made.inference("L2 latency spread over lines").value, 30);
}

TEST(MemoryLatencyTest, NothingIsConcludedFromNothing) {
  MadeResults made("memory_latency");
  memory_latency::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
