#include "findings.h"

#include <string>

#include "hipscope/format.h"
#include "hipscope/inference.h"

namespace managed_memory {

// Whether accesses of a side fault at all the curve tells: without XNACK an AMD GPU's do not, it
// reads pages of the host where they are.
void conclude(hipscope::Results& results) {
  using hipscope::number;
  for (const std::string side : {"device", "host"}) {
    const auto unit = hipscope::find_fetch_unit(results.curve(side + "-fault", "other half"));
    if (!unit) {
      continue;  // no access ever waits for a page, or all do
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
    constexpr double kibibyte = 1024;
    results.infer(
        {.name = "brought by a fault of the " + side,
         .value = unit->bytes,
         .unit = "bytes",
         .confidence = unit->confidence,
         .statement = "a fault brings its aligned " + number(unit->bytes / kibibyte, 4) + " KiB"});
  }
}

}  // namespace managed_memory
