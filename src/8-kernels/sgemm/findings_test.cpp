// What sgemm concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<sgemm::StageName> names = {
    {"small tile", "1 small tile"},
    {"large tile", "2 large tile"},
    {"halves", "3 halves"},
    {"large tile, launch bounds", "large tile, launch bounds"},
    {"halves, launch bounds", "halves, launch bounds"}};

// The rates of the stages that were measured, by their place in `names`, and the library behind.
MadeResults measured(const std::vector<CurvePoint>& rates) {
  MadeResults made("sgemm");
  made.curve("stages", "rate", rates);
  sgemm::conclude(made.results(), names);
  return made;
}

TEST(SgemmTest, TheGainByLaunchBoundsIsTheMeanOfTheStagesThatStandTwice) {
  const MadeResults made = measured({{.x = 1, .y = 30, .relative_spread = 0.5},
                                     {.x = 2, .y = 4, .relative_spread = 0.01},
                                     {.x = 3, .y = 3, .relative_spread = 0.02},
                                     {.x = 4, .y = 32, .relative_spread = 0.1},
                                     {.x = 5, .y = 6, .relative_spread = 0.03},
                                     {.x = 6, .y = 51, .relative_spread = 0.4}});
  const Inference gain = made.inference("SGEMM gain by launch bounds");
  EXPECT_NEAR(*gain.value, 4, 1e-9);  // of 8 and 2
  EXPECT_NEAR(gain.confidence, 0.9, 1e-9);
  EXPECT_EQ(gain.evidence,
            (std::vector<std::string>{"2 large tile: 8 times", "3 halves: 2 times"}));
}

TEST(SgemmTest, AStageThatWasNotMeasuredWithBoundsIsLeftOut) {
  const MadeResults made = measured({{.x = 2, .y = 4}, {.x = 3, .y = 3}, {.x = 4, .y = 12}});
  const Inference gain = made.inference("SGEMM gain by launch bounds");
  EXPECT_NEAR(*gain.value, 3, 1e-9);
  EXPECT_EQ(gain.evidence.size(), 1U);
}

TEST(SgemmTest, NothingIsConcludedFromStagesThatStandOnce) {
  EXPECT_TRUE(
      measured({{.x = 1, .y = 30}, {.x = 2, .y = 4}, {.x = 6, .y = 51}}).inferences().empty());
}

TEST(SgemmTest, RowsOfTheLimitAreComparedByTheirPlace) {
  MadeResults made("sgemm");
  made.curve("limit", "share of peak",
             std::vector<CurvePoint>{{.x = 1, .y = 60, .relative_spread = 0.1},
                                     {.x = 2, .y = 70},
                                     {.x = 4, .y = 75, .relative_spread = 0.2}});
  sgemm::conclude(made.results(), names);
  const Inference operands = made.inference("FP32 FMAs whose operands are all new");
  EXPECT_NEAR(*operands.value, 0.8, 1e-9);
  EXPECT_NEAR(operands.confidence, 0.8, 1e-9);
}

TEST(SgemmTest, ALimitWithoutItsRowsTellsNothing) {
  MadeResults made("sgemm");
  made.curve("limit", "share of peak",
             std::vector<CurvePoint>{{.x = 2, .y = 70}, {.x = 4, .y = 75}});
  sgemm::conclude(made.results(), names);
  EXPECT_TRUE(made.inferences().empty());
}

TEST(SgemmTest, NothingIsConcludedFromNothing) { EXPECT_TRUE(measured({}).inferences().empty()); }

}  // namespace
}  // namespace hipscope
