// What measuring does to a curve, and curves of nothing.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace hipscope::trial {

using Random = std::mt19937_64;
using Curve = std::vector<CurvePoint>;

/// A number in [low, high), and one that is spread evenly over octaves.
double between(Random& random, double low, double high);
double between_octaves(Random& random, double low, double high);

/// True with chance `share`.
bool happens(Random& random, double share);

/// One of them.
template <class T>
const T& one_of(Random& random, const std::vector<T>& all) {
  return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
}

/// What disturbs a measurement; all of it relative.
struct Disturbance {
  std::string name{};
  double noise = 0;           ///< standard deviation of each point
  double outlier_share = 0;   ///< of points that another process has slowed down
  double outlier_factor = 2;  ///< by so much
  double drift = 0;           ///< from the first point to the last, as of a clock that falls
};

/// No noise to speak of; 0.1, 1 and 5 %; outliers; drift.
const std::vector<Disturbance>& disturbances();

/// The curve as it would be measured. `outlier_factor` under 1 where y is a rate.
Curve disturbed(Curve curve, const Disturbance& disturbance, Random& random);

/// A law without any structure, over the x of a sweep.
struct NonStructure {
  std::string name{};
  Curve curve{};
};

/// Constants, ramps, powers from x^0.05 to x, logarithms and random walks, by `random`, over `xs`,
/// of about `level` at first; rising, or as likely falling where `may_fall`.
NonStructure non_structure(const std::vector<double>& xs, double level, bool may_fall,
                           Random& random);

}  // namespace hipscope::trial
