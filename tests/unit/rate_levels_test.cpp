// find_rate_levels on bandwidth over footprint, and find_saturation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "hipscope/inference.h"
#include "made_curve.h"

namespace hipscope {
namespace {

std::vector<Level> levels_of(const std::vector<CurvePoint>& rates) {
  return find_rate_levels(rates, 1.12);
}

// 2^14 ... 2^30 in quarter octaves.
std::vector<CurvePoint> curve(const std::function<double(double)>& y, double noise = 0,
                              unsigned seed = 1) {
  std::vector<double> xs;
  for (int i = 4 * 14; i <= 4 * 30; ++i) {
    xs.push_back(std::exp2(i / 4.0));
  }
  return made_curve(xs, y, noise, seed);
}

// A cache of `capacity` bytes at `fast`, memory at `slow`. Beyond the capacity the share that still
// hits shrinks, so that the time per byte rises gradually.
std::function<double(double)> cache(double capacity, double fast, double slow) {
  return [=](double bytes) {
    const double hits = bytes <= capacity ? 1 : std::pow(capacity / bytes, 2);
    return 1 / (hits / fast + (1 - hits) / slow);
  };
}

// An H200, GB/s over KiB, all SMs reading: up to 4 MiB one answer of L2 serves several of them.
const std::vector<CurvePoint> h200 = {
    {512, 14119},    {608, 14017},    {724, 14031},    {860, 14020},    {1024, 13533},
    {1216, 12901},   {1448, 13349},   {1720, 12970},   {2048, 12999},   {2432, 11766},
    {2896, 12016},   {3444, 11319},   {4096, 12290},   {4868, 10413},   {5792, 10247},
    {6888, 10650},   {8192, 9815},    {9740, 9108},    {11584, 9658},   {13776, 10225},
    {16384, 9142},   {19480, 8932},   {23168, 9702},   {27552, 10109},  {32768, 10039},
    {38964, 9774},   {46340, 10288},  {55108, 9793},   {65536, 9528},   {77932, 7721},
    {92680, 6278},   {110216, 5302},  {131072, 4800},  {155868, 4647},  {185360, 4530},
    {220432, 4505},  {262144, 4486},  {311740, 4480},  {370724, 4474},  {440868, 4458},
    {524288, 4479},  {623484, 4467},  {741452, 4460},  {881740, 4460},  {1048576, 4431},
    {1246972, 4449}, {1482908, 4448}, {1763484, 4471}, {2097152, 4459}, {2493948, 4456},
    {2965820, 4455}, {3526972, 4453}, {4194304, 4455}};

// The same with shorter launches.
const std::vector<CurvePoint> h200_quick = {
    {512, 13347},   {608, 13306},   {724, 13527},   {860, 13185},   {1024, 12571},  {1216, 11838},
    {1447, 12432},  {1720, 11383},  {2048, 12336},  {2432, 9440},   {2895, 9790},   {3443, 9192},
    {4096, 10805},  {4868, 8911},   {5792, 9011},   {6887, 8865},   {8192, 8885},   {9740, 8673},
    {11584, 8987},  {13775, 8792},  {16384, 8635},  {19479, 8671},  {23168, 9036},  {27551, 8764},
    {32768, 8503},  {38964, 8362},  {46339, 8866},  {55107, 8334},  {65536, 7574},  {77932, 5081},
    {92679, 4543},  {110216, 4425}, {131072, 4388}, {155868, 4395}, {185360, 4399}, {220432, 4400},
    {262144, 4393}, {311740, 4406}, {370723, 4387}, {440867, 4381}, {524288, 4372}, {623483, 4379},
    {741451, 4407}, {881739, 4414}, {1048576, 4357}};

// Each SM reading its own part through L1.
const std::vector<CurvePoint> h200_l1 = {
    {16, 32242},  {20, 32236},  {24, 32222},  {32, 32191},  {36, 32200},  {44, 32158},
    {52, 32134},  {64, 32145},  {76, 32110},  {88, 32065},  {104, 31998}, {128, 31980},
    {152, 31945}, {180, 31847}, {212, 31450}, {256, 30373}, {304, 26153}, {360, 20306},
    {428, 16116}, {512, 4652},  {608, 7380},  {724, 7184},  {860, 5298},  {1024, 4586}};

TEST(RateLevels, ReadAnH200) {
  const auto levels = levels_of(h200);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_GT(levels[0].y, 12500);
  EXPECT_LT(levels[0].end->last_x, 4096);
  EXPECT_NEAR(levels[1].y, 9800, 100);
  EXPECT_EQ(levels[1].end->last_x, 65536);
  EXPECT_GT(levels[1].confidence, 0.75);
  EXPECT_NEAR(levels[2].y, 4460, 10);
  EXPECT_FALSE(levels[2].end);
}

TEST(RateLevels, ReadAnH200WithShorterLaunches) {
  const auto levels = levels_of(h200_quick);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_NEAR(levels[1].y, 8900, 100);
  EXPECT_GT(levels[1].end->last_x, 32768);
  EXPECT_LE(levels[1].end->last_x, 65536);
}

TEST(RateLevels, ReadAnH200sL1) {
  const auto levels = levels_of(h200_l1);
  ASSERT_FALSE(levels.empty());
  EXPECT_NEAR(levels[0].y, 32120, 100);
  ASSERT_TRUE(levels[0].end);
  EXPECT_EQ(levels[0].end->last_x, 256);
  EXPECT_GT(levels[0].confidence, 0.8);
}

TEST(RateLevels, FindCacheAndMemory) {
  for (const double slow : {500.0, 2000.0, 4700.0}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      const auto levels = levels_of(curve(cache(1 << 22, 10000, slow), 0.015, seed));
      ASSERT_EQ(levels.size(), 2U) << slow << " " << seed;
      EXPECT_NEAR(levels[0].y, 10000, 150);
      EXPECT_NEAR(levels[0].end->last_x, 1 << 22, 1 << 20);
      EXPECT_NEAR(levels[1].y, slow, 0.05 * slow);
    }
  }
}

TEST(RateLevels, ALevelThatLeansIsFoundWithLessConfidence) {
  const auto straight = levels_of(curve(cache(1 << 25, 13000, 4700)));
  const auto leaning = levels_of(curve([](double bytes) {
    return cache(1 << 25, 13000, 4700)(bytes) * std::pow(bytes / (1 << 14), -0.02);
  }));
  ASSERT_EQ(leaning.size(), 2U);
  EXPECT_NEAR(leaning[0].y, 12000, 1000);
  EXPECT_LT(leaning[0].confidence, straight[0].confidence);
}

TEST(RateLevels, NoFallIsNoEnd) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto levels = levels_of(curve([](double) { return 4700.0; }, 0.03, seed));
    ASSERT_EQ(levels.size(), 1U) << seed;
    EXPECT_FALSE(levels[0].end);
  }
  EXPECT_TRUE(levels_of(curve([](double x) { return 1 / x; })).empty());
}

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
    EXPECT_EQ(found->confidence, 1);
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
