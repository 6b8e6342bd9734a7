// What the stages for AMD compute of places and orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "place_of_piece.h"
#include "tile_order.h"
#include "tiles_by_xcd.h"

namespace {

using gemm::count_xcds;
using gemm::place_of_piece;
using gemm::tile_by_xcd;

// A line of 128 bytes has eight places for pieces of 16.
template <unsigned of_row = 4, typename Pieces>
std::size_t different_places(const Pieces& pieces) {
  std::set<unsigned> places;
  for (const auto& [row, piece] : pieces) {
    places.insert(place_of_piece<of_row>(row, piece) % 8);
  }
  return places.size();
}

template <unsigned of_row>
void expect_a_place_for_each() {
  std::set<unsigned> places;
  for (unsigned row = 0; row < 256; ++row) {
    for (unsigned piece = 0; piece < of_row; ++piece) {
      const unsigned place = place_of_piece<of_row>(row, piece);
      places.insert(place);
      const gemm::PieceOfRow found = gemm::piece_at_place<of_row>(place);
      EXPECT_EQ(found.row, row);
      EXPECT_EQ(found.piece, piece);
    }
  }
  EXPECT_EQ(places.size(), 256 * of_row);
  EXPECT_EQ(*places.rbegin(), 256 * of_row - 1);
}

TEST(PlaceOfPiece, HasAPlaceForEachPieceAndIsToldFromIt) {
  expect_a_place_for_each<4>();
  expect_a_place_for_each<8>();
}

template <unsigned of_row>
void expect_no_conflicts_of_fragments() {
  for (unsigned first = 0; first < 256; first += 8) {
    for (unsigned piece = 0; piece < of_row; ++piece) {
      std::vector<std::pair<unsigned, unsigned>> read;
      for (unsigned row = first; row < first + 8; ++row) {
        read.emplace_back(row, piece);
      }
      EXPECT_EQ(different_places<of_row>(read), 8U) << first << ", " << piece;
    }
  }
}

TEST(PlaceOfPiece, HasNoConflictsOfFragments) {
  expect_no_conflicts_of_fragments<4>();
  expect_no_conflicts_of_fragments<8>();
}

// Eight lanes store halves of a row's four pieces, the next eight of the row four further on.
TEST(PlaceOfPiece, HasNoConflictsOfTransposedStores) {
  for (unsigned row = 0; row + 4 < 256; ++row) {
    if (row / 4 % 2 == 0) {
      std::vector<std::pair<unsigned, unsigned>> stored;
      for (unsigned piece = 0; piece < 4; ++piece) {
        stored.emplace_back(row, piece);
        stored.emplace_back(row + 4, piece);
      }
      EXPECT_EQ(different_places(stored), 8U) << row;
    }
  }
}

// gfx950 has 64 banks, two lines.
TEST(PlaceOfPiece, HasNoConflictsOfTransposingLoads) {
  for (unsigned first = 0; first < 32; first += 4) {
    for (const unsigned half : {0U, 4U}) {
      std::set<unsigned> places;
      for (unsigned k = first; k < first + 4; ++k) {
        for (unsigned piece = half; piece < half + 4; ++piece) {
          const unsigned place = gemm::place_in_panel(k, piece);
          EXPECT_EQ(gemm::place_in_panel(k, place), piece);
          places.insert((k * 8 + place) % 16);
        }
      }
      EXPECT_EQ(places.size(), 16U) << first << ", " << half;
    }
  }
}

TEST(XcdOrder, GivesEveryTileToOneBlock) {
  for (const unsigned xcds : {1U, 6U, 8U}) {
    for (const auto& [down, across] : {std::pair(1U, 1U), {16U, 16U}, {9U, 7U}, {3U, 40U}}) {
      std::set<std::pair<unsigned, unsigned>> seen;
      for (unsigned block = 0; block < down * across; ++block) {
        const auto tile = tile_by_xcd(block, down, across, xcds);
        EXPECT_LT(tile.row, down);
        EXPECT_LT(tile.column, across);
        seen.emplace(tile.row, tile.column);
      }
      EXPECT_EQ(seen.size(), down * across) << down << " x " << across << ", " << xcds << " XCDs";
    }
  }
}

// The rows and columns of tiles that an XCD of MI300X brings for the 38 that it has at once.
TEST(XcdOrder, GivesAnXcdNeighbours) {
  constexpr unsigned xcds = 8;
  for (const unsigned across : {32U, 33U}) {
    std::size_t most = 0;
    for (unsigned xcd = 0; xcd < xcds; ++xcd) {
      std::set<unsigned> rows;
      std::set<unsigned> columns;
      for (unsigned i = 0; i < 38; ++i) {
        const auto tile = tile_by_xcd(i * xcds + xcd, across, across, xcds);
        rows.insert(tile.row);
        columns.insert(tile.column);
      }
      most = std::max(most, rows.size() + columns.size());
    }
    EXPECT_EQ(most, 13U) << across;
  }
}

TEST(XcdOrder, CountsXcdsByCus) {
  EXPECT_EQ(count_xcds("gfx942:sramecc+:xnack-", 304), 8U);  // MI300X
  EXPECT_EQ(count_xcds("gfx942", 228), 6U);                  // MI300A
  EXPECT_EQ(count_xcds("gfx942", 38), 1U);                   // a partition of one XCD
  EXPECT_EQ(count_xcds("gfx942", 80), 1U);                   // not known
  EXPECT_EQ(count_xcds("gfx950", 256), 8U);                  // MI350X
  EXPECT_EQ(count_xcds("gfx90a", 104), 1U);
  EXPECT_EQ(count_xcds("gfx1201", 32), 1U);
}

// What the host prepares divisions for is the order of panels.
TEST(TileOrder, IsThatOfPanels) {
  for (const auto& [rows, columns] :
       {std::pair{1U, 1U}, {1U, 37U}, {7U, 3U}, {8U, 5U}, {9U, 4U}, {61U, 23U}, {511U, 257U}}) {
    const gemm::TileOrder order = gemm::tile_order(rows, columns, 8);
    for (unsigned tile = 0; tile < rows * columns; ++tile) {
      const gemm::TilePlace place = gemm::place_of(order, tile);
      const gemm::TilePlace expected = gemm::place_in_panels(tile, rows, columns);
      ASSERT_EQ(place.row, expected.row) << rows << " x " << columns << ", " << tile;
      ASSERT_EQ(place.column, expected.column) << rows << " x " << columns << ", " << tile;
    }
  }
}

}  // namespace
