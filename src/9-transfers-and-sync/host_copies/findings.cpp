#include "findings.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/confidence.h"
#include "hipscope/format.h"

namespace host_copies {

using hipscope::CurvePoint;
using hipscope::number;

namespace {

constexpr double microseconds = 1e6;

double largest_spread(const std::vector<CurvePoint>& curve) {
  double spread = 0;
  for (const CurvePoint& point : curve) {
    spread = std::max(spread, point.relative_spread);
  }
  return spread;
}

// Bandwidth and latency of copies by an engine.
void infer_direction(hipscope::Results& results, const std::string& sweep,
                     const std::string& direction) {
  const auto rates = results.curve(sweep, "pinned");
  const auto times = results.curve(sweep, "pinned time");
  constexpr std::size_t fewest_sizes = 4;
  if (rates.size() < fewest_sizes || times.size() != rates.size()) {
    return;
  }
  const CurvePoint best = *results.highest(sweep, "pinned");
  // A rate that still rises at the end is not the link's.
  const CurvePoint& before_last = rates[rates.size() - 2];
  const bool is_flat = std::abs(rates.back().y / before_last.y - 1) < 0.1;
  const double confidence = is_flat ? 1 - std::min(1.0, largest_spread({best, rates.back()})) : 0.3;
  results.infer({.name = direction + " bandwidth",
                 .value = best.y,
                 .unit = "GB/s",
                 .confidence = confidence,
                 .statement = "what a copy engine moves from or to pinned memory, at best",
                 .evidence = {"best at copies of " + number(best.x) + " bytes",
                              is_flat ? "the two largest copies agree within 10 %"
                                      : "the rate still rises at the largest copy"}});
  const CurvePoint& shortest = times.front();
  results.infer({.name = direction + " latency",
                 .value = shortest.y * microseconds,
                 .unit = "us",
                 .confidence = 1 - std::min(1.0, shortest.relative_spread),
                 .statement = "the time of the smallest copy by an engine, on the device",
                 .evidence = {number(shortest.x) + " bytes"}});
}

void infer_both(hipscope::Results& results) {
  const auto rates = results.curve("both", "bandwidth");
  if (rates.size() != 3) {
    return;
  }
  const double alone = rates[0].y + rates[1].y;
  const double share = rates[2].y / alone;
  results.infer({.name = "both directions at once",
                 .value = share,
                 .unit = "of their sum",
                 .confidence = 1 - std::min(1.0, largest_spread(rates)),
                 .statement = share > 0.9   ? "the directions do not share the link"
                              : share < 0.6 ? "the directions share one link"
                                            : "the directions hold each other up in part",
                 .evidence = {number(rates[0].y) + " and " + number(rates[1].y) + " GB/s alone, " +
                              number(rates[2].y) + " together"}});
}

// A node is far when it is slower than the best by more than what runs differ.
void infer_nodes(hipscope::Results& results) {
  const auto rates = results.curve("numa", "to device");
  if (rates.size() < 2) {
    return;
  }
  constexpr double as_good = 0.95;
  const CurvePoint best = *results.highest("numa", "to device");
  std::string slower;
  for (const CurvePoint& rate : rates) {
    if (rate.y < as_good * best.y) {
      slower += (slower.empty() ? "" : ", ") + number(rate.x) + " (" + number(rate.y) + " GB/s)";
    }
  }
  results.infer(
      {.name = "nearest NUMA node",
       .value = slower.empty() ? std::nullopt : std::optional(best.x),
       .unit = "",
       .confidence = slower.empty() ? 0 : 1 - std::min(1.0, largest_spread(rates)),
       .statement = slower.empty() ? "copies do not tell the host's NUMA nodes apart"
                                   : "memory of other nodes is slower to copy from",
       .evidence = {slower.empty() ? "all nodes are within 5 % of " + number(best.y) + " GB/s"
                                   : "slower nodes: " + slower}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_direction(results, "to-device", "host to device");
  infer_direction(results, "to-host", "device to host");
  infer_both(results);
  infer_nodes(results);
}

}  // namespace host_copies
