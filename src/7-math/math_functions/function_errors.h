// How far results of math_functions.hip are from exact ones, and whether that is allowed. Plain
// C++.
#pragma once

#include <hipscope/comparison.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "documented_errors.h"
#include "function_arguments.h"

namespace math {

/// The type of the host's references: far more digits than T.
template <typename T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// False where long double has no more digits than double: its errors are then the reference's too.
template <typename T>
constexpr bool has_reference =
    std::numeric_limits<Wider<T>>::digits >= std::numeric_limits<T>::digits + 8;

/// What the reference itself may be off, in ulp of T.
template <typename T>
constexpr double reference_error = has_reference<T> ? 1.0 / 256 : 1.0;

template <typename T>
using Exact = Wider<T> (*)(Wider<T> x, Wider<T> y);

struct Errors {
  hipscope::Comparison results{};  ///< wrong: beyond their limit
  double largest = 0;              ///< error in ulp
  double at = 0;                   ///< its argument x
  double share = 0;                ///< of the limit that is used, where most of it is
  double limit = 0;                ///< that limit, in ulp
};

/// The unit in the last place of a T near `value`.
template <typename T>
double last_place(Wider<T> value) {
  return value == 0 ? 0.0 : std::ldexp(1.0, std::ilogb(value) + 1 - std::numeric_limits<T>::digits);
}

template <typename T>
Errors errors_of(Exact<T> exact_of, const Limit& limit_at, const Arguments<T>& arguments,
                 const std::vector<T>& results) {
  Errors errors;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const T x = arguments.x[i];
    const T y = arguments.y[i];
    const Wider<T> exact = exact_of(x, y);
    const double ulp = last_place<T>(exact);
    const auto error = static_cast<double>(std::abs(results[i] - exact));
    const double limit = limit_at(x, y, static_cast<double>(exact), ulp) + reference_error<T> * ulp;
    errors.results.compare(i, error <= limit ? Wider<T>{results[i]} : exact, Wider<T>{results[i]});
    if (error > errors.largest * ulp) {
      errors.largest = error / ulp;
      errors.at = x;
    }
    if (error > errors.share * limit) {
      errors.share = error / limit;
      errors.limit = limit / ulp;
    }
  }
  return errors;
}

/// The sums of the lanes' steps beside what they should be. Every step adds the same result. Each
/// addition may be off by half of the sum's last place, and the product with which a function ends
/// may be rounded in the sum only.
template <typename T>
hipscope::Comparison compare_sums(const std::vector<T>& results, const std::vector<T>& sums,
                                  std::uint64_t steps) {
  const double tolerance = (static_cast<double>(steps) / 2 + 1) * std::numeric_limits<T>::epsilon();
  hipscope::Comparison comparison;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double expected = static_cast<double>(steps) * results[i % results.size()];
    comparison.compare<double>(i, expected, sums[i], tolerance * std::abs(expected));
  }
  return comparison;
}

/// The ends of chains of `sines` beside what they should be, end i being that from sin(i / 256) by
/// f = sin(f).
///
/// Each sine is off by `ulps` at most, each at most an epsilon of its result. A relative
/// error of f comes out of a sine as f / tan(f) times that, which is no more than it was where |f|
/// < pi / 2. So errors of the steps add up, and no faster; a step too few or too many is far more
/// (f * f / 6 of the end). An end that is 0 must be so exactly.
inline hipscope::Comparison compare_sine_chains(const std::vector<double>& ends,
                                                std::uint64_t sines, double ulps) {
  constexpr double spacing = 256;
  const double tolerance = static_cast<double>(sines) *
                           (ulps + reference_error<double>)*std::numeric_limits<double>::epsilon();
  hipscope::Comparison comparison;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    long double f = static_cast<double>(i) / spacing;
    for (std::uint64_t sine = 0; sine < sines; ++sine) {
      f = std::sin(f);
    }
    const auto exact = static_cast<double>(f);
    comparison.compare(i, exact, ends[i], tolerance * std::abs(exact));
  }
  return comparison;
}

}  // namespace math
