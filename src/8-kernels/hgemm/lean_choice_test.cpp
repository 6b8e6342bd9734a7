// Which tile and which cluster hgemm's stages 15.1 and 15.2 take for a size.
#include "8-kernels/hgemm/lean_choice.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hgemm {
namespace {

constexpr unsigned h200_sms = 132;
constexpr std::size_t as_many_as_measured = 16;

bool is_likely(unsigned m, unsigned n, unsigned k, TileSize tile, Cluster cluster) {
  for (const LeanChoice& choice :
       likely_lean_choices(m, n, k, h200_sms, as_many_as_measured, Staying::chosen)) {
    const TileSize size = lean_sizes[choice.size].tile;
    if (size.rows == tile.rows && size.columns == tile.columns &&
        choice.cluster.rows == cluster.rows && choice.cluster.columns == cluster.columns &&
        choice.cluster.parts == cluster.parts) {
      return true;
    }
  }
  return false;
}

// What was fastest on an H100 of all that were tried.
TEST(LeanChoices, TheBestOfMeasurementsIsAmongTheLikely) {
  EXPECT_TRUE(is_likely(128, 128, 128, {16, 64}, {1, 1, 1}));
  EXPECT_TRUE(is_likely(768, 768, 768, {80, 64}, {2, 4, 1}));
  EXPECT_TRUE(is_likely(1024, 1024, 1024, {128, 64}, {2, 1, 1}));
  EXPECT_TRUE(is_likely(1536, 1536, 1536, {96, 192}, {1, 2, 1}));
  EXPECT_TRUE(is_likely(4096, 4096, 4096, {128, 256}, {2, 1, 1}));
  EXPECT_TRUE(is_likely(16, 4096, 4096, {16, 64}, {1, 1, 2}));
  EXPECT_TRUE(is_likely(4096, 16, 4096, {64, 16}, {4, 1, 1}));
  EXPECT_TRUE(is_likely(64, 4096, 4096, {32, 64}, {2, 1, 1}));
  EXPECT_TRUE(is_likely(256, 4096, 4096, {128, 64}, {2, 1, 1}));
  EXPECT_TRUE(is_likely(64, 64, 16384, {16, 64}, {1, 1, 10}));
  EXPECT_FALSE(is_likely(4096, 4096, 4096, {64, 64}, {1, 1, 1}));
}

TEST(LeanChoices, ThereIsOneForAnySizeAndDevice) {
  for (const unsigned sms : {1U, 24U, 132U}) {
    for (const unsigned side : {1U, 16U, 100U, 700U}) {
      for (const unsigned k : {1U, 65U, 1000U, 16384U}) {
        const auto likely =
            likely_lean_choices(side, side, k, sms, as_many_as_measured, Staying::chosen);
        EXPECT_FALSE(likely.empty());
        EXPECT_LE(likely.size(), as_many_as_measured);
        for (const LeanChoice& choice : likely) {
          EXPECT_TRUE(is_possible(choice, side, side, k, sms));
          EXPECT_TRUE(std::isfinite(lean_cycles(choice, side, side, k, sms)));
        }
      }
    }
  }
}

LeanChoice best(unsigned side) {
  return likely_lean_choices(side, side, side, h200_sms, 1, Staying::chosen).front();
}

TEST(LeanChoices, BlocksShareStepsWhereTheLastRoundIsNearlyEmpty) {
  EXPECT_TRUE(best(5120).shares_steps);   // 800 tiles of 128 x 256: 6.06 rounds
  EXPECT_FALSE(best(4096).shares_steps);  // 512: 3.88
  EXPECT_FALSE(best(2048).shares_steps);  // 128: there is one round
  const std::size_t stays = 0;
  static_assert(lean_sizes[stays].blocks == LeanBlocks::stay);
  const LeanChoice shares = {.size = stays, .cluster = {1, 1, 1}, .shares_steps = true};
  EXPECT_TRUE(is_possible(shares, 5120, 5120, 5120, 132));
  EXPECT_FALSE(is_possible(shares, 2048, 2048, 2048, 132));
  EXPECT_FALSE(is_possible(shares, 5120, 5120, 5120, 100));  // eight full rounds
}

TEST(LeanChoices, WhatSharesStepsHasAWorkspaceForThem) {
  for (const unsigned sms : {20U, 114U, 132U}) {
    for (unsigned m = 40; m < 2200; m += 72) {
      for (unsigned n = 64; n < 2200; n += 88) {
        for (const LeanChoice& choice :
             likely_lean_choices(m, n, 4096, sms, 1000, Staying::chosen)) {
          EXPECT_TRUE(!choice.shares_steps || may_share_steps(m, n, sms)) << m << " x " << n;
        }
      }
    }
  }
  EXPECT_TRUE(may_share_steps(1464, 1464, h200_sms));  // 144 tiles of 128 x 128
  EXPECT_TRUE(may_share_steps(1408, 1536, h200_sms));  // 132, but 72 pairs
  EXPECT_FALSE(may_share_steps(1408, 1408, h200_sms));
}

TEST(LeanChoices, AClusterHasAtLeastATilesSteps) {
  for (unsigned clusters : {1U, 2U, 66U, 132U}) {
    for (unsigned tiles = 1; tiles < 4 * clusters + 2; ++tiles) {
      const unsigned shared = shared_tiles(tiles, clusters);
      EXPECT_TRUE(shared == 0 || (shared > clusters && shared < 2 * clusters)) << tiles;
      EXPECT_EQ((tiles - shared) % clusters, shared == 0 ? tiles % clusters : 0) << tiles;
      EXPECT_EQ(shared == 0, tiles % clusters == 0 || tiles < clusters) << tiles;
    }
  }
}

TEST(LeanChoices, WithoutBlocksThatStayNoneIsThere) {
  for (const LeanChoice& choice :
       likely_lean_choices(4096, 4096, 4096, h200_sms, as_many_as_measured, Staying::left_out)) {
    EXPECT_NE(lean_sizes[choice.size].blocks, LeanBlocks::stay);
  }
}

std::size_t sharing_k() {
  std::size_t i = 0;
  while (lean_sizes[i].blocks != LeanBlocks::share_k) {
    ++i;
  }
  return i;  // 16 x 64, 128 along k in a step
}

TEST(LeanChoices, BlocksThatShareKAreThereTogetherWithAStepEach) {
  const std::size_t size = sharing_k();
  EXPECT_TRUE(is_possible({size, {1, 1, 8}}, 16, 64, 1024, 132));
  EXPECT_FALSE(is_possible({size, {1, 1, 8}}, 16, 64, 896, 132));   // seven steps
  EXPECT_FALSE(is_possible({size, {1, 1, 8}}, 16, 64, 1024, 7));    // SMs
  EXPECT_FALSE(is_possible({size, {1, 1, 1}}, 16, 64, 1024, 132));  // nothing is shared
  EXPECT_FALSE(is_possible({size, {1, 2, 16}}, 16, 4096, 4096, 132));
  EXPECT_TRUE(is_possible({size, {1, 1, 16}}, 16, 64, 4096, 132));
}

TEST(LeanChoices, ClustersOfMoreThanTwoLeaveSmsOut) {
  EXPECT_EQ(clusters_at_once(132, 1), 132);
  EXPECT_EQ(clusters_at_once(132, 2), 66);
  EXPECT_EQ(clusters_at_once(132, 4), 30);
  EXPECT_EQ(clusters_at_once(132, 8), 15);
  EXPECT_EQ(clusters_at_once(132, 16), 7);
  EXPECT_EQ(clusters_at_once(1, 8), 1);
}

}  // namespace
}  // namespace hgemm
