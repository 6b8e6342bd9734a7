#include "findings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/statistics.h"

namespace launch_latency {

using hipscope::number;

namespace {

constexpr double microseconds = 1e6;

void infer_single(hipscope::Results& results) {
  const auto completion = results.curve("single", "completion");
  const auto enqueue = results.curve("single", "enqueue");
  const auto device = results.curve("single", "device");
  if (completion.empty() || enqueue.empty() || device.empty()) {
    return;
  }
  results.infer(
      {.name = "launch latency",
       .value = completion[0].y * microseconds,
       .unit = "us",
       .confidence = 1 - std::min(1.0, completion[0].relative_spread),
       .statement = "a launch of an empty kernel takes this long from the call to its end as the "
                    "host sees it",
       .evidence = {"the enqueue call is " + number(enqueue[0].y * microseconds) + " us of it",
                    "events around the kernel on the device say " +
                        number(device[0].y * microseconds) + " us",
                    "fsword73's chapter 2.8 assumes 7 us"}});
}

// The time that each further kernel adds: the slope of time over kernels.
std::optional<hipscope::LineFit> slope(const hipscope::Results& results, const std::string& sweep,
                                       const std::string& name) {
  std::vector<double> kernels;
  std::vector<double> seconds;
  for (const auto& point : results.curve(sweep, name)) {
    // A few launches still show the first one's own latency.
    constexpr double fewest_kernels = 8;
    if (point.x >= fewest_kernels) {
      kernels.push_back(point.x);
      seconds.push_back(point.y);
    }
  }
  return kernels.size() < 3 ? std::nullopt
                            : std::optional(hipscope::fit_robust_line(kernels, seconds));
}

void infer_interval(hipscope::Results& results, const std::string& sweep, const std::string& name) {
  const auto completion = slope(results, sweep, "completion");
  const auto device = slope(results, sweep, "device");
  const auto enqueue = slope(results, sweep, "enqueue");
  if (!completion || !device || !enqueue) {
    return;
  }
  // Right is what is within a tenth. Of it a half is left to what shows in no residual, such as a
  // clock that drifts.
  constexpr double tolerance = 0.05;
  const bool host_limits = completion->slope > 1.1 * device->slope;
  results.infer(
      {.name = name,
       .value = completion->slope * microseconds,
       .unit = "us",
       .confidence = hipscope::slope_confidence(*completion, tolerance),
       .statement = std::string("each further kernel adds this much; the limit is ") +
                    (host_limits ? "the host, which enqueues more slowly than the device runs"
                                 : "the device"),
       .evidence = {"the device alone, with all launches queued before it starts, needs " +
                        number(device->slope * microseconds) + " us per kernel",
                    "each further kernel costs the host " + number(enqueue->slope * microseconds) +
                        " us to enqueue",
                    "straight line over 8 ... 256 kernels, largest error " +
                        number(100 * completion->largest_relative_residual, 2) + " %"}});
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_single(results);
  infer_interval(results, "stream", "interval in a stream");
  infer_interval(results, "graph", "interval in a graph");
}

}  // namespace launch_latency
