// The confidence of an answer that something contradicts. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace hipscope {

/// The highest confidence of an answer that something contradicts, such as a disturbed point or a
/// second method: it may as well be wrong.
inline constexpr double unsure = 0.5;

/// `confidence`, but at most `unsure` where the answer is not `confirmed`.
constexpr double sure_if(bool confirmed, double confidence) {
  return confirmed ? confidence : std::min(confidence, unsure);
}

/// A point of a line that is drawn through several.
struct Knot {
  double x;
  double y;
};

/// Straight from knot to knot, and level beyond the first and the last.
inline double along(std::span<const Knot> knots, double x) {
  if (x <= knots.front().x) {
    return knots.front().y;
  }
  for (std::size_t i = 1; i < knots.size(); ++i) {
    if (x <= knots[i].x) {
      const double part = (x - knots[i - 1].x) / (knots[i].x - knots[i - 1].x);
      return knots[i - 1].y + part * (knots[i].y - knots[i - 1].y);
    }
  }
  return knots.back().y;
}

/// From 0 at `none` to 1 at `all`, of which either may be the larger.
constexpr double ramp(double value, double none, double all) {
  return std::clamp((value - none) / (all - none), 0.0, 1.0);
}

}  // namespace hipscope
