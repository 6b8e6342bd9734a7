// find_last_drop on curves that are made.
#include "last_drop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "made_curve.h"

namespace wave_divergence {
namespace {

using hipscope::CurvePoint;
using hipscope::made_curve;

constexpr double half_way = 1.5;
constexpr double largest_x = 1024;

// y(x) at 1, 2, 4 ... 1024, with normal noise of `noise` (relative).
std::vector<CurvePoint> doubling_curve(const std::function<double(double)>& y, double noise = 0,
                                       unsigned seed = 1) {
  return made_curve(hipscope::doubling(1, largest_x), y, noise, seed);
}

// Two paths in turns: twice the time while a wave of `lanes` is on both.
std::function<double(double)> granularity(double lanes) {
  return [=](double x) { return x < lanes ? 20.0 : 10.0; };
}

TEST(FindLastDrop, FindsWavesOf32And64ThroughNoise) {
  for (const double lanes : {32.0, 64.0}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      const auto drop = find_last_drop(doubling_curve(granularity(lanes), 0.01, seed), half_way);
      ASSERT_TRUE(drop) << lanes << " lanes, seed " << seed;
      EXPECT_EQ(drop->first_flat_x, lanes);
      EXPECT_EQ(drop->last_high_x, lanes / 2);
      EXPECT_NEAR(drop->ratio, 2, 0.1);
      EXPECT_GT(drop->confidence, 0.9);
    }
  }
}

TEST(FindLastDrop, FindsTheEndOfAFall) {
  const auto share = [](double paths) { return 1 / std::min(paths, 64.0); };
  const auto drop = find_last_drop(doubling_curve(share, 0.005), half_way);
  ASSERT_TRUE(drop);
  EXPECT_EQ(drop->first_flat_x, 64);
  EXPECT_EQ(drop->last_high_x, 32);
}

TEST(FindLastDrop, ConfidenceFallsWithTheSpreadOfTheFloor) {
  const auto uneven = [](double spread) {
    return doubling_curve([=](double x) {
      return x < 32 ? 20.0 : x == 256 ? 10 * (1 + spread) : 10.0;
    });
  };
  const auto narrow = find_last_drop(uneven(0.05), half_way);
  const auto wide = find_last_drop(uneven(0.2), half_way);
  ASSERT_TRUE(narrow);
  ASSERT_TRUE(wide);
  EXPECT_LT(narrow->confidence, 1);
  EXPECT_LT(wide->confidence, narrow->confidence);
}

TEST(FindLastDrop, ADisturbedPointOfTheFloorIsAnOutlier) {
  auto made = doubling_curve(granularity(32));
  made[7].y *= 2;
  const auto drop = find_last_drop(made, half_way);
  ASSERT_TRUE(drop);
  EXPECT_EQ(drop->first_flat_x, 32);
  EXPECT_EQ(drop->outliers, 1U);
}

TEST(FindLastDrop, FlatCurveHasNone) {
  EXPECT_FALSE(find_last_drop({}, half_way));
  EXPECT_FALSE(find_last_drop(doubling_curve([](double) { return 10.0; }), half_way));
  for (unsigned seed = 1; seed <= 500; ++seed) {
    EXPECT_FALSE(find_last_drop(doubling_curve([](double) { return 10.0; }, 0.05, seed), half_way))
        << seed;
  }
}

TEST(FindLastDrop, EndlessFallHasNone) {
  EXPECT_FALSE(find_last_drop(doubling_curve([](double x) { return 1 / x; }), half_way));
}

TEST(FindLastDrop, RiseHasNone) {
  EXPECT_FALSE(
      find_last_drop(doubling_curve([](double x) { return x < 32 ? 10.0 : 20.0; }), half_way));
}

TEST(FindLastDrop, SmallerDropsAreNone) {
  const auto small = doubling_curve([](double x) { return x < 32 ? 14.0 : 10.0; });
  EXPECT_FALSE(find_last_drop(small, half_way));
  EXPECT_TRUE(find_last_drop(small, 1.3));
}

TEST(FindLastDrop, CurveThatWasDownBeforeHasNone) {
  const auto hump = [](double x) { return x == 16 ? 20.0 : 10.0; };
  EXPECT_FALSE(find_last_drop(doubling_curve(hump), half_way));
  const auto first_low = [](double x) { return x == 1 || x >= 32 ? 10.0 : 20.0; };
  EXPECT_FALSE(find_last_drop(doubling_curve(first_low), half_way));
}

TEST(FindLastDrop, NeedsThreeFlatPoints) {
  EXPECT_TRUE(find_last_drop(doubling_curve(granularity(256)), half_way));
  EXPECT_FALSE(find_last_drop(doubling_curve(granularity(512)), half_way));
  EXPECT_FALSE(find_last_drop(doubling_curve(granularity(1024)), half_way));
}

}  // namespace
}  // namespace wave_divergence
