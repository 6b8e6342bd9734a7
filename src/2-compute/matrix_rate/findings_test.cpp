// What matrix_rate concludes from made curves, and the plain C++ under its kernels: number formats
// and operands.
#include "findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hipscope/matrix/operands.h"
#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

using matrix_rate::RowName;

const std::vector<RowName> rows = {{"FP16", "mma.sync m16n8k16", "mma.sync"},
                                   {"FP16", "wgmma m64n128k16", "wgmma"},
                                   {"FP16", "wgmma m64n256k16", "wgmma"},
                                   {"INT8", "mma.sync m16n8k32", "mma.sync"},
                                   {"FP16 packed", "FMA of pairs", "packed"}};
const std::vector<RowName> leading = {rows[0], rows[2], rows[3], rows[4]};

// Rows 1, 2, 3 ... with these values.
std::vector<CurvePoint> column(const std::vector<double>& values) {
  std::vector<CurvePoint> points;
  for (const double value : values) {
    points.push_back({.x = double(points.size() + 1), .y = value});
  }
  return points;
}

void conclude(MadeResults& made) { matrix_rate::conclude(made.results(), rows, leading); }

TEST(MatrixRateTest, TheFastestInstructionOfAFormatIsItsRate) {
  MadeResults made("matrix_rate");
  made.curve("peak", "rate", column({1300, 1900, 2000, 2600, 128}));
  made.curve("peak", "share of documented", column({65, 95, 97.7, 63, 50}));
  conclude(made);
  const Inference rate = made.inference("FP16 matrix rate");
  EXPECT_EQ(rate.value, 2000);
  EXPECT_EQ(rate.statement, "with every CU full, by wgmma m64n256k16");
  EXPECT_EQ(rate.evidence, std::vector<std::string>{"97.7 % of what the vendor documents"});
  EXPECT_EQ(made.inference("INT8 matrix rate").value, 2600);
  EXPECT_FALSE(made.inference("FP16 packed matrix rate").value.has_value());
}

TEST(MatrixRateTest, TheShortestChainOfOneWaveIsTheLatency) {
  MadeResults made("matrix_rate");
  made.curve("chains", "1 chain", column({24, 16, 128, 18, 4}));
  conclude(made);
  EXPECT_EQ(made.inference("FP16 matrix latency").value, 24);
  EXPECT_EQ(made.inference("INT8 matrix latency").value, 18);
}

// What a quarter, a half (of an even and of an odd number), three quarters and minus three quarters
// of the last place come to.
Inference sum_of(const std::vector<double>& quarters) {
  MadeResults made("matrix_rate");
  const std::vector<std::string> names = {"1/4", "2/4, even", "2/4, odd", "3/4", "-3/4"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    made.curve("adds", names[i], column({quarters[i]}));
  }
  made.curve("adds", "bits kept", column({25}));
  made.curve("adds", "added at once", column({16}));
  conclude(made);
  return made.inference("width of sums, FP16 mma.sync");
}

TEST(MatrixRateTest, RoundingIsReadFromQuarters) {
  const Inference toward_zero = sum_of({0, 0, 0, 0, 0});
  EXPECT_EQ(toward_zero.value, 25);
  EXPECT_EQ(
      toward_zero.statement,
      "rounded toward zero; products count up to so many bits under the largest; added at once: "
      "16 products");
  const auto begins = [](const std::vector<double>& quarters, const std::string& text) {
    return sum_of(quarters).statement.starts_with("rounded " + text + ";");
  };
  EXPECT_TRUE(begins({0, 0, 1, 1, 1}, "to nearest, ties to even"));
  EXPECT_TRUE(begins({0, 1, 1, 1, 1}, "to nearest, ties otherwise"));
  EXPECT_TRUE(begins({1, 1, 1, 1, 0}, "up"));
  EXPECT_TRUE(begins({0, 0, 0, 0, 1}, "down"));
  EXPECT_TRUE(begins({1, 1, 1, 1, 1}, "away from zero"));
}

TEST(MatrixRateTest, SumsOfIntegersAreNotRounded) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(sum_of({none, none, none, none, none}).name.empty());
}

TEST(MatrixRateTest, NothingIsConcludedFromNothing) {
  MadeResults made("matrix_rate");
  conclude(made);
  EXPECT_TRUE(made.inferences().empty());
}

TEST(MatrixFormatsTest, KnownValuesHaveTheirCodes) {
  using namespace matrix_rate;  // NOLINT(google-build-using-namespace)
  EXPECT_EQ(encode(fp64, 1), 0x3FF0000000000000U);
  EXPECT_EQ(encode(fp32, -2.5), 0xC0200000U);
  EXPECT_EQ(encode(tf32, 1), 0x3F800000U);
  EXPECT_EQ(encode(tf32, 1 + 0x1p-11), 0x3F800000U);  // a tie, to even
  EXPECT_EQ(encode(fp16, 0x1p-24), 1U);
  EXPECT_EQ(encode(fp16, -65504), 0xFBFFU);
  EXPECT_EQ(encode(bf16, 1.5), 0x3FC0U);
  EXPECT_EQ(encode(e4m3, 448), 0x7EU);
  EXPECT_EQ(encode(e4m3, 0x1p-9), 1U);
  EXPECT_EQ(encode(e5m2, -2), 0xC0U);
  EXPECT_EQ(encode(e4m3_fnuz, 1), 0x40U);
  EXPECT_EQ(encode(e2m1, 6), 7U);
  EXPECT_EQ(encode(e2m3, 7.5), 0x1FU);
  EXPECT_EQ(encode(e3m2, -28), 0x3FU);
  EXPECT_EQ(encode(int8, -1), 0xFFU);
  EXPECT_EQ(encode(e4m3_fnuz, -0.0), 0U);
}

TEST(MatrixFormatsTest, EveryCodeOfASmallFormatComesBack) {
  using namespace matrix_rate;  // NOLINT(google-build-using-namespace)
  for (const Format& format : {fp16, bf16, e4m3, e5m2, e3m2, e2m3, e2m1, int8}) {
    const unsigned sign_bit = 1U << (format.bits - 1);
    // Codes of the last binade may be no numbers; that of minus zero becomes zero's.
    const unsigned magnitudes =
        format.is_integer() ? sign_bit : sign_bit - (1U << format.mantissa_bits);
    for (unsigned code = 0; code < magnitudes; ++code) {
      EXPECT_EQ(encode(format, decode(format, code)), code) << format.name;
      if (code != 0 || format.is_integer()) {
        EXPECT_EQ(encode(format, decode(format, code | sign_bit)), code | sign_bit) << format.name;
      }
    }
  }
}

matrix_rate::Place in_rows(unsigned lane, unsigned element) { return {lane, element}; }

// 4 x 8 times 8 x 4, a row or column in each of four lanes.
matrix_rate::Instruction small_instruction(matrix_rate::Sparsity sparsity) {
  return {{.a = matrix_rate::fp16,
           .b = matrix_rate::fp16,
           .sum = matrix_rate::fp32,
           .m = 4,
           .n = 4,
           .k = 8,
           .lanes = 4,
           .a_layout = {4, sparsity == matrix_rate::Sparsity::dense ? 8U : 4U, in_rows},
           .b_layout = {},
           .sum_layout = {4, 4, in_rows},
           .sparsity = sparsity},
          "",
          "",
          "",
          4};
}

TEST(MatrixOperandsTest, TheSecondPairTakesAwayWhatTheFirstAdds) {
  using matrix_rate::Data;
  using matrix_rate::Sparsity;
  for (const auto sparsity : {Sparsity::dense, Sparsity::two_of_four, Sparsity::one_of_two}) {
    for (const Data data : {Data::integers, Data::random}) {
      const auto operands = matrix_rate::make_operands(small_instruction(sparsity), data, false, 1);
      const auto first = matrix_rate::product(operands.a[0], operands.b[0]);
      const auto second = matrix_rate::product(operands.a[1], operands.b[1]);
      double magnitude = 0;
      for (std::size_t i = 0; i < first.values.size(); ++i) {
        EXPECT_NEAR(first.values[i] + second.values[i], 0, 1e-12);
        magnitude += std::abs(first.values[i]);
      }
      EXPECT_GT(magnitude, 0);
      EXPECT_NE(operands.b[0].values, operands.b[1].values);
    }
  }
}

TEST(MatrixOperandsTest, WhatIsLeftTellsSteps) {
  const auto operands = matrix_rate::make_operands(
      small_instruction(matrix_rate::Sparsity::two_of_four), matrix_rate::Data::integers, true, 1);
  const auto first = matrix_rate::product(operands.a[0], operands.b[0]);
  const auto second = matrix_rate::product(operands.a[1], operands.b[1]);
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    EXPECT_EQ(std::abs(first.values[i] + second.values[i]), 1);
  }
}

TEST(MatrixOperandsTest, PackedValuesComeBackFromTheirRegisters) {
  using namespace matrix_rate;  // NOLINT(google-build-using-namespace)
  const Instruction instruction = small_instruction(Sparsity::dense);
  const Matrix starts = make_starts(instruction, Data::integers, 3);
  const auto packed = pack(instruction.sum_layout, fp32, starts, Sparsity::dense, 4);
  // Register by register: the second dword is lane 1's first.
  EXPECT_EQ(packed[7], encode(fp32, starts.at(1, 0)) >> 24);
  for (unsigned lane = 0; lane < 4; ++lane) {
    for (unsigned element = 0; element < 4; ++element) {
      EXPECT_EQ(unpack(instruction.sum_layout, fp32, packed.data(), lane, element, 4),
                starts.at(lane, element));
    }
  }
}

}  // namespace
}  // namespace hipscope
