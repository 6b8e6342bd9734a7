// Which tile a product gets, by the model of src/8-kernels/gemm/tile_choice.h.
#include "gemm/tile_choice.h"

#include <gtest/gtest.h>

#include <vector>

namespace gemm {
namespace {

// Round numbers: a device of 100 CUs, of which clusters of 8 blocks can have 80; a small tile, a
// larger one that takes half the cycles for an FMA, and the largest, which deals its steps out.
const DeviceCosts device = {.units = {100, 100, 90, 80},
                            .value_bytes = 4,
                            .start_cycles = 1000,
                            .copy_cycles = 10,
                            .bytes_per_cycle = 4000,
                            .meeting_cycles = 500,
                            .summed_per_cycle = 100};
const TileOption small = {.rows = 32,
                          .columns = 32,
                          .depth = 10,
                          .resident = 4,
                          .step_cycles = 100,
                          .least_step_cycles = 200,
                          .end_cycles = 50,
                          .most_blocks = 16};
const TileOption large = {.rows = 64,
                          .columns = 64,
                          .depth = 10,
                          .resident = 2,
                          .step_cycles = 200,
                          .least_step_cycles = 300,
                          .end_cycles = 100,
                          .most_blocks = 16};
const TileOption dealt = {.rows = 128,
                          .columns = 128,
                          .depth = 10,
                          .resident = 1,
                          .step_cycles = 700,
                          .least_step_cycles = 700,
                          .end_cycles = 5000,
                          .most_blocks = 1,
                          .deals_out_steps = true};

TEST(TileChoiceTest, AProductOfOneTileTakesItsStepsOneByOne) {
  // 10 steps of 200: one block alone does not fill a CU.
  EXPECT_DOUBLE_EQ(cycles_of(small, 1, {32, 32, 100}, device), 1000 + 10 * 200 + 50);
}

TEST(TileChoiceTest, BlocksOfATileShareItsStepsAndMeet) {
  // 3 steps at most of 10, and 4096 bytes of sums.
  EXPECT_DOUBLE_EQ(cycles_of(small, 4, {32, 32, 100}, device),
                   1000 + 3 * 200 + 50 + 500 + 4096 / 100.0);
  // Two clusters meet once more: 100 steps, 7 at most.
  EXPECT_DOUBLE_EQ(cycles_of(small, 16, {32, 32, 1000}, device),
                   1000 + 7 * 200 + 50 + 2 * 500 + 4096 / 100.0);
}

TEST(TileChoiceTest, ClustersCannotBeOnAllCus) {
  // 96 blocks, one for each of 100 CUs; in clusters of 8 on 80 of them two for some.
  EXPECT_DOUBLE_EQ(cycles_of(large, 1, {96 * 64, 64, 100}, device), 1000 + 10 * 300 + 100);
  EXPECT_DOUBLE_EQ(cycles_of(large, 8, {12 * 64, 64, 800}, device),
                   1000 + 10 * 2 * 200 + 2 * 100 + 500 + 2 * 16384 / 100.0);
}

TEST(TileChoiceTest, AFullCuTakesABlockAfterTheOther) {
  // 400 tiles, 4 for each CU.
  EXPECT_DOUBLE_EQ(cycles_of(small, 1, {640, 640, 100}, device), 1000 + 10 * 4 * 100 + 4 * 50);
  // One tile more is a round more for one CU: another four would take no longer a step.
  EXPECT_DOUBLE_EQ(cycles_of(small, 1, {401 * 32, 32, 100}, device), 1000 + 10 * 5 * 100 + 5 * 50);
}

TEST(TileChoiceTest, WhatTheStepsReadMayTakeLonger) {
  DeviceCosts slow = device;
  slow.bytes_per_cycle = 100;
  // 400 blocks read 10 steps of 64 x 10 values.
  EXPECT_DOUBLE_EQ(cycles_of(small, 1, {640, 640, 100}, slow),
                   1000 + 400.0 * 10 * 640 * 4 / 100 + 4 * 50);
}

TEST(TileChoiceTest, CopiesOfSingleValuesMayTakeLonger) {
  // 20 copies of 32 values for each step.
  EXPECT_DOUBLE_EQ(cycles_of(small, 1, {640, 640, 100, false}, device),
                   1000 + 10 * 4 * 200 + 4 * 50);
}

TEST(TileChoiceTest, StepsThatAreDealtOutLeaveNoRoundEmpty) {
  // 150 tiles of 10 steps on 100 CUs, 15 steps each.
  EXPECT_DOUBLE_EQ(cycles_of(dealt, 1, {150 * 128, 128, 100}, device), 1000 + 15 * 700 + 5000);
  // 50 tiles: half of one each, so that each ends twice.
  EXPECT_DOUBLE_EQ(cycles_of(dealt, 1, {50 * 128, 128, 100}, device), 1000 + 5 * 700 + 2 * 5000);
  // A tile of 10 steps: no block has less than four.
  EXPECT_DOUBLE_EQ(cycles_of(dealt, 1, {128, 128, 100}, device), 1000 + 4 * 700 + 2.5 * 5000);
}

TEST(TileChoiceTest, NoKIsAStep) {
  EXPECT_DOUBLE_EQ(cycles_of(small, 1, {32, 32, 0}, device), 1000 + 200 + 50);
  EXPECT_EQ(choose_tile({small}, {32, 32, 0}, device).blocks, 1U);
}

TEST(TileChoiceTest, ASmallProductGetsSmallTilesAndALargeOneLarge) {
  const std::vector<TileOption> options = {small, large, dealt};
  EXPECT_EQ(choose_tile(options, {64, 64, 20}, device).option, 0U);
  EXPECT_EQ(choose_tile(options, {640, 640, 1000}, device).option, 1U);
  EXPECT_EQ(choose_tile(options, {8192, 8192, 8192}, device).option, 2U);
}

TEST(TileChoiceTest, FewTilesWithMuchKAreSplitAndManyAreNot) {
  EXPECT_EQ(choose_tile({small}, {64, 64, 10000}, device).blocks, 16U);
  EXPECT_EQ(choose_tile({small}, {640, 640, 1000}, device).blocks, 1U);
  // Meeting costs more than two steps.
  EXPECT_EQ(choose_tile({small}, {64, 64, 30}, device).blocks, 1U);
}

TEST(TileChoiceTest, ATileHasNoMoreBlocksThanSteps) {
  DeviceCosts at_once = device;
  at_once.meeting_cycles = 0;
  EXPECT_EQ(choose_tile({small}, {64, 64, 70}, at_once).blocks, 4U);
}

TEST(TileChoiceTest, OfEqualsItIsTheFirst) {
  const TileChoice choice = choose_tile({large, large}, {640, 640, 1000}, device);
  EXPECT_EQ(choice.option, 0U);
  EXPECT_DOUBLE_EQ(choice.cycles, cycles_of(large, choice.blocks, {640, 640, 1000}, device));
}

}  // namespace
}  // namespace gemm
