// A goes from memory to LDS, past the registers.
//
// Against 07.4: there A's pieces wait in registers from the load to the store. CDNA's loads to LDS
// put each lane's bytes in LDS themselves, those of a wave side by side from one address on: 4
// bytes of a lane, on gfx950 16. So a lane cannot choose where its piece goes, but it can which
// piece it asks for: the one that has its place. No register and no store is left for A; the loads
// are asked for as soon as the tile before the last is read, and waited for at the barrier. B,
// which must be transposed, comes as before.
#pragma once

#include <hipscope/lds_copies.h>

#include <cstring>

#include "07.4-tiles-by-xcd.h"
#include "stage.h"

namespace hgemm {

template <typename Code, typename Value>
class LdsLoads {
 public:
  using Tile = LargeTile<Code>;
  using A = SwizzledRows<Tile::rows>;

  __device__ LdsLoads(const Extents& extents, const Value* a, const Value* b, unsigned row,
                      unsigned column)
      : lda_(extents.lda), b_(extents, a, b, row, column) {
#pragma unroll
    for (unsigned i = 0; i < patterns; ++i) {
      const unsigned lane = threadIdx.x % Code::lanes;
      const unsigned byte = (wave() * loads + i) * load_bytes + lane * lane_bytes;
      const gemm::PieceOfRow from = gemm::piece_at_place(byte / piece_bytes);
      const unsigned k = (from.piece * piece_bytes + byte % piece_bytes) / sizeof(Value);
      a_[i] = a + std::size_t{row + from.row} * extents.lda + k;
    }
  }

  /// A's next tile to LDS, B's into registers; goes on to the next tiles.
  __device__ void load(A& a) {
    auto* const to = reinterpret_cast<unsigned char*>(&a) + wave() * loads * load_bytes;
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const unsigned rows = i / patterns * patterns * load_bytes / row_bytes;
      load_of_wave(to + i * load_bytes, a_[i % patterns] + std::size_t{rows} * lda_);
    }
#pragma unroll
    for (const Value*& from : a_) {
      from += Tile::depth;
    }
    b_.load_b();
  }
  /// Until A's tile has come; stores B's.
  __device__ void finish(SwizzledRows<Tile::columns>& b) {
    b_.hold_b();
    b_.store_b(b);
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_loads<0>();
#endif
  }

 private:
  static constexpr unsigned piece_bytes = sizeof(Piece);
  static constexpr unsigned row_bytes = Tile::depth * sizeof(Value);
#if defined(__gfx950__)
  static constexpr unsigned lane_bytes = 16;
#else
  static constexpr unsigned lane_bytes = 4;
#endif
  static constexpr unsigned load_bytes = Code::lanes * lane_bytes;
  static constexpr unsigned loads = sizeof(A) / large_tile_threads / lane_bytes;
  // Places repeat every eight rows.
  static constexpr unsigned patterns = load_bytes < 8 * row_bytes ? 8 * row_bytes / load_bytes : 1;

  /// Which of the block, in a scalar register.
  __device__ static unsigned wave() {
    unsigned number = threadIdx.x / Code::lanes;
#if defined(__HIP_DEVICE_COMPILE__)
    number = __builtin_amdgcn_readfirstlane(number);
#endif
    return number;
  }
  __device__ static void load_of_wave(unsigned char* to, const Value* from) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    if constexpr (lane_bytes == 16) {
      hipscope::load_wide_to_lds(hipscope::lds_address(to), from);
    } else {
      hipscope::load_to_lds<1>(hipscope::lds_address(to), from);
    }
#else
    std::memcpy(to + threadIdx.x % Code::lanes * lane_bytes, from, lane_bytes);
#endif
  }

  unsigned lda_;
  const Value* a_[patterns];
  LargeTileCopy<Code, Value> b_;
};

template <typename Code, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    loads_to_lds_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                        const Value* __restrict__ b, float beta, Result* __restrict__ c,
                        unsigned xcds) {
  using Tile = LargeTile<Code>;
  constexpr unsigned steps = Tile::depth / Fragment<Code>::k;
  __shared__ SwizzledRows<Tile::rows> a_tile[2];
  __shared__ SwizzledRows<Tile::columns> b_tile[2];
  const gemm::TilePlace tile =
      gemm::tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  const unsigned row = tile.row * Tile::rows;
  const unsigned column = tile.column * Tile::columns;
  LdsLoads<Code, Value> copy(extents, a, b, row, column);
  typename Tile::Sums wave;
  Fragment<Code> left[2][Tile::Sums::down];
  Fragment<Code> right[2][Tile::Sums::across];
  copy.load(a_tile[0]);
  copy.finish(b_tile[0]);
  __syncthreads();
  load_fragments(left[0], a_tile[0], Tile::first_row(), 0);
  load_fragments(right[0], b_tile[0], Tile::first_column(), 0);
  for (unsigned first_k = 0; first_k < extents.k; first_k += Tile::depth) {
    const unsigned buffer = first_k / Tile::depth % 2;
    if (first_k + Tile::depth < extents.k) {
      copy.load(a_tile[1 - buffer]);
    }
#pragma unroll
    for (unsigned step = 0; step < steps; ++step) {
      const bool is_last = step == steps - 1;
      const unsigned from = is_last ? 1 - buffer : buffer;
      const unsigned next_k = is_last ? 0 : (step + 1) * Fragment<Code>::k;
      if (is_last) {  // after the last tile with what nobody multiplies
        copy.finish(b_tile[from]);
        __syncthreads();
      }
      load_fragments(left[(step + 1) % 2], a_tile[from], Tile::first_row(), next_k);
      load_fragments(right[(step + 1) % 2], b_tile[from], Tile::first_column(), next_k);
      hipscope::scheduling_barrier();
      wave.multiply_add(left[step % 2], right[step % 2]);
      hipscope::scheduling_barrier();
    }
  }
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

template <typename Code>
void enqueue_loads_to_lds(const Stage& stage, const Product& product) {
  const dim3 tiles = grid_of(stage.tiles, product.extents);
  hipscope::launch(loads_to_lds_kernel<Code, Half, Half>,
                   {.grid = dim3(tiles.x * tiles.y), .block = dim3(stage.tiles.threads)},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                   gemm::xcds());
}

inline std::vector<Stage> loads_to_lds_stages() {
  const auto make = [](auto instruction) {
    using Code = typename decltype(instruction)::Type;
    Stage stage = large_tile_stage<Code, Half, Half>(
        ", loads to LDS", reinterpret_cast<const void*>(loads_to_lds_kernel<Code, Half, Half>),
        enqueue_loads_to_lds<Code>);
    stage.is_contender = true;
    return stage;
  };
  using Codes = Instructions<Half>;
  return {make(Instruction<Codes::Mfma>()), make(Instruction<Codes::MfmaOf950>())};
}

}  // namespace hgemm
