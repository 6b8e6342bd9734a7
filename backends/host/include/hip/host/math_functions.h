// HIP's mathematical functions beyond those of <math.h>.
//
// The fast versions (__expf, ...) are the accurate ones here: the host gives the result, not the
// speed. They are noexcept since the C library declares some of these names so, for its own use.
#pragma once

#include <math.h>

#include <algorithm>
#include <concepts>
#include <type_traits>

// C23 adds these two to <math.h>; the GNU C library has them from 2.42 on.
#if !(defined(__GLIBC__) && __GLIBC_PREREQ(2, 42))
/// Returns 1 / sqrt(x).
inline float rsqrtf(float x) noexcept { return 1.0F / sqrtf(x); }
inline double rsqrt(double x) noexcept { return 1.0 / ::sqrt(x); }
#endif

/// Returns 1 / cbrt(x).
inline float rcbrtf(float x) noexcept { return 1.0F / cbrtf(x); }
inline double rcbrt(double x) noexcept { return 1.0 / ::cbrt(x); }

// One rounding, to nearest: the host's default.
inline float __frcp_rn(float x) noexcept { return 1.0F / x; }
inline float __fsqrt_rn(float x) noexcept { return sqrtf(x); }
inline float __frsqrt_rn(float x) noexcept { return rsqrtf(x); }
inline double __dadd_rn(double x, double y) noexcept { return x + y; }
inline double __dmul_rn(double x, double y) noexcept { return x * y; }

inline float __fdividef(float x, float y) noexcept { return x / y; }
inline float __expf(float x) noexcept { return expf(x); }
inline float __logf(float x) noexcept { return logf(x); }
inline float __log2f(float x) noexcept { return log2f(x); }
inline float __powf(float x, float y) noexcept { return powf(x, y); }
inline float __sinf(float x) noexcept { return sinf(x); }
inline float __cosf(float x) noexcept { return cosf(x); }
inline float __tanf(float x) noexcept { return tanf(x); }

namespace hip_host {

template <typename Number>
concept Arithmetic = std::is_arithmetic_v<Number>;

}  // namespace hip_host

// The smaller and the larger of two numbers, in their common type. Of a NaN and a number it is the
// number, as a GPU's instructions have it.
template <hip_host::Arithmetic First, hip_host::Arithmetic Second>
std::common_type_t<First, Second> min(First first, Second second) {
  using Common = std::common_type_t<First, Second>;
  if constexpr (std::floating_point<Common>) {
    return ::fmin(static_cast<Common>(first), static_cast<Common>(second));
  } else {
    return std::min(static_cast<Common>(first), static_cast<Common>(second));
  }
}

template <hip_host::Arithmetic First, hip_host::Arithmetic Second>
std::common_type_t<First, Second> max(First first, Second second) {
  using Common = std::common_type_t<First, Second>;
  if constexpr (std::floating_point<Common>) {
    return ::fmax(static_cast<Common>(first), static_cast<Common>(second));
  } else {
    return std::max(static_cast<Common>(first), static_cast<Common>(second));
  }
}
