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
  /// How far a point may be from a staircase, relative: by the noise of levels, and where the curve
  /// is steep by a twentieth of what it rises there, since no law of misses is quite a cache's.
  std::vector<double> errors{};
};

/// Of three points at least, whose x rise and whose y are positive.
Logarithmic logarithmic(std::span<const CurvePoint> curve);

/// Whether nearly all points are within the noise of a curve that never falls: a staircase goes up
/// alone, what walks at random goes down as well.
bool never_falls(const Logarithmic& curve);

/// The squares of what the nearest cubic of the octaves leaves of a curve of more than four points,
/// in units of the errors; an outlier counts as three. Where a staircase leaves no less, the curve
/// is a slope.
double squares_of_cubic(const Logarithmic& curve);

}  // namespace hipscope
