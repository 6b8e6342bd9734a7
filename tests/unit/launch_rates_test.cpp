// fit_launch_rates on curves that are made, and on the published ones.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hipscope/inference.h"
#include "published.h"

namespace hipscope {
namespace {

constexpr double threads = 1 << 30;

// Launches of 2^30 threads in blocks of 1 ... 1024: t = max(blocks / block_rate, threads /
// thread_rate), each time wrong by up to `noise`.
std::vector<LaunchTime> launches(double block_rate, double thread_rate, double noise) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> error(1 - noise, 1 + noise);
  std::vector<LaunchTime> made;
  for (double block = 1; block <= 1024; block *= 2) {
    const double seconds = std::max(threads / block / block_rate, threads / thread_rate);
    made.push_back(
        {.blocks = threads / block, .threads = threads, .seconds = seconds * error(random)});
  }
  return made;
}

// The launches of a published 1-D curve, in cycles.
std::vector<LaunchTime> published_launches(const std::string& gpu) {
  std::vector<LaunchTime> made;
  for (const auto& figure : detail::published_figures()) {
    if (figure.experiment == "thread_rate" && figure.series == "1d" && figure.gpu == gpu &&
        figure.metric == "thread rate") {
      const double block = std::stod(figure.x);
      made.push_back(
          {.blocks = threads / block, .threads = threads, .seconds = threads / figure.value});
    }
  }
  return made;
}

TEST(FitLaunchRates, FindsBothLimitsExactly) {
  const auto rates = fit_launch_rates(launches(0.25, 64, 0));
  ASSERT_TRUE(rates);
  ASSERT_TRUE(rates->thread_rate);
  EXPECT_NEAR(rates->block_rate, 0.25, 1e-12);
  EXPECT_NEAR(*rates->thread_rate, 64, 1e-9);
  EXPECT_NEAR(rates->largest_relative_residual, 0, 1e-12);
  // Blocks of 512 and 1024; at 256 both limits are equal and either may explain it.
  EXPECT_GE(rates->thread_limited_points, 2U);
  EXPECT_LE(rates->thread_limited_points, 3U);
}

TEST(FitLaunchRates, OnlyBlocksGiveNoThreadRate) {
  const auto rates = fit_launch_rates(launches(0.5, 1e9, 0));
  ASSERT_TRUE(rates);
  EXPECT_NEAR(rates->block_rate, 0.5, 1e-12);
  EXPECT_FALSE(rates->thread_rate);
  EXPECT_EQ(rates->thread_limited_points, 0U);
}

TEST(FitLaunchRates, LargestResidualIsThatOfTheWorstPoint) {
  std::vector<LaunchTime> made = launches(0.25, 64, 0);
  made[1].seconds *= 1.5;
  const auto rates = fit_launch_rates(made);
  ASSERT_TRUE(rates);
  const double model = rates->seconds(made[1].blocks, made[1].threads);
  EXPECT_NEAR(rates->largest_relative_residual, 1 - model / made[1].seconds, 1e-12);
  EXPECT_GT(rates->largest_relative_residual, 0.2);
}

TEST(FitLaunchRates, RefusesTooFewPoints) {
  std::vector<LaunchTime> made = launches(0.25, 64, 0);
  made.resize(4);
  EXPECT_TRUE(fit_launch_rates(made));
  made.resize(3);
  EXPECT_FALSE(fit_launch_rates(made));
  EXPECT_FALSE(fit_launch_rates({}));
}

TEST(FitLaunchRates, RefusesTimesThatAreNotPositive) {
  for (const double bad : {0.0, -1.0, std::nan("")}) {
    std::vector<LaunchTime> made = launches(0.25, 64, 0);
    made[5].seconds = bad;
    EXPECT_FALSE(fit_launch_rates(made)) << bad;
  }
  std::vector<LaunchTime> made = launches(0.25, 64, 0);
  made[5].blocks = 0;
  EXPECT_FALSE(fit_launch_rates(made));
}

TEST(FitLaunchRates, ReadsThePublishedCurveOfTheMi25) {
  const auto rates = fit_launch_rates(published_launches("Radeon Instinct MI25"));
  ASSERT_TRUE(rates);
  ASSERT_TRUE(rates->thread_rate);
  EXPECT_NEAR(rates->block_rate, 0.2505, 0.0005);
  EXPECT_NEAR(*rates->thread_rate, 64.05, 0.1);
  EXPECT_LT(rates->largest_relative_residual, 0.005);
}

TEST(FitLaunchRates, ReadsThePublishedCurveOfTheRx6600) {
  const auto rates = fit_launch_rates(published_launches("Radeon RX 6600"));
  ASSERT_TRUE(rates);
  ASSERT_TRUE(rates->thread_rate);
  EXPECT_NEAR(rates->block_rate, 0.995, 0.003);
  EXPECT_NEAR(*rates->thread_rate, 42.33, 0.1);
  EXPECT_EQ(rates->thread_limited_points, 5U);
  EXPECT_LT(rates->largest_relative_residual, 0.005);
}

}  // namespace
}  // namespace hipscope
