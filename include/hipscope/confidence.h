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

}  // namespace hipscope
