// fit_two_limits and fit_issue on curves that are made; through noise, and of nothing, in the trial
// (src/2-compute/ilp_tlp/findings_trial.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hipscope/inference.h"
#include "made_curve.h"

namespace hipscope {
namespace {

const std::vector<double> chain_counts = {1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<double> wave_counts = {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64};

// max(latency, n * interval) at each n, with normal noise of `noise` (relative).
std::vector<CurvePoint> rounds(const std::vector<double>& n, double latency, double interval,
                               double noise = 0, unsigned seed = 1) {
  return made_curve(
      n, [=](double x) { return std::max(latency, x * interval); }, noise, seed);
}

TEST(FitTwoLimits, LargestResidualIsThatOfTheWorstPoint) {
  auto made = rounds(chain_counts, 4, 1);
  made[1].y *= 1.5;
  const auto limits = fit_two_limits(made);
  ASSERT_TRUE(limits);
  EXPECT_NEAR(limits->largest_relative_residual, 1 - limits->at(made[1].x) / made[1].y, 1e-12);
  EXPECT_GT(limits->largest_relative_residual, 0.2);
}

TEST(FitIssue, FindsBothLimits) {
  const auto fit = fit_issue(rounds(chain_counts, 4, 1));
  ASSERT_TRUE(fit);
  EXPECT_DOUBLE_EQ(fit->level, 4);
  ASSERT_TRUE(fit->slope);
  EXPECT_DOUBLE_EQ(*fit->slope, 1);
  EXPECT_NEAR(fit->largest_relative_residual, 0, 1e-12);
}

TEST(FitIssue, SaysWhenTheIntervalNeverShows) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto flat = fit_issue(rounds(chain_counts, 20, 1, 0.01, seed));
    ASSERT_TRUE(flat);
    EXPECT_NEAR(flat->level, 20, 0.4);
    EXPECT_FALSE(flat->slope);
    EXPECT_EQ(flat->level_points, chain_counts.size());
  }
}

TEST(FitIssue, ALatencyOfOneIntervalIsTheFirstPoint) {
  const auto fit = fit_issue(rounds(chain_counts, 4, 4));
  ASSERT_TRUE(fit);
  EXPECT_DOUBLE_EQ(fit->level, 4);
  ASSERT_TRUE(fit->slope);
  EXPECT_DOUBLE_EQ(*fit->slope, 4);
}

TEST(FitIssue, RefusesTooFewPointsAndWhatIsNotPositive) {
  EXPECT_FALSE(fit_issue({}));
  EXPECT_FALSE(fit_issue(rounds({1, 2, 3}, 4, 1)));
  auto made = rounds(chain_counts, 4, 1);
  made[3].y = 0;
  EXPECT_FALSE(fit_issue(made));
  made[3].y = std::nan("");
  EXPECT_FALSE(fit_issue(made));
  made = rounds(chain_counts, 4, 1);
  made[0].x = 0;
  EXPECT_FALSE(fit_issue(made));
}

}  // namespace
}  // namespace hipscope
