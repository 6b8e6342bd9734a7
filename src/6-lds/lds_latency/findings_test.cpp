// What lds_latency fills LDS with and expects of it, and what it concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "made_results.h"
#include "words.h"

namespace hipscope {
namespace {

using lds_latency::net_row;
using lds_latency::raw_row;

// --- Words --------------------------------------------------------------------------------------

using lds_latency::Atomic;
using lds_latency::atomic_ends;
using lds_latency::Words;

TEST(LdsLatencyTest, ARandomCycleGoesThroughAllNodes) {
  for (const unsigned count : {1U, 2U, 64U}) {
    const Words next = lds_latency::random_cycle(count, 3);
    std::set<unsigned> seen;
    for (unsigned step = 0; step < count; ++step) {
      seen.insert(lds_latency::follow(next, 0, step));
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(lds_latency::follow(next, 0, count), 0U);
  }
}

TEST(LdsLatencyTest, OnlyANodesLastDwordLeadsOn) {
  EXPECT_EQ(lds_latency::nodes_of({2, 0, 1}, 2, 8), (Words{0, 16, 8, 0, 16, 8}));
  EXPECT_EQ(lds_latency::nodes_of({1, 0}, 1, 1), (Words{1, 0}));
}

TEST(LdsLatencyTest, AtomicsReturnWhatWasThere) {
  // Word 1, operand 1: each sum is the next of Fibonacci's numbers.
  EXPECT_EQ(atomic_ends(Atomic::add, {1, 1}, 1), (Words{1, 2}));
  EXPECT_EQ(atomic_ends(Atomic::add, {1, 1}, 4), (Words{5, 8}));
  EXPECT_EQ(atomic_ends(Atomic::exchange, {7, 9}, 1), (Words{7, 9}));
  EXPECT_EQ(atomic_ends(Atomic::exchange, {7, 9}, 2), (Words{9, 7}));
  EXPECT_EQ(atomic_ends(Atomic::compare_and_swap, {7, 9}, 1), (Words{7, 9}));
  EXPECT_EQ(atomic_ends(Atomic::compare_and_swap, {7, 9}, 3), (Words{7, 9}));
}

TEST(LdsLatencyTest, ARotationStaysInItsRow) {
  EXPECT_EQ(lds_latency::rotated_lane(16, 1), 31U);
  EXPECT_EQ(lds_latency::rotated_lane(20, 3), 17U);
  EXPECT_EQ(lds_latency::rotated_lane(5, 16), 5U);
}

TEST(LdsLatencyTest, ExchangedWordsComeRoundTheBlock) {
  EXPECT_EQ(lds_latency::from_further_on({1, 2, 3}, 1), (Words{2, 3, 1}));
  EXPECT_EQ(lds_latency::from_further_on({1, 2, 3}, 5), (Words{3, 1, 2}));
  EXPECT_EQ(lds_latency::after_steps({1, 2}, 3, [](unsigned x) { return 2 * x; }), (Words{8, 16}));
}

// --- Findings -----------------------------------------------------------------------------------

TEST(LdsLatencyTest, CounterAndEventsThatAgreeAreBelieved) {
  struct Case {
    double by_events;
    std::optional<double> value;
    double confidence;
  };
  for (const Case& each : {Case{51, 50, 0.98}, Case{60, {}, 0}}) {
    for (const std::string sweep : {"chase", "lanes"}) {
      MadeResults made("lds_latency");
      made.curve(sweep, "latency", std::vector<CurvePoint>{{raw_row, 58}, {net_row, 50}, {3, 23}});
      made.curve(sweep, "latency by events", std::vector<CurvePoint>{{net_row, each.by_events}});
      lds_latency::conclude(made.results());
      ASSERT_EQ(made.inferences().size(), 1U);
      const Inference& found = made.inferences().front();
      EXPECT_EQ(found.name, sweep == "chase" ? "LDS latency" : "shuffle latency");
      EXPECT_EQ(found.value, each.value);
      EXPECT_NEAR(found.confidence, each.confidence, 1e-9);
    }
  }
}

}  // namespace
}  // namespace hipscope
