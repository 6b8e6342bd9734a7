// What the scalar and the vector unit do to bits.
#pragma once

#include <algorithm>
#include <bit>

#include "types.h"

namespace emulator {

inline Dword low_16(Dword value) { return value & 0xffff; }

/// The upper half of a product, computed as `Wide`.
template <typename Wide, typename Factor>
Dword high_product(Factor a, Factor b) {
  return high_half(static_cast<Qword>(Wide{a} * b));
}

inline Dword reversed(Dword bits) {
  Dword result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    result |= (bits >> bit & 1) << (31 - bit);
  }
  return result;
}

/// How many bits are set; how many are not, before the first that is: all of them set where none
/// is.
template <typename Bits>
Dword ones(Bits bits) {
  return static_cast<Dword>(std::popcount(bits));
}
template <typename Bits>
Dword leading_zeros(Bits bits) {
  return bits == 0 ? ~0U : static_cast<Dword>(std::countl_zero(bits));
}
template <typename Bits>
Dword trailing_zeros(Bits bits) {
  return bits == 0 ? ~0U : static_cast<Dword>(std::countr_zero(bits));
}

/// `width` bits from bit `first` on, with their sign.
inline Dword signed_field(Dword bits, unsigned first, unsigned width) {
  const Dword shifted = as_bits(as_signed(bits) >> first);
  return width == 0 ? 0 : sign_extended(shifted, std::min(width, 32U));
}

}  // namespace emulator
