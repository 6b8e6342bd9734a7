// What sgemm concludes from made curves.
#include <gtest/gtest.h>

#include <vector>

#include "made_results.h"
#include "sgemm_findings.h"

namespace hipscope {
namespace {

const std::vector<sgemm::Rung> rungs = {{"small tile", "1 small tile"},
                                        {"large tile", "2 large tile"},
                                        {"halves", "3 halves"},
                                        {"large tile, launch bounds", "large tile, launch bounds"},
                                        {"halves, launch bounds", "halves, launch bounds"}};

// The rates of the stages that were measured, by their place in `rungs`, and the library behind.
MadeResults measured(const std::vector<CurvePoint>& rates) {
  MadeResults made("sgemm");
  made.curve("stages", "rate", rates);
  sgemm::conclude(made.results(), rungs);
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

TEST(SgemmTest, NothingIsConcludedFromNothing) { EXPECT_TRUE(measured({}).inferences().empty()); }

}  // namespace
}  // namespace hipscope
