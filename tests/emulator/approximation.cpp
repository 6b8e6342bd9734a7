#include "approximation.h"

#include <cmath>
#include <limits>

namespace emulator {

float approximate(Wave& wave, double exact) {
  const auto nearest = static_cast<float>(exact);
  Machine& machine = wave.machine();
  const bool is_exact = !std::isfinite(nearest) || nearest == 0 || double{nearest} == exact;
  if (!machine.options.approximate || is_exact || machine.random.below(2) == 0) {
    return nearest;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, double{nearest} < exact ? infinity : -infinity);
}

double approximate_double(Wave& wave, double exact) {
  if (!std::isfinite(exact) || exact == 0) {
    return exact;
  }
  constexpr double usual_error = 0x1.8p-26;
  constexpr double largest_error = 0x1p-24;
  Machine& machine = wave.machine();
  const double error =
      machine.options.approximate
          ? (static_cast<double>(machine.random.below(2001)) / 1000 - 1) * largest_error
          : usual_error;
  return exact * (1 + error);
}

}  // namespace emulator
