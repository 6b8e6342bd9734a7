// What thread_rate concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double all_threads = 1 << 30;
constexpr double clock_hz = 1e9;

// A dispatcher that starts a block in `cycles_per_block` and, unless that is 0, a thread in
// `cycles_per_thread`.
MadeResults dispatcher(double cycles_per_block, double cycles_per_thread, double wave) {
  MadeResults made("thread_rate", fake::describe(), clock_hz * 1e-6);
  const auto cycles = [=](double block) {
    return std::max(cycles_per_block, cycles_per_thread * std::ceil(block / wave) * wave);
  };
  const std::vector<double> blocks = doubling(1, 1024);
  made.curve("null-1d", "time",
             made_curve(blocks, [&](double x) { return all_threads / x * cycles(x) / clock_hz; }));
  made.curve("null-1d", "launched", made_curve(blocks, [](double) { return all_threads; }));
  made.curve("null-1d", "thread rate", made_curve(blocks, [&](double x) { return x / cycles(x); }));
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

TEST(ThreadRateTest, NothingIsConcludedFromNothing) {
  MadeResults made("thread_rate");
  thread_rate::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
