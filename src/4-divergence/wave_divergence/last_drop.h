// Where a falling curve reaches its floor.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hipscope/inference.h"

namespace wave_divergence {

struct LastDrop {
  double last_high_x = 0;    ///< the last x before the curve falls to its floor
  double first_flat_x = 0;   ///< the first x of the flat part
  double ratio = 0;          ///< y at last_high_x over the median of the flat part
  double confidence = 0;     ///< 0 ... 1: how clearly the drop stands out of the flat part's spread
  std::size_t outliers = 0;  ///< points on the wrong side of the drop, which were left out
};

/// Where a curve that ends flat takes its last drop, of at least `smallest_ratio` (such as 1.5)
/// over the median of the points after it: the first step of the curve read backwards, which may
/// rise on from there. Also empty if the curve was as low before.
inline std::optional<LastDrop> find_last_drop(const std::vector<hipscope::CurvePoint>& curve,
                                              double smallest_ratio) {
  const std::vector<hipscope::CurvePoint> backwards(curve.rbegin(), curve.rend());
  const auto step = hipscope::find_first_step(
      backwards, smallest_ratio, hipscope::fewest_after_step, hipscope::AfterStep::anything);
  if (!step) {
    return std::nullopt;
  }
  return LastDrop{.last_high_x = step->next_x,
                  .first_flat_x = step->last_flat_x,
                  .ratio = step->ratio,
                  .confidence = step->confidence,
                  .outliers = step->outliers};
}

}  // namespace wave_divergence
