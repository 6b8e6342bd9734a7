// What dgemm concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

TEST(DgemmTest, ALaneMoreAtABankCostsTheSlope) {
  MadeResults made("dgemm");
  made.curve("bank-conflicts", "time of the block's load",
             std::vector<CurvePoint>{{.x = 1, .y = 16}, {.x = 2, .y = 32}, {.x = 4, .y = 64}});
  dgemm::conclude(made.results());
  EXPECT_EQ(made.inference("a block's load from LDS for each lane more at a bank").value, 16);
}

TEST(DgemmTest, NewOperandsAreComparedWithOnesThatAreShared) {
  MadeResults made("dgemm");
  made.curve("operands", "FMA rate",
             std::vector<CurvePoint>{{.x = 1, .y = 42}, {.x = 2, .y = 56}, {.x = 3, .y = 52}});
  dgemm::conclude(made.results());
  EXPECT_EQ(made.inference("FP64 FMAs whose operands are all new").value, 0.75);
}

TEST(DgemmTest, NothingIsConcludedFromNothing) {
  MadeResults made("dgemm");
  dgemm::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
