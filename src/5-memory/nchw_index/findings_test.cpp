// What nchw_index concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<std::string> stages = {"8a", "naive", "vector store", "fill"};

// The rows of sweep large in the order in which they are measured.
MadeResults concluded(const std::vector<CurvePoint>& bandwidths) {
  MadeResults made("nchw_index");
  made.curve("large", "bandwidth", bandwidths);
  nchw_index::conclude(made.results(), stages);
  return made;
}

TEST(NchwIndexTest, TheIndexCostsWhatAFillDoesNotTake) {
  const MadeResults made = concluded({{.x = 4, .y = 4000, .relative_spread = 0.1},
                                      {.x = 1, .y = 2000},
                                      {.x = 2, .y = 1000},
                                      {.x = 3, .y = 3000}});
  const Inference cost = made.inference("cost of the index");
  EXPECT_EQ(cost.value, 4);
  EXPECT_NEAR(cost.confidence, 0.9, 0.05);
  EXPECT_EQ(cost.evidence,
            (std::vector<std::string>{
                "8a: 2000 GB/s, 50 % of the fill", "naive: 1000 GB/s, 25 % of the fill",
                "vector store: 3000 GB/s, 75 % of the fill", "fastest: vector store"}));
}

TEST(NchwIndexTest, AStageThatCannotRunIsLeftOut) {
  const MadeResults made = concluded({{.x = 4, .y = 4000}, {.x = 2, .y = 2000}});
  EXPECT_EQ(made.inference("cost of the index").value, 2);
  EXPECT_EQ(made.inference("cost of the index").evidence,
            (std::vector<std::string>{"naive: 2000 GB/s, 50 % of the fill", "fastest: naive"}));
}

TEST(NchwIndexTest, NothingIsConcludedWithoutWhatIsCompared) {
  EXPECT_TRUE(concluded({}).inferences().empty());
  EXPECT_TRUE(concluded({{.x = 4, .y = 4000}, {.x = 3, .y = 2000}}).inferences().empty());
  EXPECT_TRUE(concluded({{.x = 2, .y = 4000}, {.x = 3, .y = 2000}}).inferences().empty());
}

}  // namespace
}  // namespace hipscope
