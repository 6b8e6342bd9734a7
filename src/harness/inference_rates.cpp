// Rates over what is in flight.
#include <algorithm>

#include "hipscope/inference.h"

namespace hipscope {

std::optional<Saturation> find_saturation(std::span<const CurvePoint> points, double share) {
  if (points.empty()) {
    return std::nullopt;
  }
  constexpr double still_far = 0.5;
  const auto lower = [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; };
  const auto lighter = [](const CurvePoint& a, const CurvePoint& b) { return a.x < b.x; };
  const CurvePoint highest = *std::max_element(points.begin(), points.end(), lower);
  Saturation found{.x = highest.x,
                   .lightest = *std::min_element(points.begin(), points.end(), lighter)};
  if (!(found.lightest.y < still_far * highest.y)) {
    return std::nullopt;
  }
  const auto reaches = [&](const CurvePoint& point) { return point.y >= share * highest.y; };
  for (const CurvePoint& point : points) {
    found.x = reaches(point) ? std::min(found.x, point.x) : found.x;
  }
  double from_there = 0;
  double reaching = 0;
  for (const CurvePoint& point : points) {
    from_there += point.x >= found.x ? 1 : 0;
    reaching += point.x >= found.x && reaches(point) ? 1 : 0;
  }
  found.confidence = reaching / from_there;
  return found;
}

}  // namespace hipscope
