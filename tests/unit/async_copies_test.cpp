// What async_copies concludes from made curves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "async_copies_findings.h"
#include "fake_device.h"
#include "made_results.h"

namespace hipscope {
namespace {

using async_copies::value_name;

const std::string size_name = "bytes from which a copy past the registers is faster, L2";
const std::string gain_name = "rate to LDS past the registers over through them, memory";
const std::string in_flight_name = "bytes in flight per CU to LDS, memory";

TEST(AsyncCopiesTest, TheFirstWayIsNotNamed) {
  EXPECT_EQ(value_name("load and store 16", "latency"), "latency");
  EXPECT_EQ(value_name("bulk", "latency"), "bulk latency");
}

// --- One copy at a time
// ---------------------------------------------------------------------------

MadeResults latencies(const std::vector<CurvePoint>& loaded, const std::vector<CurvePoint>& bulk,
                      const std::vector<CurvePoint>& lanes) {
  MadeResults made("async_copies");
  made.curve("latency-l2", "latency", loaded)
      .curve("latency-l2", "bulk latency", bulk)
      .curve("latency-l2", "cp.async 16 latency", lanes);
  async_copies::conclude(made.results());
  return made;
}

TEST(AsyncCopiesTest, TheSizeIsTheFirstFromWhichAllAreFaster) {
  const MadeResults made = latencies(
      {{.x = 64, .y = 400}, {.x = 256, .y = 400}, {.x = 1024, .y = 500}, {.x = 4096, .y = 900}},
      {{.x = 64, .y = 700}, {.x = 256, .y = 700}, {.x = 1024, .y = 710}, {.x = 4096, .y = 750}},
      {{.x = 64, .y = 300}, {.x = 256, .y = 410}, {.x = 1024, .y = 400}, {.x = 4096, .y = 800}});
  const Inference size = made.inference(size_name);
  EXPECT_EQ(size.value, 1024);  // at 64, too, but not at 256
  ASSERT_TRUE(size.interval.has_value());
  EXPECT_EQ(size.interval->low, 256);
  EXPECT_NEAR(size.confidence, 1 - 0.03 / (900.0 / 750 - 1), 1e-9);
  ASSERT_EQ(size.evidence.size(), 4U);
  EXPECT_EQ(size.evidence[2], "1024 bytes: cp.async 16 400, load and store 16 500 cycles");
  EXPECT_EQ(size.evidence[3], "4096 bytes: bulk 750, load and store 16 900 cycles");
  EXPECT_EQ(made.inferences().size(), 1U);
}

TEST(AsyncCopiesTest, WhatIsFasterOnlyInBetweenIsNoSize) {
  const MadeResults made = latencies({{.x = 64, .y = 400}, {.x = 256, .y = 400}},
                                     {{.x = 64, .y = 300}, {.x = 256, .y = 399}},
                                     {{.x = 64, .y = 300}, {.x = 256, .y = 500}});
  EXPECT_FALSE(made.inference(size_name).value.has_value());
  EXPECT_FALSE(made.inference(size_name).interval.has_value());
  EXPECT_EQ(made.inference(size_name).confidence, 0);
}

TEST(AsyncCopiesTest, TheLargestSizeAloneIsNone) {
  const MadeResults made =
      latencies({{.x = 64, .y = 400}, {.x = 256, .y = 400}, {.x = 1024, .y = 900}},
                {{.x = 64, .y = 500}, {.x = 256, .y = 500}, {.x = 1024, .y = 600}},
                {{.x = 64, .y = 500}, {.x = 256, .y = 500}, {.x = 1024, .y = 600}});
  EXPECT_FALSE(made.inference(size_name).value.has_value());
}

// --- Many copies
// ----------------------------------------------------------------------------------

// A rate that rises with what is in flight up to `highest` of 32 KiB.
std::vector<CurvePoint> rising(double highest) {
  std::vector<CurvePoint> points;
  for (double x = 4096; x <= 131072; x *= 2) {
    points.push_back({.x = x, .y = std::min(highest, highest * x / 32768)});
  }
  return points;
}

TEST(AsyncCopiesTest, TheBytesInFlightAreThoseOfTheBestWay) {
  DeviceDescription description = fake::describe();
  description.compute_units = 100;
  MadeResults made("async_copies", description, 1000);
  made.curve("device-memory", "bandwidth", rising(3000))
      .curve("device-memory", "cp.async 16 bandwidth", rising(3500))
      .curve("device-memory", "bulk bandwidth", rising(4000))
      .curve("latency-memory", "latency", std::vector<CurvePoint>{{.x = 1024, .y = 700}})
      .curve("latency-memory", "bulk latency", std::vector<CurvePoint>{{.x = 1024, .y = 800}});
  async_copies::conclude(made.results());
  const Inference in_flight = made.inference(in_flight_name);
  EXPECT_EQ(in_flight.value, 32768);
  EXPECT_EQ(in_flight.confidence, 1);
  ASSERT_EQ(in_flight.evidence.size(), 2U);
  EXPECT_EQ(in_flight.evidence[0], "bulk: 4000 GB/s of all CUs");
  // 800 cycles of 1 ns, 40 GB/s for each CU.
  EXPECT_NE(in_flight.evidence[1].find("ask for 32000 bytes"), std::string::npos)
      << in_flight.evidence[1];
  EXPECT_NEAR(made.inference(gain_name).value.value(), 4.0 / 3, 1e-9);
}

TEST(AsyncCopiesTest, ARateThatDoesNotRiseTellsNoBytesInFlight) {
  MadeResults made("async_copies");
  made.curve("device-memory", "bulk bandwidth",
             std::vector<CurvePoint>{{.x = 4096, .y = 100}, {.x = 8192, .y = 110}});
  async_copies::conclude(made.results());
  EXPECT_FALSE(made.inference(in_flight_name).value.has_value());
  EXPECT_TRUE(made.inference(in_flight_name).evidence.empty());
  EXPECT_TRUE(made.inference(gain_name).name.empty());  // nothing to compare it with
}

// What still grows at the end, what is slow at the first point only, and what is slow where it
// should be enough.
TEST(AsyncCopiesTest, BytesInFlightNeedPointsOnBothSides) {
  const auto in_flight = [](const auto& rate) {
    std::vector<CurvePoint> points = rising(4000);
    for (CurvePoint& point : points) {
      point.y = rate(point.x);
    }
    MadeResults made("async_copies");
    made.curve("device-memory", "bulk bandwidth", points);
    async_copies::conclude(made.results());
    return made.inference(in_flight_name);
  };
  EXPECT_FALSE(in_flight([](double x) { return x; }).value.has_value());
  EXPECT_FALSE(in_flight([](double x) { return x == 4096 ? 1000.0 : 4000.0; }).value.has_value());
  const Inference late =
      in_flight([](double x) { return x == 16384 ? 2000 : std::min(4000.0, 4000 * x / 16384); });
  EXPECT_EQ(late.value, 32768);
  EXPECT_LE(late.confidence, 0.5);
}

TEST(AsyncCopiesTest, NothingIsConcludedOfADeviceThatHasOnlyLoads) {
  MadeResults made("async_copies");
  made.curve("latency-l2", "latency", std::vector<CurvePoint>{{.x = 64, .y = 400}})
      .curve("device-memory", "bandwidth", rising(3000));
  async_copies::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

TEST(AsyncCopiesTest, NothingIsConcludedFromNothing) {
  MadeResults made("async_copies");
  async_copies::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
