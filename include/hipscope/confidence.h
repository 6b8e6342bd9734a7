// Confidence by what speaks against an answer. Plain C++, no GPU headers.
#pragma once

#include <algorithm>

namespace hipscope {

/// The most confidence of an answer that something speaks against, such as a disturbed point or a
/// second way that does not agree: it may as well be wrong.
inline constexpr double unsure = 0.5;

/// `confidence`, and where the answer is not `confirmed`, no more than `unsure`.
constexpr double sure_if(bool confirmed, double confidence) {
  return confirmed ? confidence : std::min(confidence, unsure);
}

/// The confidence in the best of several, whose samples are spread by so much (relative): by
/// chance, too, one is the best, and too good by about what they spread.
constexpr double sureness_of_best(double relative_spread) {
  constexpr double doubt_per_spread = 6;
  return 1 - std::min(1.0, doubt_per_spread * relative_spread);
}

}  // namespace hipscope
