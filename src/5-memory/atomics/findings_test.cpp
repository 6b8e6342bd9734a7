// What atomics concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"

namespace hipscope {
namespace {

constexpr double clock_mhz = 2000;

Inference concluded(const std::string& name, const std::string& sweep, const std::string& value,
                    const std::vector<CurvePoint>& curve) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  made.curve(sweep, value, curve);
  atomics::conclude(made.results());
  return made.inference(name);
}

TEST(AtomicsTest, AWordTakesWhatItTakesHoweverManyCusAsk) {
  const std::vector<double> units = {1, 2, 4, 8, 16, 32, 64, 128, 132};
  const auto word = [&](const std::function<double(double)>& rate) {
    return concluded("additions at one word of L2", "units", "one address",
                     made_curve(units, rate));
  };
  const Inference found = word([](double x) { return std::min(3.0, x); });
  EXPECT_EQ(found.value, 3);
  EXPECT_GT(found.confidence, 0.9);
  EXPECT_EQ(found.evidence.at(0), "1.5 lanes per cycle of the 132 CUs");
  EXPECT_NE(found.statement.find("from 4 CUs on"), std::string::npos) << found.statement;
  // One point may be slow, but not the last: there the rate may begin to fall.
  EXPECT_EQ(word([](double x) { return x == 64 ? 1.5 : std::min(3.0, x); }).value, 3);
  for (const auto& none : std::vector<std::function<double(double)>>{
           [](double x) { return x == 132 ? 1.5 : std::min(3.0, x); }, [](double x) { return x; },
           [](double x) { return 4 / std::sqrt(x); }}) {
    EXPECT_EQ(word(none).name, "additions at one word of L2");
    EXPECT_FALSE(word(none).value.has_value());
  }
}

constexpr double add_int = 1;
constexpr double add_float = 4;
constexpr double add_int_returned = 21;

TEST(AtomicsTest, TheRateOfLdsIsSureWhereAnotherPatternAgrees) {
  for (const double in_a_line : {16.0, 8.0}) {
    MadeResults made("atomics", fake::describe(), clock_mhz);
    made.curve("lds", "spread",
               std::vector<CurvePoint>{{add_int, 16}, {add_float, 4}, {add_int_returned, 10}});
    made.curve("lds", "one line", std::vector<CurvePoint>{{add_int, in_a_line}});
    made.curve("lds", "one address", std::vector<CurvePoint>{{add_int, 2}});
    atomics::conclude(made.results());
    ASSERT_EQ(made.inferences().size(), 1U);
    EXPECT_EQ(made.inference("additions in LDS").value, 16);
    EXPECT_EQ(made.inference("additions in LDS").confidence > 0.5, in_a_line == 16) << in_a_line;
  }
}

TEST(AtomicsTest, ALoopIsToldFromAnInstruction) {
  struct Case {
    double cycles;  // of one lane's addition of floats; of integers 40
    double slower;  // its rate against that of integers
    std::optional<double> value;
    bool is_sure;
    const char* statement;
  };
  for (const Case& each :
       {Case{120, 3, 3, true, "a loop"}, Case{120, 1, 3, false, "a loop"},
        Case{44, 1, 1.1, true, "itself, as"}, Case{58, 1, {}, false, "neither"}}) {
    MadeResults made("atomics", fake::describe(), clock_mhz);
    made.curve("latency", "LDS", std::vector<CurvePoint>{{add_int, 40}, {add_float, each.cycles}});
    made.curve("lds", "spread",
               std::vector<CurvePoint>{{add_int, 32}, {add_float, 32 / each.slower}});
    atomics::conclude(made.results());
    const Inference found = made.inference("FP32 addition in LDS over INT32's");
    EXPECT_EQ(found.value, each.value);
    EXPECT_EQ(found.confidence > 0.5, each.is_sure) << each.cycles;
    EXPECT_NE(found.statement.find(each.statement), std::string::npos) << found.statement;
  }
}

TEST(AtomicsTest, NothingIsConcludedFromNothing) {
  MadeResults made("atomics", fake::describe(), clock_mhz);
  made.curve("units", "one address", made_curve({1, 2, 4}, [](double) { return 1; }));
  const double none = std::numeric_limits<double>::quiet_NaN();
  made.curve("lds", "spread", std::vector<CurvePoint>{{add_int, none}});
  atomics::conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
