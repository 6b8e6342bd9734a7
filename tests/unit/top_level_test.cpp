// find_top_level on curves that are made: a rate over footprints.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hipscope/inference.h"
#include "made_curve.h"

namespace hipscope {
namespace {

// 2^first ... 2^last in quarter octaves.
std::vector<double> footprints(int first, int last) {
  std::vector<double> xs;
  for (int i = 4 * first; i <= 4 * last; ++i) {
    xs.push_back(std::exp2(i / 4.0));
  }
  return xs;
}

std::vector<CurvePoint> curve(const std::function<double(double)>& y, double noise = 0,
                              unsigned seed = 1) {
  return made_curve(footprints(14, 30), y, noise, seed);
}

// A cache of `capacity` bytes at `fast`, memory at `slow`. Beyond the capacity the share that still
// hits shrinks, so that the time per byte rises gradually.
std::function<double(double)> cache(double capacity, double fast, double slow) {
  return [=](double bytes) {
    const double hits = bytes <= capacity ? 1 : std::pow(capacity / bytes, 2);
    return 1 / (hits / fast + (1 - hits) / slow);
  };
}

TEST(FindTopLevel, FindsTheLevel) {
  for (const double slow : {500.0, 2000.0, 4700.0}) {
    const auto top = find_top_level(curve(cache(1 << 22, 10000, slow)));
    ASSERT_TRUE(top) << slow;
    EXPECT_NEAR(top->y, 10000, 1);
    EXPECT_EQ(top->first_x, 1 << 14);
    EXPECT_GE(top->last_x, 1 << 22);
    EXPECT_LE(top->last_x, 1 << 23);
    EXPECT_NEAR(top->after, slow, 0.02 * slow);
    EXPECT_GT(top->confidence, 0.9);
  }
}

TEST(FindTopLevel, FindsItThroughNoise) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const auto top = find_top_level(curve(cache(1 << 24, 10000, 4700), 0.02, seed));
    ASSERT_TRUE(top) << seed;
    EXPECT_NEAR(top->y, 10000, 150);
    EXPECT_GE(top->last_x, 1 << 24);
    EXPECT_GT(top->confidence, 0.9);
  }
}

TEST(FindTopLevel, ALevelThatLeansIsFoundWithLessConfidence) {
  const auto leaning = [](double bytes) {
    return cache(1 << 25, 13000, 4700)(bytes) * std::pow(bytes / (1 << 14), -0.02);
  };
  const auto straight = find_top_level(curve(cache(1 << 25, 13000, 4700)));
  const auto top = find_top_level(curve(leaning));
  ASSERT_TRUE(straight);
  ASSERT_TRUE(top);
  EXPECT_NEAR(top->y, 12000, 1000);
  EXPECT_LT(top->confidence, straight->confidence);
  EXPECT_LT(top->lowest, top->y);
  EXPECT_GT(top->highest, top->y);
}

TEST(FindTopLevel, ARiseBeforeItIsNoPartOfIt) {
  const auto rising = [](double bytes) {
    return cache(1 << 24, 10000, 4700)(bytes) * std::min(1.0, bytes / (1 << 20));
  };
  const auto top = find_top_level(curve(rising));
  ASSERT_TRUE(top);
  EXPECT_GE(top->first_x, 1 << 19);
  EXPECT_LE(top->first_x, 1 << 20);
  EXPECT_NEAR(top->y, 10000, 1);
}

TEST(FindTopLevel, TheFirstOfThreeLevels) {
  const auto three = [](double bytes) {
    return bytes <= (1 << 18) ? 30000.0 : bytes <= (1 << 25) ? 10000.0 : 4700.0;
  };
  const auto top = find_top_level(curve(three, 0.01));
  ASSERT_TRUE(top);
  EXPECT_NEAR(top->y, 30000, 500);
  EXPECT_EQ(top->last_x, 1 << 18);
}

TEST(FindTopLevel, OneHighPointIsNoLevel) {
  auto made = curve(cache(1 << 24, 10000, 4700));
  made[10].y *= 3;
  const auto top = find_top_level(made);
  ASSERT_TRUE(top);
  EXPECT_NEAR(top->y, 10000, 1);
  auto flat = curve([](double) { return 4700.0; });
  flat[10].y *= 3;
  EXPECT_FALSE(find_top_level(flat));
}

TEST(FindTopLevel, EndsWithAPointThatIsOnTheLevel) {
  auto made = curve([](double x) { return x <= (1 << 18) ? 32000.0 : 5000.0; });
  // As an H200's L1 of 240 KiB: 256 KiB are slower than 304.
  made[17].y = 24700;
  made[18].y = 26400;
  made[19].y = 25300;
  const auto top = find_top_level(made);
  ASSERT_TRUE(top);
  EXPECT_EQ(made[16].x, 1 << 18);
  EXPECT_EQ(top->last_x, made[16].x);
  EXPECT_EQ(top->lowest, 32000);
}

TEST(FindTopLevel, NoFallIsNone) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(find_top_level(curve([](double) { return 4700.0; }, 0.03, seed)));
  }
  EXPECT_FALSE(find_top_level(curve(cache(1 << 22, 5200, 4700))));
  EXPECT_FALSE(find_top_level(curve([](double x) { return x; })));
}

TEST(FindTopLevel, AFallWithoutALevelIsNone) {
  EXPECT_FALSE(find_top_level(curve([](double x) { return 1 / x; })));
}

TEST(FindTopLevel, NeedsFourPointsOnTheLevelAndAfterIt) {
  const auto step = [](double last) { return [last](double x) { return x <= last ? 2.0 : 1.0; }; };
  EXPECT_FALSE(find_top_level({}));
  EXPECT_FALSE(find_top_level(curve(step(1 << 14))));
  EXPECT_TRUE(find_top_level(curve(step(1 << 15))));
  EXPECT_TRUE(find_top_level(curve(step(1 << 29))));
  EXPECT_FALSE(find_top_level(curve(step(std::exp2(29.5)))));
}

}  // namespace
}  // namespace hipscope
