// What sgpr_limit concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

// Uniform values that cost `registers` of a thread each, and of which `budget` run at full rate.
Inference full_rate(double registers, double budget, double noise = 0) {
  MadeResults made("sgpr_limit");
  const std::vector<double> counts = multiples(8, 128);
  made.curve("uniform", "registers",
             made_curve(counts, [=](double x) { return 10 + registers * x; }));
  made.curve("uniform", "operation rate",
             made_curve(
                 counts, [=](double x) { return x <= budget ? 4.0 : 2.0; }, noise));
  sgpr_limit::conclude(made.results());
  return made.inference("uniform values at full rate");
}

TEST(SgprLimitTest, TheBudgetOfScalarRegistersIsRead) {
  for (const double noise : {0.0, 0.01}) {
    for (const double budget : {32.0, 96.0}) {
      const Inference found = full_rate(0, budget, noise);
      EXPECT_EQ(found.value, budget);
      EXPECT_GT(found.confidence, 0.9);
    }
    EXPECT_EQ(full_rate(0, 1000, noise).statement, "the rate shows no cliff");
    EXPECT_FALSE(full_rate(0, 1000, noise).value.has_value());
  }
  // In registers of the lanes they tell nothing of scalar ones.
  EXPECT_FALSE(full_rate(1, 96).value.has_value());
}

TEST(SgprLimitTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("sgpr_limit", sgpr_limit::conclude);
}

}  // namespace
}  // namespace hipscope
