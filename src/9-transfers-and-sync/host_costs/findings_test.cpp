// What host_costs concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

constexpr double mebibyte = 1 << 20;

// 4 KiB to 1 GiB: `flat` us up to `end` bytes, `above` us more beyond, and `per_mebibyte` for each
// MiB past `end`; every other point is 3 % too high.
std::vector<CurvePoint> costs(double flat, double end, double above, double per_mebibyte) {
  std::vector<CurvePoint> curve;
  double noise = 1;
  for (double bytes = 4096; bytes <= 1024 * mebibyte; bytes *= 2) {
    const double further = bytes > end ? above + per_mebibyte * (bytes - end) / mebibyte : 0;
    curve.push_back({.x = bytes, .y = noise * (flat + further)});
    noise = 2.03 - noise;
  }
  return curve;
}

MadeResults concluded(const std::vector<CurvePoint>& curve) {
  MadeResults made("host_costs");
  made.curve("pinned", "allocate", curve);
  host_costs::conclude(made.results());
  return made;
}

TEST(HostCostsTest, TheStepAndTheSlopeAreFound) {
  const auto made = concluded(costs(2, 2 * mebibyte, 60, 0.5));
  EXPECT_EQ(made.inference("pinned allocations of one price").value, 2 * mebibyte);
  EXPECT_GT(made.inference("pinned allocations of one price").confidence, 0.5);
  EXPECT_NEAR(*made.inference("pinned allocation per MiB").value, 0.5, 0.05);
  EXPECT_GT(made.inference("pinned allocation per MiB").confidence, 0.5);
}

TEST(HostCostsTest, AStepAtTheLowerEnd) {
  const auto made = concluded(costs(2, 16384, 60, 200));
  EXPECT_EQ(made.inference("pinned allocations of one price").value, 16384);
  EXPECT_NEAR(*made.inference("pinned allocation per MiB").value, 200, 20);
}

TEST(HostCostsTest, OnePriceForAllSizesHasNeitherStepNorSlope) {
  EXPECT_TRUE(concluded(costs(2, 4096 * mebibyte, 0, 0)).inferences().empty());
}

TEST(HostCostsTest, ACostInProportionHasNoStep) {
  const auto made = concluded(costs(0, 0, 0, 100));
  EXPECT_FALSE(made.inference("pinned allocations of one price").value.has_value());
  EXPECT_NEAR(*made.inference("pinned allocation per MiB").value, 100, 10);
}

TEST(HostCostsTest, NothingIsConcludedFromNothing) {
  MadeResults made("host_costs");
  host_costs::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
