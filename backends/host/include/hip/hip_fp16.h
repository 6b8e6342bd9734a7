// HIP's half precision for the host backend: what the experiments use of it.
#pragma once

#include <cmath>

/// Two halves in one register, as packed instructions take them.
struct alignas(4) __half2 {
  _Float16 x, y;
};

/// Returns both halves rounded from floats, to nearest.
inline __half2 __floats2half2_rn(float x, float y) {
  return {static_cast<_Float16>(x), static_cast<_Float16>(y)};
}
inline __half2 __float2half2_rn(float value) { return __floats2half2_rn(value, value); }

/// Returns one of the halves as a float.
inline float __low2float(__half2 halves) { return static_cast<float>(halves.x); }
inline float __high2float(__half2 halves) { return static_cast<float>(halves.y); }

namespace hip_host {

// Rounds once, as the instruction does: of halves of which none is subnormal the product is exact
// in double, and so is the sum unless the addends are more than 2^30 apart.
inline _Float16 fused(_Float16 x, _Float16 y, _Float16 z) {
  return static_cast<_Float16>(
      std::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)));
}

}  // namespace hip_host

/// Returns x * y + z for both halves, each rounded once.
inline __half2 __hfma2(__half2 x, __half2 y, __half2 z) {
  return {hip_host::fused(x.x, y.x, z.x), hip_host::fused(x.y, y.y, z.y)};
}
