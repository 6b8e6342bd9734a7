// What register_pressure says of its stages, on sweeps that are made up, and how full CUs were.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "made_results.h"
#include "wave_spans.h"

namespace hipscope::register_pressure {
namespace {

// A sweep over the waves of a stage, whose rate rises until `enough` waves.
std::vector<CurvePoint> rising_until(double enough) {
  std::vector<CurvePoint> curve;
  for (double waves = 2; waves <= 16; waves += 2) {
    curve.push_back({.x = waves, .y = 100 * std::min(1.0, waves / enough)});
  }
  return curve;
}

constexpr const char* waves_finding = "waves per CU for 95 % of the rate, loops";

TEST(RegisterPressureWavesTest, ItSaysHowManyAreEnough) {
  MadeResults made("register_pressure");
  made.curve("waves-loops", updates, rising_until(8));
  conclude(made.results(), {{.sweep = "waves-loops", .stage = loop_name}});
  EXPECT_EQ(made.inference(waves_finding).value, 8);
  EXPECT_EQ(made.inference(waves_finding).statement, "8 waves per CU are enough, of 16 that fit");
}

TEST(RegisterPressureWavesTest, ARateThatNeverRisesSaysNone) {
  MadeResults made("register_pressure");
  made.curve("waves-loops", updates, rising_until(1));
  conclude(made.results(), {{.sweep = "waves-loops", .stage = loop_name}});
  EXPECT_FALSE(made.inference(waves_finding).value.has_value());
}

TEST(RegisterPressureWavesTest, NothingIsConcludedFromNothing) {
  MadeResults made("register_pressure");
  conclude(made.results(), {{.sweep = "waves-loops", .stage = loop_name}});
  EXPECT_TRUE(made.inferences().empty());
}

// Waves of 10 ticks on two units: unit 0 has two at a time, unit 1 one after the other with a
// pause.
TEST(WaveSpansTest, TheAverageIsOverTheTimeInWhichThereAreWaves) {
  const std::vector<WaveSpan> spans = {{.start = 100, .end = 110, .unit = 0},
                                       {.start = 105, .end = 115, .unit = 1},
                                       {.start = 100, .end = 110, .unit = 0},
                                       {.start = 135, .end = 145, .unit = 1}};
  // 40 ticks of waves in 10 ticks of unit 0 and 20 of unit 1.
  EXPECT_DOUBLE_EQ(average_resident_waves(spans), 40.0 / 30);
}

TEST(WaveSpansTest, WavesThatOverlapCountTogether) {
  // 3 from 0 to 10, one until 30 within which another one comes and goes, and one that follows.
  const std::vector<WaveSpan> spans = {{.start = 1, .end = 31, .unit = 7},
                                       {.start = 1, .end = 11, .unit = 7},
                                       {.start = 1, .end = 11, .unit = 7},
                                       {.start = 15, .end = 20, .unit = 7},
                                       {.start = 31, .end = 41, .unit = 7}};
  EXPECT_DOUBLE_EQ(average_resident_waves(spans), (30 + 10 + 10 + 5 + 10) / 40.0);
}

TEST(WaveSpansTest, AFullUnitHasAsManyAsStartTogether) {
  std::vector<WaveSpan> spans;
  for (int wave = 0; wave < 64; ++wave) {
    for (int round = 0; round < 10; ++round) {
      spans.push_back({.start = 5 + 20 * round, .end = 25 + 20 * round, .unit = 3});
    }
  }
  EXPECT_DOUBLE_EQ(average_resident_waves(spans), 64);
}

TEST(WaveSpansTest, AWaveWithoutAnEndIsNone) {
  EXPECT_EQ(average_resident_waves({}), 0);
  const std::vector<WaveSpan> spans = {{.start = 10, .end = 0, .unit = 0},
                                       {.start = 10, .end = 20, .unit = 0}};
  EXPECT_DOUBLE_EQ(average_resident_waves(spans), 1);
}

}  // namespace
}  // namespace hipscope::register_pressure
