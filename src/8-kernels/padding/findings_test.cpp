// What padding concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<std::string> stages = {"first", "second", "third"};

// In microseconds, with 4 and 16 channels per thread.
struct Times {
  double four;
  double sixteen;
};

void add_times(MadeResults& made, const std::string& sweep, const std::string& name, Times times) {
  const std::vector<CurvePoint> curve = {{.x = 4, .y = times.four * 1e-6, .relative_spread = 0.001},
                                         {.x = 16, .y = times.sixteen * 1e-6}};
  if (name == "time") {
    made.curve(sweep, name, curve);
    return;
  }
  const std::vector<CurvePoint> values = {{.x = 4, .y = curve[0].y}, {.x = 16, .y = curve[1].y}};
  made.curve(sweep, name, values);
}

MadeResults made_channels(Times source, double scratch) {
  MadeResults made("padding");
  add_times(made, "channels-run-time", "time", {900, 800});
  add_times(made, "channels-run-time", "side by side", {600, 500});
  add_times(made, "channels-run-time", "blocks of 256", {700, 450});
  add_times(made, "channels-compile-time", "time", source);
  add_times(made, "channels-compile-time", "side by side", {310, 300});
  add_times(made, "channels-compile-time", "blocks of 256", {290, 320});
  const std::vector<CurvePoint> bytes = {{.x = 4, .y = scratch}, {.x = 16, .y = scratch}};
  made.curve("channels-run-time", "scratch, side by side", bytes);
  ::padding::conclude(made.results(), stages);
  return made;
}

TEST(PaddingTest, TheSourcesQuestionIsAnsweredByTheSourcesKernel) {
  const MadeResults same = made_channels({404, 400}, 128);
  const Inference as_fast = same.inference("4 channels per thread against 16, compile-time count");
  EXPECT_NEAR(*as_fast.value, 1.01, 1e-9);
  EXPECT_EQ(as_fast.statement, "4 channels per thread reach the speed of 16");
  ASSERT_EQ(as_fast.evidence.size(), 3U);
  EXPECT_NE(as_fast.evidence[2].find("0.967 times"), std::string::npos) << as_fast.evidence[2];
  const MadeResults slower = made_channels({500, 400}, 128);
  EXPECT_EQ(slower.inference("4 channels per thread against 16, compile-time count").statement,
            "4 channels per thread are slower than 16");
}

TEST(PaddingTest, AnArrayInScratchCostsWhatTheCompileTimeCountSaves) {
  const Inference cost =
      made_channels({400, 400}, 128).inference("cost of an array that is indexed at run time");
  EXPECT_NEAR(*cost.value, 450.0 / 300, 1e-9);
  ASSERT_EQ(cost.evidence.size(), 4U);
  EXPECT_NE(cost.evidence[3].find(": 2 times"), std::string::npos) << cost.evidence[3];
}

TEST(PaddingTest, AnArrayInRegistersCostsNothingThatIsTold) {
  const Inference cost =
      made_channels({400, 400}, 0).inference("cost of an array that is indexed at run time");
  EXPECT_FALSE(cost.value.has_value());
  EXPECT_EQ(cost.statement, "this compiler keeps the array in registers");
}

TEST(PaddingTest, TheBestStageIsNamedAndHeldAgainstTheCopy) {
  MadeResults made("padding");
  const std::vector<CurvePoint> shares = {{.x = 1, .y = 50}, {.x = 2, .y = 95}, {.x = 3, .y = 90}};
  const std::vector<CurvePoint> bandwidths = {
      {.x = -2, .y = 1000}, {.x = 0, .y = 960}, {.x = 1, .y = 500}, {.x = 2, .y = 950}};
  made.curve("stages", "bandwidth", bandwidths);
  made.curve("stages", "share of copy", shares);
  ::padding::conclude(made.results(), stages);
  const Inference best = made.inference("padding over copy");
  EXPECT_EQ(best.value, 95);
  EXPECT_EQ(best.statement, "fastest: second");
  ASSERT_EQ(best.evidence.size(), 3U);
  EXPECT_NE(best.evidence[1].find("960"), std::string::npos);
  EXPECT_NE(best.evidence[2].find("950"), std::string::npos);
}

TEST(PaddingTest, NothingIsConcludedFromNothing) {
  MadeResults made("padding");
  ::padding::conclude(made.results(), stages);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
