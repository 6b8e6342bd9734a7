// The JSON of a run, parsed back.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "build_info.h"
#include "report_json.h"
#include "test_support.h"

namespace hipscope {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;

// That the members of `wanted`, a JSON object, are in `found`, whatever else is.
void expect_members(const Json& found, const char* wanted) {
  Json with_them = found;
  with_them.merge_patch(Json::parse(wanted));
  EXPECT_EQ(found, with_them);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

class JsonTest : public HarnessTest {
 protected:
  JsonTest() {
    experiment_.name = "probe";
    experiment_.purpose = {.question = "What is it?", .sources = {"one", "two"}};
    experiment_.sizes.push_back({.flag = "--most-blocks",
                                 .meaning = "",
                                 .defaults = {},
                                 .value = std::make_shared<std::uint64_t>(4096),
                                 .given = ""});
    run_.options.noise = 0.005;
    run_.options.seed = 7;
    run_.sweeps.push_back(std::make_unique<detail::SweepRecord>());
    sweep().name = "grid";
    sweep().title = "time against blocks";
    sweep().axis = {.name = "blocks", .unit = "1", .scale = Scale::logarithmic};
    sweep().headline = "rate";
    sweep().notes = {"a note"};
    sweep().rows.push_back(std::make_unique<detail::Row>());
    row().label = "8";
    row().x = 8;
  }

  detail::SweepRecord& sweep() { return *run_.sweeps[0]; }
  detail::Row& row() { return *sweep().rows[0]; }
  [[nodiscard]] Json json() const { return Json::parse(detail::to_json(run_)); }
  [[nodiscard]] Json json_row() const { return json()["sweeps"][0]["rows"][0]; }

  detail::ExperimentRecord experiment_;
  std::unique_ptr<Device> device_ = open_device(2);
  detail::Run run_{.experiment = experiment_,
                   .options = {},
                   .device = device_.get(),
                   .stopping_rule = {.minimum_seconds = 0.25},
                   .date = "2024-01-02T03:04:05Z",
                   .duration_seconds = 1.5};
};

TEST_F(JsonTest, SaysWhatRanWhere) {
  const Json whole = json();
  expect_members(whole, R"({"schema_version": 4, "experiment": "probe", "question": "What is it?",
      "sources": ["one", "two"], "date": "2024-01-02T03:04:05Z", "duration_s": 1.5,
      "build": {"backend": "host"},
      "device": {"index": 2, "name": "Fake GPU (TM) 9", "compute_units": 60, "wave_size": 64,
                 "memory_bytes": 17179869184, "driver": "1.2"}})");
  EXPECT_EQ(whole["build"]["compiler"], detail::build_info.compiler);
  EXPECT_EQ(whole["hipscope"]["git_revision"], detail::build_info.git_revision);
}

TEST_F(JsonTest, KeepsTheOptions) {
  EXPECT_EQ(json()["options"], R"({"preset": "default", "minimum_seconds": 0.25, "noise": 0.005,
      "clock_mhz": null, "seed": 7, "filter": null, "sizes": {"most-blocks": 4096}})"_json);
  run_.options.filter = "gr";
  run_.options.clock_mhz = 900;
  run_.options.preset = detail::Preset::quick;
  expect_members(json()["options"], R"({"preset": "quick", "clock_mhz": 900, "filter": "gr"})");
}

TEST_F(JsonTest, IsScaledOnTheHostBackendOnly) {
  EXPECT_EQ(json()["scaled"], false);
  fake::script().is_hardware = false;
  EXPECT_EQ(json()["scaled"], true);
}

TEST_F(JsonTest, DescribesTheSweep) {
  expect_members(json()["sweeps"][0], R"({"name": "grid", "title": "time against blocks",
      "axis": {"name": "blocks", "unit": "1", "scale": "logarithmic"}, "headline": "rate",
      "notes": ["a note"], "rows": [{"x": 8}]})");
}

TEST_F(JsonTest, SaysOverWhatTheSamplesAreSpread) {
  Measurement time;
  time.name = "time";
  time.method = "graph";
  time.batch = 4;
  time.stop = StopReason::steady;
  time.samples = {{.seconds = 2, .shader_mhz = 1000},
                  {.seconds = 1, .shader_mhz = 900, .throttled = true},
                  {.seconds = 4, .shader_mhz = 0},
                  {.seconds = 3, .shader_mhz = 800, .throttled = true},
                  {.seconds = 6, .shader_mhz = 1000}};
  row().measurements = {time};
  // Of the four with a clock the median is 2.5 s, of 2000 and 2400 million cycles.
  EXPECT_EQ(json_row()["measurements"]["time"],
            R"([5, 1e9, 2e9, 3e9, 4e9, 6e9, 880,
                {"method": "graph", "batch": 4, "stop": "steady", "throttled": 2}])"_json);
  // One has no clock.
  EXPECT_EQ(json()["clock"], R"({"source": "measured", "shader_mhz": 950,
      "highest_shader_mhz": 1000, "samples": 4, "throttled_samples": 2})"_json);
}

TEST_F(JsonTest, LeavesOutWhatIsTheDefault) {
  Measurement time;
  time.name = "time";
  time.method = "device events";
  time.samples = {{.seconds = 2.6780800819396974e-3}};
  row().measurements = {time};
  EXPECT_EQ(json_row(), R"({"x": 8, "measurements": {
      "time": [1, 2678080, 2678080, 2678080, 2678080, 2678080, null]}})"_json);
  row().label = "eight";
  EXPECT_EQ(json_row()["label"], "eight");
}

TEST_F(JsonTest, RowsWithAllValuesHaveThemWithoutTheirNames) {
  const auto add_row = [&](const std::vector<detail::Value>& values) {
    sweep().rows.push_back(std::make_unique<detail::Row>());
    sweep().rows.back()->values = values;
  };
  const detail::Value time = {.name = "time", .value = 1, .unit = "us"};
  const detail::Value rate = {.name = "rate", .value = nan, .unit = "GB/s"};
  row().values = {time};
  add_row({time, rate});
  add_row({rate, time});
  add_row({{.name = "time", .value = 2, .unit = "ms"}, rate});
  const Json rows = json()["sweeps"][0]["rows"];
  EXPECT_EQ(rows[0]["values"], Json({{"time", 1}}));
  EXPECT_EQ(rows[1]["values"], Json({1, nullptr}));
  EXPECT_EQ(rows[2]["values"], Json({1, nullptr}));
  EXPECT_EQ(rows[3]["values"], Json({Json({2, "ms"}), nullptr}));
}

TEST_F(JsonTest, RowsWithMostMeasurementsAndChecksHaveThemWithoutTheirNames) {
  Measurement time;
  time.name = "time";
  time.method = "device events";
  time.samples = {{.seconds = 1, .shader_mhz = 1000}};
  row().measurements = {time};
  row().checks = {{.what = "sum", .checked = 10, .wrong = 0},
                  {.what = "sum", .checked = 9, .wrong = 1},
                  {.what = "order", .checked = 7, .wrong = 0}};
  sweep().rows.push_back(std::make_unique<detail::Row>(row()));
  sweep().rows.push_back(std::make_unique<detail::Row>());
  sweep().rows.back()->checks = {{.what = "sum", .checked = 8, .wrong = 0}};
  sweep().rows.push_back(std::make_unique<detail::Row>());
  sweep().rows.back()->checks = {{.what = "order", .checked = 8, .wrong = 0},
                                 {.what = "sum", .checked = 6, .wrong = 0}};
  const Json written = json()["sweeps"][0];
  EXPECT_EQ(written["measurements"], Json({"time"}));
  EXPECT_EQ(written["checks"], Json({"sum", "sum (2)", "order"}));
  EXPECT_EQ(written["rows"][1]["measurements"], Json({{1, 1e9, 1e9, 1e9, 1e9, 1e9, 1000}}));
  EXPECT_EQ(written["rows"][1]["checks"], Json({10, Json({9, 1}), 7}));
  EXPECT_EQ(written["rows"][2]["checks"], Json({{"sum", 8}}));
  EXPECT_EQ(written["rows"][3]["checks"], Json({6, nullptr, 8}));
}

TEST_F(JsonTest, WritesSixDigitsButWholeNumbersInFull) {
  row().values = {{.name = "third", .value = 1.0 / 3, .unit = ""},
                  {.name = "count", .value = 123456789012, .unit = ""},
                  {.name = "large", .value = 123456789.25, .unit = ""},
                  {.name = "tiny", .value = 1.23456789e-310, .unit = ""},
                  {.name = "huge", .value = 1.23456789e300, .unit = ""}};
  const Json values = json_row()["values"];
  EXPECT_EQ(values["third"], 0.333333);
  EXPECT_EQ(values["count"], 123456789012);
  EXPECT_EQ(values["large"], 123457000);
  EXPECT_EQ(values["tiny"], 1.23457e-310);
  EXPECT_EQ(values["huge"], 1.23457e300);
  row().x = 1.0 / 3;  // what rows of two runs are matched by stays exact
  EXPECT_EQ(json_row()["x"], 1.0 / 3);
}

TEST_F(JsonTest, KeepsTwoOfOneNameAndAnotherUnit) {
  row().values = {{.name = "a", .value = 1, .unit = "GB/s"},
                  {.name = "a", .value = 2, .unit = "GB/s"},
                  {.name = "b", .value = 3, .unit = "us"}};
  sweep().rows.push_back(std::make_unique<detail::Row>());
  sweep().rows.back()->values = {{.name = "b", .value = 4, .unit = "ms"}};
  const Json written = json()["sweeps"][0];
  EXPECT_EQ(written["units"], Json({{"a", "GB/s"}, {"a (2)", "GB/s"}, {"b", "us"}}));
  EXPECT_EQ(written["rows"][0]["values"], Json({1, 2, 3}));
  EXPECT_EQ(written["rows"][1]["values"], Json({{"b", {4, "ms"}}}));
}

TEST_F(JsonTest, WritesWhatIsNotFiniteAsNull) {
  row().values = {{.name = "a", .value = nan, .unit = "cycles"},
                  {.name = "b", .value = infinity, .unit = ""},
                  {.name = "c", .value = 0.125, .unit = "GB/s"}};
  run_.overheads = {{.name = "counter read", .value = nan, .unit = "ns"}};
  EXPECT_EQ(json_row()["values"], Json({{"a", nullptr}, {"b", nullptr}, {"c", 0.125}}));
  EXPECT_EQ(json()["sweeps"][0]["units"], Json({{"a", "cycles"}, {"b", ""}, {"c", "GB/s"}}));
  EXPECT_EQ(json()["overheads"][0]["value"], nullptr);
}

TEST_F(JsonTest, WithoutAClockTheDriversIsTaken) {
  EXPECT_EQ(json()["clock"]["source"], "driver");
  EXPECT_EQ(json()["clock"]["shader_mhz"], 1500);
  EXPECT_EQ(json()["clock"]["highest_shader_mhz"], nullptr);
  fake::script().is_hardware = false;
  EXPECT_EQ(json()["clock"]["source"], "none");
  EXPECT_EQ(json()["clock"]["shader_mhz"], nullptr);
}

TEST_F(JsonTest, CountsChecksAndListsFailures) {
  row().checks = {{.what = "sum", .checked = 10, .wrong = 0}};
  EXPECT_EQ(json()["status"], "passed");
  EXPECT_EQ(json()["verification"], Json({{"checks", 1}, {"failures", Json::array()}}));
  row().checks.push_back({.what = "order", .checked = 10, .wrong = 3});
  row().checks.push_back({.what = "nothing", .checked = 0, .wrong = 0});
  const Json whole = json();
  expect_members(whole, R"({"status": "failed", "verification": {"checks": 3, "failures":
      ["grid, 8: order: 3 of 10 wrong", "grid, 8: nothing: 0 of 0 wrong"]}})");
  EXPECT_EQ(whole["sweeps"][0]["checks"], Json({"sum", "order", "nothing"}));
  EXPECT_EQ(json_row()["checks"], Json({{"sum", 10}, {"order", {10, 3}}, {"nothing", 0}}));
}

TEST_F(JsonTest, KeepsInferencesWithTheirEvidence) {
  run_.inferences = {{.name = "wave size",
                      .value = 64,
                      .unit = "lanes",
                      .confidence = 0.75,
                      .statement = "steps of 64",
                      .evidence = {"this", "that"},
                      .driver = 32},
                     {.name = "none",
                      .value = std::nullopt,
                      .unit = "",
                      .confidence = 0,
                      .statement = "not there",
                      .evidence = {},
                      .driver = std::nullopt}};
  EXPECT_EQ(json()["inferences"], R"([
      {"name": "wave size", "value": 64, "unit": "lanes", "confidence": 0.75,
       "statement": "steps of 64", "evidence": ["this", "that"], "driver": 32},
      {"name": "none", "value": null, "unit": "", "confidence": 0, "statement": "not there",
       "evidence": [], "driver": null}])"_json);
}

TEST_F(JsonTest, KeepsPublishedFigures) {
  row().published = {{.experiment = "probe",
                      .series = "1d",
                      .gpu = "MI25",
                      .x = "8",
                      .metric = "rate",
                      .value = 2.5,
                      .unit = "ms",
                      .source = "a page",
                      .note = "by hand"}};
  EXPECT_EQ(json_row()["published"][0], R"({"gpu": "MI25", "metric": "rate", "value": 2.5,
      "unit": "ms", "source": "a page", "note": "by hand"})"_json);
}

TEST_F(JsonTest, SurvivesTextThatIsNoUtf8) {
  run_.options.filter = "a\xff";
  EXPECT_EQ(json()["options"]["filter"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace hipscope
