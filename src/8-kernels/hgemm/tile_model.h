// What a tile costs, for the choice among them. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
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
inline constexpr TileSize split_tile_sizes[] = {{128, 256},       {128, 192},      {128, 128},
                                                {144, 128, true}, {96, 192, true}, {64, 128, false},
                                                {80, 64, true},   {64, 64, false}, {16, 128, true}};

/// A tile, and how many blocks share it, each with its part of k.
struct SplitChoice {
  std::size_t tile;
  unsigned parts;
};

/// What blocks that share a tile cost beside their steps: each stores its sums and waits for those
/// of the others, then all read them, a part of the tile each. Numbers by measurement.
constexpr double cycles_to_add_parts(TileSize tile, unsigned parts, unsigned m, unsigned n) {
  constexpr double wait = 4000;
  constexpr double per_part = 60;
  constexpr double bytes_per_cycle = 50;        // of an SM
  constexpr double all_bytes_per_cycle = 1600;  // of all SMs
  const double bytes =
      2 * sizeof(float) * double{1} * std::min(tile.rows, m) * std::min(tile.columns, n);
  const double blocks = tiles_of(tile, m, n) * parts;
  return wait + per_part * parts +
         std::max(bytes / bytes_per_cycle, blocks * bytes / all_bytes_per_cycle);
}

/// All blocks of split tiles must be on the device at once: there is one round of them.
constexpr double cycles_of_split(TileSize tile, unsigned parts, unsigned m, unsigned n, unsigned k,
                                 unsigned sms) {
  if (parts == 1) {
    return cycles_of(tile, m, n, k, sms);
  }
  const double steps = rounded_up(rounded_up(k, tile_depth), parts);
  return steps * cycles_of_step(tile) + begin_and_end_of_a_tile +
         cycles_to_add_parts(tile, parts, m, n);
}

/// Tiles and parts, from those that cost least on, `most` at the most; of each tile three, since
/// numbers of parts that are near each other cost about the same.
inline std::vector<SplitChoice> likely_splits(unsigned m, unsigned n, unsigned k, unsigned sms,
                                              std::size_t most) {
  std::vector<std::pair<double, SplitChoice>> all;
  for (std::size_t i = 0; i < std::size(split_tile_sizes); ++i) {
    const TileSize tile = split_tile_sizes[i];
    const double most_parts = std::min(rounded_up(k, tile_depth), sms / tiles_of(tile, m, n));
    for (unsigned parts = 1; parts == 1 || parts <= most_parts; ++parts) {
      all.emplace_back(cycles_of_split(tile, parts, m, n, k, sms),
                       SplitChoice{.tile = i, .parts = parts});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr unsigned most_of_a_tile = 3;
  unsigned of_tile[std::size(split_tile_sizes)] = {};
  std::vector<SplitChoice> likely;
  for (const auto& [cycles, choice] : all) {
    if (likely.size() < most && of_tile[choice.tile]++ < most_of_a_tile) {
      likely.push_back(choice);
    }
  }
  return likely;
}

/// Which of `split_tile_sizes`, and parts, cost least.
inline SplitChoice best_split(unsigned m, unsigned n, unsigned k, unsigned sms) {
  return likely_splits(m, n, k, sms, 1).front();
}

}  // namespace hgemm
