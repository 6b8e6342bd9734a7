// What the stages from 4.12 on share beside what they multiply by: how tiles of A and B come to
// LDS, and the kernel around it (4.12 to 4.16.1).
//
// Copies go by cp.async (NVIDIA, sm_80 and later), which needs no register and no store instruction
// for it, and takes care of what is beyond the matrices by writing zeros. On the host backend by
// plain loads and stores; not on AMD, where 4.09 and 4.11 stage tiles in registers. Both tiles have
// the order that they have in memory, A's with k along a row: a thread reads two k of a row at
// once.
#pragma once

#include <cstdint>
#include <string>

#include "matrix_instruction.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// One value from memory to LDS, or 0; not waited for.
__device__ inline void copy_one(double* to, const double* from, bool is_there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile(
      "{ .reg .pred missing; setp.eq.u32 missing, %2, 0;"
      "  cp.async.ca.shared.global [%0], [%1], 8, missing; }" ::"r"(address),
      "l"(from), "r"(static_cast<unsigned>(is_there))
      : "memory");
#else
  *to = is_there ? *from : 0.0;
#endif
}

/// Two neighbours, of which either both or none are there; `from` is a multiple of 16 bytes.
__device__ inline void copy_two(double* to, const double* from, bool are_there) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile(
      "{ .reg .pred missing; setp.eq.u32 missing, %2, 0;"
      "  cp.async.cg.shared.global [%0], [%1], 16, missing; }" ::"r"(address),
      "l"(from), "r"(static_cast<unsigned>(are_there))
      : "memory");
#else
  to[0] = are_there ? from[0] : 0.0;
  to[1] = are_there ? from[1] : 0.0;
#endif
}

/// Two neighbours: of matrices whose extents and rows are even by one copy, else by one each.
template <bool is_even>
__device__ void copy_pair(double* to, const double* from, bool first, bool second) {
  if constexpr (is_even) {
    copy_two(to, from, first);
  } else {
    copy_one(to, from, first);
    copy_one(to + 1, from + 1, second);
  }
}

/// A block's copies, step by step along k, into the buffers of `Tile`: `rows` of A and `columns` of
/// B, `depth` of k, whose rows are `a_pitch` and `b_pitch` values apart. `Tile::place_of_pair(row,
/// pair)` says where in its row of A's tile a pair of values goes; in row k of B's, column c goes
/// to c ^ `Tile::exchange_of_b(k)`.
template <typename Tile, bool is_even>
class Copies {
 public:
  static constexpr unsigned a_values = Tile::rows * Tile::a_pitch;  // of one buffer
  static constexpr unsigned b_values = Tile::depth * Tile::b_pitch;

  __device__ Copies(Extents extents, const double* a, const double* b, double* lds, Place tile,
                    unsigned first_k, unsigned end_k)
      : a_pitch_in_memory_(extents.lda),
        b_pitch_in_memory_(extents.ldb),
        left_(end_k > first_k ? end_k - first_k : 0),
        a_tiles_(lds),
        b_tiles_(lds + Tile::buffers * a_values) {
    const unsigned row = threadIdx.x / a_pairs;
    const unsigned pair = threadIdx.x % a_pairs;
    a_ = a + std::size_t{tile.row + row} * extents.lda + first_k + pair * 2;
    a_to_ = a_tiles_ + row * Tile::a_pitch + Tile::place_of_pair(row, pair);
    rows_left_ = tile.row + row < extents.m ? extents.m - tile.row - row : 0;
    const unsigned k = threadIdx.x / b_pairs;
    const unsigned column = threadIdx.x % b_pairs * 2;
    b_ = b + std::size_t{first_k + k} * extents.ldb + tile.column + column;
    b_place_ = k * Tile::b_pitch + (column ^ Tile::exchange_of_b(k));
    b_to_ = b_tiles_ + b_place_;
    columns_left_ = tile.column + column < extents.n ? extents.n - tile.column - column : 0;
  }

  /// Begins to copy the next tile; beyond the matrices, zeros.
  __device__ void begin() {
    const unsigned a_k = threadIdx.x % a_pairs * 2;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      const bool is_there = i * a_rows < rows_left_;
      copy_pair<is_even>(a_to_ + buffer_ * a_values + i * a_rows * Tile::a_pitch,
                         a_ + std::size_t{i * a_rows} * a_pitch_in_memory_, is_there && a_k < left_,
                         is_there && a_k + 1 < left_);
    }
    const unsigned b_k = threadIdx.x / b_pairs;
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
      const bool is_there = b_k + i * b_rows < left_;
      // The exchange of row k + i * b_rows is that of both, as k < b_rows, a power of two.
      double* const to =
          exchanges ? b_tiles_ + (b_place_ ^ Tile::exchange_of_b(i * b_rows)) : b_to_;
      copy_pair<is_even>(to + buffer_ * b_values + i * b_rows * Tile::b_pitch,
                         b_ + std::size_t{i * b_rows} * b_pitch_in_memory_,
                         is_there && columns_left_ > 0, is_there && columns_left_ > 1);
    }
    a_ += Tile::depth;
    b_ += std::size_t{Tile::depth} * b_pitch_in_memory_;
    left_ = left_ > Tile::depth ? left_ - Tile::depth : 0;
    buffer_ = buffer_ + 1 == Tile::buffers ? 0 : buffer_ + 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
  }

  /// Begins the first tiles: all buffers but one.
  __device__ void begin_first() {
#pragma unroll
    for (unsigned i = 0; i + 1 < Tile::buffers; ++i) {
      begin();
    }
  }

  /// Waits until all but the `in_flight` last tiles are in LDS, for all threads of the block.
  template <unsigned in_flight = Tile::buffers - 2>
  __device__ static void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(in_flight) : "memory");
#endif
    __syncthreads();
  }

  [[nodiscard]] __device__ const double* a_tile(unsigned buffer) const {
    return a_tiles_ + buffer * a_values;
  }
  [[nodiscard]] __device__ const double* b_tile(unsigned buffer) const {
    return b_tiles_ + buffer * b_values;
  }

 private:
  static constexpr unsigned a_pairs = Tile::depth / 2;         // in a row
  static constexpr unsigned a_rows = Tile::threads / a_pairs;  // at once
  static constexpr unsigned a_copies = Tile::rows / a_rows;
  static constexpr unsigned b_pairs = Tile::columns / 2;
  static constexpr unsigned b_rows = Tile::threads / b_pairs;
  static constexpr unsigned b_copies = Tile::depth / b_rows;
  static_assert(Tile::rows % a_rows == 0 && Tile::threads % b_pairs == 0 &&
                Tile::depth % b_rows == 0 && a_rows % 2 == 0);
  static constexpr bool exchanges = Tile::exchange_of_b(1) != 0;
  static_assert(!exchanges || ((b_rows & (b_rows - 1)) == 0 && Tile::b_pitch % 16 == 0));

  unsigned a_pitch_in_memory_;
  unsigned b_pitch_in_memory_;
  unsigned left_;  // k from the next tile's first to the end
  double* a_tiles_;
  double* b_tiles_;
  // The thread's first pair of the next tile, and where it goes.
  const double* a_;
  const double* b_;
  double* a_to_;
  double* b_to_;
  unsigned b_place_;  // from the tile's begin
  unsigned rows_left_;
  unsigned columns_left_;
  unsigned buffer_ = 0;
};

/// The tile of 4.12 to 4.16: 128 x 128, a block on each SM; rows of B are longer by 16 bytes, so
/// that those of four lanes begin in banks of their own. The host backend's LDS has room for 64 x
/// 64.
struct WholeTile {
#if defined(HIPSCOPE_BACKEND_HOST)
  static constexpr unsigned rows = 64;
#else
  static constexpr unsigned rows = 128;
#endif
  static constexpr unsigned columns = rows;
  static constexpr unsigned blocks_per_unit = 1;
  static constexpr unsigned b_pitch = columns + 2;
  __device__ static constexpr unsigned exchange_of_b(unsigned) { return 0; }
};
#if defined(HIPSCOPE_BACKEND_HOST)
inline constexpr unsigned pipeline_buffers = 3;
#else
inline constexpr unsigned pipeline_buffers = 4;
#endif
inline constexpr unsigned pipeline_depth = 16;  // of k in one buffer

/// A block's tile, as large as `Layout` says, of which groups of 32 lanes have 32 x 64. A `Part` is
/// what a thread has of it: `rows` x `pairs` of neighbouring columns. Its kind says which rows
/// those are, how A's tile must be in LDS, and how it multiplies. (Here also the base of several
/// kinds, which has all but the last.)
template <typename Part, typename Layout>
struct PipelineTile : Layout {
  static constexpr unsigned group_rows = 32;
  static constexpr unsigned group_columns = 64;
  static constexpr unsigned groups_of_rows = Layout::rows / group_rows;
  static constexpr unsigned threads = groups_of_rows * (Layout::columns / group_columns) * 32;
  static constexpr unsigned depth = pipeline_depth;
  static constexpr unsigned buffers = pipeline_buffers;
  static constexpr unsigned a_pitch = Part::a_pitch;
  static constexpr unsigned lds_bytes = buffers *
                                        (Layout::rows * a_pitch + depth * Layout::b_pitch) *
                                        static_cast<unsigned>(sizeof(double));
  __device__ static constexpr unsigned place_of_pair(unsigned row, unsigned pair) {
    return Part::place_of_pair(row, pair);
  }

  /// The thread's first element.
  __device__ static Place place_of_thread() {
    const unsigned group = threadIdx.x / 32;
    const Place place = Part::place();
    return {group % groups_of_rows * group_rows + place.row,
            group / groups_of_rows * group_columns + place.column};
  }
};

/// Stores a thread's part of C, two columns at a time where C's rows allow it.
template <typename Part>
__device__ void store_part(const Part& part, Extents extents, Place tile, double alpha, double beta,
                           double* c) {
  const Place place = Part::Tile::place_of_thread();
  const bool is_aligned = extents.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
#pragma unroll
  for (unsigned i = 0; i < Part::rows; ++i) {
    const unsigned row = tile.row + place.row + Part::row_of(i);
    if (row < extents.m) {
      double* const c_row = c + std::size_t{row} * extents.ldc;
#pragma unroll
      for (unsigned j = 0; j < Part::pairs; ++j) {
        const unsigned column = tile.column + place.column + j * 16;
        const double(&pair)[2] = part.sums[i][j];
        if (is_aligned && column + 2 <= extents.n) {
          auto* const two = reinterpret_cast<double2*>(c_row + column);
          const double2 before = beta == 0 ? make_double2(0, 0) : *two;
          *two = beta == 0 ? make_double2(alpha * pair[0], alpha * pair[1])
                           : make_double2(alpha * pair[0] + beta * before.x,
                                          alpha * pair[1] + beta * before.y);
        } else {
#pragma unroll
          for (unsigned piece = 0; piece < 2; ++piece) {
            if (column + piece < extents.n) {
              store_result(c_row + column + piece, alpha, pair[piece], beta);
            }
          }
        }
      }
    }
  }
}

/// Hands a thread's sums over to the block that finishes the tile.
template <typename Part>
__device__ void hand_over(const Part& part, SplitTiles split) {
  using Tile = typename Part::Tile;
  double* const to =
      split.sums + std::size_t{blockIdx.x} * Tile::rows * Tile::columns + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < Part::rows * Part::pairs * 2; ++i) {
    to[i * Tile::threads] = part.sums[i / (Part::pairs * 2)][i / 2 % Part::pairs][i % 2];
  }
  set_ready(split);
}

/// Adds the sums of all blocks before this one that have steps of the tile that begins at step
/// `tile_begin`, down to its first. They have handed them over before they did anything else; and
/// they run, or have run: split blocks come first in the grid, and lower numbers begin no later.
template <typename Part>
__device__ void take_over(Part& part, SplitTiles split, unsigned steps, unsigned tile_begin) {
  using Tile = typename Part::Tile;
  unsigned block = blockIdx.x;
  while (first_step(block, split, steps) > tile_begin) {
    --block;
    if (threadIdx.x == 0) {
      take_ready(split, block);
      __threadfence();
    }
    __syncthreads();
    const double* const from =
        split.sums + std::size_t{block} * Tile::rows * Tile::columns + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < Part::rows * Part::pairs * 2; ++i) {
      part.sums[i / (Part::pairs * 2)][i / 2 % Part::pairs][i % 2] += from[i * Tile::threads];
    }
  }
}

/// m and n are not 0. Without a split each block has one tile, and the loop runs once. With one it
/// goes from its last step to its first, so that what another block waits for comes first.
template <typename Part, bool is_split, bool is_even>
__global__ void __launch_bounds__(Part::Tile::threads, Part::Tile::blocks_per_unit)
    pipeline_kernel(Extents extents, double alpha, const double* __restrict__ a,
                    const double* __restrict__ b, double beta, double* __restrict__ c,
                    SplitTiles split) {
  using Tile = typename Part::Tile;
  HIP_DYNAMIC_SHARED(double2, lds)
  const unsigned steps = gemm::steps_of(extents.k, pipeline_depth);
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = gemm::place_of_tile(tile, extents, Tile::rows, Tile::columns);
    Part part;
    Copies<Tile, is_even> copies(extents, a, b, reinterpret_cast<double*>(lds), place,
                                 (first - tile_begin) * Tile::depth, extents.k);
    copies.begin_first();
    copies.wait();
    part.multiply(copies, Tile::place_of_thread(), end - first);
    // What is still in flight would be written over the next tile.
    copies.template wait<0>();
    const bool is_mine = !is_split || end == tile_begin + steps;
    if constexpr (is_split) {
      if (is_mine) {
        take_over(part, split, steps, tile_begin);
      } else {
        hand_over(part, split);
      }
    }
    if (is_mine) {
      store_part(part, extents, place, alpha, beta, c);
    }
    end = first;
  }
}

template <typename Part, bool is_split>
Stage pipeline_stage(const std::string& technique, Unit unit) {
  using Tile = typename Part::Tile;
  const bool is_vector = unit == Unit::vector;
  Stage stage{.technique = technique,
              .tiles = {Tile::rows, Tile::columns, Tile::depth, Tile::threads,
                        is_vector ? Part::rows : Tile::group_rows,
                        is_vector ? 2 * Part::pairs : Tile::group_columns},
              .unit = unit,
              .dynamic_lds_bytes = Tile::lds_bytes,
              .any_size = true,
              .is_contender = is_split,
              .blocks_per_unit = Tile::blocks_per_unit,
              .kernel = reinterpret_cast<const void*>(pipeline_kernel<Part, is_split, true>),
              .needs = is_vector ? gemm::copies_to_any_place : matrix_instruction};
  stage.enqueue = [](const Stage& self, const Product& product) {
    static const auto even =
        hipscope::allow_lds(pipeline_kernel<Part, is_split, true>, Tile::lds_bytes);
    static const auto odd =
        hipscope::allow_lds(pipeline_kernel<Part, is_split, false>, Tile::lds_bytes);
    gemm::enqueue_split_tiles(gemm::has_whole_pieces(product) ? even : odd, self, product);
  };
  if (is_split) {
    stage.workspace_bytes = [](const Extents&) {
      return gemm::bytes_of_split_tiles<double>(Tile::rows * Tile::columns,
                                                compute_units() * Tile::blocks_per_unit);
    };
  }
  return stage;
}

#endif

}  // namespace dgemm
