// Which tile a product gets, by the model of src/8-kernels/gemm/tile_choice.h.
#include "tile_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "amd_rates.h"

namespace gemm {
namespace {

// Round numbers: a device of 100 CUs, of which clusters of 8 blocks can have 80; a small tile, a
// larger one that takes half the cycles for an FMA, and the largest, whose blocks share all steps.
const DeviceCosts device = {.units = {.of_cluster = {100, 100, 90, 80}, .largest_cluster = 8},
                            .value_bytes = 4,
                            .start_cycles = 1000,
                            .copy_cycles = 10,
                            .copy_slots = 1,
                            .bytes_per_cycle = 4000,
                            .bytes_from_memory = 2000,
                            .memory_cycles = 100,
                            .meeting_cycles = 500,
                            .summed_per_cycle = 100,
                            .memory_meeting_cycles = 700,
                            .memory_round_cycles = 64};
const TileOption small = {.rows = 32,
                          .columns = 32,
                          .depth = 10,
                          .resident = 4,
                          .threads = 64,
                          .step_cycles = 100,
                          .least_step_cycles = 200,
                          .end_cycles = 50,
                          .bytes_on_way = 10000};
const TileOption large = {.rows = 64,
                          .columns = 64,
                          .depth = 10,
                          .resident = 2,
                          .threads = 256,
                          .step_cycles = 200,
                          .least_step_cycles = 300,
                          .end_cycles = 100,
                          .bytes_on_way = 10000};
const TileOption stream_k = {.rows = 128,
                             .columns = 128,
                             .depth = 10,
                             .resident = 1,
                             .threads = 256,
                             .step_cycles = 700,
                             .least_step_cycles = 700,
                             .end_cycles = 5000,
                             .bytes_on_way = 10000,
                             .stream_k = true};

constexpr Split alone = {1, 1};

TEST(TileChoiceTest, AProductOfOneTileTakesItsStepsOneByOne) {
  // 10 steps of 200: one block alone does not fill a CU.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {32, 32, 100}, device), 1000 + 10 * 200 + 50);
}

TEST(TileChoiceTest, BlocksOfAClusterShareStepsAndMeet) {
  // 3 steps at most of 10, and 4096 bytes of sums.
  EXPECT_DOUBLE_EQ(cycles_of(small, {4, 1}, {32, 32, 100}, device),
                   1000 + 3 * 200 + 50 + 500 + 4096 / 100.0);
}

TEST(TileChoiceTest, ClustersMeetInMemoryAndTheLastAddsUp) {
  // 100 steps by 12 blocks of their own, 9 at most. Each of 64 threads has four of 256 pieces, of
  // which those of four clusters come at a time.
  EXPECT_DOUBLE_EQ(cycles_of(small, {1, 12}, {32, 32, 1000}, device),
                   1000 + 9 * 200 + 50 + 700 + 4 * 3 * 64);
  // By three clusters of four the same, of which each block adds up a fourth.
  EXPECT_DOUBLE_EQ(cycles_of(small, {4, 3}, {32, 32, 1000}, device),
                   1000 + 9 * 200 + 50 + (500 + 4096 / 100.0) + (700 + 64));
  // Halves have sums in FP32, too.
  DeviceCosts of_halves = device;
  of_halves.value_bytes = 2;
  EXPECT_DOUBLE_EQ(cycles_of(small, {1, 12}, {32, 32, 1000}, of_halves),
                   cycles_of(small, {1, 12}, {32, 32, 1000}, device));
}

TEST(TileChoiceTest, ClustersCannotBeOnAllCus) {
  // 96 blocks, one for each of 100 CUs; in clusters of 8 on 80 of them two for some.
  EXPECT_DOUBLE_EQ(cycles_of(large, alone, {96 * 64, 64, 100}, device), 1000 + 10 * 300 + 100);
  EXPECT_DOUBLE_EQ(cycles_of(large, {8, 1}, {12 * 64, 64, 800}, device),
                   1000 + 10 * 2 * 200 + 2 * 100 + 500 + 2 * 16384 / 100.0);
}

TEST(TileChoiceTest, BlocksThatLeaveRoomAreSpreadEvenly) {
  // 300 tiles, three for each CU, which has room for four.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {30 * 32, 10 * 32, 100}, device),
                   1000 + 10 * 3 * 100 + 3 * 50);
  EXPECT_DOUBLE_EQ(cycles_of(small, {2, 1}, {15 * 32, 10 * 32, 200}, device),
                   1000 + 10 * 3 * 100 + 3 * 50 + 500 + 3 * 4096 / 100.0);
}

TEST(TileChoiceTest, AFullCuTakesABlockAfterTheOther) {
  // 400 tiles, 4 for each CU.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {640, 640, 100}, device), 1000 + 10 * 4 * 100 + 4 * 50);
  // One tile more is a round more for one CU: another four would take no longer a step.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {401 * 32, 32, 100}, device),
                   1000 + 10 * 5 * 100 + 5 * 50);
}

TEST(TileChoiceTest, WhatTheStepsReadMayTakeLonger) {
  DeviceCosts slow = device;
  slow.bytes_per_cycle = 100;
  // 400 blocks read 10 steps of 64 x 10 values.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {640, 640, 100}, slow),
                   1000 + 400.0 * 10 * 640 * 4 / 100 + 4 * 50);
}

TEST(TileChoiceTest, WhatTheMatricesHaveMayTakeLonger) {
  DeviceCosts slow = device;
  slow.bytes_from_memory = 10;
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {640, 640, 100}, slow),
                   1000 + (640.0 * 100 * 2 + 640 * 640) * 4 / 10 + 4 * 50);
  EXPECT_DOUBLE_EQ(cycles_of(stream_k, alone, {640, 640, 100}, slow),
                   1000 + (640.0 * 100 * 2 + 640 * 640) * 4 / 10 + 5000 * 2.5);
}

TEST(TileChoiceTest, ATileThatTheDeviceHasNoLdsForIsNotChosen) {
  TileOption best = small;
  best.step_cycles = best.least_step_cycles = 1;
  best.lds_bytes = 1000;
  DeviceCosts has_less = device;
  has_less.lds_bytes = 1000;
  EXPECT_EQ(choose_tile({small, best}, {640, 640, 100}, has_less).option, 1U);
  has_less.lds_bytes = 999;
  EXPECT_EQ(choose_tile({small, best}, {640, 640, 100}, has_less).option, 0U);
  EXPECT_EQ(choose_tile({small, best}, {640, 640, 100}, device).option, 1U);
}

TEST(TileChoiceTest, FewBlocksHaveLittleOnItsWay) {
  TileOption slow = small;
  slow.bytes_on_way = 50;
  // 16 tiles: 16 x 50 bytes each 100 cycles; by four blocks each four times as many.
  const double bytes = (128 * 1000 * 2 + 128 * 128) * 4.0;
  EXPECT_DOUBLE_EQ(cycles_of(slow, alone, {128, 128, 1000}, device), 1000 + bytes / 8 + 50);
  EXPECT_DOUBLE_EQ(cycles_of(slow, {1, 4}, {128, 128, 1000}, device),
                   1000 + bytes / 32 + 50 + 700 + 4 * 1 * 64);
  // More than there is room for count no more: 400 blocks of 500.
  EXPECT_DOUBLE_EQ(cycles_of(slow, alone, {500 * 32, 32, 1000}, device),
                   1000 + (500 * 32 * 1000 + 1000 * 32 + 500 * 32 * 32) * 4.0 / 200 + 5 * 50);
}

TEST(TileChoiceTest, CopiesOfSingleValuesMayTakeLonger) {
  // 20 copies of 32 values for each step.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {640, 640, 100, false}, device),
                   1000 + 10 * 4 * 200 + 4 * 50);
}

TEST(TileChoiceTest, CopiesOfSingleValuesTakeSlotsOfTheFmas) {
  DeviceCosts fast = device;
  fast.copy_cycles = 2;
  // A step of 100 cycles and 20 for as many copies.
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {640, 640, 100, false}, fast),
                   1000 + 10 * 4 * 120 + 4 * 50);
}

TEST(TileChoiceTest, StepsThatAllBlocksShareLeaveNoRoundEmpty) {
  // 150 tiles of 10 steps on 100 CUs, 15 steps each.
  EXPECT_DOUBLE_EQ(cycles_of(stream_k, alone, {150 * 128, 128, 100}, device),
                   1000 + 15 * 700 + 5000);
  // 50 tiles: half of one each, so that each ends twice.
  EXPECT_DOUBLE_EQ(cycles_of(stream_k, alone, {50 * 128, 128, 100}, device),
                   1000 + 5 * 700 + 2 * 5000);
  // A tile of 10 steps: no block has less than four.
  EXPECT_DOUBLE_EQ(cycles_of(stream_k, alone, {128, 128, 100}, device),
                   1000 + 4 * 700 + 2.5 * 5000);
}

TEST(TileChoiceTest, NoKIsAStep) {
  EXPECT_DOUBLE_EQ(cycles_of(small, alone, {32, 32, 0}, device), 1000 + 200 + 50);
  EXPECT_EQ(choose_tile({small}, {32, 32, 0}, device).split.clusters, 1U);
}

TEST(TileChoiceTest, ASmallProductGetsSmallTilesAndALargeOneLarge) {
  const std::vector<TileOption> options = {small, large, stream_k};
  EXPECT_EQ(choose_tile(options, {64, 64, 20}, device).option, 0U);
  EXPECT_EQ(choose_tile(options, {640, 640, 1000}, device).option, 1U);
  EXPECT_EQ(choose_tile(options, {8192, 8192, 8192}, device).option, 2U);
  constexpr std::size_t most = 5;
  const std::vector<TileChoice> likely = likely_tiles(options, {640, 640, 1000}, device, most);
  EXPECT_EQ(likely.size(), most);
  EXPECT_EQ(likely.front().option, 1U);
  EXPECT_TRUE(std::is_sorted(likely.begin(), likely.end(),
                             [](const auto& a, const auto& b) { return a.cycles < b.cycles; }));
}

unsigned blocks_of_choice(const TileChoice& choice) {
  return choice.split.cluster * choice.split.clusters;
}

TEST(TileChoiceTest, FewTilesWithMuchKAreSplitAndManyAreNot) {
  EXPECT_GE(blocks_of_choice(choose_tile({small}, {64, 64, 10000}, device)), 16U);
  EXPECT_EQ(blocks_of_choice(choose_tile({small}, {640, 640, 1000}, device)), 1U);
  // Meeting costs more than two steps.
  EXPECT_EQ(blocks_of_choice(choose_tile({small}, {64, 64, 30}, device)), 1U);
}

bool has(const std::vector<Split>& splits, Split split) {
  return std::any_of(splits.begin(), splits.end(), [&](Split other) {
    return other.cluster == split.cluster && other.clusters == split.clusters;
  });
}

TEST(TileChoiceTest, SplitsArePowersOfTwoAndWhatFillsTheCus) {
  // 16 tiles on 100 CUs of four blocks each.
  const auto splits = splits_of(small, {128, 128, 10000}, device);
  for (const Split expected : {Split{1, 1}, Split{1, 16}, Split{1, 6}, Split{1, 12}, Split{1, 18},
                               Split{1, 25}, Split{2, 12}, Split{8, 1}, Split{8, 2}}) {
    EXPECT_TRUE(has(splits, expected)) << expected.cluster << " x " << expected.clusters;
  }
  EXPECT_FALSE(has(splits, {1, 26}));
  // Powers of two up to two rounds.
  EXPECT_TRUE(has(splits, {1, 32}));
  EXPECT_FALSE(has(splits, {1, 64}));
  EXPECT_FALSE(has(splits, {8, 3}));  // of 80 CUs
}

TEST(TileChoiceTest, ASplitIsThereOnce) {
  for (const ProductSize size : {ProductSize{128, 128, 10000}, {1000, 1000, 1000}}) {
    const auto splits = splits_of(small, size, device);
    for (const Split& one : splits) {
      EXPECT_EQ(std::count_if(splits.begin(), splits.end(),
                              [&](const Split& other) {
                                return one.cluster == other.cluster &&
                                       one.clusters == other.clusters;
                              }),
                1)
          << one.cluster << " x " << one.clusters;
    }
  }
}

TEST(TileChoiceTest, AKernelOfWholeRowsIsNotForOthers) {
  TileOption option = small;
  option.only_whole_rows = true;
  EXPECT_EQ(choose_tile({option, large}, {64, 64, 20}, device).option, 0U);
  EXPECT_EQ(choose_tile({option, large}, {64, 64, 20, false}, device).option, 1U);
}

TEST(TileChoiceTest, WithoutClustersBlocksMeetInMemoryAlone) {
  DeviceCosts no_clusters = device;
  no_clusters.units.largest_cluster = 1;
  for (const Split split : splits_of(small, {64, 64, 10000}, no_clusters)) {
    EXPECT_EQ(split.cluster, 1U);
  }
  EXPECT_GE(choose_tile({small}, {64, 64, 10000}, no_clusters).split.clusters, 8U);
}

TEST(TileChoiceTest, ATileHasNoMoreBlocksThanSteps) {
  DeviceCosts at_once = device;
  at_once.meeting_cycles = at_once.memory_meeting_cycles = 0;
  const TileChoice choice = choose_tile({small}, {64, 64, 70}, at_once);
  EXPECT_GT(blocks_of_choice(choice), 1U);
  EXPECT_LE(blocks_of_choice(choice), 7U);
}

TEST(TileChoiceTest, MoreTilesThanRoomAreNotSplit) {
  EXPECT_EQ(splits_of(small, {100 * 32, 100 * 32, 1000}, device).size(), 1U);
  EXPECT_EQ(splits_of(stream_k, {128, 128, 1000}, device).size(), 1U);
}

TEST(TileChoiceTest, OfEqualsItIsTheFirst) {
  const TileChoice choice = choose_tile({large, large}, {640, 640, 1000}, device);
  EXPECT_EQ(choice.option, 0U);
  EXPECT_DOUBLE_EQ(choice.cycles, cycles_of(large, choice.split, {640, 640, 1000}, device));
}

// By the rates of a CU: packed FMAs since CDNA 2, dual ones since RDNA 3, whose LDS then decides.
TEST(AmdRates, MakeAStepOfFmasOrOfLds) {
  constexpr VectorTile tile = {64, 64, 8, 8, 8};
  EXPECT_EQ(step_cycles(tile, amd_rates("gfx906:sramecc+")), 512);
  EXPECT_EQ(step_cycles(tile, amd_rates("gfx90a")), 288);
  EXPECT_EQ(step_cycles(tile, amd_rates("gfx1030")), 256);
  EXPECT_EQ(step_cycles(tile, amd_rates("gfx1100")), 144);
  constexpr VectorTile wide = {128, 256, 8, 8, 16};
  EXPECT_EQ(step_cycles(wide, amd_rates("gfx1201")), 1024);
}

// A small or flat product wants small tiles, a large one steps that all CUs share.
TEST(AmdRates, ChooseATileBySize) {
  const auto option = [](const VectorTile& tile, unsigned resident, bool shares_steps,
                         const AmdRates& of) {
    return TileOption{.rows = tile.rows,
                      .columns = tile.columns,
                      .depth = tile.depth,
                      .resident = resident,
                      .threads = 64,
                      .step_cycles = step_cycles(tile, of),
                      .least_step_cycles = least_step_cycles(tile, of),
                      .end_cycles = end_cycles(tile.rows, tile.columns, sizeof(float), of),
                      .bytes_on_way = 4.0 * tile.depth * (tile.rows + tile.columns),
                      .stream_k = shares_steps};
  };
  for (const auto& [architecture, units] : {std::pair{"gfx906", 60U}, {"gfx1030", 40U}}) {
    const AmdRates of = amd_rates(architecture);
    const std::vector<TileOption> options = {option({32, 32, 8, 4, 4}, 14, false, of),
                                             option({128, 256, 8, 8, 16}, 1, true, of)};
    const auto chosen = [&](const ProductSize& size) {
      return choose_tile(options, size, amd_costs(of, units, sizeof(float))).option;
    };
    EXPECT_EQ(chosen({256, 256, 256}), 0U) << architecture;
    EXPECT_EQ(chosen({4096, 16, 4096}), 0U) << architecture;
    EXPECT_EQ(chosen({4096, 4096, 4096}), 1U) << architecture;
  }
}

}  // namespace
}  // namespace gemm
