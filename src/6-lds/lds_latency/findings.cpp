#include "findings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hipscope/format.h"

namespace lds_latency {

using hipscope::number;

namespace {

double value_at(const std::vector<hipscope::CurvePoint>& curve, double x) {
  const auto point = std::find_if(curve.begin(), curve.end(),
                                  [=](const hipscope::CurvePoint& each) { return each.x == x; });
  return point == curve.end() ? std::numeric_limits<double>::quiet_NaN() : point->y;
}

// The latency in row `row`, believed as far as the counter and the events agree about it.
void infer_latency(hipscope::Results& results, const std::string& sweep, double row,
                   hipscope::Inference inference) {
  const double counted = value_at(results.curve(sweep, "latency"), row);
  const double by_events = value_at(results.curve(sweep, "latency by events"), row);
  const double disagreement = std::abs(by_events - counted) / counted;
  inference.unit = "cycles";
  inference.evidence.insert(inference.evidence.begin(),
                            "by the counter in the kernel " + number(counted, 4) +
                                " cycles, by events around it " + number(by_events, 4));
  constexpr double largest_disagreement = 0.1;
  if (counted > 0 && disagreement <= largest_disagreement) {
    inference.value = counted;
    inference.confidence = 1 - disagreement;
  } else {
    inference.statement = "the counter in the kernel and the events around it do not agree";
  }
  results.infer(inference);
}

void infer_lds_latency(hipscope::Results& results) {
  const auto chase = results.curve("chase", "latency");
  if (chase.empty()) {
    return;
  }
  std::vector<std::string> evidence = {"loads of 8 bytes " + number(value_at(chase, 3), 4) +
                                       " cycles, of 16 bytes " + number(value_at(chase, 4), 4)};
  const auto footprint = results.curve("footprint", "latency");
  if (!footprint.empty()) {
    const auto by_y = [](const auto& a, const auto& b) { return a.y < b.y; };
    const auto [low, high] = std::minmax_element(footprint.begin(), footprint.end(), by_y);
    evidence.push_back("from " + number(footprint.front().x, 6) + " to " +
                       number(footprint.back().x, 6) + " bytes between " + number(low->y, 4) +
                       " and " + number(high->y, 4) + " cycles");
  }
  infer_latency(results, "chase", net_row,
                {.name = "LDS latency",
                 .statement = "from one load of 4 bytes to the next, whose address it loads",
                 .evidence = evidence});
}

void infer_shuffle_latency(hipscope::Results& results) {
  const auto lanes = results.curve("lanes", "latency");
  if (lanes.empty()) {
    return;
  }
  infer_latency(results, "lanes", net_row,
                {.name = "shuffle latency",
                 .statement = "from one shuffle of a wave to the next, whose lane numbers it gives",
                 .evidence = {"as HIP's __shfl " + number(value_at(lanes, raw_row), 4) +
                              " cycles; from fixed lanes " + number(value_at(lanes, 3), 4)}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_lds_latency(results);
  infer_shuffle_latency(results);
}

}  // namespace lds_latency
