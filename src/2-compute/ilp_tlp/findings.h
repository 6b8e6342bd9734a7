// What ilp_tlp concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace ilp_tlp {

/// An operation as sweeps ("fp32-fma-chains") and sentences ("FP32 FMA") call it.
struct OperationName {
  std::string name;
  std::string title;
};

inline std::string sweep_name(const std::string& operation, const std::string& what) {
  return operation + "-" + what;
}

/// Of each operation its latency, from the value "round" of its sweeps chains and waves; the
/// highest rate of a CU, from "rate" of its sweep grid; the peak, from row 1, 2 ... of sweep peak
/// ("peak", "share of documented") in the order of `operations`. What a sweep
/// that was left out would have told is left out.
void conclude(hipscope::Results& results, const std::vector<OperationName>& operations);

}  // namespace ilp_tlp
