// The trial of what thread_rate concludes: the rate of blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

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

TEST(ThreadRateTrial, BlockRate) {
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
