#include "findings.h"

#include <algorithm>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace dgemm {

namespace {

using hipscope::CurvePoint;
using hipscope::number;

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
  conclude_bank_conflicts(results);
  conclude_operands(results);
}

}  // namespace dgemm
