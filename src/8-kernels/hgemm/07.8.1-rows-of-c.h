// Sums go to C by way of LDS, in rows.
//
// Against 07.5, on RDNA 07.4: there a lane has a column of each instruction's sums, and stores them
// one by one: 128 stores of 2 bytes, on RDNA 64, each of which writes half a line of 128 bytes of
// two rows, on RDNA a quarter. Here the waves put their sums into LDS, where the tiles were, and
// take rows of C out again: 16 stores of 16 bytes, on RDNA 8, each of two rows of the whole tile.
// The instruction gets A for B and B for A: then it computes C transposed, and a lane's sums are
// neighbours in a row of C, four with MFMA, eight on gfx12, one on gfx11: so many are stored to LDS
// at a time. With beta, C comes to LDS likewise. At 4096 the old stores are 4096 of the 262144
// cycles that MI300X multiplies a tile for, if 16 lanes are done in a cycle; these take half, and
// as long in LDS: little to be won, and more the smaller k is. Not measured.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include <type_traits>

#include "07.5-loads-to-lds.h"
#include "stage.h"

namespace hgemm {

/// An instruction with its operands exchanged, which lanes hold alike.
template <typename Code>
struct Turned : Code {
  static_assert(Code::m == Code::n && std::is_same_v<typename Code::A, typename Code::B>);

  template <typename Sum>
  __device__ static void multiply_add(Sum& sum, const typename Code::A& a,
                                      const typename Code::B& b) {
    Code::multiply_add(sum, b, a);
  }
  __host__ __device__ static constexpr matrix_rate::Place sum_place(unsigned lane,
                                                                    unsigned element) {
    const matrix_rate::Place at = Code::sum_place(lane, element);
    return {at.column, at.row};
  }
  /// So many of a lane's sums are side by side.
  static constexpr unsigned neighbours = [] {
    unsigned count = 1;
    while (count < Code::sum_elements &&
           Code::sum_place(0, count).row == Code::sum_place(0, count - 1).row + 1) {
      ++count;
    }
    return count;
  }();
};

/// Stores the sums of a block's waves to its tile of C, by way of `lds`: of each wave the rows of
/// one instruction at a time.
template <typename Tile>
__device__ void store_rows(const typename Tile::Sums& wave, Piece* lds, Half* c, unsigned ldc,
                           float alpha, float beta) {
  using Code = typename Tile::Code;
  constexpr unsigned piece_values = 8;
  constexpr unsigned row_pieces = Tile::columns / piece_values;
  constexpr unsigned pieces = Tile::waves_down * Code::m * row_pieces;
  struct alignas(sizeof(Half) * Code::neighbours) Neighbours {
    Half of[Code::neighbours];
  };
  const auto in_lds = [&](unsigned row, unsigned piece) -> Piece& {
    return lds[row * row_pieces + (piece ^ row % 8)];
  };
  const auto for_each_piece = [&](unsigned band, const auto& body) {
#pragma unroll
    for (unsigned i = 0; i < pieces / large_tile_threads; ++i) {
      const unsigned place = i * large_tile_threads + threadIdx.x;
      const unsigned row = place / row_pieces;
      const unsigned row_of_c = row / Code::m * Tile::wave_rows + band * Code::m + row % Code::m;
      body(piece_at(c + std::size_t{row_of_c} * ldc + place % row_pieces * piece_values),
           in_lds(row, place % row_pieces));
    }
  };
  const auto put_sums = [&](unsigned band, float its_beta) {
    const unsigned first_row = Tile::first_row() / Tile::wave_rows * Code::m;
#pragma unroll
    for (unsigned j = 0; j < Tile::Sums::across; ++j) {
#pragma unroll
      for (unsigned e = 0; e < Code::sum_elements; e += Code::neighbours) {
        const matrix_rate::Place at = Code::sum_place(threadIdx.x % Code::lanes, e);
        const unsigned column = Tile::first_column() + j * Code::n + at.column;
        auto& here = reinterpret_cast<Neighbours*>(&in_lds(
            first_row + at.row, column / piece_values))[column % piece_values / Code::neighbours];
        Neighbours results = its_beta == 0 ? Neighbours{} : here;
#pragma unroll
        for (unsigned i = 0; i < Code::neighbours; ++i) {
          store_result(&results.of[i], alpha, wave.sums[band][j].value[e + i], its_beta);
        }
        here = results;
      }
    }
  };
#pragma unroll
  for (unsigned band = 0; band < Tile::Sums::down; ++band) {
    __syncthreads();
    if (beta == 0) {
      put_sums(band, 0);
    } else {
      for_each_piece(band, [](const Piece& of_c, Piece& here) { here = of_c; });
      __syncthreads();
      put_sums(band, beta);
      hipscope::scheduling_barrier();  // else clang joins the last stores of both ways, in parts
    }
    __syncthreads();
    for_each_piece(band, [](Piece& of_c, const Piece& here) { of_c = here; });
  }
}

template <typename Tile>
static __global__ void __launch_bounds__(large_tile_threads)
    rows_of_c_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                     const Half* __restrict__ b, float beta, Half* __restrict__ c, unsigned xcds) {
  const gemm::TilePlace place =
      gemm::tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  const unsigned row = place.row * Tile::rows;
  const unsigned column = place.column * Tile::columns;
  typename Tile::Sums wave;
  Half* const to = c + std::size_t{row} * extents.ldc + column;
  if constexpr (Tile::Code::lanes == 64) {
    __shared__ LoadedTiles<Tile, 1> lds;
    multiply_add_loaded<Tile, 1>(wave, lds, extents, a, b, row, column);
    store_rows<Tile>(wave, lds.a[0].pieces, to, extents.ldc, alpha, beta);
  } else {
    __shared__ Piece lds[Tile::waves_down * Tile::Code::m * Tile::columns / 8];
    LargeTileCopy<Tile, Half> copy(extents, a, b, row, column);
    multiply_add_ahead<Tile>(wave, copy, extents.k);
    store_rows<Tile>(wave, lds, to, extents.ldc, alpha, beta);
  }
}

inline std::vector<Stage> rows_of_c_stages() {
  return stages_by_fragment([]<typename Code>(Instruction<Code>) {
    using Tile = LargeTile<Turned<Code>>;
    auto stage = stage_by_xcd<Tile, rows_of_c_kernel<Tile>>(", rows of C");
    stage.needs.what = Code::family;
    return stage;
  });
}

}  // namespace hgemm
