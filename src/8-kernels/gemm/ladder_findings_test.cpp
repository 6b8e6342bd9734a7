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

std::vector<CurvePoint> curve_of(const std::vector<double>& values, double first_x = 1) {
  std::vector<CurvePoint> points;
  for (const double value : values) {
    points.push_back({.x = first_x++, .y = value});
  }
  return points;
}

TEST(LadderFindingsTest, TheBestOfEachUnitIsToldAgainstTheFirst) {
  MadeResults made("sgemm");
  // The library's rows stand after the ladder's, and are faster: they are none of ours.
  made.curve("stages", "rate", curve_of({2, 20, 50, 40, 90, 80}));
  made.curve("stages", "share of peak", curve_of({3, 30, 80, 60, 99, 98}));
  gemm::conclude_ladder(made.results(), "SGEMM", rows);
  const Inference vector = made.inference("SGEMM rate");
  EXPECT_EQ(vector.value, 20);
  EXPECT_EQ(vector.unit, "TFLOP/s");
  EXPECT_EQ(vector.statement, "2 tile");
  EXPECT_EQ(vector.evidence, (std::vector<std::string>{"10 times the first stage",
                                                       "30 % of the peak at its clock"}));
  const Inference matrix = made.inference("SGEMM rate by matrix instructions");
  EXPECT_EQ(matrix.value, 50);
  EXPECT_EQ(matrix.statement, "matrix");
}

TEST(LadderFindingsTest, TheLibraryMeasuredFirstIsNotTheFirstStage) {
  MadeResults made("sgemm");
  made.curve("stages", "rate", curve_of({90, 80}, 5));
  made.curve("stages", "rate", curve_of({2, 20}));
  gemm::conclude_ladder(made.results(), "SGEMM", rows);
  EXPECT_EQ(made.inference("SGEMM rate").evidence,
            std::vector<std::string>{"10 times the first stage"});
}

TEST(LadderFindingsTest, ALadderWithoutMatrixInstructionsTellsNone) {
  MadeResults made("sgemm");
  made.curve("stages", "rate", curve_of({2, 20}));
  gemm::conclude_ladder(made.results(), "SGEMM", rows);
  EXPECT_EQ(made.inferences().size(), 1U);
}

TEST(LadderFindingsTest, TheLibraryIsComparedWithTheBestAndOverOddSizes) {
  MadeResults made("dgemm");
  made.curve("against-library", "ratio to the library", curve_of({0.5, 0.98, 0.7}));
  made.curve("odd", "ratio to the library", curve_of({0.8, 1.2, 1.3}));
  gemm::conclude_ladder(made.results(), "DGEMM", rows);
  EXPECT_EQ(made.inference("DGEMM over the vendor's library").value, 0.98);
  EXPECT_DOUBLE_EQ(*made.inference("DGEMM over the vendor's library at odd sizes").value, 1.1);
}

TEST(LadderFindingsTest, SmallSizesHaveAGeometricMeanOfTheirOwn) {
  MadeResults made("dgemm");
  const std::vector<CurvePoint> ratios = {
      {.x = 128, .y = 2}, {.x = 1024, .y = 0.5, .relative_spread = 0.1}, {.x = 1025, .y = 9}};
  made.curve("sizes", "ratio to the library", ratios);
  gemm::conclude_ladder(made.results(), "DGEMM", rows);
  const Inference small = made.inference("DGEMM over the vendor's library at small sizes");
  EXPECT_DOUBLE_EQ(*small.value, 1);
  EXPECT_DOUBLE_EQ(small.confidence, 0.9);
  EXPECT_EQ(small.evidence, std::vector<std::string>{"2 sizes, the least 0.5 times"});
}

TEST(LadderFindingsTest, NothingIsConcludedFromNothing) {
  MadeResults made("dgemm");
  gemm::conclude_ladder(made.results(), "DGEMM", rows);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
