// The arguments of math_functions, and the judgement of its results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "function_arguments.h"
#include "function_errors.h"

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

// Doubles of 1, 3 and 5, one of them off by that many last places.
math::Errors errors_of_doubles(float places) {
  const math::Arguments<float> arguments = {.x = {1, 3, 5}, .y = {0, 0, 0}};
  const std::vector<float> results = {2, 6 + places * 0x1p-21F, 10};
  const math::Limit two_ulps = [](double, double, double, double ulp) { return 2 * ulp; };
  return math::errors_of<float>(twice, two_ulps, arguments, results);
}

TEST(MathFunctionsTest, ErrorsAreCountedInTheirResultsLastPlace) {
  const math::Errors errors = errors_of_doubles(2);
  EXPECT_EQ(errors.results.wrong(), 0U);
  EXPECT_EQ(errors.largest, 2);
  EXPECT_EQ(errors.at, 3);
  EXPECT_NEAR(errors.share, 1, 0.01);
  EXPECT_NEAR(errors.limit, 2, 0.01);
}

TEST(MathFunctionsTest, AnErrorBeyondTheLimitIsWrong) {
  EXPECT_EQ(errors_of_doubles(3).results.wrong(), 1U);
  EXPECT_EQ(errors_of_doubles(std::numeric_limits<float>::quiet_NaN()).results.wrong(), 1U);
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
  EXPECT_EQ(math::compare_sums(results, sums_of(steps), steps).wrong(), 0U);
  EXPECT_EQ(math::compare_sums(results, sums_of(steps - 1), steps).wrong(), 4U);
}

// Where chains f = sin(f) from i / 256 end in double, each step made greater by `ulps`.
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
    EXPECT_EQ(math::compare_sine_chains(sine_chains(sines), sines, 1.5).wrong(), 0U) << sines;
    EXPECT_EQ(math::compare_sine_chains(sine_chains(sines, 1), sines, 2.5).wrong(), 0U) << sines;
  }
}

TEST(MathFunctionsTest, AChainOfSinesThatIsOneTooShortIsWrong) {
  // All but that from 0.
  EXPECT_EQ(math::compare_sine_chains(sine_chains(200), 201, 4).wrong(), 63U);
  EXPECT_EQ(math::compare_sine_chains(sine_chains(202), 201, 4).wrong(), 63U);
  std::vector<double> ends = sine_chains(201);
  ends[0] = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(math::compare_sine_chains(ends, 201, 4).wrong(), 1U);
}

}  // namespace
}  // namespace hipscope
