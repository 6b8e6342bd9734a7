#include "findings.h"

#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"
#include "hipscope/statistics.h"

namespace host_costs {

using hipscope::number;

namespace {

constexpr double mebibyte = 1 << 20;

void infer_flat_part(hipscope::Results& results, const std::string& sweep,
                     const std::vector<hipscope::CurvePoint>& curve) {
  constexpr double smallest_ratio = 1.5;
  const auto end = hipscope::find_plateau_end(curve, smallest_ratio);
  if (end) {
    results.infer(
        {.name = sweep + " allocations of one price",
         .value = end->last_flat_x,
         .unit = "bytes",
         .confidence = end->confidence,
         .statement = "an allocation of at most so many bytes costs what the least one does",
         .evidence = {number(end->flat_y) + " us up to there, " + number(end->ratio) +
                          " times that at " + number(end->next_x) + " bytes",
                      hipscope::outliers_text(end->outliers, curve.size())}});
  }
}

// Of the largest sizes, where what an allocation costs in any case has become little.
void infer_slope(hipscope::Results& results, const std::string& sweep,
                 const std::vector<hipscope::CurvePoint>& curve) {
  constexpr double least_bytes = 16 * mebibyte;
  constexpr std::size_t fewest_points = 4;
  std::vector<double> mebibytes;
  std::vector<double> costs;
  for (const hipscope::CurvePoint& point : curve) {
    if (point.x >= least_bytes) {
      mebibytes.push_back(point.x / mebibyte);
      costs.push_back(point.y);
    }
  }
  if (mebibytes.size() < fewest_points) {
    return;
  }
  // A cost that does not grow has no slope.
  const auto line = hipscope::fit_robust_line(mebibytes, costs);
  const double grown = line.slope * (mebibytes.back() - mebibytes.front());
  if (!(grown > costs.front())) {
    return;
  }
  constexpr double tolerance = 0.1;
  results.infer({.name = sweep + " allocation per MiB",
                 .value = line.slope,
                 .unit = "us/MiB",
                 .confidence = hipscope::slope_confidence(line, tolerance),
                 .statement = "each further MiB of an allocation adds this much to its cost",
                 .evidence = {"straight line from 16 MiB to " + number(mebibytes.back()) +
                              " MiB, largest error " +
                              number(100 * line.largest_relative_residual, 2) + " %"}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  for (const std::string sweep : {"device", "stream-trimmed", "pinned", "managed"}) {
    const auto curve = results.curve(sweep, "allocate");
    infer_flat_part(results, sweep, curve);
    infer_slope(results, sweep, curve);
  }
}

}  // namespace host_costs
