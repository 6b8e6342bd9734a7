// What math_functions concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace math_functions {

/// x only numbers a sweep's rows: functions from here on, one by one.
inline constexpr double first_function_x = 1;

/// The rows that a cost is concluded from.
inline const std::string small_sine = "sin, |x| < pi/4";
inline const std::string large_sine_fp32 = "sin, 2e5 < |x| < 1e9";
inline const std::string large_sine_fp64 = "sin, 2^32 < |x| < 1e15";

/// The published series of fsword73's FP64 sine, beside the row of sweep published.
inline const std::string published_series = "sin, fp64, dependent chain";

/// An intrinsic's row, and the row of the accurate function that it stands beside.
struct Intrinsic {
  std::string label;
  std::string accurate;
  bool is_fast = true;  ///< less exact than the other, by intent
};

/// The rows of the sweeps, in order.
struct Labels {
  std::vector<std::string> fp32;  ///< of latency-fp32, throughput-fp32 and error-fp32
  std::vector<std::string> fp64;  ///< likewise
  std::vector<Intrinsic> intrinsics;
  std::vector<std::string> rewrites;  ///< of rewrites-fp32 and rewrites-fp64
};

/// What FP64 and a large argument cost (throughput-...: "rate", latency-...: "latency", published:
/// "latency"), what fast intrinsics gain (throughput-fp32, and error-fp32: "largest error"), and
/// what rewrites gain (rewrites-...: "gain"). What was not measured is left out.
void conclude(hipscope::Results& results, const Labels& labels);

}  // namespace math_functions
