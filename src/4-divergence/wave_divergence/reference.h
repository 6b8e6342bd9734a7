// What the chains of FMAs of wave_divergence end in. Plain C++: host and device round an fma once,
// so that they must agree to the last bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

namespace wave_divergence {

/// x -> x * multiplier + addend, `fmas` times. Where x no longer changes it never will.
inline float chain_end(float x, float multiplier, float addend, std::uint64_t fmas) {
  for (std::uint64_t step = 0; step < fmas; ++step) {
    const float next = std::fma(x, multiplier, addend);
    if (next == x) {
      break;
    }
    x = next;
  }
  return x;
}

/// The sum of thread `number` of fsword73's example 5a: its chain begins with 0, and both operands
/// follow from the number. In the kernels with two paths all threads but one swap them.
inline float sum_5a(std::uint64_t number, bool swaps, std::uint64_t fmas) {
  float factor = static_cast<float>(number) / static_cast<float>(number + 1);
  float addend = 1.0F / 1e8F;
  if (swaps) {
    std::swap(factor, addend);
  }
  return chain_end(0, factor, addend, fmas);
}

}  // namespace wave_divergence
