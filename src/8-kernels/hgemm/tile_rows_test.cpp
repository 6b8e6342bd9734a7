#include "tile_rows.h"

#include <gtest/gtest.h>

namespace {

using hgemm::rows_of_a_cu;

unsigned likeliest(unsigned side, unsigned cus) {
  return hgemm::likely_rows(side, side / 256, cus, hgemm::TileRows{}).front();
}

TEST(TileRows, FillTheCus) {
  EXPECT_EQ(likeliest(4096, 304), 224U);  // MI300X: 304 tiles
  EXPECT_EQ(likeliest(8192, 304), 224U);
  EXPECT_EQ(likeliest(4096, 104), 160U);  // MI210: 416 tiles
  EXPECT_EQ(likeliest(4096, 120), 192U);  // MI100
  EXPECT_EQ(likeliest(256, 304), 128U);
}

TEST(TileRows, AreTheMostOfEquals) {
  EXPECT_EQ(likeliest(4096, 256), 256U);  // of 128 as well
  EXPECT_EQ(likeliest(8192, 104), 256U);  // of 160 and of 128, too
}

TEST(TileRows, CountThoseOfAllRounds) {
  EXPECT_EQ(rows_of_a_cu(256, 4096, 16, 304), 256U);
  EXPECT_EQ(rows_of_a_cu(256, 8192, 32, 304), 4 * 256U);
  EXPECT_EQ(rows_of_a_cu(224, 8192, 32, 304), 4 * 224U);
}

TEST(TileRows, AreAllThere) {
  EXPECT_EQ(hgemm::likely_rows(256, 1, 1, hgemm::TileRows{}).size(), hgemm::TileRows::size());
}

}  // namespace
