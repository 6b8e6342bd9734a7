#include "hipscope/statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace hipscope {

double quantile(std::span<const double> sorted, double fraction) {
  if (sorted.empty()) {
    throw std::invalid_argument("quantile of no samples");
  }
  if (!(fraction >= 0 && fraction <= 1)) {
    throw std::invalid_argument("a quantile's fraction lies in 0 ... 1");
  }
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Summary summarize(std::span<const double> samples) {
  if (samples.empty()) {
    throw std::invalid_argument("summary of no samples");
  }
  if (std::any_of(samples.begin(), samples.end(), [](double s) { return std::isnan(s); })) {
    throw std::invalid_argument("summary of samples that hold a NaN");
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return {.count = sorted.size(),
          .minimum = sorted.front(),
          .first_quartile = quantile(sorted, 0.25),
          .median = quantile(sorted, 0.5),
          .third_quartile = quantile(sorted, 0.75),
          .maximum = sorted.back()};
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) {
    throw std::invalid_argument("geometric mean of no values");
  }
  double sum_of_logarithms = 0;
  for (const double value : values) {
    if (!(value > 0)) {
      throw std::invalid_argument("geometric mean of a value that is not positive");
    }
    sum_of_logarithms += std::log(value);
  }
  return std::exp(sum_of_logarithms / static_cast<double>(values.size()));
}

LineFit fit_line(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) {
    throw std::invalid_argument("a line fit needs as many x as y");
  }
  const auto count = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / count;
    mean_y += y[i] / count;
  }
  double variance_x = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    variance_x += (x[i] - mean_x) * (x[i] - mean_x);
    covariance += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (!(variance_x > 0)) {
    throw std::invalid_argument("a line fit needs two different x");
  }
  LineFit fit;
  fit.slope = covariance / variance_x;
  fit.intercept = mean_y - fit.slope * mean_x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = std::abs(y[i] - (fit.intercept + fit.slope * x[i])) / std::abs(y[i]);
    fit.largest_relative_residual = std::max(fit.largest_relative_residual, residual);
  }
  return fit;
}

LineFit fit_robust_line(std::span<const double> x, std::span<const double> y) {
  LineFit line = fit_line(x, y);  // throws for both
  std::vector<double> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (x[i] != x[j]) {
        slopes.push_back((y[i] - y[j]) / (x[i] - x[j]));
      }
    }
  }
  line.slope = summarize(slopes).median;
  std::vector<double> rest;
  for (std::size_t i = 0; i < x.size(); ++i) {
    rest.push_back(y[i] - line.slope * x[i]);
  }
  line.intercept = summarize(rest).median;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < x.size(); ++i) {
    residuals.push_back(std::abs((rest[i] - line.intercept) / y[i]));
  }
  constexpr double sigma_per_median_deviation = 1.4826;  // of a normal distribution
  constexpr double certain_sigmas = 4;
  constexpr double least = 0.05;
  const double limit =
      std::max(least, certain_sigmas * sigma_per_median_deviation * summarize(residuals).median);
  const auto outliers = static_cast<std::size_t>(std::count_if(
      residuals.begin(), residuals.end(), [=](double residual) { return residual > limit; }));
  line.outliers = 4 * outliers <= x.size() ? outliers : 0;
  line.largest_relative_residual = 0;
  for (const double residual : residuals) {
    if (line.outliers == 0 || residual <= limit) {
      line.largest_relative_residual = std::max(line.largest_relative_residual, residual);
    }
  }
  return line;
}

}  // namespace hipscope
