// fit_banks and find_valley on curves that are made: the cost of an access over its stride.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "hipscope/inference.h"
#include "made_curve.h"
#include "published.h"

namespace hipscope {
namespace {

// The most dwords in one bank, counted: not by the formula that the fit uses.
double ways(double stride, unsigned lanes, unsigned banks) {
  std::map<unsigned, std::set<unsigned>> dwords_of_bank;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto dword = static_cast<unsigned>(lane * stride);
    dwords_of_bank[dword % banks].insert(dword);
  }
  std::size_t most = 0;
  for (const auto& [bank, dwords] : dwords_of_bank) {
    most = std::max(most, dwords.size());
  }
  return static_cast<double>(most);
}

std::vector<CurvePoint> curve(const std::function<double(double)>& y, double noise = 0,
                              unsigned seed = 1, double last_stride = 64) {
  return made_curve(multiples(1, last_stride), y, noise, seed);
}

std::function<double(double)> banked(unsigned lanes, unsigned banks, double base, double cost) {
  return [=](double stride) { return base + cost * (ways(stride, lanes, banks) - 1); };
}

TEST(FitBanks, FindsBanksAndCost) {
  for (const unsigned lanes : {32U, 64U}) {
    for (const unsigned banks : {8U, 16U, 32U, 64U, 128U}) {
      const auto fit = fit_banks(curve(banked(lanes, banks, 30, 2), 0, 1, 128), lanes);
      ASSERT_TRUE(fit && fit->banks) << lanes << " " << banks;
      EXPECT_EQ(*fit->banks, banks);
      EXPECT_EQ(fit->alike, std::vector<unsigned>{banks});
      EXPECT_NEAR(fit->cost_per_way, 2, 1e-9);
      EXPECT_NEAR(fit->base, 30, 1e-9);
      EXPECT_NEAR(fit->confidence, 1, 1e-9);
    }
  }
}

TEST(FitBanks, FindsThemThroughNoise) {
  for (const unsigned lanes : {32U, 64U}) {
    for (const unsigned banks : {16U, 32U, 64U}) {
      for (unsigned seed = 1; seed <= 50; ++seed) {
        const auto fit = fit_banks(curve(banked(lanes, banks, 30, 2), 0.01, seed), lanes);
        ASSERT_TRUE(fit) << lanes << " " << banks << " " << seed;
        // 64 and 128 banks are hard to tell apart: then both are named, and none is claimed.
        EXPECT_EQ(std::count(fit->alike.begin(), fit->alike.end(), banks), 1);
        if (banks < 64) {
          ASSERT_TRUE(fit->banks) << lanes << " " << banks << " " << seed;
          EXPECT_GT(fit->confidence, 0.9);
        }
        if (fit->banks) {
          EXPECT_EQ(*fit->banks, banks);
          EXPECT_NEAR(fit->cost_per_way, 2, 0.1);
        }
      }
    }
  }
}

TEST(FitBanks, LittleCostAndMuchNoiseLowerTheConfidence) {
  const auto clear = fit_banks(curve(banked(32, 32, 30, 1)), 32);
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto fit = fit_banks(curve(banked(32, 32, 30, 1), 0.03, seed), 32);
    ASSERT_TRUE(fit && fit->banks) << seed;
    EXPECT_EQ(*fit->banks, 32U);
    EXPECT_LT(fit->confidence, clear->confidence);
  }
}

// A wave of 64 lanes that is served 32 lanes at a time: each pass has its own conflicts.
TEST(FitBanks, HalfWavesTellTheSameBanks) {
  for (const unsigned banks : {16U, 32U}) {
    const auto passes = [=](double stride) { return 80 + 2 * 2 * (ways(stride, 32, banks) - 1); };
    for (unsigned seed = 1; seed <= 50; ++seed) {
      const auto fit = fit_banks(curve(passes, 0.01, seed), 64);
      ASSERT_TRUE(fit && fit->banks) << seed;
      EXPECT_EQ(*fit->banks, banks);
      EXPECT_NEAR(fit->cost_per_way, 2, 0.05);
    }
  }
}

// 64 banks that serve half of a wave at a time look like 128 that serve all of it, up to strides of
// 64 dwords.
TEST(FitBanks, OnlyLongStridesTellHalvesFromTwiceAsManyBanks) {
  const auto halves = [](double stride) { return 80 + 4 * (ways(stride, 32, 64) - 1); };
  const auto whole = banked(64, 128, 80, 4);
  for (const auto& law : {std::function<double(double)>(halves), whole}) {
    const auto up_to_64 = fit_banks(curve(law), 64);
    ASSERT_TRUE(up_to_64);
    EXPECT_FALSE(up_to_64->banks);
    EXPECT_EQ(up_to_64->alike, (std::vector<unsigned>{64, 128}));
  }
  EXPECT_EQ(fit_banks(curve(halves, 0, 1, 128), 64)->banks, 64U);
  EXPECT_EQ(fit_banks(curve(whole, 0, 1, 128), 64)->banks, 128U);
}

TEST(FitBanks, DisturbedPointsAreLeftOut) {
  auto made = curve(banked(32, 32, 30, 2), 0.01);
  for (const std::size_t i : {4U, 11U, 30U, 47U}) {
    made[i].y *= 2;
  }
  const auto fit = fit_banks(made, 32);
  ASSERT_TRUE(fit && fit->banks);
  EXPECT_EQ(*fit->banks, 32U);
  EXPECT_EQ(fit->outliers, 4U);
  EXPECT_GT(fit->confidence, 0.9);
}

// Throughput: no conflict costs nothing but the access itself.
TEST(FitBanks, FindsThemInCostsThatBeginAtOneCycle) {
  const auto fit = fit_banks(curve(banked(32, 32, 1, 1), 0.01), 32);
  ASSERT_TRUE(fit && fit->banks);
  EXPECT_EQ(*fit->banks, 32U);
}

TEST(FitBanks, AFlatCurveSaysNothing) {
  const auto flat = [](double) { return 30.0; };
  EXPECT_FALSE(fit_banks(curve(flat), 32));
  EXPECT_FALSE(fit_banks(curve(banked(32, 32, 300, 0.1)), 32));
  for (unsigned seed = 1; seed <= 200; ++seed) {
    EXPECT_FALSE(fit_banks(curve(flat, 0.002, seed), 32)) << seed;
  }
}

TEST(FitBanks, NoiseSaysNothing) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    EXPECT_FALSE(fit_banks(curve([](double) { return 30.0; }, 0.3, seed), 32)) << seed;
    EXPECT_FALSE(fit_banks(curve([](double) { return 30.0; }, 0.3, seed, 16), 64)) << seed;
  }
}

TEST(FitBanks, AnotherLawSaysNothing) {
  for (const unsigned lanes : {32U, 64U}) {
    EXPECT_FALSE(fit_banks(curve([](double stride) { return 30 + stride; }), lanes));
    EXPECT_FALSE(fit_banks(curve([](double stride) { return 30 + std::sqrt(stride); }), lanes));
    EXPECT_FALSE(fit_banks(curve([](double stride) { return stride > 32 ? 60.0 : 30.0; }), lanes));
    // Conflicts that make an access cheaper are none.
    EXPECT_FALSE(fit_banks(curve(banked(lanes, 32, 100, -1)), lanes));
    // One point that stands out.
    EXPECT_FALSE(fit_banks(curve([](double x) { return x == 64 ? 60.0 : 30.0; }), lanes));
    EXPECT_FALSE(fit_banks(curve([](double x) { return x == 16 ? 60.0 : 30.0; }), lanes));
  }
}

TEST(FitBanks, BanksOfEightBytesAreNoBanksOfDwords) {
  const auto wide = [](double stride) {
    std::map<unsigned, std::set<unsigned>> words_of_bank;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned word = static_cast<unsigned>(lane * stride) / 2;
      words_of_bank[word % 16].insert(word);
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) {
      most = std::max(most, words.size());
    }
    return 1 + static_cast<double>(most);
  };
  const auto fit = fit_banks(curve(wide), 32);
  EXPECT_TRUE(!fit || fit->explained < 0.999);
}

TEST(FitBanks, ShortStridesLeaveSeveralNumbersOfBanks) {
  for (const unsigned banks : {32U, 64U}) {
    const auto fit = fit_banks(curve(banked(64, banks, 86, 1), 0, 1, 16), 64);
    ASSERT_TRUE(fit);
    EXPECT_FALSE(fit->banks);
    EXPECT_EQ(fit->alike, (std::vector<unsigned>{16, 32, 64}));
    EXPECT_EQ(fit->confidence, 0);
  }
}

// The published strides end at 16, where 16 banks and more of them look alike.
TEST(FitBanks, ThePublishedCurveOfTheMi25LeavesSeveral) {
  std::vector<CurvePoint> published;
  for (const detail::PublishedFigure& figure : detail::published_figures()) {
    if (figure.experiment == "lds_banks" && figure.series == "chase, 64 lanes") {
      published.push_back({.x = std::stod(figure.x), .y = figure.value});
    }
  }
  ASSERT_EQ(published.size(), 16U);
  const auto fit = fit_banks(published, 64);
  ASSERT_TRUE(fit);
  EXPECT_FALSE(fit->banks);
  EXPECT_EQ(fit->alike, (std::vector<unsigned>{16, 32, 64, 128}));
  EXPECT_GT(fit->explained, 0.98);
}

TEST(FitBanks, NeedsEightStrides) {
  EXPECT_FALSE(fit_banks({}, 32));
  EXPECT_FALSE(fit_banks(curve(banked(32, 32, 30, 2), 0, 1, 7), 32));
  auto made = curve(banked(32, 32, 30, 2));
  EXPECT_FALSE(fit_banks(made, 0));
  made[0].x = 0;
  EXPECT_FALSE(fit_banks(made, 32));
  made[0].x = 1.5;
  EXPECT_FALSE(fit_banks(made, 32));
  made[0] = {.x = 1, .y = 0};
  EXPECT_FALSE(fit_banks(made, 32));
}

// --- find_valley ------------------------------------------------------------------------------

constexpr double smallest_ratio = 1.3;

// Bytes at a stride of `width` more than a period of the banks, which are so wide.
std::function<double(double)> shifted(double width) {
  return [=](double x) { return x < width ? width / x : x / width; };
}

TEST(FindValley, FindsTheLowestPoint) {
  for (const double width : {2.0, 4.0, 8.0, 16.0}) {
    for (unsigned seed = 1; seed <= 50; ++seed) {
      const auto made = made_curve(doubling(1, 32), shifted(width), 0.02, seed);
      const auto valley = find_valley(made, smallest_ratio);
      ASSERT_TRUE(valley) << width;
      EXPECT_EQ(valley->x, width);
      EXPECT_NEAR(valley->ratio, 2, 0.2);
      EXPECT_NEAR(valley->confidence, 0.5, 0.05);
    }
  }
}

TEST(FindValley, ALevelOrASlopeIsNone) {
  EXPECT_FALSE(find_valley({}, smallest_ratio));
  EXPECT_FALSE(find_valley(made_curve(doubling(1, 32), shifted(1)), smallest_ratio));
  EXPECT_FALSE(find_valley(made_curve(doubling(1, 32), shifted(32)), smallest_ratio));
  EXPECT_FALSE(
      find_valley(made_curve(doubling(1, 32), [](double) { return 4.0; }), smallest_ratio));
  for (unsigned seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(find_valley(made_curve(
                                 doubling(1, 32), [](double) { return 4.0; }, 0.05, seed),
                             smallest_ratio));
  }
}

TEST(FindValley, TwoAreNone) {
  const std::vector<double> y = {4, 2, 4, 1, 4, 8};
  std::vector<CurvePoint> made;
  for (std::size_t i = 0; i < y.size(); ++i) {
    made.push_back({.x = static_cast<double>(i), .y = y[i]});
  }
  EXPECT_FALSE(find_valley(made, smallest_ratio));
}

}  // namespace
}  // namespace hipscope
