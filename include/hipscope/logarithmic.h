// A curve on logarithmic axes, and what it is as a whole.
#pragma once

#include <span>
#include <vector>

#include "hipscope/experiment.h"

namespace hipscope {

/// A curve on logarithmic axes. Each y is the median of up to five neighbours: steps stay where
/// they are, and what stands out alone or in twos is gone.
struct Logarithmic {
  std::vector<double> octaves{};
  std::vector<double> y{};         ///< natural logarithms
  std::vector<double> measured{};  ///< the same before the medians
  double noise = 0;                ///< standard deviation of the points as measured
  double noise_of_levels = 0;      ///< the same, but 0.008 at least: no level is quite even
};

/// Of three points at least, whose x rise and whose y are positive.
Logarithmic logarithmic(std::span<const CurvePoint> curve);

/// Whether nearly all points are within the noise of a curve that never falls: a staircase goes up
/// alone, what walks at random goes down as well.
bool never_falls(const Logarithmic& curve);

/// The squares of what the nearest cubic of the octaves leaves of a curve, in units of the points'
/// errors; an outlier counts as three.
double squares_of_cubic(const Logarithmic& curve, std::span<const double> errors);

}  // namespace hipscope
