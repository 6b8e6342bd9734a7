// Which tile hgemm's last stage takes for a size.
#include "8-kernels/hgemm/tile_model.h"

#include <gtest/gtest.h>

namespace hgemm {
namespace {

constexpr unsigned sms_of_h200 = 132;

void expect_best(unsigned side, TileSize expected) {
  const TileSize best = tile_sizes[best_tile(side, side, side, sms_of_h200)];
  EXPECT_EQ(best.rows, expected.rows) << side;
  EXPECT_EQ(best.columns, expected.columns) << side;
}

// What was fastest on the H200 of all that were tried.
TEST(HgemmTiles, BestIsWhatMeasurementsFound) {
  expect_best(256, {64, 64});
  expect_best(512, {64, 64});
  expect_best(768, {64, 128});
  expect_best(1024, {64, 128});
  expect_best(1280, {128, 128});
  expect_best(1536, {192, 96});
  expect_best(2048, {128, 256});
  expect_best(3072, {128, 192});
  expect_best(8192, {128, 256});
}

TEST(HgemmTiles, LdsLimitsNarrowTilesAndProductsWideOnes) {
  constexpr double begin_and_end = 1500;
  // One tile, one step: 2 x (64 + 64) rows read and 128 + 64 written, of 128 bytes each.
  EXPECT_DOUBLE_EQ(cycles_of({128, 64}, 128, 64, 64, 1), 448 + begin_and_end);
  EXPECT_DOUBLE_EQ(cycles_of({64, 128}, 64, 128, 64, 1), 384 + begin_and_end);
  EXPECT_DOUBLE_EQ(cycles_of({128, 256}, 128, 256, 64, 1), 1024 + begin_and_end);
}

TEST(HgemmTiles, PartsOfTilesStepsAndRoundsCountWhole) {
  const double one = cycles_of({64, 64}, 64, 64, 64, 2);
  EXPECT_EQ(cycles_of({64, 64}, 1, 1, 1, 2), one);
  EXPECT_EQ(cycles_of({64, 64}, 65, 64, 64, 2), one);       // two tiles, two SMs
  EXPECT_EQ(cycles_of({64, 64}, 129, 64, 64, 2), 2 * one);  // a third one
  EXPECT_GT(cycles_of({64, 64}, 64, 64, 65, 2), one);
  EXPECT_EQ(cycles_of({64, 64}, 64, 64, 128, 2), cycles_of({64, 64}, 64, 64, 65, 2));
}

void expect_split(unsigned m, unsigned n, unsigned k, TileSize expected, unsigned parts) {
  const SplitChoice best = best_split(m, n, k, sms_of_h200);
  const TileSize tile = split_tile_sizes[best.tile];
  EXPECT_EQ(tile.rows, expected.rows) << m << " x " << n << " x " << k;
  EXPECT_EQ(tile.columns, expected.columns) << m << " x " << n << " x " << k;
  EXPECT_EQ(best.parts, parts) << m << " x " << n << " x " << k;
}

// The same for stage 15, which has other tiles and may split k.
TEST(HgemmTiles, ColumnsAndPartsAreWhatMeasurementsFound) {
  expect_split(512, 512, 512, {64, 64}, 1);
  expect_split(768, 768, 768, {80, 64}, 1);
  expect_split(1024, 1024, 1024, {64, 128}, 1);
  expect_split(1536, 1536, 1536, {144, 128}, 1);
  expect_split(4096, 4096, 4096, {128, 256}, 1);
  expect_split(16, 4096, 4096, {16, 128}, 4);
  expect_split(4096, 16, 4096, {64, 64}, 2);
  expect_split(4096, 256, 4096, {64, 128}, 1);
  expect_split(64, 64, 16384, {64, 64}, 32);
}

// They wait for each other; and each has a step at least.
TEST(HgemmTiles, PartsAreNeverMoreThanSmsOrSteps) {
  for (const unsigned sms : {1U, 24U, 132U}) {
    for (const unsigned side : {1U, 16U, 100U, 700U}) {
      for (const unsigned k : {1U, 65U, 1000U, 16384U}) {
        const SplitChoice best = best_split(side, side, k, sms);
        const double tiles = tiles_of(split_tile_sizes[best.tile], side, side);
        EXPECT_GE(best.parts, 1U);
        EXPECT_LE(best.parts, (k + 63) / 64);
        if (best.parts > 1) {
          EXPECT_LE(tiles * best.parts, sms);
        }
      }
    }
  }
  EXPECT_GT(best_split(16, 16, 16384, sms_of_h200).parts, 16U);
}

// One tile, one step: two groups read 64 columns each and all 144 rows, and 144 + 128 are written.
TEST(HgemmTiles, ByColumnsEachRowIsReadOnceFor64Columns) {
  EXPECT_DOUBLE_EQ(cycles_of_step({144, 128, true}), 2 * (64 + 144) + 144 + 128);
  EXPECT_DOUBLE_EQ(cycles_of_step({96, 192, true}), 3 * (64 + 96) + 96 + 192);
  EXPECT_DOUBLE_EQ(cycles_of_step({64, 192, false}), 1 * (64 + 192) + 64 + 192);
}

TEST(HgemmTiles, SplittingCostsWhatStepsMustSave) {
  constexpr TileSize tile = {64, 64};
  const double whole = cycles_of_split(tile, 1, 64, 64, 4096, 132);
  EXPECT_EQ(whole, cycles_of(tile, 64, 64, 4096, 132));
  EXPECT_DOUBLE_EQ(
      cycles_of_split(tile, 2, 64, 64, 4096, 132),
      32 * cycles_of_step(tile) + begin_and_end_of_a_tile + cycles_to_add_parts(tile, 2, 64, 64));
  EXPECT_LT(cycles_to_add_parts(tile, 2, 16, 16), cycles_to_add_parts(tile, 2, 64, 64));
  // Many blocks share what memory gives: of 128 each takes longer than of 32, parts apart.
  EXPECT_EQ(cycles_to_add_parts(tile, 8, 256, 64), cycles_to_add_parts(tile, 8, 64, 64));
  EXPECT_GT(cycles_to_add_parts(tile, 8, 256, 256), cycles_to_add_parts(tile, 8, 64, 64));
  EXPECT_GT(cycles_of_split(tile, 2, 64, 64, 128, 132), cycles_of_split(tile, 1, 64, 64, 128, 132));
}

}  // namespace
}  // namespace hgemm
