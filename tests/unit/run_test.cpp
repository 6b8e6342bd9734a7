// What a run does between the options and the exit status.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "test_support.h"

namespace hipscope {
namespace {

using Json = nlohmann::json;

class RunTest : public HarnessTest {
 protected:
  // Adds a sweep of one point "8" that is measured with `options`.
  void add_measured_sweep(const MeasureOptions& options = {}) {
    experiment_.sweep("only", "the sweep only", [=, this](Sweep& sweep) {
      sweep.axis({.name = "blocks", .unit = ""});
      auto point = sweep.point("8", 8);
      fake::forget_calls();
      measurement_ = point.measure([this] { ++executions_; }, options);
      point.value("cycles", measurement_.cycles(), "cycles");
    });
  }

  Outcome run(const std::vector<std::string>& arguments = {}) {
    return hipscope::run(experiment_, arguments);
  }

  // Runs such a sweep, which passes.
  void measure(const std::vector<std::string>& arguments = {}, const MeasureOptions& options = {}) {
    add_measured_sweep(options);
    EXPECT_EQ(run(arguments).status, 0);
  }

  // What the device measures: one sample after another, the last one again and again.
  static void samples_take(const std::vector<double>& seconds) {
    fake::script().samples.clear();
    for (const double each : seconds) {
      fake::script().samples.push_back({.seconds = each, .shader_mhz = 1000, .gated = true});
    }
  }

  // The JSON of a run with `arguments`.
  Json json_of_run(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--json", path("result.json")});
    EXPECT_EQ(run(arguments).status, 0);
    return Json::parse(read_file(path("result.json")));
  }

  // In how large batches a body of `seconds` is run.
  unsigned batch_of(double seconds, const MeasureOptions& options = {}) {
    samples_take({seconds});
    Experiment experiment("probe", {.question = "", .sources = {}});
    unsigned batch = 0;
    experiment.sweep("only", "", [&](Sweep& sweep) {
      fake::forget_calls();
      batch = sweep.point("1", 1).measure([] {}, options).batch;
    });
    EXPECT_EQ(hipscope::run(experiment, {}).status, 0);
    const std::vector<unsigned>& batches = fake::script().batches;
    EXPECT_EQ(batches.front(), 1U) << "the first execution tells how long the body is";
    EXPECT_TRUE(std::all_of(batches.begin() + 1, batches.end(),
                            [&](unsigned each) { return each == batch; }));
    return batch;
  }

  Experiment experiment_{"probe", {.question = "What is it?", .sources = {}}};
  Measurement measurement_;
  unsigned executions_ = 0;
};

TEST_F(RunTest, ShortBodiesAreBatchedTo200Microseconds) {
  EXPECT_EQ(batch_of(30e-6), 7U);
  EXPECT_EQ(batch_of(150e-6), 2U);
  EXPECT_EQ(batch_of(250e-6), 1U);
  EXPECT_EQ(batch_of(1), 1U);
}

TEST_F(RunTest, AFirstExecutionThatWaitedForItsCodeDoesNotDecideOnTheBatch) {
  samples_take({0.005, 1e-6});
  measure();
  EXPECT_EQ(measurement_.batch, 64U);
  const std::vector<unsigned>& batches = fake::script().batches;
  ASSERT_GE(batches.size(), 4U);
  EXPECT_EQ(std::vector<unsigned>(batches.begin(), batches.begin() + 4),
            (std::vector<unsigned>{1, 1, 64, 64}));
  EXPECT_EQ(measurement_.samples.size() + 2, batches.size()) << "the sample of one is dropped";
}

TEST_F(RunTest, ALongWaitForTheCodeIsNoSampleOfAShortBody) {
  samples_take({0.06, 0x1p-20});
  measure({"--min-time", "0.001953125"});
  EXPECT_EQ(measurement_.batch, 64U);
  EXPECT_EQ(measurement_.seconds().maximum, 0x1p-20);
  EXPECT_EQ(measurement_.samples.size(), 32U) << "the wait does not count towards the time";
  EXPECT_EQ(fake::script().batches.size(), 32U + 2);
}

TEST_F(RunTest, TheBatchIsChosenAnewOnlyForABodyMuchShorterThanItSeemed) {
  fake::script().samples = {{.seconds = 20e-6, .shader_mhz = 1000},  // 10 of these are 200 us
                            {.seconds = 10e-6, .shader_mhz = 1000},  // 20: no more than twice
                            {.seconds = 1e-6, .shader_mhz = 1000}};  // too late
  measure();
  EXPECT_EQ(measurement_.batch, 10U);
  EXPECT_EQ(measurement_.samples.size() + 1, fake::script().batches.size());
}

TEST_F(RunTest, QuickBatchesTo50Microseconds) {
  samples_take({30e-6});
  measure({"--quick"});
  EXPECT_EQ(measurement_.batch, 2U);
}

TEST_F(RunTest, BatchesFitTheQueue) {
  EXPECT_EQ(batch_of(1e-9), 64U);
  EXPECT_EQ(batch_of(0), 1U);
}

TEST_F(RunTest, WarmsUpBeforeTheFirstSampleOfEachSweep) {
  std::vector<std::size_t> samples_before;
  for (const char* name : {"first", "second"}) {
    experiment_.sweep(name, "", [&](Sweep& sweep) {
      samples_before.push_back(fake::script().batches.size());
      for (const char* label : {"1", "2"}) {
        sweep.point(label, 1).measure([] {});
      }
    });
  }
  EXPECT_EQ(run().status, 0);
  EXPECT_LT(samples_before[0], samples_before[1]);
  EXPECT_EQ(fake::script().warm_ups, samples_before);
}

TEST_F(RunTest, QuickWarmsUpOnlyOnce) {
  for (const char* name : {"first", "second"}) {
    experiment_.sweep(name, "", [](Sweep& sweep) { sweep.point("1", 1).measure([] {}); });
  }
  EXPECT_EQ(run({"--quick"}).status, 0);
  EXPECT_EQ(fake::script().warm_ups.size(), 1U);
}

TEST_F(RunTest, OnceRunsWhatIsMeasuredOnceAndInfersNothing) {
  samples_take({1e-6});
  unsigned on_host = 0;
  bool concluded = false;
  add_measured_sweep({.batch = 7});
  experiment_.sweep("host", "", [&](Sweep& sweep) {
    sweep.point("1", 1).measure_on_host(
        "enqueue", [&] { ++on_host; }, {}, 7);
  });
  experiment_.conclude([&](Results&) { concluded = true; });
  const Json json = json_of_run({"--once"});
  EXPECT_EQ(executions_, 1U);
  EXPECT_EQ(on_host, 1U);
  EXPECT_EQ(measurement_.samples.size(), 1U);
  EXPECT_EQ(measurement_.batch, 1U);
  EXPECT_TRUE(fake::script().warm_ups.empty());
  EXPECT_FALSE(concluded);
  EXPECT_EQ(json["options"]["preset"], "once");
  const char* const said = "times mean little, nothing is inferred\n";
  EXPECT_NE(run({"--once"}).output.find(said), std::string::npos);
  EXPECT_EQ(run({"--quick"}).output.find(said), std::string::npos);
}

TEST_F(RunTest, QuickTakesFewSamplesHoweverNoisy) {
  samples_take({3e-5, 1e-5, 2e-5, 3e-5, 4e-5, 5e-5, 6e-5, 7e-5, 1e-5});
  measure({"--quick"});
  EXPECT_EQ(measurement_.samples.size(), 5U);
  EXPECT_EQ(measurement_.stop, StopReason::sample_limit);
}

TEST_F(RunTest, ABatchThatWasAskedForIsKept) {
  EXPECT_EQ(batch_of(30e-6, {.batch = 3}), 3U);
  EXPECT_EQ(batch_of(1, {.batch = 9}), 9U);
}

TEST_F(RunTest, ColdBodiesAreNotBatched) {
  EXPECT_EQ(batch_of(30e-6, {.cold = true}), 1U);
  EXPECT_TRUE(fake::script().cold.back());
  EXPECT_EQ(batch_of(30e-6, {.batch = 3, .cold = true}), 1U);
}

TEST_F(RunTest, FirstExecutionOfAShortBodyIsNoSample) {
  samples_take({0.04, 0x1p-6});
  measure();
  ASSERT_EQ(measurement_.samples.size(), 5U);
  EXPECT_EQ(measurement_.seconds().maximum, 0x1p-6);
  EXPECT_EQ(executions_, 6U);
  EXPECT_EQ(measurement_.method, "device events");
  EXPECT_EQ(measurement_.stop, StopReason::quiet);
}

TEST_F(RunTest, FirstExecutionOfALongBodyIsASample) {
  samples_take({0.06, 0x1p-6});
  measure();
  ASSERT_EQ(measurement_.samples.size(), 5U);
  EXPECT_EQ(measurement_.samples[0].seconds, 0.06);
  EXPECT_EQ(measurement_.samples[1].seconds, 0x1p-6);
  EXPECT_EQ(executions_, 5U);
}

TEST_F(RunTest, FirstExecutionIsNoSampleOfABatch) {
  samples_take({0.06, 0x1p-6});
  measure({}, {.batch = 2});
  EXPECT_EQ(measurement_.seconds().maximum, 0x1p-6);
}

TEST_F(RunTest, WholeBatchCountsTowardsTheMinimumTime) {
  samples_take({0x1p-16});
  measure({"--min-time", "0.0078125"}, {.batch = 16});
  EXPECT_EQ(measurement_.samples.size(), 32U);
}

TEST_F(RunTest, SamplesFarUnderTheHighestClockAreFlagged) {
  fake::script().samples = {
      {.seconds = 0x1p-6, .shader_mhz = 9999},  // the first is no sample
      {.seconds = 0x1p-6, .shader_mhz = 1000}, {.seconds = 0x1p-6, .shader_mhz = 981},
      {.seconds = 0x1p-6, .shader_mhz = 979},  {.seconds = 0x1p-6, .shader_mhz = 0},
      {.seconds = 0x1p-6, .shader_mhz = 500}};
  add_measured_sweep();
  const Json json = json_of_run();
  const Json measured = json["sweeps"][0]["rows"][0]["measurements"]["time"];
  EXPECT_EQ(measured[0], 5);
  EXPECT_EQ(measured.back()["throttled"], 2);
  EXPECT_EQ(json["clock"]["throttled_samples"], 2);
  EXPECT_EQ(json["clock"]["highest_shader_mhz"], 1000);
  EXPECT_EQ(json["clock"]["source"], "measured");
}

// The fake driver says 1500 MHz at the most.
TEST_F(RunTest, AClockThatCannotBeCountsOnlyTwice) {
  fake::script().samples = {{.seconds = 0x1p-6, .shader_mhz = 1400},  // warms up
                            {.seconds = 0x1p-6, .shader_mhz = 1400},
                            {.seconds = 0x1p-6, .shader_mhz = 1600},
                            {.seconds = 0x1p-6, .shader_mhz = 1400}};
  add_measured_sweep();
  const Json once = json_of_run()["clock"];
  EXPECT_EQ(once["highest_shader_mhz"], 1400);
  EXPECT_EQ(once["throttled_samples"], 0);
  fake::script().samples[3].shader_mhz = 1590;
  fake::script().samples.push_back({.seconds = 0x1p-6, .shader_mhz = 1400});
  const Json twice = json_of_run()["clock"];
  EXPECT_EQ(twice["highest_shader_mhz"], 1600);
  EXPECT_GT(twice["throttled_samples"], 0);
}

TEST_F(RunTest, HighestClockIsOfTheWholeRun) {
  fake::script().samples = {{.seconds = 0x1p-6, .shader_mhz = 900}};
  add_sweep(experiment_, "slow");
  experiment_.sweep("fast", "", [](Sweep& sweep) {
    fake::script().samples = {{.seconds = 0x1p-6, .shader_mhz = 1000}};
    sweep.point("1", 1).measure([] {});
  });
  const Json json = json_of_run();
  const auto throttled = [&](int sweep) {
    const Json measured = json["sweeps"][sweep]["rows"][0]["measurements"]["time"].back();
    return measured.value("throttled", 0);
  };
  EXPECT_EQ(throttled(0), 5);
  EXPECT_EQ(throttled(1), 0);
}

TEST_F(RunTest, ClockOptionReplacesTheMeasuredClock) {
  fake::script().samples = {{.seconds = 0x1p-6, .shader_mhz = 1000},  // warms up
                            {.seconds = 0x1p-6, .shader_mhz = 1000},
                            {.seconds = 0x1p-6, .shader_mhz = 700},
                            {.seconds = 0x1p-6, .shader_mhz = 0}};
  add_measured_sweep();
  const Json json = json_of_run({"--clock-mhz", "512"});
  EXPECT_EQ(measurement_.cycles(), 0x1p-6 * 512e6);
  EXPECT_EQ(json["clock"]["source"], "given");
  EXPECT_EQ(json["clock"]["shader_mhz"], 512);
  // What was measured stays visible.
  EXPECT_EQ(json["clock"]["highest_shader_mhz"], 1000);
  EXPECT_GT(json["clock"]["throttled_samples"], 0);
  EXPECT_EQ(json["options"]["clock_mhz"], 512);
}

TEST_F(RunTest, CyclesFallBackToTheDriversClock) {
  fake::script().samples = {{.seconds = 0x1p-6, .shader_mhz = 0}};
  add_measured_sweep();
  EXPECT_EQ(json_of_run()["clock"]["source"], "driver");
  EXPECT_EQ(measurement_.cycles(), 0x1p-6 * 1500e6);
}

TEST_F(RunTest, HostBackendHasNoCyclesAndConcludesNothing) {
  fake::script().is_hardware = false;
  fake::script().samples = {{.seconds = 0x1p-6, .shader_mhz = 0}};
  add_measured_sweep();
  bool concluded = false;
  experiment_.conclude([&](Results&) { concluded = true; });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_FALSE(concluded);
  EXPECT_TRUE(std::isnan(measurement_.cycles()));
  EXPECT_NE(outcome.output.find("host backend: "), std::string::npos);
}

TEST_F(RunTest, ACounterThatStandsStillIsToldOnceAndTimesAreMeasured) {
  fake::script().description.cycle_counter_bits = 0;
  add_measured_sweep();
  double counted = 0;
  experiment_.sweep("other", "", [&](Sweep& sweep) { counted = sweep.counted(7); });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(std::isnan(counted));
  EXPECT_FALSE(measurement_.samples.empty());
  const std::size_t told = outcome.output.find("cycle counter stands still");
  ASSERT_NE(told, std::string::npos);
  EXPECT_EQ(outcome.output.find("cycle counter stands still", told + 1), std::string::npos);
}

TEST_F(RunTest, WhatAClockThatStandsStillDoesNotTellIsADashAndTheRunGoesOn) {
  fake::script().samples = {{.seconds = 0, .shader_mhz = 0}};
  fake::script().description.cycle_counter_bits = 0;
  for (const char* name : {"first", "second"}) {
    experiment_.sweep(name, "", [](Sweep& sweep) {
      for (const double x : {1.0, 2.0}) {
        auto point = sweep.point("n", x);
        const double seconds = point.measure([] {}).seconds().median;
        point.value("share", median_of({1, seconds / seconds}), "%");
        point.value("rate", 1 / seconds, "GB/s");
      }
    });
  }
  experiment_.conclude([](Results& results) {
    EXPECT_TRUE(results.curve("second", "share").empty());
    EXPECT_TRUE(results.curve("second", "rate").empty());
  });
  const Json json = json_of_run();
  ASSERT_EQ(json["sweeps"].size(), 2U);
  for (const Json& sweep : json["sweeps"]) {
    for (const Json& value : sweep["rows"][1]["values"]) {
      EXPECT_TRUE(value.is_null()) << value;
    }
  }
  EXPECT_NE(run().output.find("  -  "), std::string::npos);
}

TEST_F(RunTest, CyclesAreCountedWhereTheCounterMoves) {
  double counted = 0;
  experiment_.sweep("only", "", [&](Sweep& sweep) { counted = sweep.counted(7); });
  const Outcome outcome = run();
  EXPECT_EQ(counted, 7);
  EXPECT_EQ(outcome.output.find("stands still"), std::string::npos);
}

TEST_F(RunTest, ConcludesFromTheCurvesOfTheRun) {
  experiment_.sweep("grid", "", [](Sweep& sweep) {
    for (const double x : {1.0, 2.0, 4.0}) {
      auto point = sweep.point("n", x);
      point.measure([] {});
      point.value("twice", 2 * x, "");
    }
    sweep.point("not measured", 8);
  });
  std::vector<CurvePoint> twice;
  std::vector<CurvePoint> time;
  std::size_t missing = 1;
  experiment_.conclude([&](Results& results) {
    twice = results.curve("grid", "twice");
    time = results.curve("grid", "time");
    missing = results.curve("other", "time").size() + results.curve("grid", "other").size();
    EXPECT_EQ(results.at("grid", "twice", 2)->y, 4);
    EXPECT_FALSE(results.at("grid", "twice", 3).has_value());
    EXPECT_EQ(results.highest("grid", "twice")->x, 4);
    EXPECT_FALSE(results.highest("grid", "other").has_value());
    results.infer({.name = "wave size",
                   .value = 64,
                   .unit = "lanes",
                   .confidence = 0.5,
                   .statement = "steps of 64",
                   .evidence = {"this"},
                   .driver = 32});
  });
  const Outcome outcome = run();
  ASSERT_EQ(twice.size(), 3U);
  EXPECT_EQ(twice[2].x, 4);
  EXPECT_EQ(twice[2].y, 8);
  ASSERT_EQ(time.size(), 3U);
  EXPECT_EQ(time[0].y, 1e-3);
  EXPECT_EQ(missing, 0U);
  EXPECT_NE(outcome.output.find("  wave size: 64 lanes (confidence 0.50); the driver says 32\n"
                                "    steps of 64\n"
                                "    - this\n"),
            std::string::npos)
      << outcome.output;
}

TEST_F(RunTest, ACurveOfTimesCarriesItsOwnSpread) {
  experiment_.sweep("grid", "", [](Sweep& sweep) {
    auto point = sweep.point("1", 1);
    fake::script().samples.clear();
    for (const double seconds : {1e-3, 1e-3, 3e-3, 1e-3, 3e-3, 2e-3}) {
      fake::script().samples.push_back({.seconds = seconds});
    }
    fake::forget_calls();
    point.measure([] {}, {.name = "noisy"});
    fake::script().samples = {{.seconds = 1e-3}};
    point.measure([] {}, {.name = "quiet"});
    point.value("both", 1, "");
  });
  std::vector<double> spreads;
  experiment_.conclude([&](Results& results) {
    for (const char* name : {"noisy", "quiet", "both"}) {
      spreads.push_back(results.curve("grid", name).at(0).relative_spread);
    }
  });
  EXPECT_EQ(run({"--noise", "100"}).status, 0);
  ASSERT_EQ(spreads.size(), 3U);
  EXPECT_GT(spreads[0], 0);
  EXPECT_EQ(spreads[1], 0);
  EXPECT_EQ(spreads[2], spreads[0]);
}

TEST_F(RunTest, SaysWhenASampleWasNotGated) {
  const auto method = [&](bool gated) {
    fake::script().samples = {{.seconds = 0x1p-10, .shader_mhz = 1000, .gated = gated}};
    const Json time = json_of_run()["sweeps"][0]["rows"][0]["measurements"]["time"];
    return time.size() > 7 ? time[7].value("method", "none") : "none";
  };
  add_measured_sweep();
  EXPECT_EQ(method(true), "none");  // left out: the default
  EXPECT_EQ(method(false), "device events, not gated");
}

TEST_F(RunTest, AHostSampleIsTheMeanOfItsBatch) {
  constexpr unsigned batch = 8;
  constexpr std::chrono::milliseconds pause(1);
  unsigned bodies = 0;
  unsigned afters = 0;
  experiment_.sweep("only", "", [&](Sweep& sweep) {
    measurement_ = sweep.point("1", 1).measure_on_host(
        "call",
        [&] {
          ++bodies;
          std::this_thread::sleep_for(pause);
        },
        [&] { ++afters; }, batch);
  });
  EXPECT_EQ(run({"--quick"}).status, 0);
  EXPECT_EQ(measurement_.name, "call");
  EXPECT_EQ(measurement_.method, "host clock");
  EXPECT_EQ(measurement_.batch, batch);
  EXPECT_EQ(bodies, batch * afters);
  EXPECT_EQ(afters, measurement_.samples.size() + 1);
  const double least = measurement_.seconds().minimum;
  EXPECT_GE(least, 1e-3);
  EXPECT_LT(least, batch * 1e-3);
}

// By the sweep's series and the point's label, or by a series and an x of the point's own.
TEST_F(RunTest, PointsShowTheirPublishedCounterpart) {
  struct Case {
    const char* experiment;
    const char* headline;
    const char* sweep_series;
    const char* label;
    const char* series;
    const char* x;
    double published;  // 0: none
  };
  for (const Case& each :
       {Case{"thread_rate", "thread rate", "1d", "64x1x1", "", "", 16.023},
        {"thread_rate", "thread rate", "1d", "65x1x1", "", "", 0},
        {"math_functions", "latency", "", "sin", "sin, fp64, dependent chain", "", 2339},
        {"math_functions", "latency", "", "cos", "cos, fp64, dependent chain", "", 0},
        {"math_functions", "latency", "", "sin", "", "", 0},
        {"memory_latency", "latency", "", "4096", "L1, range 4 KiB", "", 239},
        {"memory_latency", "latency", "", "8192", "L1, range 4 KiB", "", 0},
        {"sgemm", "rate", "", "2 tiles", "kernel 2", "4096", 2.74235},
        {"sgemm", "rate", "", "3 tiles", "kernel 3", "2048", 0}}) {
    Experiment experiment(each.experiment, {.question = "", .sources = {}});
    experiment.sweep("only", "", [&](Sweep& sweep) {
      sweep.headline(each.headline);
      sweep.compare(each.sweep_series);
      sweep.point(each.label, 1, each.series, each.x).value(each.headline, 1, "");
    });
    EXPECT_EQ(hipscope::run(experiment, {"--json", path("result.json")}).status, 0);
    const Json row = Json::parse(read_file(path("result.json")))["sweeps"][0]["rows"][0];
    ASSERT_EQ(row.contains("published"), each.published != 0) << each.label;
    if (each.published != 0) {
      EXPECT_EQ(row["published"][0]["value"], each.published);
    }
  }
}

TEST_F(RunTest, BodiesAreSampledInTurnUntilEachHasEnough) {
  // The first executions, then rounds: the second body's third sample is out of the way.
  samples_take({0x1p-6, 0x1p-6, 0x1p-6, 0x1p-6, 0x1p-6, 0x1p-6, 0x1p-5, 0x1p-6});
  std::string order;
  std::vector<Measurement> measurements;
  experiment_.sweep("only", "", [&](Sweep& sweep) {
    auto point = sweep.point("1", 1);
    fake::forget_calls();
    measurements = point.measure_in_turn({[&] { order += 'a'; }, [&] { order += 'b'; }},
                                         {{.name = "first"}, {.name = "second"}});
  });
  EXPECT_EQ(run().status, 0);
  ASSERT_EQ(measurements.size(), 2U);
  EXPECT_EQ(measurements[0].name, "first");
  EXPECT_EQ(measurements[1].name, "second");
  EXPECT_EQ(measurements[0].samples.size(), measurements[1].samples.size());
  EXPECT_GE(measurements[0].samples.size(), 5U);
  EXPECT_EQ(measurements[0].stop, StopReason::quiet);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], i % 2 == 0 ? 'a' : 'b') << order;
  }
}

TEST_F(RunTest, AGraphIsRecordedOnceAndEachSampleReplaysIt) {
  samples_take({1e-5, 1e-3});
  measure({}, {.graph = true});
  EXPECT_EQ(fake::script().recorded, std::vector<unsigned>{100});
  EXPECT_EQ(measurement_.batch, 100U);
  EXPECT_EQ(measurement_.seconds().median, 1e-3 / 100);
  EXPECT_EQ(measurement_.method, "graph");
  EXPECT_EQ(executions_, 1 + 100 * (1 + measurement_.samples.size()));  // a first replay, too
}

TEST_F(RunTest, BodiesAreComparedInAStreamInAGraphAndCold) {
  samples_take({0x1p-6});
  std::vector<Terms> terms;
  std::size_t graphs = 0;
  experiment_.sweep("only", "", [&](Sweep& sweep) {
    fake::forget_calls();
    terms = sweep.point("1", 1).compare({[] {}, [] {}}, {"ours", "library"});
    graphs = fake::script().recorded.size();
  });
  const Json json = json_of_run();
  ASSERT_EQ(terms.size(), 2U);
  EXPECT_EQ(terms[1].stream, 0x1p-6);
  EXPECT_EQ(terms[1].graph, 0x1p-6);
  EXPECT_EQ(terms[1].cold, 0x1p-6);
  EXPECT_EQ(graphs, 2U);
  const auto& cold = fake::script().cold;
  const std::vector<bool> last(cold.end() - 12, cold.end());  // first executions and five samples
  EXPECT_EQ(last, std::vector<bool>(12, true));
  EXPECT_FALSE(cold[cold.size() - 13]);
  std::string names;
  for (const auto& [name, measurement] : json["sweeps"][0]["rows"][0]["measurements"].items()) {
    names += name + "; ";
  }
  EXPECT_EQ(names, "library; library, cold; library, graph; ours; ours, cold; ours, graph; ");
}

TEST_F(RunTest, TheFastestBodyIsFoundAndItsSamplesAreNotKept) {
  // The first executions; a first replay and a sample of each; then the faster one alone.
  samples_take({0.01, 0.01, 0.01, 0.01, 0.01, 0.004});
  std::string order;
  std::size_t fastest = 0;
  experiment_.sweep("only", "", [&](Sweep& sweep) {
    auto point = sweep.point("1", 1);
    fake::forget_calls();
    fastest = point.fastest({[&] { order += 'a'; }, [&] { order += 'b'; }});
    point.value("fastest", 1, "");
  });
  const Json json = json_of_run();
  EXPECT_EQ(fastest, 1U);
  EXPECT_EQ(order, "abaabbbb");
  EXPECT_FALSE(json["sweeps"][0]["rows"][0].contains("measurements"));
}

TEST_F(RunTest, ColdFlushesBeforeEverySampleAndIsTold) {
  samples_take({30e-6});
  add_measured_sweep();
  fake::forget_calls();
  const Json json = json_of_run({"--cold"});
  EXPECT_EQ(json["options"]["cold"], true);
  EXPECT_EQ(measurement_.batch, 1U);
  EXPECT_TRUE(fake::script().cold.back());
  EXPECT_FALSE(json_of_run()["options"].contains("cold"));
  EXPECT_FALSE(fake::script().cold.back());
}

TEST_F(RunTest, NoiseIsGivenInPercent) {
  add_measured_sweep();
  EXPECT_EQ(json_of_run()["options"]["noise"], 0.005);
  EXPECT_EQ(json_of_run({"--noise", "25"})["options"]["noise"], 0.25);
}

TEST_F(RunTest, SweepWithoutAPointShowsItsNotesOnly) {
  add_measured_sweep();
  experiment_.sweep("absent", "", [](Sweep& sweep) { sweep.note("not on this device"); });
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("\nabsent: not on this device\n"), std::string::npos);
}

TEST_F(RunTest, CsvIsNothingButTables) {
  add_measured_sweep();
  EXPECT_EQ(run({"--csv"}).output,
            "# only: the sweep only\r\n"
            "blocks,time [ms],time min,time spread [%],cycles [cycles]\r\n"
            "8,1,1,0.00,1000000\r\n");
}

}  // namespace
}  // namespace hipscope
