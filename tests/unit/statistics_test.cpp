#include "hipscope/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "test_support.h"

namespace hipscope {
namespace {

TEST(Quantile, InterpolatesLikeNumPy) {
  const std::vector<double> sorted = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 4);
}

TEST(Quantile, RefusesNoSamplesAndWrongFractions) {
  const std::vector<double> one = {7};
  EXPECT_THROW(quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(quantile(one, -0.1), std::invalid_argument);
  EXPECT_THROW(quantile(one, 1.1), std::invalid_argument);
  EXPECT_THROW(quantile(one, nan), std::invalid_argument);
}

TEST(Summarize, TakesSamplesInAnyOrder) {
  const std::vector<double> samples = {50, 10, 40, 20, 30};
  const Summary summary = summarize(samples);
  EXPECT_EQ(summary.count, 5U);
  EXPECT_EQ(summary.minimum, 10);
  EXPECT_EQ(summary.first_quartile, 20);
  EXPECT_EQ(summary.median, 30);
  EXPECT_EQ(summary.third_quartile, 40);
  EXPECT_EQ(summary.maximum, 50);
  EXPECT_EQ(summary.interquartile_range(), 20);
  EXPECT_DOUBLE_EQ(summary.relative_spread(), 2.0 / 3);
}

TEST(MedianOf, TakesSamplesInAnyOrder) {
  EXPECT_DOUBLE_EQ(median_of({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_THROW(static_cast<void>(median_of({})), std::invalid_argument);
}

TEST(Summarize, SpreadOfAZeroMedianIsZero) {
  const std::vector<double> samples = {-1, 0, 1};
  EXPECT_EQ(summarize(samples).relative_spread(), 0);
}

TEST(Summarize, RefusesNoSamples) { EXPECT_THROW(summarize({}), std::invalid_argument); }

TEST(Summarize, OfASampleThatCannotBeToldTellsNothing) {
  const std::vector<double> with_nan = {1, nan, 2};
  const Summary summary = summarize(with_nan);
  EXPECT_EQ(summary.count, 3U);
  for (const double value : {summary.minimum, summary.first_quartile, summary.median,
                             summary.third_quartile, summary.maximum, summary.relative_spread()}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(GeometricMean, OfKnownValues) {
  const std::vector<double> values = {2, 8, 4};
  EXPECT_DOUBLE_EQ(geometric_mean(values), 4);
  const std::vector<double> huge = {1e300, 1e300, 1e300};
  EXPECT_NEAR(geometric_mean(huge) / 1e300, 1, 1e-10);
}

TEST(GeometricMean, RefusesWhatIsNotPositive) {
  EXPECT_THROW(geometric_mean({}), std::invalid_argument);
  for (const double bad : {0.0, -1.0, nan}) {
    const std::vector<double> values = {1, bad};
    EXPECT_THROW(geometric_mean(values), std::invalid_argument) << bad;
  }
}

TEST(FitLine, FindsAnExactLine) {
  const std::vector<double> x = {1, 2, 4, 8};
  const std::vector<double> y = {5, 8, 14, 26};
  const LineFit fit = fit_line(x, y);
  EXPECT_NEAR(fit.slope, 3, 1e-12);
  EXPECT_NEAR(fit.intercept, 2, 1e-12);
  EXPECT_NEAR(fit.largest_relative_residual, 0, 1e-12);
}

TEST(FitLine, LeastSquaresWithItsLargestResidual) {
  const std::vector<double> x = {0, 1, 2};
  const std::vector<double> y = {1, 4, 4};
  const LineFit fit = fit_line(x, y);
  EXPECT_NEAR(fit.slope, 1.5, 1e-12);
  EXPECT_NEAR(fit.intercept, 1.5, 1e-12);
  // Residuals -0.5, 1 and -0.5 of 1, 4 and 4: the first is the largest part of its value.
  EXPECT_NEAR(fit.largest_relative_residual, 0.5, 1e-12);
}

TEST(FitRobustLine, LeavesOutAnOutlier) {
  std::vector<double> x = {8, 16, 32, 64, 128, 256};
  std::vector<double> y;
  for (const double count : x) {
    y.push_back(5 + 2 * count);
  }
  y[4] *= 2;
  const LineFit fit = fit_robust_line(x, y);
  EXPECT_NEAR(fit.slope, 2, 1e-9);
  EXPECT_NEAR(fit.intercept, 5, 1e-9);
  EXPECT_EQ(fit.outliers, 1U);
  EXPECT_EQ(fit.points, 5U);
  EXPECT_NEAR(fit.relative_slope_error, 0, 1e-9);
}

// Errors are relative: two points that are near to each other for what they are tell little.
TEST(FitRobustLine, PointsFarApartCountMore) {
  const std::vector<double> x = {8, 10, 12, 14, 16, 512};
  const std::vector<double> y = {112, 108, 111, 105, 107, 612};
  EXPECT_NEAR(fit_robust_line(x, y).slope, 1, 0.05);
}

// Of a normal distribution with 4 degrees of freedom 95 % lie within 2.776 deviations, of one with
// 3 within 3.182, and with 1 within 12.71.
TEST(SlopeConfidence, IsLessByFourTimesTheChanceOfAnError) {
  const auto confidence = [](std::size_t points, double deviations) {
    const LineFit line{.slope = 1, .points = points, .relative_slope_error = 0.05 / deviations};
    return slope_confidence(line, 0.05);
  };
  EXPECT_NEAR(confidence(6, 2.776), 0.8, 1e-3);
  EXPECT_NEAR(confidence(5, 3.182), 0.8, 1e-3);
  EXPECT_NEAR(confidence(3, 12.71), 0.8, 1e-3);
  EXPECT_NEAR(confidence(12, 2.228), 0.8, 1e-3);
  EXPECT_EQ(confidence(6, 0.5), 0);
  EXPECT_EQ(confidence(2, 100), 0);  // two points are on every line
}

TEST(FitLine, RefusesWhatDeterminesNoLine) {
  const std::vector<double> one = {1};
  const std::vector<double> two = {1, 2};
  const std::vector<double> same = {3, 3};
  EXPECT_THROW(fit_line(two, one), std::invalid_argument);
  EXPECT_THROW(fit_line(one, one), std::invalid_argument);
  EXPECT_THROW(fit_line(same, two), std::invalid_argument);
  EXPECT_THROW(fit_line({}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace hipscope
