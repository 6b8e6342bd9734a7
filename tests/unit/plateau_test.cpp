// find_plateau_end on curves that are made: a cost per instruction over the length of the loop.
// Through noise, and of nothing, in the trials (src/3-registers/vgpr_limit,
// src/2-compute/fma_loop).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hipscope/inference.h"
#include "made_curve.h"

namespace hipscope {
namespace {

constexpr double least_rise = 1.05;

// y(x) at every power of two up to 2^18, with normal noise of `noise` (relative).
std::vector<CurvePoint> plateau_curve(const std::function<double(double)>& y, double noise = 0) {
  return made_curve(doubling(16, 1 << 18), y, noise);
}

// A loop's own cost, spread over its length, and a cache of `capacity` bytes past which
// instructions cost `step` times as much.
std::function<double(double)> loop(double capacity, double step) {
  return [=](double bytes) { return (4 + 200 / bytes) * (bytes > capacity ? step : 1); };
}

TEST(FindPlateauEnd, FindsTheCapacity) {
  for (const double step : {1.2, 1.5, 4.0}) {
    const auto end = find_plateau_end(plateau_curve(loop(32768, step)), least_rise);
    ASSERT_TRUE(end) << step;
    EXPECT_EQ(end->last_flat_x, 32768);
    EXPECT_EQ(end->next_x, 65536);
    EXPECT_NEAR(end->ratio, step, 0.01 * step);
    EXPECT_GT(end->confidence, 0.7);
  }
}

TEST(FindPlateauEnd, AGentleRiseEndsThePlateauToo) {
  const auto rising = [](double bytes) {
    return bytes <= 32768 ? 4 : 4 * std::sqrt(bytes / 32768);
  };
  const auto end = find_plateau_end(plateau_curve(rising), least_rise);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->last_flat_x, 32768);
}

TEST(FindPlateauEnd, OneHighPointIsNone) {
  auto made = plateau_curve(loop(1 << 20, 2));
  made[8].y *= 1.5;
  EXPECT_FALSE(find_plateau_end(made, least_rise));
}

TEST(FindPlateauEnd, ALongerHighStretchLowersTheConfidence) {
  auto made = plateau_curve([](double x) { return x <= 32768 ? 4.0 : 6.0; }, 0.002);
  const auto clean = find_plateau_end(made, least_rise);
  made[8].y *= 1.3;
  made[9].y *= 1.3;
  const auto disturbed = find_plateau_end(made, least_rise);
  ASSERT_TRUE(clean);
  ASSERT_TRUE(disturbed);
  EXPECT_EQ(disturbed->last_flat_x, 32768);
  EXPECT_EQ(disturbed->outliers, 2U);
  EXPECT_LT(disturbed->confidence, clean->confidence);
}

TEST(FindPlateauEnd, OnePointOrTwoAtTheEndAreNone) {
  EXPECT_FALSE(find_plateau_end(plateau_curve(loop(131072, 1.5)), least_rise));
  EXPECT_FALSE(find_plateau_end(plateau_curve(loop(65536, 1.5)), least_rise));
  EXPECT_TRUE(find_plateau_end(plateau_curve(loop(32768, 1.5)), least_rise));
}

TEST(FindPlateauEnd, AHighStretchOnARampIsNone) {
  auto made = plateau_curve([](double x) { return 1000 * (1 + x / (1 << 18)); });
  for (const std::size_t i : {8U, 9U, 10U}) {
    made[i].y *= 1.8;
  }
  EXPECT_FALSE(find_plateau_end(made, least_rise));
}

TEST(FindPlateauEnd, OnlyTheLowestLevelCounts) {
  const auto made = plateau_curve([](double x) { return x <= 64 ? 3.0 : x <= 32768 ? 4.0 : 9.0; });
  const auto end = find_plateau_end(made, least_rise);
  EXPECT_TRUE(!end || end->last_flat_x == 64);
}

TEST(FindPlateauEnd, NoStepIsNone) {
  EXPECT_FALSE(find_plateau_end(plateau_curve([](double) { return 4.0; }), least_rise));
  EXPECT_FALSE(find_plateau_end(plateau_curve(loop(1 << 20, 2)), least_rise));
  EXPECT_FALSE(find_plateau_end(plateau_curve(loop(32768, 1.02)), least_rise));
}

TEST(FindPlateauEnd, NeedsThreePointsOnTheLevel) {
  EXPECT_FALSE(find_plateau_end({}, least_rise));
  EXPECT_FALSE(
      find_plateau_end(plateau_curve([](double x) { return x <= 32 ? 4.0 : 8.0; }), least_rise));
  EXPECT_TRUE(
      find_plateau_end(plateau_curve([](double x) { return x <= 64 ? 4.0 : 8.0; }), least_rise));
}

}  // namespace
}  // namespace hipscope
