// What sgpr_limit concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

// Uniform values that cost `registers` of a thread each, and of which `budget` run at full rate.
MadeResults uniform(double registers, double budget, double noise = 0) {
  MadeResults made("sgpr_limit");
  const std::vector<double> counts = multiples(8, 128);
  made.curve("uniform", "registers",
             made_curve(counts, [=](double x) { return 10 + registers * x; }));
  made.curve("uniform", "operation rate",
             made_curve(
                 counts, [=](double x) { return x <= budget ? 4.0 : 2.0; }, noise));
  made.curve("per-lane", "registers", made_curve(counts, [](double x) { return 12 + x; }));
  sgpr_limit::conclude(made.results());
  return made;
}

TEST(SgprLimitTest, ScalarRegistersAndTheirBudgetAreRead) {
  for (const double noise : {0.0, 0.01}) {
    const MadeResults made = uniform(0, 96, noise);
    const Inference place = made.inference("registers of a thread per uniform value");
    EXPECT_NEAR(*place.value, 0, 1e-9);
    EXPECT_EQ(place.confidence, 1);
    EXPECT_EQ(place.evidence.at(1), "values that differ from lane to lane: 1 registers each");
    const Inference budget = made.inference("uniform values at full rate");
    EXPECT_EQ(budget.value, 96);
    EXPECT_GT(budget.confidence, 0.9);
    EXPECT_EQ(budget.evidence.at(0), "published for Radeon Instinct MI25: highest register s101");
  }
}

TEST(SgprLimitTest, ValuesInRegistersOfLanesTellNothingOfScalarOnes) {
  const MadeResults made = uniform(1, 96);
  EXPECT_NEAR(*made.inference("registers of a thread per uniform value").value, 1, 1e-9);
  EXPECT_FALSE(made.inference("uniform values at full rate").value.has_value());
}

TEST(SgprLimitTest, HalfARegisterIsUncertain) {
  EXPECT_NEAR(uniform(0.5, 96).inference("registers of a thread per uniform value").confidence, 0,
              1e-9);
}

TEST(SgprLimitTest, WithoutACliffThereIsNoBudget) {
  const MadeResults made = uniform(0, 1000, 0.01);
  EXPECT_EQ(made.inference("uniform values at full rate").statement, "the rate shows no cliff");
  EXPECT_FALSE(made.inference("uniform values at full rate").value.has_value());
}

TEST(SgprLimitTest, NothingIsConcludedFromNothing) {
  MadeResults made("sgpr_limit");
  sgpr_limit::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
