// What memory_bandwidth concludes from made curves: what its trial does not ask.
#include "findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double mebibyte = 1024.0 * 1024;

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

// Of an L2 of 60 MiB, with one slow launch.
Inference written(double beyond, double noise, double l2_bytes = 60 * mebibyte) {
  auto curve = made_curve(
      footprints(mebibyte / 4, 2048 * mebibyte, 2),
      [=](double bytes) { return bytes < 60 * mebibyte ? 4776 : beyond; }, noise);
  curve[10].y /= 5;
  MadeResults made("memory_bandwidth", fake::describe_with(&DeviceDescription::l2_bytes, l2_bytes));
  made.curve("footprint-write", "bandwidth", curve);
  memory_bandwidth::conclude(made.results());
  return made.inference("cache level 2 write bandwidth");
}

TEST(MemoryBandwidthTest, WritesWithinL2) {
  const Inference faster = written(2000, 0.05);
  EXPECT_NEAR(*faster.value, 4776, 240);
  EXPECT_GT(faster.confidence, 0.7);
  // As on an H200: what limits both may lie before L2.
  const Inference alike = written(4440, 0);
  EXPECT_EQ(alike.value, 4776);
  EXPECT_LE(alike.confidence, 0.5);
  EXPECT_TRUE(written(2000, 0, 0).name.empty());  // the driver tells no L2
}

TEST(MemoryBandwidthTest, AnotherWayToReadL2MayBeFaster) {
  MadeResults made("memory_bandwidth",
                   fake::describe_with(&DeviceDescription::l2_bytes, 60 * mebibyte));
  made.curve("footprint-read", "bandwidth",
             made_curve(footprints(mebibyte / 2, 4096 * mebibyte),
                        [](double bytes) { return bytes <= 60 * mebibyte ? 10000.0 : 4400.0; }));
  // Rows past the 15th share answers.
  made.curve("l2", "bandwidth",
             std::vector<CurvePoint>{{1, 9000}, {2, 10634}, {3, 10522}, {16, 14748}});
  memory_bandwidth::conclude(made.results());
  EXPECT_EQ(made.inference("cache level 2 read bandwidth").value, 10522);
}

TEST(MemoryBandwidthTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("memory_bandwidth", memory_bandwidth::conclude);
}

}  // namespace
}  // namespace hipscope
