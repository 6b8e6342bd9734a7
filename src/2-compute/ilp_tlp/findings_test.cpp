// What ilp_tlp concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<ilp_tlp::OperationName> operations = {{"fp32-fma", "FP32 FMA"},
                                                        {"int32-mad", "INT32 MAD"}};

// FP32 FMAs of so much latency, as chains in one wave and as waves tell it, of which a CU issues 4
// per cycle and one wave 1.
MadeResults pipeline(double chain_latency, double wave_latency, double noise = 0) {
  MadeResults made("ilp_tlp");
  const std::vector<double> chains = multiples(1, 8);
  const std::vector<double> waves = {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32};
  made.curve("fp32-fma-chains", "round",
             made_curve(
                 chains, [=](double n) { return std::max(chain_latency, n); }, noise, 1));
  made.curve("fp32-fma-waves", "round",
             made_curve(
                 waves, [=](double n) { return std::max(wave_latency, n / 4); }, noise, 2));
  made.curve("fp32-fma-grid", "rate",
             made_curve(waves, [=](double n) { return n / std::max(wave_latency, n / 4); }));
  return made;
}

TEST(IlpTlpTest, BothCurvesTellOneLatency) {
  for (const double noise : {0.0, 0.005}) {
    MadeResults made = pipeline(4, 4, noise);
    ilp_tlp::conclude(made.results(), operations);
    const Inference latency = made.inference("FP32 FMA latency");
    EXPECT_NEAR(*latency.value, 4, 0.03);
    EXPECT_GT(latency.confidence, 0.95);
    const Inference rate = made.inference("FP32 FMA rate");
    EXPECT_NEAR(*rate.value, 4, 1e-9);
    EXPECT_NE(rate.statement.find("16 instructions in flight"), std::string::npos)
        << rate.statement;
  }
}

TEST(IlpTlpTest, LatenciesThatDisagreeAreNone) {
  MadeResults made = pipeline(4, 5);
  ilp_tlp::conclude(made.results(), operations);
  const Inference latency = made.inference("FP32 FMA latency");
  EXPECT_FALSE(latency.value.has_value());
  EXPECT_EQ(latency.statement,
            "chains in one wave and waves of one chain tell different latencies");
}

TEST(IlpTlpTest, OneCurveAloneTellsNoLatency) {
  MadeResults made("ilp_tlp");
  made.curve("fp32-fma-chains", "round",
             made_curve(multiples(1, 8), [](double n) { return std::max(4.0, n); }));
  ilp_tlp::conclude(made.results(), operations);
  EXPECT_TRUE(made.inferences().empty());
}

TEST(IlpTlpTest, PeaksAreTheRowsInOrder) {
  MadeResults made("ilp_tlp");
  const std::vector<double> rows = {1, 2, 3};
  made.curve("peak", "peak", made_curve(rows, [](double x) { return 10 * x; }));
  made.curve("peak", "share of documented", made_curve({1, 3}, [](double) { return 99.0; }));
  ilp_tlp::conclude(made.results(), operations);
  EXPECT_EQ(made.inference("FP32 FMA peak").value, 10);
  EXPECT_EQ(made.inference("FP32 FMA peak").evidence,
            std::vector<std::string>{"99 % of what the vendor documents"});
  EXPECT_EQ(made.inference("INT32 MAD peak").value, 20);
  EXPECT_EQ(made.inference("INT32 MAD peak").confidence, 1);
}

TEST(IlpTlpTest, ThePeakIsTheHighestOfItsRowsAndHalfOfItIsOneOfTwoUnits) {
  MadeResults made("ilp_tlp");
  made.curve("peak", "peak",
             made_curve({1, 7, 8, 9}, [](double x) { return x == 8 ? 66.7 : 120 + x; }));
  ilp_tlp::conclude(
      made.results(),
      {{"fp16", "FP16 packed FMA", {{7, "1 chain"}, {9, "8 chains"}, {8, "literal", true}}}});
  const Inference peak = made.inference("FP16 packed FMA peak");
  EXPECT_EQ(peak.value, 129);
  EXPECT_EQ(peak.statement, "with every CU full of waves, 8 chains");
  EXPECT_EQ(peak.evidence, std::vector<std::string>{"literal: 66.7, one of two units"});
}

TEST(IlpTlpTest, HalfOfWhatIsDocumentedIsNotTheHardwaresPeak) {
  MadeResults made("ilp_tlp");
  made.curve("peak", "peak", made_curve({1}, [](double) { return 66.7; }));
  made.curve("peak", "share of documented", made_curve({1}, [](double) { return 49.98; }));
  ilp_tlp::conclude(made.results(), operations);
  const Inference half = made.inference("FP32 FMA peak");
  EXPECT_EQ(half.value, 66.7);
  EXPECT_LE(half.confidence, 0.5);
  EXPECT_NE(half.statement.find("some of the units"), std::string::npos) << half.statement;
}

TEST(IlpTlpTest, NothingIsConcludedFromNothing) {
  MadeResults made("ilp_tlp");
  ilp_tlp::conclude(made.results(), operations);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
