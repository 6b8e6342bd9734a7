// What matrix_rate concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"
#include "hipscope/matrix/instruction.h"

namespace matrix_rate {

/// A row's instruction: "FP16", "wgmma m64n256k16, A in LDS", "wgmma".
struct RowName {
  std::string format;
  std::string name;
  std::string family;
};

/// `all` are the rows of sweeps chains ("1 chain") and peak ("rate", "share of documented"), whose
/// x are 1, 2, 3 ...; `leading` those of adds ("bits kept", "added at once", "1/4", "2/4, even",
/// "2/4, odd", "3/4", "-3/4"). What a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results, const std::vector<RowName>& all,
              const std::vector<RowName>& leading);

}  // namespace matrix_rate
