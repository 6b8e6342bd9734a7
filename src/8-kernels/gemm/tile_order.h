// The order in which blocks take tiles of C. A kernel begins with divisions for it, which the host
// prepares: a real one is a chain of dependent instructions.
#pragma once

#include <hipscope/divisor.h>

#include <algorithm>

namespace gemm {

/// A tile of C, counted in tiles.
struct TilePlace {
  unsigned row;
  unsigned column;
};

/// Groups of rows of tiles, each column by column, so that blocks that run at the same time share
/// parts of A and of B in L2.
struct TileOrder {
  unsigned tiles;
  unsigned groups;
  unsigned group_rows;
  unsigned last_rows;  ///< of the last group
  unsigned group_tiles;
  hipscope::Divisor by_group;
  hipscope::Divisor by_rows;
  hipscope::Divisor by_last_rows;
};

/// Of `rows` x `columns` tiles, neither 0.
inline TileOrder tile_order(unsigned rows, unsigned columns, unsigned most_group_rows) {
  const unsigned group_rows = std::min(rows, most_group_rows);
  const unsigned groups = (rows + group_rows - 1) / group_rows;
  const unsigned last_rows = rows - (groups - 1) * group_rows;
  return {.tiles = rows * columns,
          .groups = groups,
          .group_rows = group_rows,
          .last_rows = last_rows,
          .group_tiles = group_rows * columns,
          .by_group = hipscope::divisor_of(group_rows * columns),
          .by_rows = hipscope::divisor_of(group_rows),
          .by_last_rows = hipscope::divisor_of(last_rows)};
}

__device__ inline TilePlace place_of(const TileOrder& order, unsigned tile) {
  const unsigned group = hipscope::divide(tile, order.by_group);
  const unsigned in_group = tile - group * order.group_tiles;
  const bool is_last = group + 1 == order.groups;
  const unsigned column = hipscope::divide(in_group, is_last ? order.by_last_rows : order.by_rows);
  const unsigned rows = is_last ? order.last_rows : order.group_rows;
  return {group * order.group_rows + in_group - column * rows, column};
}

}  // namespace gemm
