#include "disturbance.h"

#include <algorithm>
#include <cmath>

#include "normal_noise.h"

namespace hipscope::trial {

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

}  // namespace hipscope::trial
