// The trial of what launch_latency concludes: the interval between the kernels of a stream.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

const Seeds launch_seeds(39);

TEST(LaunchLatencyTrial, LaunchInterval) {
  Tally& answers = tally("interval of launches");
  const std::vector<double> kernels = powers(1, 256);
  for (unsigned i = 0; i < 500; ++i) {
    Random random(launch_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double interval = between(random, 0.3e-6, 8e-6);
    const double first = between(random, 2e-6, 20e-6);
    MadeResults made("launch_latency");
    for (const std::string value : {"completion", "device", "enqueue"}) {
      made.curve("stream", value,
                 measured(
                     kernels, [&](double n) { return first + n * interval; }, disturbance, random));
    }
    launch_latency::conclude(made.results());
    answers.add({.value = interval * 1e6, .tolerance = 0.1},
                made.inference("interval in a stream"));
  }
  expect_goals(answers, {.right = 0.8});
}

}  // namespace
}  // namespace hipscope::trial
