// The latency of an instruction, by chains of one wave and by waves.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

Inference latency_by(const Curve& chains, const Curve& waves) {
  MadeResults made("ilp_tlp");
  made.curve("fma-chains", "round", chains);
  made.curve("fma-waves", "round", waves);
  ilp_tlp::conclude(made.results(), {{.name = "fma", .title = "FMA"}});
  return made.inference("FMA latency");
}

const Seeds latency_seeds(34);
const Seeds no_latency_seeds(35);

TEST(InstructionLatencyTrial, InstructionLatency) {
  Tally& answers = tally("instruction latency");
  const std::vector<double> chains = counted(1, 8);
  const std::vector<double> waves = {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64};
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(latency_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double latency = between(random, 2, 20);
    const double interval = one_of(random, std::vector<double>{1, 2, 4});
    const double of_a_unit = interval / one_of(random, std::vector<double>{1, 2, 4});
    const Curve by_chains = measured(
        chains, [&](double n) { return std::max(latency, n * interval); }, disturbance, random);
    const Curve by_waves = measured(
        waves, [&](double n) { return std::max(latency, n * of_a_unit); }, disturbance, random);
    // One chain can be held up by the interval, too.
    answers.add({.value = std::max(latency, interval), .tolerance = 0.05},
                latency_by(by_chains, by_waves));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_latency_seeds(i));
    const Curve by_chains = nothing(chains, random);
    const Inference found = latency_by(by_chains, nothing(waves, random));
    // Two constants that agree are a latency, which nothing else limits.
    answers.add(found.value ? Truth{.value = 1000, .tolerance = 0.1} : Truth{}, found);
  }
  expect_goals(answers, {.right = 0.4});
}

}  // namespace
}  // namespace hipscope::trial
