// What ladders of matrix products conclude from their curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace gemm {

/// A row of sweep stages. The rows stand at 1, 2, 3 ...; the library's after the last.
struct LadderRow {
  std::string label;
  bool by_matrix_instructions = false;
};

/// The best row of each unit, from sweep stages (values "rate", "share of peak"). `name` is the
/// product's, "SGEMM".
void conclude_ladder(hipscope::Results& results, const std::string& name,
                     const std::vector<LadderRow>& rows);

}  // namespace gemm
