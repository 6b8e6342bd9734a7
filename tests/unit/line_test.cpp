// find_fetch_unit and fit_line_size on curves that are made; flat ones of the former in the trial
// (src/5-memory/cache_line/findings_trial.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "hipscope/inference.h"
#include "made_curve.h"

namespace hipscope {
namespace {

using Law = std::function<double(double)>;

constexpr unsigned seeds = 50;

// Latency of a load in the other half of an aligned block of x bytes.
Law neighbours(double unit, double hit, double miss) {
  return [=](double x) { return x <= unit ? hit : miss; };
}

// Bytes that a cache holds with one node per x bytes. Past the line nodes lie in lines at random,
// so that some sets are full early: the reach then grows less than in proportion by `loss`.
Law reach(double line, double capacity, double loss = 0) {
  return [=](double x) { return capacity * std::pow(std::max(1.0, x / line), 1 - loss); };
}

std::vector<CurvePoint> curve(double first, double last, const Law& law, double noise = 0,
                              unsigned seed = 1) {
  return made_curve(doubling(first, last), law, noise, seed);
}

TEST(FindFetchUnit, FindsTheUnit) {
  for (const double unit : {16.0, 32.0, 64.0, 128.0, 256.0}) {
    const auto found = find_fetch_unit(curve(8, 1024, neighbours(unit, 36, 260)));
    ASSERT_TRUE(found) << unit;
    EXPECT_EQ(found->bytes, unit);
    EXPECT_EQ(found->hit, 36);
    EXPECT_EQ(found->miss, 260);
    EXPECT_EQ(found->confidence, 1);
  }
}

TEST(FindFetchUnit, MissesMayCostMoreTheFartherApart) {
  const auto found = find_fetch_unit(
      curve(8, 1024, [](double x) { return x <= 32 ? 36 : 200 + 20 * std::log2(x); }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 32);
  EXPECT_GT(found->confidence, 0.8);
}

// Sectors of 32 bytes, of which what lies within 256 is nearer than the rest.
TEST(FindFetchUnit, TheFirstStepCountsNotTheWidest) {
  const auto found = find_fetch_unit(curve(8, 1024, [](double x) {
    return x <= 32 ? 40 : x <= 256 ? 200 : 500;
  }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 32);
  EXPECT_EQ(found->miss, 200);
}

// A curve that goes up and down has more below its steps than above them.
TEST(FindFetchUnit, WhatFallsIsNoStep) {
  const std::vector<CurvePoint> falls = {
      {.x = 16, .y = 1000}, {.x = 32, .y = 1111},  {.x = 64, .y = 757},  {.x = 128, .y = 1290},
      {.x = 256, .y = 590}, {.x = 512, .y = 1365}, {.x = 1024, .y = 540}};
  EXPECT_FALSE(find_fetch_unit(falls));
}

TEST(FindFetchUnit, OneSlowHitIsNoStep) {
  for (const std::size_t slow : {0U, 1U, 2U}) {
    auto made = curve(8, 1024, neighbours(32, 40, 300));
    made[slow].y *= 2;
    const auto found = find_fetch_unit(made);
    ASSERT_TRUE(found) << slow;
    EXPECT_EQ(found->bytes, 32);
  }
}

TEST(FindFetchUnit, ASoftKneeIsNone) {
  // Half of the neighbours at 64 bytes are there: that is neither a unit of 32 nor one of 64.
  auto made = curve(8, 1024, neighbours(32, 270, 700));
  made[3].y = 485;
  EXPECT_FALSE(find_fetch_unit(made));
  EXPECT_FALSE(find_fetch_unit(curve(8, 1024, [](double x) { return 30 + x; })));
}

TEST(FindFetchUnit, NeedsTwoPointsOnEitherSide) {
  EXPECT_FALSE(find_fetch_unit({}));
  EXPECT_FALSE(find_fetch_unit(curve(32, 128, neighbours(32, 36, 260))));
  EXPECT_FALSE(find_fetch_unit(curve(32, 1024, neighbours(32, 36, 260))));
  EXPECT_FALSE(find_fetch_unit(curve(8, 64, neighbours(32, 36, 260))));
  EXPECT_TRUE(find_fetch_unit(curve(16, 128, neighbours(32, 36, 260))));
  EXPECT_FALSE(find_fetch_unit(curve(16, 128, neighbours(32, 0, 260))));
}

TEST(FitLineSize, FindsTheLine) {
  for (const double line : {16.0, 32.0, 64.0, 128.0, 256.0}) {
    const auto found = fit_line_size(curve(8, 1024, reach(line, 400e3)));
    ASSERT_TRUE(found) << line;
    EXPECT_EQ(found->bytes, line);
    EXPECT_NEAR(found->flat_reach, 400e3, 1);
    EXPECT_NEAR(found->growth, 1, 1e-9);
    EXPECT_NEAR(found->confidence, 1, 1e-9);
  }
}

TEST(FitLineSize, FindsItWhereTheKneeIsSoft) {
  for (const double line : {64.0, 128.0}) {
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      const auto found = fit_line_size(curve(16, 1024, reach(line, 100e6, 0.2), 0.03, seed));
      ASSERT_TRUE(found) << line << ", " << seed;
      EXPECT_EQ(found->bytes, line);
    }
  }
}

TEST(FitLineSize, ReadsAMeasuredCurve) {
  // Lines of an H200's first level that stay fast with one node per 32, 64 ... 1024 bytes.
  const std::vector<CurvePoint> measured = {
      {.x = 32, .y = 32.0 * 7600},   {.x = 64, .y = 64.0 * 3600},
      {.x = 128, .y = 128.0 * 1900}, {.x = 256, .y = 256.0 * 1900},
      {.x = 512, .y = 512.0 * 1900}, {.x = 1024, .y = 1024.0 * 1900}};
  const auto found = fit_line_size(measured);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 128);
  EXPECT_GT(found->confidence, 0.8);
}

TEST(FitLineSize, AKneeBetweenTwoSizesIsUncertain) {
  const auto found = fit_line_size(curve(8, 1024, reach(90, 400e3)));
  EXPECT_TRUE(!found || found->confidence < 0.5);
}

TEST(FitLineSize, AFlatCurveIsNone) {
  EXPECT_FALSE(fit_line_size(curve(8, 1024, [](double) { return 400e3; })));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    EXPECT_FALSE(fit_line_size(curve(
        8, 1024, [](double) { return 400e3; }, 0.1, seed)));
  }
}

TEST(FitLineSize, ASlopeThatOnlyLooksLevelAtItsStartIsNone) {
  const auto slope = [](double chunk) { return 1000 + 13.5 * chunk; };
  EXPECT_FALSE(fit_line_size(curve(8, 1024, slope)));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    EXPECT_FALSE(fit_line_size(curve(8, 1024, slope, 0.01, seed)));
  }
}

TEST(FitLineSize, ACurveThatRisesFromItsStartIsNone) {
  EXPECT_FALSE(fit_line_size(curve(32, 1024, reach(32, 400e3))));
  EXPECT_FALSE(fit_line_size(curve(32, 1024, reach(8, 400e3))));
}

TEST(FitLineSize, ACurveOfAnotherLawIsNone) {
  EXPECT_FALSE(fit_line_size(curve(8, 1024, [](double x) { return 1e9 / x; })));
  EXPECT_FALSE(fit_line_size(curve(8, 1024, [](double x) { return x * x * x; })));
}

TEST(FitLineSize, NeedsTwoPointsOnEitherSide) {
  EXPECT_FALSE(fit_line_size({}));
  EXPECT_FALSE(fit_line_size(curve(64, 256, reach(64, 400e3))));
  EXPECT_FALSE(fit_line_size(curve(64, 1024, reach(64, 400e3))));
  EXPECT_FALSE(fit_line_size(curve(16, 128, reach(64, 400e3))));
  EXPECT_TRUE(fit_line_size(curve(32, 256, reach(64, 400e3))));
  EXPECT_FALSE(fit_line_size(curve(32, 256, [](double) { return 0.0; })));
}

}  // namespace
}  // namespace hipscope
