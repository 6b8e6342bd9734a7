#include "memory_bandwidth_findings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace memory_bandwidth {

using hipscope::Inference;
using hipscope::number;

namespace {

void infer_memory(hipscope::Results& results) {
  const double most = peak(results.device());
  for (const auto& point : results.curve("stream", "bandwidth")) {
    const auto function = static_cast<Function>(point.x);
    if (function == Function::scale || function == Function::add || function == Function::dot) {
      continue;  // they show nothing new
    }
    Inference inference{.name = std::string("memory ") + name_of(function) + " bandwidth",
                        .value = point.y,
                        .unit = gigabytes,
                        .confidence = 1 - std::min(1.0, point.relative_spread),
                        .statement = "sustained over arrays well beyond the caches"};
    if (!std::isnan(most)) {
      inference.evidence = {number(100 * point.y / most) + " % of " + number(most, 4) +
                            " GB/s, by the driver's memory clock and bus width"};
    }
    results.infer(inference);
  }
}

// The last level that ends, of those that begin up to `latest_begin`, if the curve goes on up to
// `shortest_curve`. Faster levels before it are no caches: up to 4 MiB on an H200 several CUs ask
// for a line at about the same time, and one answer of L2 serves them.
void infer_cache(hipscope::Results& results, const std::string& sweep, const std::string& cache,
                 double latest_begin, double shortest_curve, const std::string& extent) {
  const auto curve = results.curve(sweep, "bandwidth");
  if (curve.empty()) {
    return;
  }
  constexpr double smallest_step = 1.12;
  Inference inference{.name = "cache level " + cache + " read bandwidth",
                      .unit = gigabytes,
                      .statement = "the curve shows no level that ends"};
  for (const auto& level : hipscope::find_rate_levels(curve, smallest_step)) {
    if (level.end && level.first_x <= latest_begin && curve.back().x >= shortest_curve) {
      inference.value = level.y;
      inference.confidence = level.confidence;
      inference.statement =
          "all CUs together, up to " + footprint_label(level.end->last_x) + extent;
      inference.evidence = {"median of " + std::to_string(level.points) + " footprints from " +
                            footprint_label(level.first_x) + " on, " + number(100 * level.spread) +
                            " % from lowest to highest"};
    }
  }
  results.infer(inference);
}

void infer_caches(hipscope::Results& results) {
  const auto l1 = results.curve("footprint-l1", "bandwidth");
  infer_cache(results, "footprint-l1", "1", l1.empty() ? 0 : 2 * l1.front().x, 0, " on each");
  // Past L2 there may be a further cache; and a curve must go well past L2 to show memory.
  const auto l2_bytes = static_cast<double>(results.device().l2_bytes);
  infer_cache(results, "footprint-read", "2", l2_bytes / 2, 4 * l2_bytes, "");
}

// How many bytes in flight it takes, and the latency that Little's law then says.
void infer_in_flight(hipscope::Results& results) {
  std::vector<hipscope::CurvePoint> curve;
  for (const char* sweep : {"occupancy-1", "occupancy-2", "occupancy-4", "occupancy-8"}) {
    const auto in_flight = results.curve(sweep, "in flight per CU");
    const auto bandwidth = results.curve(sweep, "bandwidth");
    for (std::size_t i = 0; i < in_flight.size(); ++i) {
      curve.push_back({.x = in_flight[i].y, .y = bandwidth[i].y});
    }
  }
  if (curve.empty()) {
    return;
  }
  Inference inference{.name = "bytes in flight per CU for 95 % of the read bandwidth",
                      .unit = "bytes",
                      .statement = "even the fewest threads reach half, or too few fit"};
  if (const auto saturation = hipscope::find_saturation(curve, 0.95)) {
    inference.value = saturation->x;
    inference.confidence = saturation->confidence;
    inference.statement = "from here on more threads or more loads per thread bring no more";
    const auto& lightest = saturation->lightest;
    inference.evidence = {
        "with " + number(lightest.x, 6) + " bytes in flight per CU they take " +
            number(lightest.x * results.device().compute_units / lightest.y) +
            " ns (Little's law), the latency of an idle memory",
        number(100 * saturation->confidence) +
            " % of the points with as many or more in flight reach 95 %, however they are split"};
  }
  results.infer(inference);
}

}  // namespace

double peak(const hipscope::DeviceDescription& device) {
  const double bytes = device.memory_mhz * 1e6 * 2 * device.memory_bus_bits / 8;
  return bytes > 0 ? bytes * 1e-9 : std::numeric_limits<double>::quiet_NaN();
}

std::string footprint_label(double bytes) {
  constexpr double kibibyte = 1024;
  return bytes < kibibyte * kibibyte ? number(bytes / kibibyte, 6) + " KiB"
                                     : number(bytes / (kibibyte * kibibyte), 6) + " MiB";
}

void conclude(hipscope::Results& results) {
  infer_caches(results);
  infer_memory(results);
  infer_in_flight(results);
}

}  // namespace memory_bandwidth
