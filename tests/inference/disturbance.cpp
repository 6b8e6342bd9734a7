#include "disturbance.h"

#include <algorithm>
#include <cmath>

#include "normal_noise.h"

namespace hipscope::trial {

namespace {

// Slows down neighbours, at most five and at most a twelfth of all, by 1.8. Not the last three
// points: there it would be a step.
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

}  // namespace

double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

double between_octaves(Random& random, double low, double high) {
  return std::exp2(between(random, std::log2(low), std::log2(high)));
}

bool happens(Random& random, double share) { return between(random, 0, 1) < share; }

const std::vector<Disturbance>& disturbances() {
  static const std::vector<Disturbance> all = {
      {.name = "0.1 % noise", .noise = 0.001},
      {.name = "1 % noise", .noise = 0.01},
      {.name = "5 % noise", .noise = 0.05},
      {.name = "1 % noise, outliers", .noise = 0.01, .outlier_share = 0.02},
      {.name = "1 % noise, drift of 5 %", .noise = 0.01, .drift = 0.05},
  };
  return all;
}

Curve disturbed(Curve curve, const Disturbance& disturbance, Random& random) {
  NormalNoise error(1, disturbance.noise);
  const auto last = static_cast<double>(std::max<std::size_t>(2, curve.size()) - 1);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double drift = 1 + disturbance.drift * static_cast<double>(i) / last;
    const bool is_outlier = happens(random, disturbance.outlier_share);
    curve[i].y *=
        std::max(0.5, error(random)) * drift * (is_outlier ? disturbance.outlier_factor : 1);
  }
  return curve;
}

NonStructure non_structure(const std::vector<double>& xs, double level, bool may_fall,
                           Random& random) {
  const double octaves = std::log2(xs.back() / xs.front());
  const auto law = std::uniform_int_distribution<int>(0, 5)(random);
  const double power = one_of(random, std::vector<double>{0.05, 0.1, 0.2, 0.5, 1.0});
  const double times = between_octaves(random, 1.2, 16);
  const double sign = may_fall && happens(random, 0.5) ? -1 : 1;
  const double step = between_octaves(random, 0.005, 0.1);
  std::normal_distribution<double> walk(0, step);
  double walked = 0;
  static const std::vector<std::string> names = {"constant",  "ramp",        "power",
                                                 "logarithm", "random walk", "rising walk"};
  NonStructure made{.name = names.at(static_cast<std::size_t>(law))};
  for (const double x : xs) {
    const double octave = std::log2(x / xs.front());
    const double part = (x - xs.front()) / (xs.back() - xs.front());
    const double change = walk(random);
    walked += law == 5 ? std::abs(change) : change;
    const double relative = law == 0   ? 1
                            : law == 1 ? std::pow(1 + (times - 1) * part, sign)
                            : law == 2 ? std::pow(x / xs.front(), sign * power)
                            : law == 3 ? std::pow(1 + (times - 1) * octave / octaves, sign)
                                       : std::exp(sign * walked);
    made.curve.push_back({.x = x, .y = level * relative});
  }
  return made;
}

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

Curve sampled(const std::vector<double>& xs, const std::function<double(double)>& y,
              const Disturbance& disturbance, Random& random) {
  Curve curve = measured(xs, y, disturbance, random);
  for (CurvePoint& point : curve) {
    constexpr double quartiles_per_sigma = 1.35;  // of a normal distribution, between them
    // A point is the median of some samples, which errs by less than they spread.
    point.relative_spread = quartiles_per_sigma * disturbance.noise * between(random, 1, 4);
  }
  return curve;
}

Curve sampled_rates(const std::vector<double>& xs, const std::function<double(double)>& rate,
                    const Disturbance& disturbance, Random& random) {
  Curve curve = sampled(
      xs, [&](double x) { return 1 / rate(x); }, disturbance, random);
  for (CurvePoint& point : curve) {
    point.y = 1 / point.y;
  }
  return curve;
}

Judged judged(double distance) {
  constexpr double even = 0.1;
  constexpr double uneven = 0.25;
  return distance < even     ? Judged::as_even
         : distance > uneven ? Judged::as_nothing
                             : Judged::not_at_all;
}

}  // namespace hipscope::trial
