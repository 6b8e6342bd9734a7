// What host_copies concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

// Copies of 4 bytes ... 256 MiB by an engine that takes `latency` seconds and then moves
// `bandwidth` GB/s.
void add_direction(MadeResults& made, const std::string& sweep, double latency, double bandwidth) {
  std::vector<CurvePoint> rates;
  std::vector<CurvePoint> times;
  for (double bytes = 4; bytes <= 1 << 28; bytes *= 4) {
    const double seconds = latency + bytes / (bandwidth * 1e9);
    times.push_back({.x = bytes, .y = seconds});
    rates.push_back({.x = bytes, .y = bytes / seconds / 1e9});
  }
  made.curve(sweep, "pinned", rates);
  made.curve(sweep, "pinned time", times);
}

TEST(HostCopiesTest, ALinkIsItsBandwidthAndItsLatency) {
  MadeResults made("host_copies");
  add_direction(made, "to-device", 2e-6, 50);
  host_copies::conclude(made.results());
  EXPECT_NEAR(*made.inference("host to device bandwidth").value, 50, 0.1);
  EXPECT_NEAR(*made.inference("host to device latency").value, 2, 0.01);
  EXPECT_GT(made.inference("host to device bandwidth").confidence, 0.9);
}

TEST(HostCopiesTest, ARateThatStillRisesIsNotTheLinks) {
  MadeResults made("host_copies");
  add_direction(made, "to-host", 2e-2, 50);
  host_copies::conclude(made.results());
  EXPECT_LT(made.inference("device to host bandwidth").confidence, 0.5);
}

void add_both(MadeResults& made, double together) {
  made.curve(
      "both", "bandwidth",
      std::vector<CurvePoint>{{.x = 1, .y = 50}, {.x = 2, .y = 54}, {.x = 3, .y = together}});
}

TEST(HostCopiesTest, DirectionsAddUpOrShareTheLink) {
  MadeResults apart("host_copies");
  add_both(apart, 102);
  host_copies::conclude(apart.results());
  EXPECT_EQ(apart.inference("both directions at once").statement,
            "the directions do not share the link");
  MadeResults shared("host_copies");
  add_both(shared, 54);
  host_copies::conclude(shared.results());
  EXPECT_EQ(shared.inference("both directions at once").statement, "the directions share one link");
}

TEST(HostCopiesTest, AFarNodeIsNamed) {
  MadeResults made("host_copies");
  made.curve("numa", "to device", std::vector<CurvePoint>{{.x = 0, .y = 40}, {.x = 1, .y = 55}});
  host_copies::conclude(made.results());
  EXPECT_EQ(made.inference("nearest NUMA node").value, 1);
  EXPECT_EQ(made.inference("nearest NUMA node").evidence.at(0), "slower nodes: 0 (40 GB/s)");
}

TEST(HostCopiesTest, EqualNodesAreNotToldApart) {
  MadeResults made("host_copies");
  made.curve("numa", "to device", std::vector<CurvePoint>{{.x = 0, .y = 54}, {.x = 1, .y = 55}});
  host_copies::conclude(made.results());
  EXPECT_FALSE(made.inference("nearest NUMA node").value.has_value());
}

TEST(HostCopiesTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("host_copies", host_copies::conclude);
}

}  // namespace
}  // namespace hipscope
