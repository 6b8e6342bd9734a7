// B is transposed on its way from LDS: gfx950 alone.
//
// Against 07.5: there B comes through registers, where a thread transposes 4 x 4 values before it
// stores them. gfx950 has loads from LDS that transpose (hipscope/transposing_loads.h): B lies in
// LDS as in memory, and gets there like A, past the registers. That saves a thread eight registers,
// the instructions that transpose, and B's stores; a fragment of B takes two loads of 8 bytes in
// place of one of 16. Lines of 128 bytes, 64 columns of one k, are panels of a tile; of every
// second two k they change halves, so that the 32 lanes that name rows k to k + 3 of 32 columns
// find them in all 64 banks. Not measured.
#pragma once

#include <hipscope/transposing_loads.h>

#include "07.5-loads-to-lds.h"
#include "8-kernels/gemm/place_of_piece.h"
#include "stage.h"

namespace hgemm {

/// B's tile as it is in memory.
template <unsigned columns, unsigned depth>
struct PanelsOfB {
  static constexpr unsigned line_pieces = 8;
  static constexpr unsigned line_columns = 64;
  Piece pieces[columns / line_columns * depth * line_pieces];

  /// The place of four neighbours from a multiple of 4 on, counted in such.
  __device__ static unsigned place_of_four(unsigned k, unsigned column) {
    const unsigned line = column / line_columns * depth + k;
    const unsigned piece = gemm::place_in_panel(k, column % line_columns / 8);
    return (line * line_pieces + piece) * 2 + column / 4 % 2;
  }
};

template <typename Code>
struct TransposingTile : LargeTile<Code> {
  using B = PanelsOfB<LargeTile<Code>::columns, LargeTile<Code>::depth>;
};

/// Both past the registers.
template <typename Code, typename Value, unsigned ahead>
class LdsLoads<TransposingTile<Code>, Value, ahead> {
 public:
  using Tile = TransposingTile<Code>;
  using B = typename Tile::B;

  __device__ LdsLoads(const Extents& extents, const Value* a, const Value* b, unsigned row,
                      unsigned column)
      : ldb_(extents.ldb), depth_(extents.k), a_(a, extents.lda, extents.k, row) {
    const unsigned lane = threadIdx.x % Code::lanes;
    const unsigned line = OfA::wave() * loads * lines_at_once + lane / B::line_pieces;
    const unsigned k = line % Tile::depth;
    b_ = b + std::size_t{k} * ldb_ + column + line / Tile::depth * B::line_columns +
         gemm::place_in_panel(k, lane % B::line_pieces) * 8;
  }

  __device__ void load_a(typename Tile::A& a) { a_.load(a); }
  __device__ void load_b(B& b) {
    auto* const to =
        reinterpret_cast<unsigned char*>(&b) + OfA::wave() * loads * sizeof(Piece) * Code::lanes;
    // A line's pieces are at the same places `lines_at_once` k further.
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const Value* const from = b_ + std::size_t{i * lines_at_once} * ldb_;
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
      hipscope::load_wide_to_lds(hipscope::lds_address(to + i * sizeof(Piece) * Code::lanes), from);
#else
      std::memcpy(to + (i * Code::lanes + threadIdx.x % Code::lanes) * sizeof(Piece), from,
                  sizeof(Piece));
#endif
    }
    b_ += std::size_t{OfA::step_from(k_, depth_)} * ldb_;
  }
  __device__ void finish(B& /*b*/) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_loads<(ahead - 1) * OfA::loads>();
#endif
  }

 private:
  using OfA = RowsToLds<typename Tile::A, Code::lanes, Value>;
  static constexpr unsigned loads = sizeof(B) / sizeof(Piece) / large_tile_threads;
  static constexpr unsigned lines_at_once = Code::lanes / B::line_pieces;
  static_assert(Tile::depth % (loads * lines_at_once) == 0);

  unsigned ldb_;
  unsigned depth_;
  OfA a_;
  const Value* b_;
  unsigned k_ = 0;
};

/// The fragments of B's columns from `first_column` on, at `k`.
template <typename Code, unsigned count, unsigned columns, unsigned depth>
__device__ void load_fragments(Fragment<Code> (&fragments)[count], PanelsOfB<columns, depth>& tile,
                               unsigned first_column, unsigned k) {
  static_assert(Code::n == 32 && Code::k == 16);
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
#pragma unroll
    for (unsigned load = 0; load < 2; ++load) {
      const auto named = [&](unsigned lane) -> const uint2& {
        const hipscope::PlaceAlongK at = hipscope::named_by(lane, load);
        return reinterpret_cast<const uint2*>(tile.pieces)[PanelsOfB<columns, depth>::place_of_four(
            k + at.k, first_column + i * Code::n + at.column)];
      };
      const uint2 words = hipscope::load_transposed(threadIdx.x % Code::lanes, named);
      fragments[i].word[2 * load] = words.x;
      fragments[i].word[2 * load + 1] = words.y;
    }
  }
}

inline Stage transposing_loads_stage() {
  using Tile = TransposingTile<Instructions<Half>::MfmaOf950>;
  auto stage = stage_of_lds_loads<Tile, 1>(", transposing loads");
  stage.needs.what = "MFMA; transposing loads from LDS, of gfx950 alone";
  return stage;
}

}  // namespace hgemm
