// The trial of what store_divergence concludes: the granularity of access.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

const std::vector<double>& access_strides() {
  static const std::vector<double> all = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15,
                                          16, 17, 24, 31, 32, 33, 48, 63, 64};
  return all;
}

Inference granularity_by(unsigned lanes, const Curve& costs) {
  MadeResults made("store_divergence", fake::describe_with(&DeviceDescription::wave_size, lanes));
  made.curve("stride-loads", "cycles per access", costs);
  store_divergence::conclude(made.results());
  return made.inference("access granularity of loads from memory");
}

const Seeds access_seeds(32);
const Seeds no_access_seeds(33);

TEST(StoreDivergenceTrial, AccessGranularity) {
  Tally& answers = tally("access granularity");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(access_seeds(i));
    const unsigned lanes = one_of(random, std::vector<unsigned>{32, 64});
    const double bytes = one_of(random, std::vector<double>{32, 64, 128});
    const double least = between(random, 0, 1) * lanes * 4 / bytes;
    const double per_segment = between(random, 0.5, 5);
    const auto cycles = [&](double stride) {
      std::set<double> segments;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        segments.insert(std::floor(lane * stride * 4 / bytes));
      }
      return per_segment * std::max(least, static_cast<double>(segments.size()));
    };
    answers.add({.value = bytes},
                granularity_by(lanes, measured(access_strides(), cycles,
                                               one_of(random, all_disturbances()), random)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_access_seeds(i));
    answers.add({}, granularity_by(64, nothing(access_strides(), random)));
  }
  expect_goals(answers, {.right = 0.3});
}

}  // namespace
}  // namespace hipscope::trial
