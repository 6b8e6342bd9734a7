#include "findings.h"

#include <cmath>
#include <string>

#include "hipscope/format.h"

namespace lds_latency {

using hipscope::number;

namespace {

// The net latency, believed as far as the counter and the events agree about it.
void infer_latency(hipscope::Results& results, const std::string& sweep,
                   hipscope::Inference inference) {
  const auto counted = results.at(sweep, "latency", net_row);
  const auto by_events = results.at(sweep, "latency by events", net_row);
  if (!counted || !by_events) {
    return;
  }
  const double disagreement = std::abs(by_events->y - counted->y) / counted->y;
  inference.unit = "cycles";
  inference.evidence = {"by the counter in the kernel " + number(counted->y, 4) +
                        " cycles, by events around it " + number(by_events->y, 4)};
  constexpr double largest_disagreement = 0.1;
  if (counted->y > 0 && disagreement <= largest_disagreement) {
    inference.value = counted->y;
    inference.confidence = 1 - disagreement;
  } else {
    inference.statement = "the counter in the kernel and the events around it do not agree";
  }
  results.infer(inference);
}

}  // namespace

void conclude(hipscope::Results& results) {
  infer_latency(results, "chase",
                {.name = "LDS latency",
                 .statement = "from one load of 4 bytes to the next, whose address it loads"});
  infer_latency(
      results, "lanes",
      {.name = "shuffle latency",
       .statement = "from one shuffle of a wave to the next, whose lane numbers it gives"});
}

}  // namespace lds_latency
