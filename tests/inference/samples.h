// Curves whose points know how far their samples were spread, as those of a measurement do.
#pragma once

#include <functional>
#include <vector>

#include "disturbance.h"

namespace hipscope::trial {

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
