#include "dgemm_findings.h"

#include <algorithm>
#include <limits>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace dgemm {

namespace {

using hipscope::CurvePoint;
using hipscope::number;

const CurvePoint* point_at(const std::vector<CurvePoint>& curve, double x) {
  const auto found = std::find_if(curve.begin(), curve.end(),
                                  [=](const CurvePoint& point) { return point.x == x; });
  return found == curve.end() ? nullptr : &*found;
}

void conclude_one_block(hipscope::Results& results) {
  const auto by_host = results.curve("one-block", "speed-up on the first stage");
  const auto by_device = results.curve("one-block", "device speed-up on the first stage");
  const CurvePoint* const last = point_at(by_host, last_step_of_d);
  if (last == nullptr) {
    return;
  }
  const CurvePoint* const on_device = point_at(by_device, last_step_of_d);
  results.infer({.name = "DGEMM of one block, from the source's first stage to its last",
                 .value = last->y,
                 .unit = "times the rate",
                 .confidence = 1 - std::min(1.0, last->relative_spread),
                 .statement = "by the host's clock, launch and wait included",
                 .evidence = {"by the device's: " +
                                  (on_device == nullptr ? "-" : number(on_device->y)) + " times",
                              "published: 6.5 times"}});
}

void conclude_bank_conflicts(hipscope::Results& results) {
  const auto cycles = results.curve("bank-conflicts", "time of the block's load");
  if (cycles.size() < 2) {
    return;
  }
  const CurvePoint& none = cycles.front();
  const CurvePoint& most = cycles.back();
  results.infer({.name = "a block's load from LDS for each lane more at a bank",
                 .value = (most.y - none.y) / (most.x - none.x),
                 .unit = "cycles",
                 .confidence = 1 - std::min(1.0, most.relative_spread),
                 .statement = "256 threads, 8 bytes each",
                 .evidence = {number(none.y) + " cycles with none in the way, " + number(most.y) +
                              " with " + number(most.x) + " lanes at each bank"}});
}

void conclude_operands(hipscope::Results& results) {
  const auto rates = results.curve("operands", "FMA rate");
  if (rates.size() < 3) {
    return;
  }
  results.infer(
      {.name = "FP64 FMAs whose operands are all new",
       .value = rates[0].y / rates[1].y,
       .unit = "times the rate",
       .confidence = 1 - std::min(1.0, rates[0].relative_spread),
       .statement = "against FMAs that share a factor with the one before",
       .evidence = {number(rates[0].y) + " and " + number(rates[1].y) + " FMAs per cycle and CU; " +
                    number(rates[2].y) + " with a load from LDS for every 8"}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  conclude_one_block(results);
  conclude_bank_conflicts(results);
  conclude_operands(results);
}

}  // namespace dgemm
