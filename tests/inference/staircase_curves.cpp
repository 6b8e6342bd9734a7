#include "staircase_curves.h"

#include <algorithm>
#include <cmath>

namespace hipscope::trial {

const std::vector<Disturbance>& all_disturbances() {
  static const std::vector<Disturbance> all = [] {
    std::vector<Disturbance> made;
    for (const double noise : {0.001, 0.01, 0.05}) {
      made.push_back({.noise = noise});
      made.push_back({.noise = noise, .outlier_share = 0.02});
      made.push_back({.noise = noise, .outlier_share = 0.03, .outlier_factor = 1.4});
      made.push_back({.noise = noise, .drift = 0.05});
      made.push_back({.noise = noise, .drift = -0.05});
    }
    return made;
  }();
  return all;
}

Curve measured(const std::vector<double>& xs, const std::function<double(double)>& y,
               const Disturbance& disturbance, Random& random) {
  Curve curve;
  for (const double x : xs) {
    curve.push_back({.x = x, .y = y(x)});
  }
  curve = disturbed(std::move(curve), disturbance, random);
  return happens(random, 0.25) ? with_burst(std::move(curve), random) : curve;
}

Curve with_burst(Curve curve, Random& random) {
  constexpr std::size_t most_points = 5;
  constexpr std::size_t share = 12;
  constexpr std::size_t undisturbed_end = 3;
  constexpr double factor = 1.8;
  const std::size_t points = std::min(most_points, curve.size() / share);
  if (points + undisturbed_end > curve.size()) {
    return curve;
  }
  const auto first = static_cast<std::size_t>(
      between(random, 0, static_cast<double>(curve.size() - undisturbed_end - points)));
  for (std::size_t i = first; i < first + points; ++i) {
    curve[i].y *= factor;
  }
  return curve;
}

Curve nothing(const std::vector<double>& xs, Random& random) {
  constexpr double level = 1000;
  const Disturbance& disturbance = one_of(random, all_disturbances());
  const double kind = between(random, 0, 1);
  if (kind < 0.1) {
    return measured(
        xs, [](double) { return level; }, {.noise = 0.2}, random);
  }
  if (kind < 0.2) {
    const double waves = between(random, 0.3, 3);
    const double height = between(random, 0.1, 0.5);
    return measured(
        xs,
        [&](double x) {
          const double part = std::log(x / xs.front()) / std::log(xs.back() / xs.front());
          return level * (1 + height * std::sin(2 * M_PI * waves * part));
        },
        disturbance, random);
  }
  if (kind < 0.4) {
    return measured(
        xs, [](double) { return level; }, disturbance, random);
  }
  Curve curve = disturbed(non_structure(xs, level, true, random).curve, disturbance, random);
  return happens(random, 0.25) ? with_burst(std::move(curve), random) : curve;
}

std::vector<double> counted(double first, double last) {
  std::vector<double> xs;
  for (double x = first; x <= last; ++x) {
    xs.push_back(x);
  }
  return xs;
}

std::vector<double> powers(double first, double last) {
  std::vector<double> xs;
  for (double x = first; x <= last; x *= 2) {
    xs.push_back(x);
  }
  return xs;
}

Curve reciprocal(Curve times) {
  for (CurvePoint& point : times) {
    point.y = 1e6 / point.y;
  }
  return times;
}

}  // namespace hipscope::trial
