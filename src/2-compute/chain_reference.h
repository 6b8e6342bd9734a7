// What the chains of fsword73's examples 2a to 2e end in: sum -> factor * sum + addend from 0, with
// operands that follow from the thread's number. Plain C++, for the checks of two experiments.
#pragma once

#include <cmath>
#include <cstdint>

namespace chain {

/// The operands of the chain of thread `number` in a grid of one row.
struct Operands {
  float factor;
  float addend;
};

inline Operands operands_of(std::uint64_t number) {
  constexpr float far_below_one = 1.0F / 1e8F;
  return {static_cast<float>(number) / static_cast<float>(number + 1), far_below_one};
}

/// The sum after `fmas` FMAs, each rounded once as devices do it. It creeps up to the chain's
/// fixed point and there stays for good, which is where this stops.
inline float exact_sum(std::uint64_t number, std::uint64_t fmas) {
  const Operands given = operands_of(number);
  float sum = 0;
  for (std::uint64_t i = 0; i < fmas; ++i) {
    const float next = std::fma(given.factor, sum, given.addend);
    if (next == sum) {
      break;
    }
    sum = next;
  }
  return sum;
}

/// The sum without rounding, and how far FMAs that round may be from it.
struct BoundedSum {
  double value;
  double largest_error;
};

/// The geometric series addend * (1 + factor + factor^2 ...). Each FMA rounds by half of the sum's
/// last bit at the most, and what it errs shrinks with the sum by `factor` from FMA to FMA.
inline BoundedSum bounded_sum(std::uint64_t number, std::uint64_t fmas) {
  const Operands given = operands_of(number);
  const double factor = given.factor;
  const double terms = (1 - std::pow(factor, static_cast<double>(fmas))) / (1 - factor);
  const double value = given.addend * terms;
  constexpr double half_of_last_bit = 0x1p-24;
  return {.value = value, .largest_error = 1.01 * half_of_last_bit * value * terms};
}

}  // namespace chain
