// Two groups of four waves take turns at the matrix unit.
//
// Against 07.5: there all waves load fragments at the same time, and all multiply after the same
// barrier; in between the matrix unit idles, unless the two waves of a SIMD have drifted apart by
// themselves. Here one group multiplies, with priority, while the other loads fragments, asks for
// tiles and stores B's; then they change. The second group begins a barrier late, and the first
// ends with one more. Waves are dealt out to the SIMDs in turn, so that each has one of either
// group; nobody promises that, and a wrong guess only costs speed. One set of fragments is enough,
// and the steps of addresses are put among the MFMAs. A turn is half of a tile of 32 k: 1024 cycles
// of MFMA on gfx90a, 512 on gfx942, while the others take 192 or 256 of LDS. On gfx950 half a tile
// would be 256; so there a turn is a whole tile, 512 beside 448 (at 128 bytes of LDS per cycle),
// and A has three buffers, as in 07.6. Composable Kernel, Triton (its "block ping-pong") and
// HipKittens do so, too. The prediction is 07.5's, on gfx950 100 % in place of 95.3: it knows the
// turns, but no priority. Not measured.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "07.5-loads-to-lds.h"
#include "stage.h"

namespace hgemm {

/// The one barrier between turns: all waves come to it equally often, at different points.
__device__ inline void end_turn() {
  hipscope::scheduling_barrier();
  __syncthreads();
  hipscope::scheduling_barrier();
}

/// A SIMD issues first from its wave of the highest priority.
template <short priority>
__device__ void set_priority() {
  hipscope::scheduling_barrier();
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  __builtin_amdgcn_s_setprio(priority);
#endif
  hipscope::scheduling_barrier();
}

/// Brings A `ahead` tiles before it is multiplied; of a tile a wave has so many turns.
template <typename Tile, unsigned ahead, unsigned turns, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    waves_take_turns_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                            const Value* __restrict__ b, float beta, Result* __restrict__ c,
                            unsigned xcds) {
  using Code = typename Tile::Code;
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (MATRIX_RATE_CDNA < Code::since) {
    __builtin_trap();  // never launched there: nothing of the kernel is compiled
  }
#endif
  constexpr unsigned buffers = ahead + 1;
  constexpr unsigned steps = Tile::depth / Fragment<Code>::k / turns;
  __shared__ typename Tile::A a_tile[buffers];
  __shared__ typename Tile::B b_tile[2];
  const gemm::TilePlace place =
      gemm::tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  const unsigned row = place.row * Tile::rows;
  const unsigned column = place.column * Tile::columns;
  using Copy = LdsLoads<Tile, Value, ahead>;
  Copy copy(extents, a, b, row, column);
  typename Tile::Sums wave;
  Fragment<Code> left[steps][Tile::Sums::down];
  Fragment<Code> right[steps][Tile::Sums::across];
#pragma unroll
  for (unsigned tile = 0; tile + 1 < ahead; ++tile) {
    copy.load_a(a_tile[tile]);
  }
  copy.load_b(b_tile[0]);
  copy.load_a(a_tile[ahead - 1]);
  copy.finish(b_tile[0]);
  copy.load_b(b_tile[1]);
  end_turn();
  const bool is_late = Copy::wave() >= large_tile_threads / Code::lanes / 2;
  if (is_late) {
    end_turn();
  }
  for (unsigned tile = 0; tile < extents.k / Tile::depth; ++tile) {
#pragma unroll
    for (unsigned turn = 0; turn < turns; ++turn) {
#pragma unroll
      for (unsigned step = 0; step < steps; ++step) {
        const unsigned k = (turn * steps + step) * Fragment<Code>::k;
        load_fragments(left[step], a_tile[tile % buffers], Tile::first_row(), k);
        load_fragments(right[step], b_tile[tile % 2], Tile::first_column(), k);
      }
      if (turn == 0) {
        copy.begin_a(a_tile[(tile + ahead) % buffers]);
      }
      if (turn == turns - 1) {
        copy.finish(b_tile[(tile + 1) % 2]);
        copy.begin_b();
      }
      end_turn();
      set_priority<1>();
      if (turn == 0) {
        copy.step_a();
      }
      if (turn == turns - 1) {
        copy.step_b();
      }
#pragma unroll
      for (unsigned step = 0; step < steps; ++step) {
        wave.multiply_add(left[step], right[step]);
      }
      hipscope::alternate_matrix_and_vector<8>();
      set_priority<0>();
      end_turn();
    }
  }
  copy.end();
  if (!is_late) {
    end_turn();
  }
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

inline std::vector<Stage> waves_take_turns_stages() {
  using Codes = Instructions<Half>;
  using Tile = LargeTile<Codes::Mfma>;
  using TileOf950 = LargeTile<Codes::MfmaOf950>;
  const std::string what = ", waves take turns";
  return {stage_by_xcd<Tile, waves_take_turns_kernel<Tile, 1, 2, Half, Half>>(what),
          stage_by_xcd<TileOf950, waves_take_turns_kernel<TileOf950, 2, 1, Half, Half>>(what)};
}

}  // namespace hgemm
