// What a tile costs, for the choice among them. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace hgemm {

/// What a block has of C at once.
struct TileSize {
  unsigned rows;
  unsigned columns;
};

/// The tiles that rung 14 has kernels for.
inline constexpr TileSize tile_sizes[] = {{128, 256}, {128, 192}, {128, 128},
                                          {192, 96},  {64, 128},  {64, 64}};

/// What all rounds of so many SMs of compute capability 9.0 cost with such tiles, in cycles. For
/// each step of 64 along k a tile has to be multiplied; and every 64 rows of it read their part of
/// A and all columns of B from LDS, into which the next ones come meanwhile, B's by 64 columns.
constexpr double cycles_of(TileSize tile, unsigned m, unsigned n, unsigned k, unsigned sms) {
  constexpr unsigned depth = 64;
  constexpr double fmas_per_cycle = 2048;
  constexpr double lds_bytes_per_cycle = 128;
  constexpr double row_bytes = 2.0 * depth;         // of a row of A, or a column of B
  constexpr double begin_and_end_of_a_tile = 1500;  // measured: nothing is multiplied then
  const auto rounded_up = [](double count, unsigned size) {
    const double parts = count / size;
    const auto whole = static_cast<double>(static_cast<std::size_t>(parts));
    return whole < parts ? whole + 1 : whole;
  };
  const double rows_read = tile.rows / 64.0 * (64 + tile.columns);
  const double rows_written = tile.rows + rounded_up(tile.columns, 64) * 64;
  const double step = std::max(double{1} * depth * tile.rows * tile.columns / fmas_per_cycle,
                               (rows_read + rows_written) * row_bytes / lds_bytes_per_cycle);
  const double tiles = rounded_up(m, tile.rows) * rounded_up(n, tile.columns);
  return rounded_up(tiles, sms) * (rounded_up(k, depth) * step + begin_and_end_of_a_tile);
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

}  // namespace hgemm
