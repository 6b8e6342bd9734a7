// The registers that a thread can have before the compiler needs scratch or the rate falls.
#include <gtest/gtest.h>

#include <vector>

#include "disturbance.h"
#include "findings.h"
#include "made_results.h"
#include "trial.h"

namespace hipscope::trial {
namespace {

const Seeds register_seeds(36);
const Seeds no_register_seeds(37);

TEST(RegistersTrial, RegisterBudget) {
  Tally& answers = tally("register budget");
  const std::vector<double> values = {8,   16,  32,  64,  96,  128, 160, 192, 208, 224,
                                      232, 240, 248, 252, 256, 272, 288, 320, 512};
  const auto conclude = [&](const Curve& times, double budget) {
    MadeResults made("vgpr_limit");
    Curve scratch = times;
    for (CurvePoint& point : scratch) {
      point.y = point.x > budget ? 64 : 0;
    }
    made.curve("live-256", "scratch", scratch);
    made.curve("live-256", "FMA rate", reciprocal(times));
    Curve registers = times;
    for (CurvePoint& point : registers) {
      point.y = point.x + 6;
    }
    made.curve("live-256", "registers", registers);
    vgpr_limit::conclude(made.results());
    return made.inference("register budget per thread, blocks of 256");
  };
  for (unsigned i = 0; i < 1000; ++i) {
    Random random(register_seeds(i));
    // In some the rate falls before the compiler needs scratch.
    const double budget = one_of(random, std::vector<double>{64, 128, 192, 248, 252, 256});
    const double step = between(random, 1.3, 4);
    const double slope = between(random, 0, 2);
    const auto cycles = [&](double x) {
      return 1000 * (x <= budget ? 1 : step + slope * (x / budget - 1));
    };
    answers.add({.value = budget + 6},
                conclude(measured(values, cycles, one_of(random, all_disturbances()), random),
                         happens(random, 0.9) ? budget : 320));
  }
  for (unsigned i = 0; i < 500; ++i) {
    Random random(no_register_seeds(i));
    answers.add({}, conclude(nothing(values, random), 512));
  }
  expect_goals(answers, {.right = 0.6});
}

}  // namespace
}  // namespace hipscope::trial
