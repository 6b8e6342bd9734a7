// What reduction concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hipscope/format.h"
#include "made_results.h"

namespace hipscope {
namespace {

const std::vector<std::string> stages = {"two", "four", "eight", "best", "last"};

// The read kernel takes 100 us, the library 102, the stages as said.
MadeResults made_stages(const std::vector<double>& microseconds, double spread = 0.001) {
  MadeResults made("reduction");
  std::vector<CurvePoint> times = {{.x = 0, .y = 100e-6}, {.x = 6, .y = 102e-6}};
  std::vector<CurvePoint> bandwidths = {{.x = 0, .y = 1000}, {.x = 6, .y = 1000 / 1.02}};
  for (std::size_t i = 0; i < microseconds.size(); ++i) {
    const double x = static_cast<double>(i) + 1;
    times.push_back({.x = x, .y = microseconds[i] * 1e-6, .relative_spread = spread});
    bandwidths.push_back({.x = x, .y = 1e5 / microseconds[i]});
  }
  made.curve("stages", "time", times);
  made.curve("stages", "bandwidth", bandwidths);
  return made;
}

// By barriers and round trips: 8 and 8, 8 and 4, 4 and 8, 4 and 4.
Inference barriers_of(const std::vector<double>& microseconds) {
  MadeResults made("reduction");
  std::vector<CurvePoint> times;
  for (const double time : microseconds) {
    times.push_back({.x = static_cast<double>(times.size()) + 1, .y = time * 1e-6});
  }
  made.curve("barriers", "time", times);
  ::reduction::conclude(made.results(), stages, "");
  return made.inference("barriers in the gain of 4 values per step");
}

TEST(ReductionTest, EightValuesPerStepHelpOrDoNot) {
  const auto conclude = [](double eight, double spread) {
    MadeResults made = made_stages({400, 300, eight, 110, 120}, spread);
    ::reduction::conclude(made.results(), stages, "the library");
    return made.inference("8 values per step over 4");
  };
  EXPECT_NEAR(*conclude(250, 0.001).value, 1.2, 1e-9);
  EXPECT_NE(conclude(250, 0.001).statement.find("help further"), std::string::npos);
  EXPECT_NE(conclude(360, 0.001).statement.find("are slower"), std::string::npos);
  EXPECT_NE(conclude(297, 0.001).statement.find("make no difference"), std::string::npos);
  EXPECT_NE(conclude(270, 0.1).statement.find("make no difference"), std::string::npos);
}

TEST(ReductionTest, TheSourcesOwnKernelsStandBesideTheirPublishedFigures) {
  MadeResults made = made_stages({400, 300, 250, 110, 120});
  const std::vector<CurvePoint> source = {{.x = -2, .y = 300e-6}, {.x = -1, .y = 200e-6}};
  made.curve("published", "time", source);
  ::reduction::conclude(made.results(), stages, "the library");
  const std::vector<std::string> evidence = made.inference("8 values per step over 4").evidence;
  ASSERT_EQ(evidence.size(), 2U);
  EXPECT_NE(evidence[1].find("V's own kernels: 4 values per step are 1.5 times as fast as 2"),
            std::string::npos);
  EXPECT_NE(evidence[1].find("published for Radeon Instinct MI25: 1.7"), std::string::npos);
}

TEST(ReductionTest, TheBestStageIsHeldAgainstTheReadKernelAndTheLibrary) {
  MadeResults made = made_stages({400, 300, 250, 110, 120});
  ::reduction::conclude(made.results(), stages, "the library");
  const Inference over_read = made.inference("best reduction over read bandwidth");
  EXPECT_NEAR(*over_read.value, 100.0 / 1.1, 1e-6);
  EXPECT_EQ(over_read.statement, "fastest of our stages: best");
  const Inference over_library = made.inference("best reduction over vendor library");
  EXPECT_NEAR(*over_library.value, 100 * 102.0 / 110, 1e-6);
  EXPECT_EQ(over_library.statement, "best against the library");
}

TEST(ReductionTest, WithoutTheLibraryNothingIsSaidOfIt) {
  MadeResults made("reduction");
  const std::vector<CurvePoint> times = {{.x = 0, .y = 100e-6}, {.x = 1, .y = 110e-6}};
  const std::vector<CurvePoint> bandwidths = {{.x = 0, .y = 1000}, {.x = 1, .y = 909}};
  made.curve("stages", "time", times);
  made.curve("stages", "bandwidth", bandwidths);
  ::reduction::conclude(made.results(), stages, "");
  EXPECT_TRUE(made.inference("best reduction over read bandwidth").value.has_value());
  EXPECT_FALSE(made.inference("best reduction over vendor library").value.has_value());
  EXPECT_EQ(made.inference("8 values per step over 4").name, "");
}

TEST(ReductionTest, TheLibraryIsHeldAgainstOursAtItsBestSize) {
  const auto conclude = [](const std::vector<double>& ratios) {
    MadeResults made("reduction");
    std::vector<CurvePoint> rates;
    double count = 65536;
    for (const double ratio : ratios) {
      rates.push_back({.x = count, .y = ratio, .relative_spread = 0.01});
      count *= 2;
    }
    made.curve("sizes", "rate over the vendor's", rates);
    ::reduction::conclude(made.results(), stages, "the library");
    return made.inference("reduction over vendor library, worst of all sizes");
  };
  const Inference ahead = conclude({1.5, 1.02, 1.25});
  EXPECT_NEAR(*ahead.value, 102, 1e-9);
  EXPECT_NEAR(ahead.confidence, 0.98, 1e-9);
  EXPECT_EQ(ahead.statement,
            "1.02 times its rate with 2^17 values against the library, the least of 3 sizes");
  EXPECT_EQ(ahead.evidence,
            std::vector<std::string>{"at most 1.5 times its rate with 2^16 values"});
  const Inference behind = conclude({0.9, 1.02, 0.95});
  EXPECT_NEAR(*behind.value, 90, 1e-9);
  ASSERT_EQ(behind.evidence.size(), 3U);
  EXPECT_EQ(behind.evidence[2], "behind it: 0.95 times its rate with 2^18 values");
  EXPECT_TRUE(conclude({}).name.empty());
}

TEST(ReductionTest, BarriersAreToldFromRoundTrips) {
  // A barrier costs 1 us, a round trip 4.
  const Inference both = barriers_of({140, 124, 136, 120});
  EXPECT_NEAR(*both.value, 20, 1e-6);
  EXPECT_GT(both.confidence, 0.9);
  EXPECT_NEAR(*barriers_of({124, 124, 120, 120}).value, 100, 1e-6);
  EXPECT_NEAR(*barriers_of({124, 120, 124, 120}).value, 0, 1e-6);
}

// 4 barriers fewer of 8 save so many us of a gain of 20, with 8 round trips and with 4.
Inference barriers_that_save(double with_eight, double with_four) {
  return barriers_of({140, 120 + with_four, 140 - with_eight, 120});
}

TEST(ReductionTest, BarriersAreKnownNoBetterThanTheirTwoSavingsAgree) {
  const Inference agreed = barriers_that_save(5, 5);
  EXPECT_NEAR(*agreed.value, 25, 1e-6);
  EXPECT_NEAR(agreed.confidence, 1, 1e-6);
  const Inference apart = barriers_that_save(2, 8);
  EXPECT_NEAR(*apart.value, 25, 1e-6);
  EXPECT_NEAR(apart.confidence, 0.85, 1e-6);
}

TEST(ReductionTest, BarriersWhoseTwoSavingsDisagreeAreNotToldFromRoundTrips) {
  const auto expect_not_told_apart = [](double with_eight, double with_four) {
    const Inference inference = barriers_that_save(with_eight, with_four);
    EXPECT_FALSE(inference.value.has_value()) << with_eight << " and " << with_four;
    EXPECT_NE(inference.statement.find("is not told apart"), std::string::npos);
    EXPECT_NE(inference.evidence.back().find(number(with_four) + " us with 4"), std::string::npos);
  };
  expect_not_told_apart(2, 13);
  expect_not_told_apart(13, 2);
  // As on an H200 before the last step's loop was unrolled: barriers that cost more where each
  // waits for fewer round trips, and more than is gained.
  expect_not_told_apart(3, 38);
  expect_not_told_apart(-8, 3);
}

TEST(ReductionTest, NoiseOfAThirdOfTheGainHidesWhatBarriersAre) {
  MadeResults made("reduction");
  std::vector<CurvePoint> times;
  for (const double time : {140.0, 125.0, 135.0, 120.0}) {
    times.push_back(
        {.x = static_cast<double>(times.size()) + 1, .y = time * 1e-6, .relative_spread = 0.025});
  }
  made.curve("barriers", "time", times);
  ::reduction::conclude(made.results(), stages, "");
  const Inference inference = made.inference("barriers in the gain of 4 values per step");
  EXPECT_NE(inference.name, "");
  EXPECT_FALSE(inference.value.has_value());
}

TEST(ReductionTest, WhereFourValuesGainNothingThereIsNothingToTellApart) {
  const Inference none = barriers_of({120.5, 121, 120, 120});
  EXPECT_NE(none.name, "");
  EXPECT_FALSE(none.value.has_value());
}

TEST(ReductionTest, NothingIsConcludedFromNothing) {
  MadeResults made("reduction");
  ::reduction::conclude(made.results(), stages, "the library");
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
