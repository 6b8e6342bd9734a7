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

void expect_likely(unsigned side, TileSize expected) {
  const auto likely = likely_tiles(side, side, side, sms_of_h200);
  EXPECT_EQ(likely.size(), std::size(column_tile_sizes));
  const TileSize best = column_tile_sizes[likely.front()];
  EXPECT_EQ(best.rows, expected.rows) << side;
  EXPECT_EQ(best.columns, expected.columns) << side;
}

// The same for stage 15, which has other tiles.
TEST(HgemmTiles, ByColumnsTheLikelyIsWhatMeasurementsFound) {
  expect_likely(512, {64, 64});
  expect_likely(768, {80, 64});
  expect_likely(1024, {64, 128});
  expect_likely(1536, {144, 128});
  expect_likely(4096, {128, 256});
}

// One tile, one step: two groups read 64 columns each and all 144 rows, and 144 + 128 are written.
TEST(HgemmTiles, ByColumnsEachRowIsReadOnceFor64Columns) {
  EXPECT_DOUBLE_EQ(cycles_of_step({144, 128, true}), 2 * (64 + 144) + 144 + 128);
  EXPECT_DOUBLE_EQ(cycles_of_step({96, 192, true}), 3 * (64 + 96) + 96 + 192);
  EXPECT_DOUBLE_EQ(cycles_of_step({64, 192, false}), 1 * (64 + 192) + 64 + 192);
}

}  // namespace
}  // namespace hgemm
