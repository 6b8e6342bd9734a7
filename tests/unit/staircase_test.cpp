// find_step_period and find_first_step on curves that are made, and on a published one.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "hipscope/inference.h"
#include "made_curve.h"
#include "published.h"

namespace hipscope {
namespace {

constexpr double smallest_step = 0.002;
constexpr double sampling = 8;
constexpr double largest_x = 1024;

// y(x) at every eighth x up to 1024, with normal noise of `noise` (relative).
std::vector<CurvePoint> curve(const std::function<double(double)>& y, double noise = 0,
                              unsigned seed = 1) {
  return made_curve(multiples(sampling, largest_x), y, noise, seed);
}

// A fixed cost and one more unit of time for each wave of `lanes`.
std::function<double(double)> staircase(double lanes) {
  return [=](double threads) { return 8 + std::ceil(threads / lanes); };
}

TEST(FindStepPeriod, FindsWavesOf32And64ThroughNoise) {
  for (const double lanes : {32.0, 64.0}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      const auto period = find_step_period(curve(staircase(lanes), 0.001, seed), smallest_step);
      ASSERT_TRUE(period) << lanes << " lanes, seed " << seed;
      EXPECT_EQ(period->period, lanes);
      EXPECT_EQ(period->steps, largest_x / lanes - 1);
      EXPECT_EQ(period->confidence, 1);
    }
  }
}

TEST(FindStepPeriod, FindsOtherPeriods) {
  for (const double lanes : {16.0, 96.0, 128.0, 256.0}) {
    const auto period = find_step_period(curve(staircase(lanes)), smallest_step);
    ASSERT_TRUE(period) << lanes;
    EXPECT_EQ(period->period, lanes);
  }
}

TEST(FindStepPeriod, OneFalseRiseLowersTheConfidenceOnly) {
  auto made = curve(staircase(32), 0.001);
  // From 504 to 512 threads, in the middle of a step and at no multiple of 16.
  ASSERT_EQ(made[63].x, 512);
  made[63].y *= 1.1;
  made[64].y *= 1.1;
  const auto period = find_step_period(made, smallest_step);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->period, 32);
  EXPECT_LT(period->confidence, 1);
  EXPECT_GT(period->confidence, 0.9);
}

// As on an H200: no steps in small blocks, two that are none of the period, eleven that are.
TEST(FindStepPeriod, TwoFalseRisesAmongThirteenAreToldByTheOthers) {
  auto made = curve([](double x) { return 100 + std::ceil(std::max(x, 672.0) / 32); }, 0.0001);
  ASSERT_EQ(made[43].x, 352);
  for (std::size_t i = 1; i < made.size(); ++i) {
    made[i].y *= i < 43 ? 1.005 : 1.01;
  }
  const auto period = find_step_period(made, smallest_step);
  ASSERT_TRUE(period);
  EXPECT_EQ(period->period, 32);
  EXPECT_EQ(period->steps, 13);
  EXPECT_LT(period->confidence, 0.6);
}

TEST(FindStepPeriod, FlatCurveHasNone) {
  EXPECT_FALSE(find_step_period(curve([](double) { return 5.0; }), smallest_step));
}

TEST(FindStepPeriod, NoiseHasNone) {
  for (const double noise : {0.0005, 0.001, 0.01, 0.1}) {
    for (unsigned seed = 1; seed <= 500; ++seed) {
      const auto made = curve([](double) { return 5.0; }, noise, seed);
      EXPECT_FALSE(find_step_period(made, smallest_step)) << noise << ", seed " << seed;
    }
  }
}

TEST(FindStepPeriod, AFewDisturbedPointsHaveNone) {
  int found = 0;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    auto made = curve([](double) { return 5.0; }, 0.0005, seed);
    std::mt19937 random(seed);
    for (int i = 0; i < 4; ++i) {
      made[1 + random() % (made.size() - 1)].y *= 1.05;
    }
    const auto period = find_step_period(made, smallest_step);
    found += period && period->confidence > 0.5 ? 1 : 0;
  }
  // Four places may lie on a common grid by chance.
  EXPECT_LE(found, 5);
}

TEST(FindStepPeriod, SlopeHasNone) {
  const auto slope = [](double x) { return 100 + x; };
  EXPECT_FALSE(find_step_period(curve(slope), smallest_step));
  EXPECT_FALSE(find_step_period(curve(slope, 0.001), smallest_step));
  EXPECT_FALSE(find_step_period(curve([](double x) { return x; }), smallest_step));
}

TEST(FindStepPeriod, OneJumpHasNone) {
  const auto jump = [](double x) { return x <= 512 ? 5.0 : 10.0; };
  EXPECT_FALSE(find_step_period(curve(jump), smallest_step));
  EXPECT_FALSE(find_step_period(curve(jump, 0.001), smallest_step));
}

TEST(FindStepPeriod, StepsUnderTheThresholdAreNone) {
  EXPECT_TRUE(find_step_period(curve(staircase(64)), 0.01));
  EXPECT_FALSE(find_step_period(curve(staircase(64)), 0.2));
}

TEST(FindStepPeriod, StepsAtEveryPointAreNotTold) {
  EXPECT_FALSE(find_step_period(curve(staircase(8)), smallest_step));
}

TEST(FindStepPeriod, FallsAreNoSteps) {
  const auto falling = [](double x) { return 100 - std::ceil(x / 64); };
  EXPECT_FALSE(find_step_period(curve(falling), smallest_step));
}

TEST(FindStepPeriod, RefusesUnequalSpacing) {
  auto made = curve(staircase(64));
  made.erase(made.begin() + 20);
  EXPECT_FALSE(find_step_period(made, smallest_step));
}

TEST(FindStepPeriod, RefusesTooFewPoints) {
  EXPECT_FALSE(find_step_period({}, smallest_step));
  auto made = curve(staircase(64));
  made.resize(1);
  EXPECT_FALSE(find_step_period(made, smallest_step));
  made = curve(staircase(64));
  made.resize(18);  // two steps
  EXPECT_FALSE(find_step_period(made, smallest_step));
}

// y(x) at 1, 2 ... 266.
std::vector<CurvePoint> blocks_curve(const std::function<double(double)>& y) {
  std::vector<CurvePoint> made;
  for (double x = 1; x <= 266; ++x) {
    made.push_back({.x = x, .y = y(x)});
  }
  return made;
}

TEST(FindFirstStep, FindsACleanStep) {
  const auto step =
      find_first_step(blocks_curve([](double x) { return x <= 132 ? 10.0 : 20.0; }), 1.5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->last_flat_x, 132);
  EXPECT_EQ(step->next_x, 133);
  EXPECT_EQ(step->ratio, 2);
  EXPECT_EQ(step->confidence, 1);
}

TEST(FindFirstStep, TakesTheFirstOfSeveral) {
  const auto step = find_first_step(blocks_curve([](double x) { return std::ceil(x / 60); }), 1.5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->last_flat_x, 60);
}

TEST(FindFirstStep, ConfidenceFallsWithTheSpreadBefore) {
  const auto spread_of = [](double spread) {
    return blocks_curve([=](double x) {
      return x > 132 ? 20.0 : std::fmod(x, 2) == 0 ? 10.0 : 10 * (1 + spread);
    });
  };
  const auto narrow = find_first_step(spread_of(0.05), 1.5);
  const auto wide = find_first_step(spread_of(0.2), 1.5);
  ASSERT_TRUE(narrow);
  ASSERT_TRUE(wide);
  EXPECT_LT(narrow->confidence, 1);
  EXPECT_LT(wide->confidence, narrow->confidence);
  EXPECT_GT(wide->confidence, 0);
}

TEST(FindFirstStep, ReadsThePublishedStaircaseOfTheMi25) {
  std::vector<CurvePoint> made;
  for (const auto& figure : detail::published_figures()) {
    if (figure.experiment == "cu_staircase" && figure.series == "1024 threads per block" &&
        figure.gpu == "Radeon Instinct MI25" && figure.metric == "time") {
      made.push_back({.x = std::stod(figure.x), .y = figure.value});
    }
  }
  ASSERT_FALSE(made.empty());
  const auto step = find_first_step(made, 1.5, 2);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->last_flat_x, 64);
  EXPECT_EQ(step->next_x, 65);
  EXPECT_NEAR(step->ratio, 2, 0.02);
  EXPECT_GT(step->confidence, 0.9);
}

TEST(FindFirstStep, SlopeIsNone) {
  EXPECT_FALSE(find_first_step(blocks_curve([](double x) { return 100 + x; }), 1.5));
  EXPECT_FALSE(find_first_step(blocks_curve([](double x) { return x; }), 1.5));
}

TEST(FindFirstStep, FlatCurveHasNone) {
  EXPECT_FALSE(find_first_step(blocks_curve([](double) { return 10.0; }), 1.5));
  EXPECT_FALSE(find_first_step({}, 1.5));
}

TEST(FindFirstStep, NeedsThreeFlatPoints) {
  const auto step_after = [](double last) {
    return find_first_step(blocks_curve([=](double x) { return x <= last ? 10.0 : 20.0; }), 1.5);
  };
  EXPECT_FALSE(step_after(1));
  EXPECT_FALSE(step_after(2));
  EXPECT_TRUE(step_after(3));
}

TEST(FindFirstStep, DisturbedPointsAreOutliers) {
  auto made = blocks_curve([](double x) { return x <= 132 ? 10.0 : 20.0; });
  for (const std::size_t i : {3U, 70U, 71U, 72U, 130U}) {
    made[i].y *= 2;
  }
  const auto step = find_first_step(made, 1.5);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->last_flat_x, 132);
  EXPECT_EQ(step->outliers, 5U);
  EXPECT_LT(step->confidence, 1);
  EXPECT_GT(step->confidence, 0.9);
}

TEST(FindFirstStep, AStepLasts) {
  for (const std::size_t after : {1U, 2U, 3U}) {
    auto made = blocks_curve([](double) { return 10.0; });
    for (std::size_t i = 0; i < after; ++i) {
      made[made.size() - 1 - i].y *= 2;
    }
    EXPECT_EQ(find_first_step(made, 1.5).has_value(), after >= fewest_after_step) << after;
    EXPECT_TRUE(find_first_step(made, 1.5, 1)) << after;
  }
  const auto hump = blocks_curve([](double x) { return x > 100 && x <= 150 ? 20.0 : 10.0; });
  EXPECT_FALSE(find_first_step(hump, 1.5));
}

TEST(FindFirstStep, WhatRisesOnIsNoStep) {
  const auto rising = [](double x) { return x <= 10 ? 10.0 : 2 * x; };
  EXPECT_FALSE(find_first_step(blocks_curve(rising), 1.5));
}

TEST(FindFirstStep, SmallerStepsAreNone) {
  const auto made = blocks_curve([](double x) { return x <= 132 ? 10.0 : 14.0; });
  EXPECT_FALSE(find_first_step(made, 1.5));
  EXPECT_TRUE(find_first_step(made, 1.3));
}

}  // namespace
}  // namespace hipscope
