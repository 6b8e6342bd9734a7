// The confidence of an answer that something contradicts. Plain C++, no GPU headers.
#pragma once

#include <algorithm>

namespace hipscope {

/// The highest confidence of an answer that something contradicts, such as a disturbed point or a
/// second method: it may as well be wrong.
inline constexpr double unsure = 0.5;

/// `confidence`, but at most `unsure` where the answer is not `confirmed`.
constexpr double sure_if(bool confirmed, double confidence) {
  return confirmed ? confidence : std::min(confidence, unsure);
}

}  // namespace hipscope
