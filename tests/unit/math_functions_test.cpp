// The arguments of math_functions, the judgement of its results, and what it concludes from made
// curves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "function_arguments.h"
#include "function_errors.h"
#include "made_results.h"
#include "math_functions_findings.h"

namespace hipscope {
namespace {

// --- Arguments --------------------------------------------------------------------------------

std::vector<double> drawn(const math::Range& range, std::size_t count) {
  std::mt19937_64 random(7);
  return math::draw<double>(range, count, random);
}

TEST(MathFunctionsTest, ArgumentsHaveTheRangesEdgesAndFillIt) {
  const math::Range range = {.low = 0.25, .high = 64};
  const std::vector<double> values = drawn(range, 1000);
  EXPECT_EQ(values[0], range.low);
  EXPECT_EQ(values[1], range.high);
  EXPECT_TRUE(std::all_of(values.begin(), values.end(),
                          [&](double x) { return x >= range.low && x <= range.high; }));
  // Of 8 octaves the upper one has half of the even draws and an eighth of the others.
  const auto upper = std::count_if(values.begin(), values.end(), [](double x) { return x > 32; });
  EXPECT_NEAR(static_cast<double>(upper) / 1000, 0.5 * 0.5 + 0.5 / 8, 0.05);
}

TEST(MathFunctionsTest, ArgumentsOfBothSignsHaveTheEdgesOfBoth) {
  const std::vector<double> values = drawn({.low = 0.6, .high = 1, .both_signs = true}, 1000);
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 4),
            (std::vector<double>{0.6, 1, -0.6, -1}));
  const auto negative = std::count_if(values.begin(), values.end(), [](double x) { return x < 0; });
  EXPECT_NEAR(static_cast<double>(negative), 500, 60);
}

TEST(MathFunctionsTest, FewArgumentsAreEdges) {
  EXPECT_EQ(drawn({.low = 2, .high = 3, .both_signs = true}, 1), std::vector<double>{2});
  EXPECT_EQ(drawn({.low = 2, .high = 3}, 3).size(), 3U);
}

TEST(MathFunctionsTest, AThirdOfTheArgumentsLieAtAComparisonsBoundary) {
  math::Arguments<float> arguments = math::draw_arguments<float>({1, 16}, {1, 4}, 300, 3);
  const std::vector<float> before = arguments.x;
  math::move_to_boundary<float>(arguments, [](float y) { return y * y; });
  std::set<int> places;
  for (std::size_t i = 0; i < arguments.x.size(); ++i) {
    if (i % 3 != 0) {
      EXPECT_EQ(arguments.x[i], before[i]);
      continue;
    }
    const float boundary = arguments.y[i] * arguments.y[i];
    const float epsilons = (arguments.x[i] / boundary - 1) / std::numeric_limits<float>::epsilon();
    EXPECT_LE(std::abs(epsilons), 3);
    places.insert(static_cast<int>(std::lround(epsilons)));
  }
  EXPECT_TRUE(places.contains(0));
  EXPECT_TRUE(*places.begin() < 0 && *places.rbegin() > 0);
}

// --- Judgement --------------------------------------------------------------------------------

TEST(MathFunctionsTest, TheLastPlaceIsThatOfTheTypeAndTheBinade) {
  EXPECT_EQ(math::last_place<float>(1), 0x1p-23);
  EXPECT_EQ(math::last_place<float>(-3), 0x1p-22);
  EXPECT_EQ(math::last_place<double>(1), 0x1p-52);
  EXPECT_EQ(math::last_place<float>(0), 0);
}

double twice(double x, double /*y*/) { return 2 * x; }

// Doubles of 1, 3 and 5, one of them off by so many last places.
math::Errors errors_of_doubles(float places) {
  const math::Arguments<float> arguments = {.x = {1, 3, 5}, .y = {0, 0, 0}};
  const std::vector<float> results = {2, 6 + places * 0x1p-21F, 10};
  const math::Limit two_ulps = [](double, double, double, double ulp) { return 2 * ulp; };
  return math::errors_of<float>(twice, two_ulps, arguments, results);
}

TEST(MathFunctionsTest, ErrorsAreCountedInTheirResultsLastPlace) {
  const math::Errors errors = errors_of_doubles(2);
  EXPECT_EQ(errors.wrong, 0U);
  EXPECT_EQ(errors.largest, 2);
  EXPECT_EQ(errors.at, 3);
  EXPECT_NEAR(errors.share, 1, 0.01);
  EXPECT_NEAR(errors.limit, 2, 0.01);
}

TEST(MathFunctionsTest, AnErrorBeyondTheLimitIsWrong) {
  EXPECT_EQ(errors_of_doubles(3).wrong, 1U);
  EXPECT_EQ(errors_of_doubles(std::numeric_limits<float>::quiet_NaN()).wrong, 1U);
  EXPECT_EQ(errors_of_doubles(0).largest, 0);
}

TEST(MathFunctionsTest, ASumWithAStepTooFewIsWrong) {
  const std::vector<float> results = {0.1F, -3};
  constexpr std::uint64_t steps = 2048;
  const auto sums_of = [&](std::uint64_t added) {
    std::vector<float> sums(4, 0.0F);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      for (std::uint64_t step = 0; step < added; ++step) {
        sums[i] += results[i % 2];
      }
    }
    return sums;
  };
  EXPECT_EQ(math::wrong_sums(results, sums_of(steps), steps), 0U);
  EXPECT_EQ(math::wrong_sums(results, sums_of(steps - 1), steps), 4U);
}

// Where chains f = sin(f) from i / 256 end in double, each step made greater by so many ulps.
std::vector<double> sine_chains(std::uint64_t sines, double ulps = 0) {
  std::vector<double> ends(64);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    double f = static_cast<double>(i) / 256;
    for (std::uint64_t sine = 0; sine < sines; ++sine) {
      f = std::sin(f) * (1 + ulps * std::numeric_limits<double>::epsilon());
    }
    ends[i] = f;
  }
  return ends;
}

TEST(MathFunctionsTest, ChainsOfSinesMayBeOffByTheErrorsOfTheirSteps) {
  for (const std::uint64_t sines : {1U, 201U, 2001U}) {
    EXPECT_EQ(math::wrong_sine_chains(sine_chains(sines), sines, 1.5), 0U) << sines;
    EXPECT_EQ(math::wrong_sine_chains(sine_chains(sines, 1), sines, 2.5), 0U) << sines;
  }
}

TEST(MathFunctionsTest, AChainOfSinesThatIsOneTooShortIsWrong) {
  // All but that from 0.
  EXPECT_EQ(math::wrong_sine_chains(sine_chains(200), 201, 4), 63U);
  EXPECT_EQ(math::wrong_sine_chains(sine_chains(202), 201, 4), 63U);
  std::vector<double> ends = sine_chains(201);
  ends[0] = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(math::wrong_sine_chains(ends, 201, 4), 1U);
}

// --- Findings ---------------------------------------------------------------------------------

const math_functions::Labels labels = {
    .fp32 = {math_functions::small_sine, "__sinf", math_functions::large_sine_fp32, "__frcp_rn"},
    .fp64 = {math_functions::small_sine, math_functions::large_sine_fp64},
    .intrinsics = {{"__sinf", math_functions::small_sine, true},
                   {"__frcp_rn", math_functions::small_sine, false}},
    .rewrites = {"pow(x, 2) as x*x", "sqrt(a) < b as a < b*b"}};

std::vector<CurvePoint> rows(const std::vector<double>& values, double spread = 0) {
  std::vector<CurvePoint> points;
  double x = math_functions::first_function_x;
  for (const double value : values) {
    points.push_back({.x = x++, .y = value, .relative_spread = spread});
  }
  return points;
}

bool has_evidence(const Inference& inference, const std::string& text) {
  return std::any_of(inference.evidence.begin(), inference.evidence.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST(MathFunctionsTest, CostsAreRatiosOfRatesWithTheLatenciesBesideThem) {
  MadeResults made("math_functions");
  made.curve("throughput-fp32", "rate", rows({4, 16, 0.5, 2}))
      .curve("throughput-fp64", "rate", rows({2, 0.5}))
      .curve("latency-fp32", "latency", rows({100, 20, 900, 70}))
      .curve("latency-fp64", "latency", rows({250, 1000}));
  math_functions::conclude(made.results(), labels);
  EXPECT_EQ(made.inference("cost of a sine in FP64").value, 2);
  EXPECT_TRUE(has_evidence(made.inference("cost of a sine in FP64"), "2.5 times"));
  EXPECT_FALSE(has_evidence(made.inference("cost of a sine in FP64"), "published"));
  EXPECT_EQ(made.inference("cost of a large argument in FP32").value, 8);
  EXPECT_TRUE(has_evidence(made.inference("cost of a large argument in FP32"), "9 times"));
  EXPECT_EQ(made.inference("cost of a large argument in FP64").value, 4);
}

TEST(MathFunctionsTest, ThePublishedSineStandsBesideTheSameChain) {
  MadeResults made("math_functions");
  made.curve("throughput-fp32", "rate", rows({4}))
      .curve("throughput-fp64", "rate", rows({2}))
      .curve("published", "latency", rows({240}));
  math_functions::conclude(made.results(), labels);
  const Inference inference = made.inference("cost of a sine in FP64");
  EXPECT_TRUE(has_evidence(inference, "in one thread: 240 cycles"));
  EXPECT_TRUE(has_evidence(inference, "by that chain: 2339 cycles"));
}

TEST(MathFunctionsTest, IntrinsicsThatAreRoundedDoNotCountAsFast) {
  MadeResults made("math_functions");
  made.curve("throughput-fp32", "rate", rows({4, 16, 0.5, 2}, 0.05))
      .curve("error-fp32", "largest error", rows({1, 50, 1, 0.5}));
  math_functions::conclude(made.results(), labels);
  const Inference gain = made.inference("gain of the fast intrinsics");
  EXPECT_EQ(gain.value, 4);
  EXPECT_NEAR(gain.confidence, 0.9, 0.03);
  EXPECT_EQ(gain.evidence.size(), 2U);
  EXPECT_TRUE(has_evidence(gain, "largest error 50 against 1 ulp"));
  EXPECT_TRUE(has_evidence(gain, "__frcp_rn: 0.5 times"));
}

TEST(MathFunctionsTest, RewritesGainTheirGeometricMean) {
  MadeResults made("math_functions");
  made.curve("rewrites-fp32", "gain", rows({16, 4})).curve("rewrites-fp64", "gain", rows({9}));
  math_functions::conclude(made.results(), labels);
  const Inference gain = made.inference("gain of the rewrites in FP32");
  ASSERT_TRUE(gain.value.has_value());
  EXPECT_NEAR(*gain.value, 8, 1e-9);
  EXPECT_TRUE(has_evidence(gain, "sqrt(a) < b as a < b*b: 4 times"));
  EXPECT_NEAR(*made.inference("gain of the rewrites in FP64").value, 9, 1e-9);
  EXPECT_EQ(made.inferences().size(), 2U);
}

TEST(MathFunctionsTest, NothingIsConcludedFromNothing) {
  MadeResults made("math_functions");
  math_functions::conclude(made.results(), labels);
  EXPECT_TRUE(made.inferences().empty());
}

TEST(MathFunctionsTest, RowsThatAreNotThereTellNothing) {
  MadeResults made("math_functions");
  made.curve("throughput-fp32", "rate", rows({4})).curve("published", "latency", rows({240}));
  math_functions::conclude(made.results(), labels);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
