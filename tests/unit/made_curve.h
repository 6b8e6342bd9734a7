// Curves for the tests of inference.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "hipscope/inference.h"
#include "normal_noise.h"

namespace hipscope {

/// y(x) at each of `xs`, with normal noise of `noise` (relative) by `seed`.
inline std::vector<CurvePoint> made_curve(const std::vector<double>& xs,
                                          const std::function<double(double)>& y, double noise = 0,
                                          unsigned seed = 1) {
  std::mt19937 random(seed);
  NormalNoise error(1, noise);
  std::vector<CurvePoint> made;
  for (const double x : xs) {
    made.push_back({.x = x, .y = y(x) * error(random)});
  }
  return made;
}

/// first, 2 first, 4 first ... up to `last`.
inline std::vector<double> doubling(double first, double last) {
  std::vector<double> xs;
  for (double x = first; x <= last; x *= 2) {
    xs.push_back(x);
  }
  return xs;
}

/// first, 2 first, 3 first ... up to `last`.
inline std::vector<double> multiples(double first, double last) {
  std::vector<double> xs;
  for (double x = first; x <= last; x += first) {
    xs.push_back(x);
  }
  return xs;
}

/// Points as an experiment takes them: equally far apart in each octave.
inline std::vector<double> footprints(double first, double last, int per_octave = 8) {
  std::vector<double> xs;
  for (double octave = first; octave <= last; octave *= 2) {
    for (int i = 0; i < per_octave && octave * (1 + static_cast<double>(i) / per_octave) <= last;
         ++i) {
      xs.push_back(octave * (1 + static_cast<double>(i) / per_octave));
    }
  }
  return xs;
}

}  // namespace hipscope
