// The lanes of a wave, by what divergence costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

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

}  // namespace
}  // namespace hipscope::trial
