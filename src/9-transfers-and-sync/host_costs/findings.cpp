#include "findings.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace host_costs {

using hipscope::CurvePoint;
using hipscope::number;

// Where all larger allocations cost several times what all smaller ones do. Slower rises are no end
// of a block.
void conclude(hipscope::Results& results) {
  constexpr double smallest_ratio = 5;
  constexpr std::size_t fewest_points = 3;  // on either side
  for (const std::string sweep : {"device", "stream-trimmed", "pinned", "managed"}) {
    const std::vector<CurvePoint> curve = results.curve(sweep, "allocate");
    for (std::size_t i = fewest_points; i + fewest_points <= curve.size(); ++i) {
      const double below = std::ranges::max(std::span(curve).first(i), {}, &CurvePoint::y).y;
      const double above = std::ranges::min(std::span(curve).subspan(i), {}, &CurvePoint::y).y;
      if (above >= smallest_ratio * below) {
        results.infer({.name = "largest " + sweep + " allocation out of a block",
                       .value = curve[i - 1].x,
                       .unit = "bytes",
                       .confidence = 1 - below / above,
                       .statement = "larger ones cost several times as much: memory of their own",
                       .evidence = {number(below) + " us at most up to there, " + number(above) +
                                    " us at least beyond"}});
        break;
      }
    }
  }
}

}  // namespace host_costs
