// Half precision (IEEE binary16) and bfloat16 as types that are the same for every compiler. Plain
// C++, no GPU headers; half_values.h converts them.
#pragma once

#include <cstdint>

namespace hipscope {

/// A half as its bits: each compiler has another type for it. Kernels that compute with halves load
/// them as the type that their instructions take.
struct Half {
  std::uint16_t bits;
};

/// The upper half of a float's bits.
struct BFloat16 {
  std::uint16_t bits;
};

/// A float of 8 bits: a sign, 4 bits of exponent, 3 of mantissa; no infinities (OCP E4M3).
struct E4M3 {
  std::uint8_t bits;
};

/// As gfx942's instructions take it: each code is worth half as much, and that of -0 is no number.
struct E4M3Fnuz {
  std::uint8_t bits;
};

/// Alpha and beta of a product of such values.
template <typename Value>
struct FactorOf {
  using Type = Value;
};
template <>
struct FactorOf<Half> {
  using Type = float;
};
template <>
struct FactorOf<BFloat16> {
  using Type = float;
};
template <>
struct FactorOf<E4M3> {
  using Type = float;
};
template <>
struct FactorOf<E4M3Fnuz> {
  using Type = float;
};
template <typename Value>
using Factor = typename FactorOf<Value>::Type;

}  // namespace hipscope
