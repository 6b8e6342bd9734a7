#include "findings.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace host_costs {

using hipscope::CurvePoint;
using hipscope::number;

namespace {

constexpr double mebibyte = 1 << 20;

// Where all larger allocations cost several times what all smaller ones do. Slower rises are no end
// of a block.
void infer_block(hipscope::Results& results, const std::string& sweep,
                 const std::vector<CurvePoint>& curve) {
  constexpr double smallest_ratio = 5;
  constexpr std::size_t fewest_points = 3;  // on either side
  for (std::size_t i = fewest_points; i + fewest_points <= curve.size(); ++i) {
    const double below = std::ranges::max(std::span(curve).first(i), {}, &CurvePoint::y).y;
    const double above = std::ranges::min(std::span(curve).subspan(i), {}, &CurvePoint::y).y;
    if (above >= smallest_ratio * below) {
      results.infer(
          {.name = "largest " + sweep + " allocation out of a block",
           .value = curve[i - 1].x,
           .unit = "bytes",
           .confidence = 1 - below / above,
           .statement = "larger ones cost several times as much: memory of their own",
           .evidence = {number(below) + " us at most up to there, " + number(above) +
                        " us at least from " + number(curve[i].x / mebibyte) + " MiB on"}});
      return;
    }
  }
}

// Of the largest sizes, where what an allocation costs in any case has become little. A cost that
// hardly grows, or not along a line, has no slope.
void infer_slope(hipscope::Results& results, const std::string& sweep,
                 const std::vector<CurvePoint>& curve) {
  constexpr double least_bytes = 16 * mebibyte;
  constexpr std::size_t fewest_points = 4;
  std::vector<double> mebibytes;
  std::vector<double> costs;
  for (const CurvePoint& point : curve) {
    if (point.x >= least_bytes) {
      mebibytes.push_back(point.x / mebibyte);
      costs.push_back(point.y);
    }
  }
  if (mebibytes.size() < fewest_points) {
    return;
  }
  constexpr double most_off = 0.1;
  const auto line = hipscope::fit_robust_line(mebibytes, costs);
  if (line.largest_relative_residual > most_off || costs.back() < 2 * costs.front()) {
    return;
  }
  // Right is what is within a tenth. Half of it is left to what shows in no residual, such as the
  // host's clock.
  constexpr double tolerance = 0.05;
  results.infer({.name = sweep + " allocation per MiB",
                 .value = line.slope,
                 .unit = "us/MiB",
                 .confidence = hipscope::slope_confidence(line, tolerance),
                 .statement = "each further MiB of an allocation adds this much to its cost",
                 .evidence = {"straight line from " + number(mebibytes.front()) + " to " +
                              number(mebibytes.back(), 4) + " MiB, largest error " +
                              number(100 * line.largest_relative_residual, 2) + " %"}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  for (const std::string sweep : {"device", "stream-trimmed", "pinned", "managed"}) {
    const auto curve = results.curve(sweep, "allocate");
    infer_block(results, sweep, curve);
    infer_slope(results, sweep, curve);
  }
}

}  // namespace host_costs
