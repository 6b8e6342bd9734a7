// What memory_bandwidth concludes from made curves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "memory_bandwidth_findings.h"

namespace hipscope {
namespace {

constexpr double mib = 1024.0 * 1024;

std::vector<double> halves(double first, double last) {
  std::vector<double> all;
  for (double x = first; x <= last; x *= std::sqrt(2.0)) {
    all.push_back(x);
  }
  return all;
}

TEST(MemoryBandwidthTest, ThePeakIsTwoTransfersPerClock) {
  DeviceDescription device;
  EXPECT_TRUE(std::isnan(memory_bandwidth::peak(device)));
  device.memory_mhz = 1000;
  device.memory_bus_bits = 4096;
  EXPECT_EQ(memory_bandwidth::peak(device), 1024);
}

TEST(MemoryBandwidthTest, FunctionsAreNamedByTheirRows) {
  MadeResults made("memory_bandwidth");
  made.curve("stream", "bandwidth",
             std::vector<CurvePoint>{
                 {.x = static_cast<double>(memory_bandwidth::Function::read), .y = 900},
                 {.x = static_cast<double>(memory_bandwidth::Function::scale), .y = 700},
                 {.x = static_cast<double>(memory_bandwidth::Function::triad), .y = 800}});
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("memory read bandwidth").value, 900);
  EXPECT_EQ(made.inference("memory triad bandwidth").value, 800);
  EXPECT_EQ(made.inferences().size(), 2U);
}

TEST(MemoryBandwidthTest, TheLastLevelThatEndsIsL2) {
  DeviceDescription device = fake::describe();
  device.l2_bytes = static_cast<std::uint64_t>(8 * mib);
  MadeResults made("memory_bandwidth", device);
  made.curve("footprint-read", "bandwidth",
             made_curve(halves(mib / 4, 512 * mib),
                        [](double bytes) { return bytes <= 8 * mib ? 3000.0 : 1000.0; }));
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 2 read bandwidth").value, 3000);
  MadeResults flat("memory_bandwidth", device);
  flat.curve("footprint-read", "bandwidth",
             made_curve(halves(mib / 4, 512 * mib), [](double) { return 1000.0; }));
  memory_bandwidth::conclude(flat.results());
  EXPECT_FALSE(flat.inference("cache level 2 read bandwidth").value.has_value());
}

TEST(MemoryBandwidthTest, BytesInFlightThatAreEnough) {
  const auto threads = doubling(64, 4096);
  MadeResults made("memory_bandwidth");
  made.curve("occupancy-1", "in flight per CU",
             made_curve(threads, [](double x) { return 16 * x; }));
  made.curve("occupancy-1", "bandwidth",
             made_curve(threads, [](double x) { return std::min(1000.0, x); }));
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("bytes in flight per CU for 95 % of the read bandwidth").value,
            16 * 1024);
}

TEST(MemoryBandwidthTest, NothingIsConcludedFromNothing) {
  MadeResults made("memory_bandwidth");
  memory_bandwidth::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
