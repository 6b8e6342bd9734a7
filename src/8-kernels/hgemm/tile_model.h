// What a tile costs, for the choice among them. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <vector>

namespace hgemm {

/// What a block has of C at once.
struct TileSize {
  unsigned rows;
  unsigned columns;
  /// Four warps have 64 columns and all rows, instead of 64 rows and all columns (stage 15).
  bool by_columns = false;
};

/// The tiles that stage 14 has kernels for.
inline constexpr TileSize tile_sizes[] = {{128, 256}, {128, 192}, {128, 128},
                                          {192, 96},  {64, 128},  {64, 64}};

inline constexpr unsigned tile_depth = 64;               ///< of a step along k
inline constexpr double begin_and_end_of_a_tile = 1500;  ///< cycles, measured: no products then

constexpr double rounded_up(double count, unsigned size) {
  const double parts = count / size;
  const auto whole = static_cast<double>(static_cast<std::size_t>(parts));
  return whole < parts ? whole + 1 : whole;
}

/// The cycles of a step of an SM of compute capability 9.0. The tile has to be multiplied; and
/// every 64 rows of it read their part of A and all columns of B from LDS (or 64 columns theirs and
/// all rows), into which the next ones come meanwhile, B's by 64 columns.
constexpr double cycles_of_step(TileSize tile) {
  constexpr double fmas_per_cycle = 2048;
  constexpr double lds_bytes_per_cycle = 128;
  constexpr double row_bytes = 2.0 * tile_depth;  // of a row of A, or a column of B
  const double shared = tile.by_columns ? tile.rows : tile.columns;
  const double own = tile.by_columns ? tile.columns : tile.rows;
  const double rows_read = own / 64 * (64 + shared);
  const double rows_written = tile.rows + rounded_up(tile.columns, 64) * 64;
  return std::max(double{1} * tile_depth * tile.rows * tile.columns / fmas_per_cycle,
                  (rows_read + rows_written) * row_bytes / lds_bytes_per_cycle);
}

constexpr double tiles_of(TileSize tile, unsigned m, unsigned n) {
  return rounded_up(m, tile.rows) * rounded_up(n, tile.columns);
}

/// What all rounds of the SMs cost with such tiles, in cycles.
constexpr double cycles_of(TileSize tile, unsigned m, unsigned n, unsigned k, unsigned sms) {
  return rounded_up(tiles_of(tile, m, n), sms) *
         (rounded_up(k, tile_depth) * cycles_of_step(tile) + begin_and_end_of_a_tile);
}

/// Which of `tile_sizes` costs least.
constexpr std::size_t best_tile(unsigned m, unsigned n, unsigned k, unsigned sms) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < std::size(tile_sizes); ++i) {
    if (cycles_of(tile_sizes[i], m, n, k, sms) < cycles_of(tile_sizes[best], m, n, k, sms)) {
      best = i;
    }
  }
  return best;
}

/// The tiles that stage 15 has kernels for.
inline constexpr TileSize column_tile_sizes[] = {
    {128, 256},       {128, 192},     {128, 128},      {144, 128, true}, {96, 192, true},
    {64, 128, false}, {80, 64, true}, {64, 64, false}, {16, 128, true}};

/// Which of `column_tile_sizes`, from those that cost least on.
inline std::vector<std::size_t> likely_tiles(unsigned m, unsigned n, unsigned k, unsigned sms) {
  std::vector<std::size_t> likely(std::size(column_tile_sizes));
  std::iota(likely.begin(), likely.end(), std::size_t{0});
  std::stable_sort(likely.begin(), likely.end(), [=](std::size_t one, std::size_t other) {
    return cycles_of(column_tile_sizes[one], m, n, k, sms) <
           cycles_of(column_tile_sizes[other], m, n, k, sms);
  });
  return likely;
}

}  // namespace hgemm
