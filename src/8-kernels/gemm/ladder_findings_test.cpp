// What ladders of matrix products conclude from made curves.
#include "ladder_findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<gemm::LadderRow> rows = {
    {"1 first", false}, {"2 tile", false}, {"matrix", true}, {"matrix, split", true}};

std::vector<CurvePoint> curve_of(const std::vector<double>& values) {
  std::vector<CurvePoint> points;
  for (const double value : values) {
    points.push_back({.x = points.size() + 1.0, .y = value});
  }
  return points;
}

TEST(LadderFindingsTest, TheBestStageOfEachUnitIsTold) {
  MadeResults made("sgemm");
  // The library's rows stand after the ladder's, and are faster: they are none of ours.
  made.curve("stages", "rate", curve_of({2, 20, 50, 40, 90, 80}));
  made.curve("stages", "share of peak", curve_of({3, 30, 80, 60, 99, 98}));
  gemm::conclude_ladder(made.results(), "SGEMM", rows);
  const Inference vector = made.inference("SGEMM rate");
  EXPECT_EQ(vector.value, 20);
  EXPECT_EQ(vector.statement, "2 tile");
  EXPECT_EQ(vector.evidence, std::vector<std::string>{"30 % of the peak at its clock"});
  EXPECT_EQ(made.inference("SGEMM rate by matrix instructions").value, 50);
}

TEST(LadderFindingsTest, ALadderWithoutMatrixInstructionsTellsNone) {
  MadeResults made("sgemm");
  gemm::conclude_ladder(made.results(), "SGEMM", rows);
  EXPECT_TRUE(made.inferences().empty());
  made.curve("stages", "rate", curve_of({2, 20}));
  gemm::conclude_ladder(made.results(), "SGEMM", rows);
  EXPECT_EQ(made.inferences().size(), 1U);
}

}  // namespace
}  // namespace hipscope
