// What timing concludes from made curves, and its statistics.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

TEST(TimingStepsTest, TheSmallestStepIsTheClocksOwn) {
  const timing::Steps steps = timing::steps_of(std::vector<double>{64, 96, 64, 160, 96});
  EXPECT_EQ(steps.smallest, 32);
  EXPECT_EQ(steps.mean, 96);
  EXPECT_EQ(steps.backward, 0U);
}

TEST(TimingStepsTest, EqualDifferencesAreAStepOfTheirOwnAndRoundingIsNone) {
  EXPECT_EQ(timing::steps_of(std::vector<double>{36, 36, 36}).smallest, 36);
  EXPECT_EQ(timing::steps_of(std::vector<double>{1, 1 + 1e-8, 1}).smallest, 1);
  EXPECT_EQ(timing::steps_of(std::vector<double>{0, 0}).smallest, 0);
}

TEST(TimingStepsTest, AClockThatGoesBackIsSeen) {
  EXPECT_EQ(timing::steps_of(std::vector<double>{1, -1, 2}).backward, 1U);
}

TEST(TimingGroupsTest, LargerGroupsSpreadLess) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1, 0.1);
  std::vector<double> times(4096);
  std::generate(times.begin(), times.end(), [&] { return noise(random); });
  const auto ones = timing::spreads_of_groups(times, 1);
  const auto many = timing::spreads_of_groups(times, 64);
  EXPECT_NEAR(ones.medians, 1.349 * 0.1, 0.01);  // of a normal distribution
  EXPECT_NEAR(many.means, ones.means / 8, 0.005);
  EXPECT_NEAR(many.medians, 1.2533 * ones.medians / 8, 0.006);
}

TEST(TimingGroupsTest, TooFewGroupsAreRefused) {
  const std::vector<double> times(15, 1.0);
  EXPECT_THROW(static_cast<void>(timing::spreads_of_groups(times, 2)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(timing::spreads_of_groups(times, 0)), std::invalid_argument);
}

TEST(TimingOctavesTest, EachOctaveHasItsMedian) {
  const std::vector<CurvePoint> points = {
      {.x = 0.1, .y = 1}, {.x = 0.9, .y = 3}, {.x = 0.6, .y = 2}, {.x = 4.0, .y = 7}};
  const auto octaves = timing::medians_of_octaves(points);
  ASSERT_EQ(octaves.size(), 2U);
  EXPECT_EQ(octaves[0].x, 0.5);
  EXPECT_EQ(octaves[0].y, 2);
  EXPECT_EQ(octaves[1].x, 4);
  EXPECT_EQ(octaves[1].y, 7);
}

MadeResults concluded(const std::string& sweep, const std::string& value,
                      const std::vector<CurvePoint>& curve) {
  MadeResults made("timing");
  made.curve(sweep, value, curve);
  timing::conclude(made.results());
  return made;
}

TEST(TimingTest, WhatAWayOfTimingAddsIsAConstant) {
  const std::vector<double> known = {1, 10, 100, 1000};
  const MadeResults made =
      concluded("known", "added, host clock", made_curve(known, [](double) { return 8.0; }));
  EXPECT_EQ(made.inference("time that the host's clock adds").value, 8);
  EXPECT_EQ(made.inference("time that the host's clock adds").confidence, 1);
  EXPECT_TRUE(made.inference("time that events add").name.empty());
}

TEST(TimingTest, AFirstLaunchThatWaitsForItsCodeIsTold) {
  const auto slow = [](double launch) { return launch == 1 ? 510.0 : 10.0; };
  const MadeResults made = concluded("first", "completion", made_curve({1, 2, 3, 4, 5, 6}, slow));
  EXPECT_EQ(made.inference("first launch").value, 500);
  const MadeResults same = concluded("first", "completion",
                                     made_curve(
                                         {1, 2, 3, 4, 5, 6}, [](double) { return 10; }, 0.1));
  EXPECT_FALSE(same.inference("first launch").value.has_value());
}

TEST(TimingTest, TheClockIsSteadyOnceItStaysAtItsLast) {
  const MadeResults made = concluded("drift", "shader clock",
                                     {{.x = 0.5, .y = 345},
                                      {.x = 1, .y = 1980},
                                      {.x = 2, .y = 1700},
                                      {.x = 4, .y = 1975},
                                      {.x = 8, .y = 1980}});
  EXPECT_EQ(made.inference("time until the clock is steady").value, 4);
  const MadeResults falling = concluded(
      "drift", "shader clock", {{.x = 1, .y = 1900}, {.x = 2, .y = 1800}, {.x = 4, .y = 1700}});
  EXPECT_FALSE(falling.inference("time until the clock is steady").value.has_value());
}

TEST(TimingTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("timing", timing::conclude);
}

}  // namespace
}  // namespace hipscope
