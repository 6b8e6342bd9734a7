// Where the lanes of lds_banks go, and what it concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "made_curve.h"
#include "made_results.h"
#include "patterns.h"

namespace hipscope {
namespace {

// --- Patterns -----------------------------------------------------------------------------------

using lds_banks::dwords_of_busiest_bank;
using lds_banks::offsets_of;
using lds_banks::Words;

// The dwords in the busiest of 32 banks where 64 lanes go in strides of that many dwords.
double busiest(unsigned stride, unsigned access_bytes = 4) {
  return dwords_of_busiest_bank(offsets_of(64, [=](unsigned lane) { return lane * stride; }),
                                access_bytes);
}

TEST(LdsBanksTest, TheBusiestBankOfAStride) {
  EXPECT_EQ(busiest(0), 1);
  EXPECT_EQ(busiest(1), 2);
  EXPECT_EQ(busiest(3), 2);
  EXPECT_EQ(busiest(2), 4);
  EXPECT_EQ(busiest(32), 64);
  EXPECT_EQ(busiest(33), 2);
  EXPECT_EQ(busiest(4, 16), 8);
  EXPECT_EQ(busiest(32, 16), 64);
}

// Dwords that no two lanes of any copies share.
TEST(LdsBanksTest, CopiesLieApart) {
  for (const unsigned lanes : {32U, 64U}) {
    for (const unsigned stride : {1U, 63U, 64U, 80U, 128U}) {
      const Words offsets = offsets_of(lanes, [=](unsigned lane) { return lane * stride; });
      const lds_banks::Copies placement = lds_banks::copies_of(offsets, 4);
      EXPECT_LE(placement.words * lds_banks::dword_bytes, 48U * 1024) << lanes << " " << stride;
      std::set<unsigned> places;
      for (unsigned copy = 0; copy < lds_banks::copies; ++copy) {
        for (const unsigned offset : offsets) {
          places.insert(offset + copy * placement.pitch);
        }
      }
      EXPECT_EQ(places.size(), lds_banks::copies * lanes) << lanes << " " << stride;
      EXPECT_LT(*places.rbegin() / lds_banks::dword_bytes, placement.words);
    }
  }
}

TEST(LdsBanksTest, BytesOfOneDwordMeetInOneBank) {
  const Words bytes = offsets_of(
      64, [](unsigned lane) { return lane; }, 1);
  EXPECT_EQ(dwords_of_busiest_bank(bytes, 1), 1);
}

TEST(LdsBanksTest, PatternsMeetAsTheirNamesSay) {
  const std::vector<double> dwords = {1, 1, 2, 2, 4, 1, 2, 2};
  const auto patterns = lds_banks::patterns(64, 5);
  ASSERT_EQ(patterns.size(), dwords.size() + 1);
  for (std::size_t i = 0; i < dwords.size(); ++i) {
    EXPECT_EQ(dwords_of_busiest_bank(patterns[i].offsets, 4), dwords[i]) << patterns[i].label;
  }
  const Words& in_order = patterns[6].offsets;
  const Words& shuffled = patterns[7].offsets;
  EXPECT_NE(shuffled, in_order);
  EXPECT_TRUE(std::is_permutation(shuffled.begin(), shuffled.end(), in_order.begin()));
  const Words& any = patterns[8].offsets;
  EXPECT_LT(*std::max_element(any.begin(), any.end()), 4096U);
  EXPECT_GT(std::set<unsigned>(any.begin(), any.end()).size(), 32U);
}

TEST(LdsBanksTest, ATransposedTileHasRowsAsColumns) {
  EXPECT_EQ(lds_banks::transposed({1, 2, 3, 4}, 2), (Words{1, 3, 2, 4}));
}

TEST(LdsBanksTest, RandomWordsHaveTheMasksBits) {
  const std::vector<int> words = lds_banks::random_words<int>(1000, 0xFFF, 9);
  EXPECT_EQ(words.size(), 1000U);
  EXPECT_EQ(*std::min_element(words.begin(), words.end()) & ~0xFFF, 0);
  EXPECT_GT(*std::max_element(words.begin(), words.end()), 0xF00);
  EXPECT_LE(*std::max_element(words.begin(), words.end()), 0xFFF);
}

TEST(LdsBanksTest, EndsOfChainsThatLackAStepAreWrong) {
  const std::vector<int> words = lds_banks::random_words<int>(4096, 4095, 9);
  constexpr int stride = 3;
  unsigned differ = 0;
  for (int thread = 0; thread < 64; ++thread) {
    int x = thread * stride;
    for (unsigned step = 0; step < 10; ++step) {
      x = (words[static_cast<std::size_t>(x)] + thread) * stride % 4096;
    }
    EXPECT_EQ(lds_banks::end_of_chain(thread, words, stride, 4095, 10), x);
    differ += lds_banks::end_of_chain(thread, words, stride, 4095, 9) != x ? 1 : 0;
  }
  EXPECT_GT(differ, 60U);
}

// --- Findings -----------------------------------------------------------------------------------

// The dwords that one of `banks` must serve when lane i of a wave of 64 asks for dword i * stride.
double ways(double stride, unsigned banks) {
  const auto met = banks / std::gcd(static_cast<unsigned>(stride), banks);
  return met >= 64 ? 1 : 64.0 / met;
}

using StrideCost = std::function<double(double stride)>;

// What 50 cycles and two for each dword more say of so many banks.
StrideCost of_banks(unsigned banks) {
  return [=](double stride) { return 50 + 2 * (ways(stride, banks) - 1); };
}

MadeResults strides(const StrideCost& latency, const StrideCost& throughput, double last = 64,
                    double noise_of_latency = 0, double noise_of_throughput = 0) {
  const auto all = multiples(1, last);
  MadeResults made("lds_banks", fake::describe_with(&DeviceDescription::wave_size, 64));
  made.curve("chase-4", "latency", made_curve(all, latency, noise_of_latency));
  made.curve("loads-4", lds_banks::throughput, made_curve(all, throughput, noise_of_throughput));
  lds_banks::conclude(made.results());
  return made;
}

TEST(LdsBanksTest, LatencyAndThroughputThatAgreeTellTheCostOfAWay) {
  const Inference cost =
      strides(of_banks(32), of_banks(32)).inference("cycles per extra conflict way");
  EXPECT_NEAR(*cost.value, 2, 1e-6);
  EXPECT_GT(cost.confidence, 0.8);
  const MadeResults parted = strides(of_banks(32), of_banks(16));
  EXPECT_FALSE(parted.inference("LDS banks").value.has_value());
  EXPECT_FALSE(parted.inference("cycles per extra conflict way").value.has_value());
}

// Up to strides of 64 dwords 64 banks that serve half a wave look like 128.
TEST(LdsBanksTest, ShortStridesLeaveSeveralNumbersOfBanks) {
  const auto by_strides = [](unsigned banks, double last) {
    return strides(of_banks(banks), of_banks(banks), last).inference("LDS banks");
  };
  EXPECT_FALSE(by_strides(32, 7).value.has_value());
  EXPECT_FALSE(by_strides(32, 16).value.has_value());
  EXPECT_NE(by_strides(32, 16).evidence.at(0).find("16 or 32 or 64 banks explain"),
            std::string::npos);
  EXPECT_FALSE(by_strides(128, 64).value.has_value());
  EXPECT_EQ(by_strides(128, 128).value, 128);
}

// Of 32 banks, with a factor on the latency of each stride.
TEST(LdsBanksTest, AFewSlowStridesAreLeftOut) {
  const auto changed = [](const StrideCost& factor) {
    const StrideCost usual = of_banks(32);
    return strides([=](double x) { return factor(x) * usual(x); }, usual).inference("LDS banks");
  };
  const auto slow = [&](double most) {
    return changed([=](double x) { return std::fmod(x, 2) == 1 && x <= most ? 1.5 : 1; });
  };
  EXPECT_EQ(slow(3).value, 32);
  EXPECT_NE(slow(3).evidence.at(0).find("2 points left out"), std::string::npos);
  EXPECT_FALSE(slow(13).value.has_value());  // 7 of 64
  EXPECT_FALSE(changed([](double x) { return x == 5 ? 1 / 1.5 : 1; }).value.has_value());
}

TEST(LdsBanksTest, TheNoisierCurveDecidesHowSureTheBanksAre) {
  const auto sure_with = [](double noise_of_latency, double noise_of_throughput) {
    return strides(of_banks(32), of_banks(32), 64, noise_of_latency, noise_of_throughput)
        .inference("LDS banks")
        .confidence;
  };
  EXPECT_LT(sure_with(0.05, 0), sure_with(0, 0) - 0.01);
  EXPECT_LT(sure_with(0, 0.05), sure_with(0, 0) - 0.01);
}

Inference width_of(const std::vector<double>& costs) {
  MadeResults made("lds_banks");
  std::vector<CurvePoint> curve;
  for (const double cost : costs) {
    curve.push_back({.x = std::exp2(curve.size()), .y = cost});
  }
  made.curve("width", lds_banks::throughput, curve);
  lds_banks::conclude(made.results());
  return made.inference("LDS bank width");
}

TEST(LdsBanksTest, TheWidthIsWhereLanesConflictLeast) {
  EXPECT_EQ(width_of({4, 4, 2, 4, 4, 4}).value, 4);
  EXPECT_NEAR(width_of({4, 4, 2.5, 4, 4, 4}).confidence, 0.6, 1e-9);
  EXPECT_FALSE(width_of({4, 4, 3.5, 4, 4, 4}).value.has_value());
  EXPECT_FALSE(width_of({4, 5, 2, 4, 4, 4}).value.has_value());
  EXPECT_FALSE(width_of({2, 4, 4, 4, 4, 4}).value.has_value());
  EXPECT_FALSE(width_of({4, 4, 4, 4, 4, 2}).value.has_value());
}

TEST(LdsBanksTest, TheBandwidthIsTheBestOfAllWidths) {
  MadeResults made("lds_banks");
  made.curve("loads-4", "rate", std::vector<CurvePoint>{{.x = 1, .y = 120}, {.x = 2, .y = 60}});
  made.curve("loads-8", "rate",
             std::vector<CurvePoint>{{.x = 2, .y = 127, .relative_spread = 0.2}});
  made.curve("loads-16", "rate", std::vector<CurvePoint>{{.x = 4, .y = 125}});
  lds_banks::conclude(made.results());
  EXPECT_EQ(made.inference("LDS read bandwidth").value, 127);
  EXPECT_NEAR(made.inference("LDS read bandwidth").confidence, 0.8, 1e-9);
}

TEST(LdsBanksTest, NothingIsConcludedFromNothing) {
  expect_nothing_from_nothing("lds_banks", lds_banks::conclude);
}

}  // namespace
}  // namespace hipscope
