// The lanes of a wave: by what divergence costs, and by the steps in a block's time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "made_results.h"
#include "staircase_curves.h"
#include "thread_rate_findings.h"
#include "trial.h"
#include "wave_divergence_findings.h"

namespace hipscope::trial {
namespace {

// --- By divergence ------------------------------------------------------------------------------

Inference wave_by(const Curve& granularity, const Curve& paths) {
  MadeResults made("wave_divergence");
  if (!granularity.empty()) {
    made.curve("granularity", "cycles", granularity);
  }
  if (!paths.empty()) {
    made.curve("paths", "FMA rate", paths);
  }
  wave_divergence::conclude(made.results());
  return made.inference("wave size");
}

const std::vector<double>& granularities() {
  static const std::vector<double> all = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  return all;
}

const std::vector<double>& path_counts() {
  static const std::vector<double> all = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128};
  return all;
}

const Seeds wave_seeds(28);
const Seeds no_wave_seeds(29);

TEST(WaveSizeTrial, WaveSize) {
  Tally& answers = tally("wave size by divergence");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(wave_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    const double lanes = one_of(random, std::vector<double>{32, 64});
    const double both = between(random, 1.8, 2.2);
    const Curve granularity = measured(
        granularities(), [&](double x) { return x < lanes ? 1000 * both : 1000; }, disturbance,
        random);
    const Curve paths = reciprocal(measured(
        path_counts(), [&](double x) { return 1000 * std::min(x, lanes); }, disturbance, random));
    answers.add({.value = lanes}, wave_by(granularity, happens(random, 0.7) ? paths : Curve{}));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_wave_seeds(i));
    const Curve granularity = nothing(granularities(), random);
    answers.add({}, wave_by(granularity, reciprocal(nothing(path_counts(), random))));
  }
  expect_goals(answers, {.right = 0.6});
}

// --- By the block's steps -----------------------------------------------------------------------

Inference wave_by_steps(const Curve& cycles) {
  MadeResults made("thread_rate");
  made.curve("block-size", "cycles per block", cycles);
  thread_rate::conclude(made.results());
  return made.inference("wave size");
}

const Seeds step_seeds(40);
const Seeds no_step_seeds(41);

TEST(WaveSizeTrial, WaveSizeBySteps) {
  Tally& answers = tally("wave size by the block's steps");
  std::vector<double> sizes;
  for (double threads = 8; threads <= 1024; threads += 8) {
    sizes.push_back(threads);
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(step_seeds(i));
    const double lanes = one_of(random, std::vector<double>{32, 64});
    const double fixed = between(random, 4, 20);
    answers.add({.value = lanes},
                wave_by_steps(measured(
                    sizes, [&](double threads) { return fixed + std::ceil(threads / lanes); },
                    one_of(random, all_disturbances()), random)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_step_seeds(i));
    answers.add({}, wave_by_steps(nothing(sizes, random)));
  }
  expect_goals(answers, {.right = 0.2});
}

}  // namespace
}  // namespace hipscope::trial
