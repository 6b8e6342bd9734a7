// find_saturation on made curves.
#include <gtest/gtest.h>

#include <algorithm>

#include "hipscope/inference.h"
#include "made_curve.h"

namespace hipscope {
namespace {

// Little's law, with threads and loads that make the same x in several ways.
std::vector<CurvePoint> in_flight(double noise, unsigned seed) {
  std::vector<double> xs;
  for (const int loads : {1, 2, 4, 8}) {
    for (int threads = 64; threads <= 2048; threads *= 2) {
      xs.push_back(16.0 * threads * loads);
    }
  }
  return made_curve(
      xs, [](double x) { return std::min(4500.0, x * 0.2); }, noise, seed);
}

TEST(FindSaturation, FindsHowMuchIsEnough) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto found = find_saturation(in_flight(0.005, seed), 0.95);
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(found->x, 32768);
    EXPECT_EQ(found->lightest.x, 1024);
    EXPECT_NEAR(found->confidence, 1, 1e-3);
  }
}

TEST(FindSaturation, PointsThatFallShortLowerTheConfidence) {
  auto points = in_flight(0, 1);
  points.push_back({.x = 32768, .y = 3000});
  const auto found = find_saturation(points, 0.95);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->x, 32768);
  EXPECT_LT(found->confidence, 1);
  EXPECT_GT(found->confidence, 0.8);
}

TEST(FindSaturation, WhatIsFlatOrNothingHasNone) {
  EXPECT_FALSE(find_saturation({}, 0.95));
  for (unsigned seed = 1; seed <= 50; ++seed) {
    EXPECT_FALSE(
        find_saturation(made_curve(
                            doubling(64, 65536), [](double) { return 4500.0; }, 0.02, seed),
                        0.95));
  }
}

}  // namespace
}  // namespace hipscope
