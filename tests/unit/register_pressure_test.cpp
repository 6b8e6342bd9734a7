// What register_pressure says of its stages, on sweeps that are made up, and how full CUs were.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "made_results.h"
#include "register_pressure_findings.h"
#include "test_support.h"
#include "wave_spans.h"

namespace hipscope::register_pressure {
namespace {

using Json = nlohmann::json;

class RegisterPressureTest : public HarnessTest {
 protected:
  // Runs a sweep of the references and of all stages, each of which has 50 % of the copy's
  // bandwidth, 100 registers and 16 waves per CU, but for "definitions moved", which has 60 %, and
  // for "launch bound of 256", which has 110 registers and 8 waves.
  Outcome run_stages(const std::vector<std::string>& stages) {
    Experiment experiment("register_pressure", {.question = "", .sources = {}});
    experiment.sweep(stages_sweep, "", [&](Sweep& sweep) {
      add_reference(sweep, "copy", copy_x, 100);
      add_reference(sweep, "reads and writes", streams_x, 80);
      double x = 0;
      for (const std::string& stage : stages) {
        auto point = sweep.point(stage, ++x);
        point.measure([] {});
        point.value(share_of_copy, stage == moved_name ? 60 : 50, "%");
        point.value("registers", stage == bounded_name ? 110 : 100, "");
        point.value("scratch", 0, "");
        point.value("resident", stage == bounded_name ? 8 : 16, "");
      }
    });
    experiment.conclude([&](Results& results) { conclude(results, stages, {}); });
    return run(experiment, {"--json", path("result.json")});
  }

  // The inference of that name in the last run.
  Json inference(const std::string& name) {
    const Json all = Json::parse(read_file(path("result.json")))["inferences"];
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Json& each) { return each["name"] == name; });
    return found == all.end() ? Json() : *found;
  }

  const std::vector<std::string> stages_ = {
      baseline_name, no_pow_name,       moved_name,      restrict_one_name, restrict_two_name,
      bounded_name,  restrict_all_name, more_waves_name, parked_name,       parked_bounded_name,
      object_name,   constant_name,     unrolled_name,   loop_name,         stack_name};

 private:
  static void add_reference(Sweep& sweep, const std::string& label, double x, double share) {
    auto point = sweep.point(label, x);
    point.measure([] {});
    point.value(share_of_copy, share, "%");
  }
};

TEST_F(RegisterPressureTest, AChangeSaysWhatItBecomesAndWhatStays) {
  ASSERT_EQ(run_stages(stages_).status, 0);
  EXPECT_EQ(
      inference("gain by a launch bound")["statement"],
      "the rate changes by less than 2 %: 100 registers become 110, 16 waves per CU become 8");
  EXPECT_EQ(
      inference("gain by moved definitions")["statement"],
      "the rate changes by less than 2 %: 100 registers as before, 16 waves per CU as before");
}

TEST_F(RegisterPressureTest, TheFastestStageIsNoReference) {
  ASSERT_EQ(run_stages(stages_).status, 0);
  const Json best = inference("best step over copy");
  EXPECT_EQ(best["value"], 60);
  EXPECT_EQ(best["statement"], "the fastest stage is definitions moved");
  EXPECT_EQ(best["evidence"][0], "the same reads and writes without a model: 80 %");
}

TEST_F(RegisterPressureTest, ARenamedStageIsAnError) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    std::vector<std::string> renamed = stages_;
    renamed[i] = "renamed";
    const Outcome outcome = run_stages(renamed);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_NE(outcome.errors.find("there is no stage '" + stages_[i] + "'"), std::string::npos)
        << outcome.errors;
    EXPECT_TRUE(files().empty());
  }
}

TEST_F(RegisterPressureTest, AStageWithoutItsPointIsAnError) {
  Experiment experiment("register_pressure", {.question = "", .sources = {}});
  add_sweep(experiment, stages_sweep);
  experiment.conclude([&](Results& results) { conclude(results, stages_, {}); });
  EXPECT_NE(run(experiment, {}).errors.find("has no value '"), std::string::npos);
}

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
  conclude(made.results(), {}, {{.sweep = "waves-loops", .stage = loop_name}});
  EXPECT_EQ(made.inference(waves_finding).value, 8);
  EXPECT_EQ(made.inference(waves_finding).statement, "8 waves per CU are enough, of 16 that fit");
}

TEST(RegisterPressureWavesTest, ARateThatNeverRisesSaysNone) {
  MadeResults made("register_pressure");
  made.curve("waves-loops", updates, rising_until(1));
  conclude(made.results(), {}, {{.sweep = "waves-loops", .stage = loop_name}});
  EXPECT_FALSE(made.inference(waves_finding).value.has_value());
}

TEST(RegisterPressureWavesTest, NothingIsConcludedFromNothing) {
  MadeResults made("register_pressure");
  conclude(made.results(), {}, {{.sweep = "waves-loops", .stage = loop_name}});
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
