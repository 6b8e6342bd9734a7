// A curve on logarithmic axes, and what it is as a whole.
#pragma once

#include <span>
#include <vector>

#include "hipscope/inference.h"

namespace hipscope {

/// Standard deviations in the median distance from the middle, of normal noise.
inline constexpr double deviations_per_median = 1.4826;

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

/// Whether a cubic goes through a curve of more than four points as near as its noise lets
/// anything: then that is a slope, in which noise has made some flat places. One staircase in 300
/// is taken for one.
bool is_smooth(const Logarithmic& curve);

/// The squares of what the nearest cubic of the octaves leaves of a curve, in units of the points'
/// errors; an outlier counts as three.
double squares_of_cubic(const Logarithmic& curve, std::span<const double> errors);

}  // namespace hipscope
