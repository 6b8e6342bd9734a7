#include "findings.h"

#include <algorithm>
#include <string>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace managed_memory {

using hipscope::number;

namespace {

constexpr double kibibyte = 1024;

// Whether accesses of this side fault. Without XNACK an AMD GPU's do not: it reads pages of the
// host where they are.
bool infer_fault(hipscope::Results& results, const std::string& side) {
  const auto others = results.curve(side + "-fault", "other half");
  const auto unit = hipscope::find_fetch_unit(others);
  if (!unit) {
    return false;  // no access ever waits for a page, or all do
  }
  // The driver's work on the host's CPU differs more between runs than within one.
  constexpr double between_runs = 0.8;
  results.infer(
      {.name = "page fault of the " + side,
       .value = unit->miss,
       .unit = "us",
       .confidence = between_runs * unit->confidence,
       .statement = "one load that finds its page on the other side waits this long",
       .evidence = {"a load of a page that is there takes " + number(unit->hit) + " us"}});
  results.infer(
      {.name = "brought by a fault of the " + side,
       .value = unit->bytes,
       .unit = "bytes",
       .confidence = unit->confidence,
       .statement = "a fault brings its aligned " + number(unit->bytes / kibibyte) + " KiB",
       .evidence = {"by a second load in the other half of an aligned block"}});
  return true;
}

void infer_bandwidth(hipscope::Results& results, const std::string& name, Move move,
                     const std::string& statement) {
  const auto point = results.at("moves", "bandwidth", static_cast<double>(move));
  if (point) {
    results.infer({.name = name,
                   .value = point->y,
                   .unit = "GB/s",
                   .confidence = 1 - std::min(1.0, point->relative_spread),
                   .statement = statement});
  }
}

}  // namespace

void conclude(hipscope::Results& results) {
  const bool device_faults = infer_fault(results, "device");
  const bool host_faults = infer_fault(results, "host");
  if (device_faults) {
    infer_bandwidth(results, "moved by faults of the device", Move::device_reads_from_host,
                    "a kernel reads pages of the host at this rate");
  }
  if (host_faults) {
    infer_bandwidth(results, "moved by faults of the host", Move::host_reads_from_device,
                    "one thread of the host reads pages of the device at this rate");
  }
  infer_bandwidth(results, "prefetched to the device", Move::prefetch_to_device,
                  "hipMemPrefetchAsync moves pages at this rate");
  infer_bandwidth(results, "prefetched to the host", Move::prefetch_to_host,
                  "hipMemPrefetchAsync moves pages at this rate");
}

}  // namespace managed_memory
