#include "ladder_findings.h"

#include <algorithm>

#include "hipscope/format.h"

namespace gemm {

using hipscope::CurvePoint;
using hipscope::number;

void conclude_ladder(hipscope::Results& results, const std::string& name,
                     const std::vector<LadderRow>& rows) {
  const auto rates = results.curve("stages", "rate");
  const auto shares = results.curve("stages", "share of peak");
  for (const bool by_matrix_instructions : {false, true}) {
    const CurvePoint* best = nullptr;
    for (const CurvePoint& rate : rates) {
      const auto row = static_cast<std::size_t>(rate.x) - 1;
      const bool is_of_unit =
          row < rows.size() && rows[row].by_matrix_instructions == by_matrix_instructions;
      if (is_of_unit && (best == nullptr || rate.y > best->y)) {
        best = &rate;
      }
    }
    if (best == nullptr) {
      continue;
    }
    hipscope::Inference inference{
        .name = name + " rate" + (by_matrix_instructions ? " by matrix instructions" : ""),
        .value = best->y,
        .unit = "TFLOP/s",
        .confidence = 1 - std::min(1.0, best->relative_spread),
        .statement = rows[static_cast<std::size_t>(best->x) - 1].label};
    for (const CurvePoint& share : shares) {
      if (share.x == best->x) {
        inference.evidence.push_back(number(share.y) + " % of the peak at its clock");
      }
    }
    results.infer(inference);
  }
}

}  // namespace gemm
