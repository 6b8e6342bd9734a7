#include "samples.h"

#include "staircase_curves.h"

namespace hipscope::trial {

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
