#include <algorithm>
#include <iterator>

#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace hipscope {

namespace {

// Each y, but for the two at the ends, replaced by the median of itself and its neighbours: a
// single point that stands out is no level.
std::vector<double> median_filtered(std::span<const CurvePoint> curve) {
  std::vector<double> filtered;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::size_t middle = std::clamp<std::size_t>(i, 1, curve.size() - 2);
    const double before = curve[middle - 1].y;
    const double after = curve[middle + 1].y;
    filtered.push_back(
        std::clamp(curve[middle].y, std::min(before, after), std::max(before, after)));
  }
  return filtered;
}

Summary summary_of(std::span<const CurvePoint> points) {
  std::vector<double> values;
  for (const CurvePoint& point : points) {
    values.push_back(point.y);
  }
  return summarize(values);
}

}  // namespace

std::optional<TopLevel> find_top_level(std::span<const CurvePoint> curve) {
  constexpr std::size_t fewest_points = 4;
  constexpr double level_share = 0.8;
  constexpr double fallen_share = 0.75;
  if (curve.size() < 2 * fewest_points) {
    return std::nullopt;
  }
  const std::vector<double> filtered = median_filtered(curve);
  const auto top = std::max_element(filtered.begin(), filtered.end());
  const double limit = level_share * *top;
  const auto is_under = [=](double y) { return y < limit; };
  const auto end = std::find_if(top, filtered.end(), is_under);
  const auto rbegin = std::find_if(std::make_reverse_iterator(top), filtered.rend(), is_under);
  auto first = static_cast<std::size_t>(rbegin.base() - filtered.begin());
  auto past = static_cast<std::size_t>(end - filtered.begin());
  // The filter may take a point in that lies beside the level.
  while (first < past && is_under(curve[first].y)) {
    ++first;
  }
  while (first < past && is_under(curve[past - 1].y)) {
    --past;
  }
  const auto level = curve.subspan(first, past - first);
  const auto rest = curve.subspan(past);
  if (level.size() < fewest_points || rest.size() < fewest_points) {
    return std::nullopt;
  }
  const Summary on_level = summary_of(level);
  const Summary fallen = summary_of(rest.subspan(rest.size() / 2));
  if (fallen.maximum > fallen_share * on_level.median) {
    return std::nullopt;
  }
  const double spread = (on_level.third_quartile - on_level.first_quartile) / on_level.median;
  const double fall = on_level.median / fallen.median - 1;
  return TopLevel{.y = on_level.median,
                  .first_x = level.front().x,
                  .last_x = level.back().x,
                  .points = level.size(),
                  .lowest = on_level.minimum,
                  .highest = on_level.maximum,
                  .after = fallen.median,
                  .confidence = std::clamp(1 - spread / fall, 0.0, 1.0)};
}

}  // namespace hipscope
