// A goes from memory to LDS, past the registers.
//
// Against 07.4: there A's pieces wait in registers from the load to the store. CDNA's loads to LDS
// write a wave's bytes side by side from one address on: 4 bytes per lane, on gfx950 16. So a lane
// cannot choose where its piece goes, but it can choose the piece: the one that belongs there. A
// then needs no register and no store; the loads are issued as soon as the tile before the last is
// read, and waited for at the barrier. B, which must be transposed, comes through registers as
// before, by loads that the same wait counts.
#pragma once

#include <hipscope/lds_copies.h>

#include <cstring>

#include "07.4-tiles-by-xcd.h"
#include "stage.h"

namespace hgemm {

/// Brings rows with k along memory to LDS, tile after tile.
template <typename Rows, unsigned lanes, typename Value>
class RowsToLds {
 public:
#if defined(__gfx950__)
  static constexpr unsigned lane_bytes =
      sizeof(Rows) % (16 * large_tile_threads) == 0 ? 16 : 4;  // whole loads of all waves
#else
  static constexpr unsigned lane_bytes = 4;
#endif
  static constexpr unsigned loads = sizeof(Rows) / large_tile_threads / lane_bytes;

  /// Of a matrix's rows, of `depth` values and `pitch` apart, those from `first` on.
  __device__ RowsToLds(const Value* matrix, unsigned pitch, unsigned depth, unsigned first)
      : pitch_(pitch), depth_(depth) {
#pragma unroll
    for (unsigned i = 0; i < patterns; ++i) {
      const unsigned lane = threadIdx.x % lanes;
      const unsigned byte = (wave() * loads + i) * load_bytes + lane * lane_bytes;
      const gemm::PieceOfRow at = gemm::piece_at_place<Rows::row_pieces>(byte / piece_bytes);
      const unsigned k = (at.piece * piece_bytes + byte % piece_bytes) / sizeof(Value);
      from_[i] = matrix + std::size_t{first + at.row} * pitch + k;
    }
  }

  /// The next tile. After the last one that is loaded once more: as many loads are counted.
  __device__ void load(Rows& rows) {
    begin(rows);
    step();
  }
  __device__ void begin(Rows& rows) {
    auto* const to = reinterpret_cast<unsigned char*>(&rows) + wave() * loads * load_bytes;
#pragma unroll
    for (unsigned i = 0; i < loads; ++i) {
      const unsigned further = i / patterns * patterns * load_bytes / row_bytes;
      load_of_wave(to + i * load_bytes, from_[i % patterns] + std::size_t{further} * pitch_);
    }
  }
  __device__ void step() {
    const unsigned step = step_from(k_, depth_);
#pragma unroll
    for (const Value*& from : from_) {
      from += step;
    }
  }

  /// From the tile at `k` to the next, if there is one.
  __device__ static unsigned step_from(unsigned& k, unsigned depth) {
    constexpr unsigned of_tile = Rows::row_pieces * Rows::piece_values;
    const unsigned step = k + of_tile < depth ? of_tile : 0;
    k += step;
    return step;
  }
  /// Which of the block, in a scalar register.
  __device__ static unsigned wave() {
    unsigned number = threadIdx.x / lanes;
#if defined(__HIP_DEVICE_COMPILE__)
    number = __builtin_amdgcn_readfirstlane(number);
#endif
    return number;
  }

 private:
  static constexpr unsigned piece_bytes = sizeof(Piece);
  static constexpr unsigned row_bytes = Rows::row_pieces * piece_bytes;
  static constexpr unsigned load_bytes = lanes * lane_bytes;
  // Places repeat every eight rows.
  static constexpr unsigned patterns = load_bytes < 8 * row_bytes ? 8 * row_bytes / load_bytes : 1;

  __device__ static void load_of_wave(unsigned char* to, const Value* from) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    if constexpr (lane_bytes == 16) {
      hipscope::load_wide_to_lds(hipscope::lds_address(to), from);
    } else {
      hipscope::load_to_lds<1>(hipscope::lds_address(to), from);
    }
#else
    std::memcpy(to + threadIdx.x % lanes * lane_bytes, from, lane_bytes);
#endif
  }

  const Value* from_[patterns];
  unsigned pitch_;
  unsigned depth_;
  unsigned k_ = 0;
};

/// Brings tiles of A to LDS `ahead` tiles before they are multiplied, and B's one before.
template <typename Tile, typename Value, unsigned ahead>
class LdsLoads {
 public:
  __device__ LdsLoads(const Extents& extents, const Value* a, const Value* b, unsigned row,
                      unsigned column)
      : extents_(extents),
        a_(a, extents.lda, extents.k, row),
        b_(b + std::size_t{b_k()} * extents.ldb + column + b_column()) {}

  /// A's next tile to LDS.
  __device__ void load_a(typename Tile::A& a) { a_.load(a); }
  __device__ void begin_a(typename Tile::A& a) { a_.begin(a); }
  __device__ void step_a() { a_.step(); }
  /// B's next tile into registers, likewise.
  __device__ void load_b(typename Tile::B& /*b*/) {
    begin_b();
    step_b();
  }
  __device__ void begin_b() {
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const Value* const from = b_ + std::size_t{i} * extents_.ldb;
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
      of_b_[i] = hipscope::begin_load(from);
#else
      of_b_[i] = *reinterpret_cast<const Pairs*>(from);
#endif
    }
  }
  __device__ void step_b() {
    b_ += std::size_t{OfA::step_from(k_of_b_, extents_.k)} * extents_.ldb;
  }
  /// Until the next tile is in LDS: of what was asked for only the last `ahead` - 1 tiles of A, the
  /// last of all, may be on their way still. Stores B's.
  __device__ void finish(typename Tile::B& b) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_loads<(ahead - 1) * OfA::loads>();
#pragma unroll
    for (Pairs& of : of_b_) {
      asm volatile("" : "+v"(of));  // nothing is done with them ahead of the wait
    }
#endif
    store_transposed(b, b_column(), b_k(), of_b_);
  }
  /// Until B's tile that was asked for last has come to its registers, which may then be used
  /// again.
  __device__ void end() {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_loads<0>();
#pragma unroll
    for (Pairs& of : of_b_) {
      asm volatile("" : "+v"(of));
    }
#endif
  }
  __device__ static unsigned wave() { return OfA::wave(); }

 private:
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
  using Pairs = hipscope::TwoWords;
#else
  using Pairs = uint2;
#endif
  using OfA = RowsToLds<typename Tile::A, Tile::Code::lanes, Value>;
  static_assert(Tile::columns == large_tile_threads / 2);  // each thread brings 4 x 4 values

  __device__ static unsigned b_k() { return threadIdx.x % 8 * 4; }
  __device__ static unsigned b_column() { return threadIdx.x / 8 * 4; }

  const Extents& extents_;
  OfA a_;
  const Value* b_;
  unsigned k_of_b_ = 0;
  Pairs of_b_[4];
};

/// Tiles in LDS, the next ones of A `ahead` tiles early.
template <typename Tile, unsigned ahead>
struct LoadedTiles {
  typename Tile::A a[ahead + 1];
  typename Tile::B b[2];
};

/// Adds the product of a tile at this row and column of C to its waves' sums. Loads to LDS may be
/// in flight at the end: nobody reads it again, and s_endpgm waits for all of a wave's accesses
/// before LDS is another block's (CDNA 4 ISA manual, 12.5, as GCN 3's did).
template <typename Tile, unsigned ahead, typename Value>
__device__ void multiply_add_loaded(typename Tile::Sums& wave, LoadedTiles<Tile, ahead>& lds,
                                    const Extents& extents, const Value* a, const Value* b,
                                    unsigned row, unsigned column) {
  using Code = typename Tile::Code;
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (MATRIX_RATE_CDNA < Code::since || Code::until < MATRIX_RATE_CDNA) {
    __builtin_trap();  // never launched there: nothing of the kernel is compiled
  }
#endif
  constexpr unsigned steps = Tile::depth / Fragment<Code>::k;
  constexpr unsigned buffers = ahead + 1;
  LdsLoads<Tile, Value, ahead> copy(extents, a, b, row, column);
  Fragment<Code> left[2][Tile::Sums::down];
  Fragment<Code> right[2][Tile::Sums::across];
#pragma unroll
  for (unsigned tile = 0; tile + 1 < ahead; ++tile) {
    copy.load_a(lds.a[tile]);
  }
  copy.load_b(lds.b[0]);
  copy.load_a(lds.a[ahead - 1]);
  copy.finish(lds.b[0]);
  __syncthreads();
  load_fragments(left[0], lds.a[0], Tile::first_row(), 0);
  load_fragments(right[0], lds.b[0], Tile::first_column(), 0);
  const unsigned tiles = extents.k / Tile::depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    copy.load_b(lds.b[(tile + 1) % 2]);
    copy.load_a(lds.a[(tile + ahead) % buffers]);
#pragma unroll
    for (unsigned step = 0; step < steps; ++step) {
      const bool is_last = step == steps - 1;
      const unsigned from = is_last ? tile + 1 : tile;
      const unsigned next_k = is_last ? 0 : (step + 1) * Fragment<Code>::k;
      if (is_last) {  // after the last tile with what nobody multiplies
        copy.finish(lds.b[from % 2]);
        __syncthreads();
      }
      load_fragments(left[(step + 1) % 2], lds.a[from % buffers], Tile::first_row(), next_k);
      load_fragments(right[(step + 1) % 2], lds.b[from % 2], Tile::first_column(), next_k);
      hipscope::scheduling_barrier();
      wave.multiply_add(left[step % 2], right[step % 2]);
      hipscope::scheduling_barrier();
    }
  }
}

template <typename Tile, unsigned ahead, typename Value, typename Result>
static __global__ void __launch_bounds__(large_tile_threads)
    loads_to_lds_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                        const Value* __restrict__ b, float beta, Result* __restrict__ c,
                        unsigned xcds) {
  const gemm::TilePlace place =
      gemm::tile_by_xcd(blockIdx.x, extents.m / Tile::rows, extents.n / Tile::columns, xcds);
  const unsigned row = place.row * Tile::rows;
  const unsigned column = place.column * Tile::columns;
  __shared__ LoadedTiles<Tile, ahead> lds;
  typename Tile::Sums wave;
  multiply_add_loaded<Tile, ahead>(wave, lds, extents, a, b, row, column);
  wave.store(c + std::size_t{row + Tile::first_row()} * extents.ldc + column + Tile::first_column(),
             extents.ldc, alpha, beta);
}

/// (LLVM, feature vmem-to-lds-load-insts.)
inline constexpr const char* needs_of_lds_loads =
    "MFMA; loads from memory to LDS, which RDNA 3 and 4 lack";

/// A stage of a kernel that loads to LDS, on one block per tile, and wants to know how many XCDs
/// there are.
template <typename Tile, auto kernel, typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> stage_by_xcd(const std::string& what) {
  const auto enqueue = [](const gemm::Stage<Value, Result>& stage,
                          const gemm::Product<Value, Result>& product) {
    const dim3 tiles = grid_of(stage.tiles, product.extents);
    hipscope::launch(kernel, {.grid = dim3(tiles.x * tiles.y), .block = dim3(stage.tiles.threads)},
                     product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                     gemm::xcds());
  };
  auto stage =
      large_tile_stage<Tile, Value, Result>(what, reinterpret_cast<const void*>(kernel), enqueue);
  stage.is_contender = true;
  stage.needs.what = needs_of_lds_loads;
  return stage;
}

template <typename Tile, unsigned ahead, typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> stage_of_lds_loads(const std::string& what) {
  return stage_by_xcd<Tile, loads_to_lds_kernel<Tile, ahead, Value, Result>, Value, Result>(what);
}

}  // namespace hgemm
