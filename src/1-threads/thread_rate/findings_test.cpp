// What thread_rate concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "published.h"

namespace hipscope {
namespace {

constexpr double all_threads = 1 << 30;
constexpr double clock_hz = 1e9;

// Sweep null-1d of threads per cycle over the threads of a block.
void add_null_launches(MadeResults& made, const std::vector<CurvePoint>& rates) {
  std::vector<CurvePoint> times = rates;
  std::vector<CurvePoint> launched = rates;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    times[i].y = all_threads / rates[i].y / clock_hz;
    launched[i].y = all_threads;
  }
  made.curve("null-1d", "time", times);
  made.curve("null-1d", "launched", launched);
  made.curve("null-1d", "thread rate", rates);
}

// A dispatcher that starts a block in `cycles_per_block` and, unless that is 0, a thread in
// `cycles_per_thread`.
MadeResults dispatcher(double cycles_per_block, double cycles_per_thread, double wave) {
  MadeResults made("thread_rate", fake::describe(), clock_hz * 1e-6);
  const auto cycles = [=](double block) {
    return std::max(cycles_per_block, cycles_per_thread * std::ceil(block / wave) * wave);
  };
  add_null_launches(made, made_curve(doubling(1, 1024), [&](double x) { return x / cycles(x); }));
  made.curve("block-size", "cycles per block", made_curve(multiples(8, 1024), cycles));
  thread_rate::conclude(made.results());
  return made;
}

TEST(ThreadRateTest, AThreadRateIsToldFromABlockRate) {
  const MadeResults made = dispatcher(4, 1.0 / 64, 64);
  EXPECT_NEAR(*made.inference("block rate").value, 0.25, 0.001);
  EXPECT_NEAR(*made.inference("thread rate").value, 64, 0.1);
}

TEST(ThreadRateTest, ABlockRateAloneIsNoThreadRate) {
  const MadeResults made = dispatcher(4, 0, 32);
  EXPECT_NEAR(*made.inference("block rate").value, 0.25, 0.001);
  EXPECT_FALSE(made.inference("thread rate").value.has_value());
}

TEST(ThreadRateTest, ReadsThePublishedCurves) {
  const auto concluded = [](const std::string& gpu) {
    std::vector<CurvePoint> rates;
    for (const auto& figure : detail::published_figures()) {
      if (figure.experiment == "thread_rate" && figure.series == "1d" && figure.gpu == gpu &&
          figure.metric == "thread rate") {
        rates.push_back({.x = std::stod(figure.x), .y = figure.value});
      }
    }
    MadeResults made("thread_rate", fake::describe(), clock_hz * 1e-6);
    add_null_launches(made, rates);
    thread_rate::conclude(made.results());
    return made;
  };
  const MadeResults mi25 = concluded("Radeon Instinct MI25");
  EXPECT_NEAR(*mi25.inference("block rate").value, 0.2505, 0.0005);
  EXPECT_NEAR(*mi25.inference("thread rate").value, 64.05, 0.1);
  EXPECT_GT(mi25.inference("block rate").confidence, 0.95);
  const MadeResults rx6600 = concluded("Radeon RX 6600");
  EXPECT_NEAR(*rx6600.inference("block rate").value, 0.995, 0.003);
  EXPECT_NEAR(*rx6600.inference("thread rate").value, 42.33, 0.1);
  EXPECT_GT(rx6600.inference("block rate").confidence, 0.95);
}

TEST(ThreadRateTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("thread_rate", thread_rate::conclude);
}

}  // namespace
}  // namespace hipscope
