// What measuring does to a curve, and curves of nothing.
#pragma once

#include <functional>
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

/// Every noise of 0.1, 1 and 5 %: alone, with outliers of twice and of 1.4 times as long, and with
/// a drift up and down.
const std::vector<Disturbance>& all_disturbances();

/// y(x) at each of `xs`, disturbed; one curve in four also by a burst.
Curve measured(const std::vector<double>& xs, const std::function<double(double)>& y,
               const Disturbance& disturbance, Random& random);

/// Curves at `xs` in which there is nothing: a non_structure, noise or a wave; any of them
/// disturbed.
Curve nothing(const std::vector<double>& xs, Random& random);

/// first, first + 1 ... last.
std::vector<double> counted(double first, double last);

/// first, twice that ... up to `last`.
std::vector<double> powers(double first, double last);

/// 10^6 / y: the rates of these times.
Curve reciprocal(Curve times);

/// y(x) at each of `xs`, disturbed as by measured(); the samples of a point are spread by one to
/// four times the noise, but those of an outlier say nothing of it.
Curve sampled(const std::vector<double>& xs, const std::function<double(double)>& y,
              const Disturbance& disturbance, Random& random);

/// The same of rates: what takes longer is less.
Curve sampled_rates(const std::vector<double>& xs, const std::function<double(double)>& rate,
                    const Disturbance& disturbance, Random& random);

/// How a law without structure is to be judged by those who look for something even: as the thing
/// itself, as nothing, or, between the two, not at all.
enum class Judged { as_even, as_nothing, not_at_all };

/// By how far the points of a curve lie from what is looked for, relative to it.
Judged judged(double distance);

}  // namespace hipscope::trial
