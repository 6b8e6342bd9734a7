// Unsigned division by a divisor that the host knows, for GPUs, which have no instruction for it:
// quotient = (high(factor * n) + n) >> shift in 33 bits (Granlund and Montgomery, "Division by
// invariant integers using multiplication", 1994, figure 4.1). The sum is halved before it can
// overflow.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdint>

namespace hipscope {

/// A kernel's argument in place of the divisor.
struct Divisor {
  unsigned factor;
  unsigned first_shift;
  unsigned second_shift;
};

/// `divisor` is not 0.
inline Divisor divisor_of(unsigned divisor) {
  unsigned bits = 0;  // the logarithm of the divisor, rounded up
  while ((std::uint64_t{1} << bits) < divisor) {
    ++bits;
  }
  constexpr std::uint64_t word = std::uint64_t{1} << 32;
  const std::uint64_t power = std::uint64_t{1} << bits;
  return {.factor = static_cast<unsigned>(word * (power - divisor) / divisor + 1),
          .first_shift = std::min(bits, 1U),
          .second_shift = bits > 0 ? bits - 1 : 0};
}

/// n / divisor, exactly, for every n.
__device__ inline unsigned divide(unsigned n, Divisor divisor) {
  const unsigned high = __umulhi(divisor.factor, n);
  return (high + ((n - high) >> divisor.first_shift)) >> divisor.second_shift;
}

}  // namespace hipscope
