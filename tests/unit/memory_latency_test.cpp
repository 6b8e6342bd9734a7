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
