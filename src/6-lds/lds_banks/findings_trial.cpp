// The trial of what lds_banks concludes: the number of banks.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

struct Lds {
  unsigned lanes = 0;
  unsigned at_once = 0;  // lanes that are served together
  unsigned banks = 0;
  double base = 0;
  double per_dword = 0;

  // Each part of a wave waits for its busiest bank.
  [[nodiscard]] double cycles(double stride) const {
    double sum = 0;
    for (unsigned first = 0; first < lanes; first += at_once) {
      std::vector<unsigned> dwords(banks);
      for (unsigned lane = first; lane < first + at_once; ++lane) {
        ++dwords[lane * static_cast<unsigned>(stride) % banks];
      }
      sum += *std::max_element(dwords.begin(), dwords.end());
    }
    return base + per_dword * sum;
  }
};

std::vector<double> strides(bool with_long_ones) {
  std::vector<double> xs = counted(1, 64);
  if (with_long_ones) {
    for (const double stride : {80, 96, 112, 128}) {
      xs.push_back(stride);
    }
  }
  return xs;
}

Inference banks_by(unsigned lanes, const Curve& chase, const Curve& loads) {
  MadeResults made("lds_banks", fake::describe_with(&DeviceDescription::wave_size, lanes));
  made.curve("chase-4", "latency", chase);
  made.curve("loads-4", lds_banks::throughput, loads);
  lds_banks::conclude(made.results());
  return made.inference("LDS banks");
}

const Seeds bank_seeds(26);
const Seeds no_bank_seeds(27);

TEST(LdsBanksTrial, LdsBanks) {
  // Old results have no strides past 64 dwords.
  Tally& answers = tally("LDS banks");
  Tally& of_short_strides = tally("LDS banks, strides up to 64");
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(bank_seeds(i));
    const Disturbance& disturbance = one_of(random, all_disturbances());
    Lds lds{.lanes = one_of(random, std::vector<unsigned>{32, 64}),
            .banks = one_of(random, std::vector<unsigned>{16, 32, 32, 64, 64, 128}),
            .per_dword = between(random, 1, 4)};
    lds.at_once = lds.lanes / one_of(random, std::vector<unsigned>{1, 2});
    const bool with_long_ones = happens(random, 0.7);
    const std::vector<double> xs = strides(with_long_ones);
    const auto curve = [&](double base) {
      lds.base = base;
      return measured(
          xs, [&](double x) { return lds.cycles(x); }, disturbance, random);
    };
    const Curve chase = curve(between(random, 20, 100));
    (with_long_ones ? answers : of_short_strides)
        .add({.value = lds.banks}, banks_by(lds.lanes, chase, curve(0)));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_bank_seeds(i));
    const std::vector<double> xs = strides(happens(random, 0.7));
    const Curve chase = nothing(xs, random);
    answers.add({}, banks_by(64, chase, nothing(xs, random)));
  }
  expect_goals(answers, {.right = 0.7});
  // There two numbers of banks may look alike.
  expect_goals(of_short_strides, {.right = 0.4});
}

}  // namespace
}  // namespace hipscope::trial
