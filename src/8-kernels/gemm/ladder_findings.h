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

/// The best row of each unit and how it stands to the first, from sweep stages (values "rate",
/// "share of peak"); the best stage beside the library, from against-library, odd and sizes ("ratio
/// to the library"). `name` is the product's, "SGEMM". What a sweep that was left out would have
/// told is left out.
void conclude_ladder(hipscope::Results& results, const std::string& name,
                     const std::vector<LadderRow>& rows);

}  // namespace gemm
