// Which tile and which cluster stages 15.1 and 15.2 take. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "tile_model.h"

namespace hgemm {

/// What a block does.
enum class LeanBlocks {
  one_tile,  ///< one tile, and ends
  stay,      ///< one tile after the other: there is a block for each SM (15.2)
  share_k,   ///< part of k of a tile, with the others of its cluster
};

/// A tile that one of the two has a kernel for.
struct LeanSize {
  TileSize tile;
  unsigned deep;  ///< how often 64 along k in a step
  LeanBlocks blocks;
};

inline constexpr LeanSize lean_sizes[] = {
    {{128, 256}, 1, LeanBlocks::stay},         {{128, 192}, 1, LeanBlocks::stay},
    {{128, 128}, 1, LeanBlocks::stay},         {{96, 192, true}, 1, LeanBlocks::one_tile},
    {{128, 128}, 1, LeanBlocks::one_tile},     {{64, 128}, 1, LeanBlocks::one_tile},
    {{64, 128}, 2, LeanBlocks::one_tile},      {{128, 64}, 1, LeanBlocks::one_tile},
    {{128, 64}, 2, LeanBlocks::one_tile},      {{80, 64, true}, 1, LeanBlocks::one_tile},
    {{64, 64}, 2, LeanBlocks::one_tile},       {{64, 64}, 1, LeanBlocks::one_tile},
    {{32, 64, true}, 2, LeanBlocks::one_tile}, {{64, 32}, 2, LeanBlocks::one_tile},
    {{16, 64, true}, 2, LeanBlocks::one_tile}, {{64, 16}, 2, LeanBlocks::one_tile},
    {{16, 64, true}, 2, LeanBlocks::share_k},  {{64, 16}, 2, LeanBlocks::share_k},
    {{64, 64}, 2, LeanBlocks::share_k},        {{64, 64}, 1, LeanBlocks::share_k},
    {{128, 64}, 1, LeanBlocks::share_k}};

/// Neighbouring blocks: of those above each other one copies B for all, of those side by side A;
/// `parts` of them share a tile, each with its part of k.
struct Cluster {
  unsigned rows = 1;
  unsigned columns = 1;
  unsigned parts = 1;
};

/// One of the ways to multiply.
struct LeanChoice {
  std::size_t size;  ///< of `lean_sizes`
  Cluster cluster;
  /// Along the longer side of a tile two clusters at once: blocks that run at the same time then
  /// read fewer different rows and columns.
  bool by_pairs = false;
  /// Of blocks that stay: the tiles of `shared_tiles` are split along k.
  bool shares_steps = false;
};

inline constexpr unsigned most_blocks_of_cluster = 16;

/// Of a thread's sums, how many fours.
constexpr unsigned fours_of(TileSize tile) {
  return (tile.by_columns ? tile.rows : tile.columns) / 8;
}

/// How many fours for each thread a block has room for that adds up what others send.
constexpr unsigned fours_to_add_up(TileSize tile) {
  return std::max(most_blocks_of_cluster, fours_of(tile));
}

/// How many clusters of `blocks` blocks, one per SM, fit on the device at once. Those of more than
/// two stay within a group of SMs (GPC), which leaves some SMs out (of an H100 and an H200 12).
constexpr unsigned clusters_at_once(unsigned sms, unsigned blocks) {
  return std::max(1U, (blocks <= 2 ? sms : sms * 10 / 11) / blocks);
}

/// The tiles that do not fill the last round of clusters, and one round more, of which each cluster
/// takes an equal part; none where all rounds are full, or there is only one.
constexpr unsigned shared_tiles(unsigned tiles, unsigned clusters) {
  return tiles <= clusters || tiles % clusters == 0 ? 0 : tiles % clusters + clusters;
}

/// Whether a choice may share steps: not where all of the smallest tiles that blocks stay for, by
/// pairs of rows, are in one round.
constexpr bool may_share_steps(unsigned m, unsigned n, unsigned sms) {
  return 2 * rounded_up(m, 256) * rounded_up(n, 128) > sms;
}

/// The cycles of a product on an SM of compute capability 9.0. Numbers by measurement, chosen so
/// that the best of sixteen choices loses least (H100, 20 sizes and shapes: 0.2 % in the mean); of
/// blocks that stay by an H200's.
constexpr double lean_cycles(const LeanChoice& choice, unsigned m, unsigned n, unsigned k,
                             unsigned sms) {
  constexpr double fmas_per_cycle = 2048;
  constexpr double bytes_per_cycle = 200;       // into the LDS of an SM
  constexpr double all_bytes_per_cycle = 6000;  // out of L2
  constexpr double begin_and_end = 2600;
  constexpr double end_of_an_element = 0.4;
  constexpr double elements_that_count = 8192;
  constexpr double begin_of_a_cluster = 110;
  constexpr double per_part = 90;
  constexpr double next_block = 1100;  // what of a begin is in front of the end of the one before
  constexpr double next_tile = 2500;   // of a block that stays
  constexpr double hand_over = 14000;  // of sums, and operands that L2 has no longer
  const auto& [tile, deep, blocks] = lean_sizes[choice.size];
  const auto [rows, columns, parts] = choice.cluster;
  const unsigned blocks_of_cluster = rows * columns * parts;
  const double clusters = rounded_up(m, tile.rows * rows) * rounded_up(n, tile.columns * columns);
  const double at_once = clusters_at_once(sms, blocks_of_cluster);
  const double rounds = choice.shares_steps ? clusters / at_once
                                            : rounded_up(clusters, static_cast<unsigned>(at_once));
  const double steps = rounded_up(rounded_up(k, tile_depth * deep), parts) * deep;
  constexpr double row_bytes = 2.0 * tile_depth;
  const double from_level_2 = row_bytes * (1.0 * tile.rows / columns + 1.0 * tile.columns / rows);
  const double cycles_of_step = std::max(
      {1.0 * tile_depth * tile.rows * tile.columns / fmas_per_cycle,
       from_level_2 * std::min(clusters, at_once) * blocks_of_cluster / all_bytes_per_cycle,
       row_bytes * (tile.rows + tile.columns) / bytes_per_cycle});
  const double around =
      begin_and_end +
      end_of_an_element * std::min(1.0 * tile.rows * tile.columns, elements_that_count) +
      (rows * columns > 1 ? begin_of_a_cluster : 0) + (parts > 1 ? per_part * parts : 0);
  const double between = blocks == LeanBlocks::stay ? next_tile : around - next_block;
  return around + rounds * steps * cycles_of_step + (rounds - 1) * between +
         (choice.shares_steps ? hand_over : 0);
}

/// Whether its cluster reaches no further than C, k is enough for its parts, and all blocks that
/// share k are on the device at once.
constexpr bool is_possible(const LeanChoice& choice, unsigned m, unsigned n, unsigned k,
                           unsigned sms) {
  const auto& [tile, deep, blocks] = lean_sizes[choice.size];
  const auto [rows, columns, parts] = choice.cluster;
  const double row_clusters = rounded_up(m, tile.rows * rows);
  const double column_clusters = rounded_up(n, tile.columns * columns);
  if ((rows > 1 && m <= tile.rows * (rows / 2)) ||
      (columns > 1 && n <= tile.columns * (columns / 2))) {
    return false;
  }
  const double clusters = row_clusters * column_clusters;
  if (blocks == LeanBlocks::stay) {
    const auto tiles = static_cast<unsigned>(clusters);
    return columns == 1 && rows <= 2 && parts == 1 && !choice.by_pairs &&
           (!choice.shares_steps || shared_tiles(tiles, clusters_at_once(sms, rows)) > 0);
  }
  if (choice.shares_steps) {
    return false;
  }
  if (blocks == LeanBlocks::share_k) {
    constexpr unsigned most_copy_sharers = 2;
    const bool is_near = parts % 2 != 0 && parts != 3;  // to others that are tried
    const unsigned each = (fours_of(tile) + parts - 1) / parts;
    return parts > 1 && !is_near && !choice.by_pairs && rows * columns <= most_copy_sharers &&
           rows * columns * parts <= most_blocks_of_cluster &&
           rounded_up(k, tile_depth * deep) >= parts && each * parts <= fours_to_add_up(tile) &&
           clusters * rows * columns * parts <= sms;
  }
  if (choice.by_pairs) {
    constexpr double fewest_blocks = 64;  // under that the order does not matter
    const double longer = tile.columns > tile.rows ? column_clusters : row_clusters;
    return parts == 1 && static_cast<unsigned>(longer) % 2 == 0 &&
           clusters * rows * columns > fewest_blocks;
  }
  return parts == 1;
}

/// Whether blocks may stay: stage 15.1 has none that do.
enum class Staying { left_out, chosen };

/// From those that cost least on, `most` at the most; of each tile four, since clusters that are
/// like each other cost about the same.
inline std::vector<LeanChoice> likely_lean_choices(unsigned m, unsigned n, unsigned k, unsigned sms,
                                                   std::size_t most, Staying staying) {
  // Of those that cost the same, the larger first.
  constexpr Cluster shapes[] = {{2, 4}, {4, 2}, {2, 2}, {4, 1}, {1, 4}, {2, 1}, {1, 2}, {1, 1}};
  std::vector<std::pair<double, LeanChoice>> all;
  const auto add = [&](const LeanChoice& choice) {
    if (is_possible(choice, m, n, k, sms)) {
      all.emplace_back(lean_cycles(choice, m, n, k, sms), choice);
    }
  };
  for (std::size_t i = 0; i < std::size(lean_sizes); ++i) {
    if (lean_sizes[i].blocks == LeanBlocks::stay && staying == Staying::left_out) {
      continue;
    }
    for (Cluster cluster : shapes) {
      for (cluster.parts = 1; cluster.parts <= most_blocks_of_cluster; ++cluster.parts) {
        add({.size = i, .cluster = cluster});
        add({.size = i, .cluster = cluster, .by_pairs = true});
        add({.size = i, .cluster = cluster, .shares_steps = true});
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr unsigned most_of_a_tile = 4;
  unsigned of_tile[std::size(lean_sizes)] = {};
  std::vector<LeanChoice> likely;
  for (const auto& [cycles, choice] : all) {
    if (likely.size() < most && of_tile[choice.size]++ < most_of_a_tile) {
      likely.push_back(choice);
    }
  }
  return likely;
}

}  // namespace hgemm
