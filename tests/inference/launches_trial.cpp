// What a launch costs: the interval between kernels of a stream, and the rate of blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "launch_latency_findings.h"
#include "made_results.h"
#include "staircase_curves.h"
#include "thread_rate_findings.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

const Seeds launch_seeds(39);

TEST(LaunchesTrial, LaunchInterval) {
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

Inference block_rate_by(const Curve& times) {
  constexpr double threads = 1 << 26;
  Curve launched = times;
  Curve rates = times;
  for (std::size_t i = 0; i < times.size(); ++i) {
    launched[i].y = threads;
    rates[i].y = threads / times[i].y;
  }
  MadeResults made("thread_rate");
  made.curve("null-1d", "launched", launched);
  made.curve("null-1d", "thread rate", rates);
  made.curve("null-1d", "time", times);
  thread_rate::conclude(made.results());
  return made.inference("block rate");
}

const Seeds rate_seeds(42);

TEST(LaunchesTrial, BlockRate) {
  Tally& answers = tally("block rate");
  const std::vector<double> sizes = powers(1, 1024);
  constexpr double threads = 1 << 26;
  for (unsigned i = 0; i < 500; ++i) {
    Random random(rate_seeds(i));
    const double per_second = between(random, 0.2e9, 2e9);
    const double threads_per_second = per_second * between(random, 50, 5000);
    const Curve times = measured(
        sizes,
        [&](double block) {
          return std::max(threads / block / per_second, threads / threads_per_second);
        },
        one_of(random, all_disturbances()), random);
    // The clock is 1 GHz.
    answers.add({.value = per_second * 1e-9, .tolerance = 0.05}, block_rate_by(times));
  }
  expect_goals(answers, {.right = 0.5});
}

}  // namespace
}  // namespace hipscope::trial
