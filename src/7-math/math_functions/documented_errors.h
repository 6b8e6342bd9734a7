// What the vendors document about the errors of the functions in math_functions.hip.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace math {

// The largest error that a vendor documents for a function, in ulp, by the library that the backend
// uses. 0: correctly rounded. The sources:
//   cuda   CUDA C++ Programming Guide, appendix "Mathematical Functions"; counted from the
//          correctly rounded result
//   ocml   OCML User Guide (the library under HIP), table "Supported functions"; counted from the
//          exact result. HIP's own page "HIP math API" has smaller figures, but they are of the one
//          argument with the largest absolute error.
//   glibc  GNU C Library manual, "Known Maximum Errors in Math Functions", x86_64; counted from the
//          correctly rounded result. It lists none for tan in double, which gets 1 here.
struct Documented {
  double cuda = 0;
  double ocml = 0;
  double glibc = 0;
};

constexpr Documented fp64_sine = {2, 4, 1};

#if defined(HIPSCOPE_BACKEND_AMD)
constexpr bool is_amd = true;
#else
constexpr bool is_amd = false;
#endif
#if defined(HIPSCOPE_BACKEND_NVIDIA)
constexpr bool is_nvidia = true;
#else
constexpr bool is_nvidia = false;
#endif

// A correctly rounded result may be this far from the exact one, in ulp.
constexpr double rounding = 0.5;

// The documented error of this backend's library, counted from the exact result.
constexpr double allowed_ulps(const Documented& documented) {
  return is_amd ? std::max(documented.ocml, rounding)
                : (is_nvidia ? documented.cuda : documented.glibc) + rounding;
}

// The largest error that is allowed at (x, y), where the exact result is `exact` and has units of
// `ulp` in its last place.
using Limit = std::function<double(double x, double y, double exact, double ulp)>;

inline Limit within(const Documented& documented) {
  const double ulps = allowed_ulps(documented);
  return [ulps](double, double, double, double ulp) { return ulps * ulp; };
}

// The fast intrinsics' bounds in CUDA's guide (table "Single-Precision Floating-Point Intrinsic
// Functions") are absolute, or depend on the argument; AMD's hip-tests ask the same of HIP's.
constexpr double fast_sin_error = 0x1p-21 * 0.7526;  // 2^-21.41
constexpr double fast_cos_error = 0x1p-21 * 0.8766;  // 2^-21.19

inline Limit absolute(double error) {
  return [error](double, double, double, double) { return error; };
}

// __sinf(x) * (1 / __cosf(x)): the errors of both, and three roundings. HIP's is tanf.
inline double fast_tan_limit(double x, double, double exact, double ulp) {
  if (is_amd) {
    return allowed_ulps({.ocml = 5}) * ulp;
  }
  const double cosine = std::abs(std::cos(x));
  return (fast_sin_error + std::abs(exact) * fast_cos_error) / (cosine - fast_cos_error) + 3 * ulp;
}

inline double fast_exp_limit(double x, double, double, double ulp) {
  constexpr double ulps_per_argument = is_amd ? 1.16 : 1.173;
  return (2 + std::floor(ulps_per_argument * std::abs(x)) + rounding) * ulp;
}

// A logarithm whose error is absolute near 1, where the result is small.
inline Limit fast_log(double near_one, double ulps) {
  return [=](double x, double, double, double ulp) {
    return x >= 0.5 && x <= 2 ? near_one : (ulps + rounding) * ulp;
  };
}

// exp2f(y * __log2f(x)): exp2f's 2 ulp, the rounding of the product, and __log2f's error times y.
// HIP's is powf.
inline double fast_pow_limit(double x, double y, double exact, double ulp) {
  if (is_amd) {
    return allowed_ulps({.ocml = 16}) * ulp;
  }
  const double log2 = std::log2(x);
  const double epsilon = std::numeric_limits<float>::epsilon();
  const double log2_error = x >= 0.5 && x <= 2 ? 0x1p-22 : 2.5 * epsilon * std::abs(log2);
  const double power_error = std::abs(y) * log2_error + epsilon / 2 * std::abs(y * log2);
  return exact * std::log(2.0) * power_error + 2.5 * ulp;
}

}  // namespace math
