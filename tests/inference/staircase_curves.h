// More of what happens to curves while they are measured, for those that are short or whose every
// point counts.
#pragma once

#include <functional>
#include <vector>

#include "disturbance.h"

namespace hipscope::trial {

/// Every noise of 0.1, 1 and 5 %: alone, with outliers of twice and of 1.4 times as long, and with
/// a drift up and down.
const std::vector<Disturbance>& all_disturbances();

/// y(x) at each of `xs`, disturbed; one curve in four also by a burst.
Curve measured(const std::vector<double>& xs, const std::function<double(double)>& y,
               const Disturbance& disturbance, Random& random);

/// Slows down neighbours, at most five and at most a twelfth of all, by 1.8. Not the last three
/// points: there it would be a step.
Curve with_burst(Curve curve, Random& random);

/// Curves at `xs` in which there is nothing: a non_structure, noise or a wave; any of them
/// disturbed.
Curve nothing(const std::vector<double>& xs, Random& random);

/// first, first + 1 ... last.
std::vector<double> counted(double first, double last);

/// first, twice that ... up to `last`.
std::vector<double> powers(double first, double last);

/// 10^6 / y: the rates of so many times.
Curve reciprocal(Curve times);

}  // namespace hipscope::trial
