// How memory_latency's findings say what they have found.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"
#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace memory_latency {

using Curve = std::vector<hipscope::CurvePoint>;

inline constexpr double kib = 1024;
inline constexpr double mib = 1024 * kib;

/// How much a cache holds, as single loads or latency as a whole tell it.
struct FoundCapacity {
  double value = 0;
  double low = 0;
  double high = 0;
  double confidence = 0;  ///< 0 ... 1: that the capacity is within an eighth of `value`
  std::string evidence{};
};

/// As KiB, MiB or GiB.
inline std::string in_bytes(double bytes) {
  return bytes < mib          ? hipscope::number(bytes / kib, 5) + " KiB"
         : bytes < 1024 * mib ? hipscope::number(bytes / mib, 5) + " MiB"
                              : hipscope::number(bytes / (1024 * mib), 5) + " GiB";
}

/// A level as evidence.
inline std::string level_text(const hipscope::Level& level) {
  return hipscope::number(level.y, 4) + " cycles from " + in_bytes(level.first_x) + " on, over " +
         std::to_string(level.points) + " points within " +
         hipscope::number(100 * level.spread, 2) + " %";
}

/// What is told with less is wrong more often than not: it is evidence and no value.
inline constexpr double smallest_confidence = 0.3;

/// Stores the inference, without a value where its confidence is less than `least`.
inline void infer_if_sure(hipscope::Results& results, hipscope::Inference inference,
                          double least = smallest_confidence) {
  if (inference.confidence < least) {
    inference.value.reset();
    inference.interval.reset();
    inference.confidence = 0;
    inference.statement = "the curve does not show it clearly";
  }
  results.infer(inference);
}

}  // namespace memory_latency
