// What ilp_tlp concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace ilp_tlp {

/// A row of sweep peak in which an operation is written in another way.
struct PeakRow {
  double x;
  std::string way;             ///< "8 chains"
  bool is_other_unit = false;  ///< half of the peak is one of two units there, no latency
};

/// An operation as sweeps ("fp32-fma-chains") and sentences ("FP32 FMA") call it.
struct OperationName {
  std::string name;
  std::string title;
  std::vector<PeakRow> more_peaks{};  ///< its other rows of sweep peak
};

inline std::string sweep_name(const std::string& operation, const std::string& what) {
  return operation + "-" + what;
}

/// Of each operation its latency, from the value "round" of its sweeps chains and waves; the
/// highest rate of a CU, from "rate" of its sweep grid; the peak, the highest of its rows of sweep
/// peak ("peak", "share of documented"), of which the first is row 1, 2 ... in the order of
/// `operations`. What a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results, const std::vector<OperationName>& operations);

}  // namespace ilp_tlp
