// Statistics of samples: order statistics, and the spread by which hipscope judges a measurement.
// Plain C++, no GPU headers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hipscope {

/// Order statistics of a set of samples, in the samples' own unit.
struct Summary {
  std::size_t count = 0;
  double minimum = 0;
  double first_quartile = 0;
  double median = 0;
  double third_quartile = 0;
  double maximum = 0;

  /// Third minus first quartile, in the samples' unit.
  [[nodiscard]] double interquartile_range() const { return third_quartile - first_quartile; }

  /// Interquartile range over the median, dimensionless; 0 where the median is 0.
  [[nodiscard]] double relative_spread() const {
    return median != 0 ? interquartile_range() / median : 0;
  }
};

/// The value below which a `fraction` (0 ... 1) of `sorted` lies, by linear interpolation between
/// the two nearest samples (Hyndman and Fan's type 7, the default of R and NumPy).
/// Throws std::invalid_argument when `sorted` is empty or `fraction` is outside 0 ... 1.
double quantile(std::span<const double> sorted, double fraction);

/// The order statistics of `samples`, which need not be sorted.
/// All are NaN where a sample is. Throws std::invalid_argument when `samples` is empty.
Summary summarize(std::span<const double> samples);

/// Standard deviations in the median distance from the middle, of normal noise.
inline constexpr double deviations_per_median = 1.4826;

/// The median of `samples`, which need not be sorted. Throws as summarize does.
inline double median_of(const std::vector<double>& samples) { return summarize(samples).median; }

/// The geometric mean of `values`. Throws std::invalid_argument when `values` is empty or holds a
/// value that is not positive.
double geometric_mean(std::span<const double> values);

/// A least-squares straight line y = intercept + slope * x, and the largest relative residual
/// |y - fit| / |y| over the points.
struct LineFit {
  double intercept = 0;
  double slope = 0;
  double largest_relative_residual = 0;
  std::size_t outliers = 0;         ///< points that fit_robust_line left out of that
  std::size_t points = 0;           ///< those that it kept
  double relative_slope_error = 0;  ///< by fit_robust_line: the slope's standard error, over it
};

/// The least-squares line through the points (x[i], y[i]).
/// Throws std::invalid_argument when the lengths differ, or fewer than two different x are given.
LineFit fit_line(std::span<const double> x, std::span<const double> y);

/// The line whose slope is the median of all pairs' and whose intercept is the median of the rest
/// (Theil and Sen's), which a quarter of the points cannot move far. Errors are taken as relative
/// to y, so a pair has the weight of its distance over its y, a point 1 / y.
/// Points further from it than four standard deviations of the others, and a tenth of y, are
/// outliers; a quarter at most. Throws as fit_line does.
LineFit fit_robust_line(std::span<const double> x, std::span<const double> y);

/// The confidence that the slope of a robust line is within the relative `tolerance` of the true
/// one: 1 less four times the chance that it is not, by its standard error and the number of points
/// (Student's distribution). So an answer with more than one half is right at least seven times of
/// eight.
double slope_confidence(const LineFit& line, double tolerance);

}  // namespace hipscope
