// Tiles of any multiple of 16 rows, and blocks that share a tile.
//
// Against 14: four warps may have 64 columns of C instead of 64 rows: A and B change places in the
// instruction, whose second operand, now rows of A, may be any multiple of 8 of them, each of which
// is read once for 64 columns. (Of 96 columns of B, in 14, LDS seems to give two blocks of 64.) So
// 1536 x 1536 is 132 tiles of 144 x 128, one for each SM. The sums are those of C transposed, and
// turn on their way to LDS.
// Where there are fewer tiles than SMs, blocks share them, each with its part of k: they leave
// their sums in memory, and when all have, each adds up its part of the tile, always in the same
// order. That is for flat products, 16 x 16 x 16384; no cluster has to be begun for it.
// On the H200, in graphs, 0.86 x the library at 1536 (14 has 0.81), 0.64 to 1.08 x at flat shapes
// (14: 0.13 to 0.89).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "14-tile-by-model.h"
#include "hopper.h"
#include "parts.h"
#include "stage.h"
#include "tile_model.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

// From the likely fastest on; those of the last size are kept.
inline const std::vector<SplitChoice>& choices_for(const Extents& e) {
  static std::array<unsigned, 3> last{};
  static std::vector<SplitChoice> choices;
  const std::array<unsigned, 3> size = {e.m, e.n, std::max(8U, e.k)};
  if (size != last) {
    choices = likely_splits(size[0], size[1], size[2], compute_units(), gemm::likely_choices);
    last = size;
  }
  return choices;
}

// The workspace holds arrivals, sums of parts, and operands as stage 14 has them.
inline std::uint64_t columns_and_parts_workspace(const Extents& e) {
  std::uint64_t of_parts = 0;
  for (const SplitChoice& choice : choices_for(e)) {
    of_parts = std::max(of_parts, bytes_of_parts(e, choice));
  }
  return arrived_bytes + of_parts + whole_rows_workspace(e);
}

template <typename Value, typename Result>
void enqueue_columns_and_parts(const gemm::Stage<Value, Result>&,
                               const gemm::Product<Value, Result>& product) {
  static constexpr auto enqueues = enqueues_of<Value, Result, split_tile_sizes, true>(
      std::make_index_sequence<std::size(split_tile_sizes)>());
  const SplitChoice choice = gemm::choice_of(choices_for(product.extents), product.choice);
  auto* const bytes = static_cast<unsigned char*>(product.workspace);
  const Parts parts = {.count = choice.parts,
                       .sums = reinterpret_cast<float4*>(bytes + arrived_bytes),
                       .arrived = reinterpret_cast<unsigned*>(bytes)};
  enqueues[choice.tile](
      with_whole_rows(product, bytes + arrived_bytes + bytes_of_parts(product.extents, choice),
                      pack<Value>),
      parts);
}

#endif

template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> columns_and_parts_stage() {
  auto stage =
      hopper_stage<Value, Result>("tiles by columns too, or shared along k", 128, 256, 288);
  stage.any_size = true;
  stage.is_contender = true;
  stage.choices = gemm::likely_choices;
#if defined(HGEMM_HAS_HOPPER)
  using Tile = ModelTile<Value, 128, 256, true>;
  stage.dynamic_lds_bytes = Tile::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(model_tiles_kernel<Tile, Value, Result>);
  stage.enqueue = enqueue_columns_and_parts<Value, Result>;
  stage.workspace_bytes = columns_and_parts_workspace;
#endif
  return stage;
}

}  // namespace hgemm
