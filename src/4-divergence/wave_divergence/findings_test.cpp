// The reference chains of wave_divergence, and what it concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "made_curve.h"
#include "made_results.h"
#include "reference.h"

namespace hipscope {
namespace {

// --- Reference ----------------------------------------------------------------------------------

TEST(WaveDivergenceTest, AChainIsSoManyFmas) {
  EXPECT_EQ(wave_divergence::chain_end(1, 2, 1, 0), 1);
  EXPECT_EQ(wave_divergence::chain_end(1, 2, 1, 4), 31);
  EXPECT_EQ(wave_divergence::chain_end(1, 0.5F, 1, 1'000'000'000'000), 2);
}

TEST(WaveDivergenceTest, AThreadThatSwapsHasItsOperandsExchanged) {
  // factor 3/4 and 10^-8, and the other way round
  EXPECT_FLOAT_EQ(wave_divergence::sum_5a(3, false, 1'000'000), 4e-8F);
  EXPECT_FLOAT_EQ(wave_divergence::sum_5a(3, true, 1'000'000), 0.75F);
  EXPECT_FLOAT_EQ(wave_divergence::sum_5a(0, false, 1'000'000), 1e-8F);
  EXPECT_NE(wave_divergence::sum_5a(1'000'000, false, 1'000'000),
            wave_divergence::sum_5a(1'000'000, false, 999'999));
}

// --- Findings -----------------------------------------------------------------------------------

DeviceDescription waves_of(int lanes) {
  return fake::describe_with(&DeviceDescription::wave_size, lanes);
}

// Two paths take twice as long wherever both are in a wave, and N paths N times, up to as many as a
// wave can hold.
MadeResults device(double wave, double wave_by_paths) {
  MadeResults made("wave_divergence", waves_of(static_cast<int>(wave)));
  made.curve("granularity", "cycles",
             made_curve(doubling(1, 1024), [=](double x) { return x < wave ? 200 : 100; }));
  made.curve("paths", "FMA rate",
             made_curve({1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128},
                        [=](double paths) { return 128 / std::min(paths, wave_by_paths); }));
  wave_divergence::conclude(made.results());
  return made;
}

TEST(WaveDivergenceTest, TwoCurvesTellTheWaveSize) {
  for (const double wave : {32.0, 64.0}) {
    const Inference size = device(wave, wave).inference("wave size");
    EXPECT_EQ(size.value, wave);
    EXPECT_EQ(size.driver, wave);
    EXPECT_GT(size.confidence, 0.9);
    EXPECT_EQ(size.evidence.size(), 2U);
  }
}

TEST(WaveDivergenceTest, CurvesThatDisagreeTellNoWaveSize) {
  const Inference size = device(64, 32).inference("wave size");
  EXPECT_FALSE(size.value.has_value());
  EXPECT_NE(size.statement.find("disagree"), std::string::npos);
}

TEST(WaveDivergenceTest, AFlatCurveTellsNoWaveSize) {
  MadeResults made("wave_divergence");
  made.curve("granularity", "cycles", made_curve(doubling(1, 1024), [](double) { return 100; }));
  wave_divergence::conclude(made.results());
  EXPECT_FALSE(made.inference("wave size").value.has_value());
  EXPECT_EQ(made.inferences().size(), 1U);
}

TEST(WaveDivergenceTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("wave_divergence", wave_divergence::conclude);
}

}  // namespace
}  // namespace hipscope
