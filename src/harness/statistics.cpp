#include "hipscope/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
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
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {samples.size(), nan, nan, nan, nan, nan};
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

namespace {

// A value, and how much it counts.
struct Weighted {
  double value = 0;
  double weight = 0;
};

// Half of the weight is on either side of it.
double weighted_median(std::vector<Weighted> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  double left = 0;
  for (const Weighted& each : all) {
    left += each.weight / 2;
  }
  for (const Weighted& each : all) {
    left -= each.weight;
    if (left <= 0) {
      return each.value;
    }
  }
  return all.back().value;
}

// The slope and the intercept of most points. An error of a point is taken for one relative to its
// y, so that two points tell the slope the better the farther apart they are for what they are.
LineFit line_of_most(std::span<const double> x, std::span<const double> y) {
  std::vector<Weighted> slopes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (x[i] != x[j]) {
        slopes.push_back({.value = (y[i] - y[j]) / (x[i] - x[j]),
                          .weight = std::abs(x[i] - x[j]) / std::hypot(y[i], y[j])});
      }
    }
  }
  LineFit line{.slope = weighted_median(slopes)};
  std::vector<Weighted> rest;
  for (std::size_t i = 0; i < x.size(); ++i) {
    rest.push_back({.value = y[i] - line.slope * x[i], .weight = 1 / std::abs(y[i])});
  }
  line.intercept = weighted_median(rest);
  return line;
}

// The standard error of the slope, relative to it, by points whose errors are relative to their y.
double slope_error(std::span<const double> x, std::span<const double> y,
                   std::span<const double> residuals, double slope) {
  double weights = 0;
  double mean = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double weight = 1 / (y[i] * y[i]);
    weights += weight;
    mean += weight * x[i];
  }
  mean /= weights;
  double lever = 0;
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    lever += (x[i] - mean) * (x[i] - mean) / (y[i] * y[i]);
    squares += residuals[i] * residuals[i];
  }
  constexpr double parameters = 2;
  return std::sqrt(squares / (static_cast<double>(x.size()) - parameters) / lever) /
         std::abs(slope);
}

}  // namespace

LineFit fit_robust_line(std::span<const double> x, std::span<const double> y) {
  fit_line(x, y);  // throws for both
  LineFit line = line_of_most(x, y);
  std::vector<double> residuals;
  for (std::size_t i = 0; i < x.size(); ++i) {
    residuals.push_back(std::abs((y[i] - line.slope * x[i] - line.intercept) / y[i]));
  }
  constexpr double certain_sigmas = 4;
  constexpr double least = 0.1;
  constexpr double parameters = 2;  // to which the residuals of few points owe that they are small
  const auto count = static_cast<double>(x.size());
  const double sigma = deviations_per_median * summarize(residuals).median * count /
                       std::max(1.0, count - parameters);
  const double limit = std::max(least, certain_sigmas * sigma);
  const auto outliers = static_cast<std::size_t>(std::count_if(
      residuals.begin(), residuals.end(), [=](double residual) { return residual > limit; }));
  line.outliers = 4 * outliers <= x.size() ? outliers : 0;
  std::vector<double> kept_x;
  std::vector<double> kept_y;
  std::vector<double> kept_residuals;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (line.outliers == 0 || residuals[i] <= limit) {
      kept_x.push_back(x[i]);
      kept_y.push_back(y[i]);
      kept_residuals.push_back(residuals[i]);
      line.largest_relative_residual = std::max(line.largest_relative_residual, residuals[i]);
    }
  }
  line.points = kept_x.size();
  line.relative_slope_error = slope_error(kept_x, kept_y, kept_residuals, line.slope);
  return line;
}

double slope_confidence(const LineFit& line, double tolerance) {
  constexpr std::size_t parameters = 2;
  if (line.points <= parameters) {
    return 0;
  }
  const std::size_t degrees = line.points - parameters;
  const auto freedom = static_cast<double>(degrees);
  const double deviations = tolerance / std::max(line.relative_slope_error, 1e-9);
  // Student's distribution between -t and t, with t = tan(angle) * sqrt(freedom): Abramowitz and
  // Stegun, 26.7.3 and 26.7.4.
  const double angle = std::atan(deviations / std::sqrt(freedom));
  const bool is_odd = degrees % 2 != 0;
  double term = is_odd ? std::cos(angle) : 1;
  double sum = 0;
  for (std::size_t i = is_odd ? 1 : 0; i + 2 <= degrees; i += 2) {
    const auto done = static_cast<double>(i);
    sum += term;
    term *= std::cos(angle) * std::cos(angle) * (done + 1) / (done + 2);
  }
  const double chance = is_odd ? (angle + std::sin(angle) * sum) * 2 / M_PI : std::sin(angle) * sum;
  constexpr double doubt = 4;
  return std::max(0.0, 1 - doubt * (1 - chance));
}

}  // namespace hipscope
