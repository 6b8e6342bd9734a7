#include "hipscope/logarithmic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "hipscope/statistics.h"
#include "inference_rising.h"

namespace hipscope {

namespace {

// From second differences, which a step, a slope or an outlier hardly touches in the median.
double noise_of(std::span<const double> y) {
  std::vector<double> bends;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) {
    bends.push_back(std::abs(y[i - 1] - 2 * y[i] + y[i + 1]));
  }
  return bends.empty() ? 0 : deviations_per_median * summarize(bends).median / std::sqrt(6.0);
}

double dot_product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(std::vector<double>& sum, double times, const std::vector<double>& what) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += times * what[i];
  }
}

// The y of the cubic of the octaves that is nearest to a curve, by squares.
std::vector<double> nearest_cubic(const Logarithmic& curve) {
  constexpr int degree = 3;
  const double middle = (curve.octaves.front() + curve.octaves.back()) / 2;
  std::vector<double> cubic(curve.y.size(), 0);
  std::vector<std::vector<double>> powers;  // each at right angles to those before
  for (int power = 0; power <= degree; ++power) {
    std::vector<double> values;
    for (const double octave : curve.octaves) {
      values.push_back(std::pow(octave - middle, power));
    }
    for (const std::vector<double>& lower : powers) {
      add(values, -dot_product(values, lower) / dot_product(lower, lower), lower);
    }
    add(cubic, dot_product(curve.y, values) / dot_product(values, values), values);
    powers.push_back(std::move(values));
  }
  return cubic;
}

}  // namespace

Logarithmic logarithmic(std::span<const CurvePoint> curve) {
  Logarithmic made;
  std::vector<double>& all = made.measured;
  for (const CurvePoint& point : curve) {
    made.octaves.push_back(std::log2(point.x));
    all.push_back(std::log(point.y));
  }
  constexpr double least_noise = 0.008;
  made.noise = noise_of(all);
  made.noise_of_levels = std::max(least_noise, made.noise);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t middle = std::clamp<std::size_t>(i, 1, all.size() - 2);
    const std::size_t reach = std::min({std::size_t{2}, middle, all.size() - 1 - middle});
    made.y.push_back(summarize(std::span(all).subspan(middle - reach, 2 * reach + 1)).median);
  }
  return made;
}

bool never_falls(const Logarithmic& curve) {
  constexpr double share = 0.8;  // of the points; of normal noise, within 1.28
  constexpr double farthest = 1.6;
  std::vector<CurvePoint> points;
  for (std::size_t i = 0; i < curve.y.size(); ++i) {
    points.push_back({.x = curve.octaves[i], .y = curve.y[i]});
  }
  std::vector<double> distances = never_falling(points, Middle::median);
  for (std::size_t i = 0; i < distances.size(); ++i) {
    distances[i] = std::abs(curve.measured[i] - distances[i]);
  }
  const auto most = static_cast<std::size_t>(share * static_cast<double>(distances.size() - 1));
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(most),
                   distances.end());
  return distances[most] <= farthest * curve.noise_of_levels;
}

double squares_of_cubic(const Logarithmic& curve, std::span<const double> errors) {
  constexpr double largest = 9;
  const std::vector<double> cubic = nearest_cubic(curve);
  double squares = 0;
  for (std::size_t i = 0; i < cubic.size(); ++i) {
    squares += std::min(std::pow((curve.measured[i] - cubic[i]) / errors[i], 2), largest);
  }
  return squares;
}

}  // namespace hipscope
