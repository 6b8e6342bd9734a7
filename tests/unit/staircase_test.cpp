// find_first_step on curves that are made, and on a published one; of nothing in the trial
// (src/2-compute/cu_staircase/findings_trial.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hipscope/inference.h"
#include "made_curve.h"
#include "published.h"

namespace hipscope {
namespace {

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
