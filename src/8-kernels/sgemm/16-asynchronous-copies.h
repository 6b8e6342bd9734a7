// The hardware copies from global memory to LDS (cp.async), any size, 8 x 8 per thread in tiles of
// 128 x 128 with a depth of 8, two blocks of 256 threads on each CU. On AMD the copies go through
// registers, and the stage only adds that it takes any size.
//
// Against 13: each scheduler of sm_90 issues one instruction per cycle, so every other instruction
// costs the issue slot of an FMA. The share of FMAs among all instructions is a hard limit. So
//   copies      cp.async writes a tile's values to LDS without a register and without a store
//               instruction, and transposes A on the way: 4 bytes each, k by k. Three buffers: two
//               tiles are in flight while one is multiplied, one barrier per tile
//   fragments   two sets in registers; the loads for the next k are spread over the FMAs of this
//               one, which go to and fro along the rows, so that consecutive ones share an operand
//   any size    rows beyond the end are read again from the last row, and not stored; columns and k
//               beyond the end are copied as zeros. Rows of B that do not begin at multiples of 16
//               bytes are copied value by value, 32 neighbours by a warp: six instructions more for
//               each 1024 FMAs. The last tile then ends where B does, so that no column is beyond
//               it. (On AMD, and where B is narrower than a tile, they are moved first, by a kernel
//               of their own, to rows that begin so.)
// On AMD, before sm_80 and on the host backend the copies go through registers: loads at the
// beginning of a tile, stores to LDS before its last k but one, for the tile after the next. For
// clang the source fixes what ptxas finds by itself: one wait per k, the place of the loads for the
// next k among the FMAs, packed FMAs where there are any, and uniform values in scalar registers.
// On the H200 49.79 TFLOP/s, 0.997 of 13.
// Compiled by clang 15 for gfx906, gfx90a and gfx1030: 124, 134 and 121 VGPRs, 24960 bytes of LDS,
// no scratch; 84.8, 81.9 and 84.5 % of the loop are FMAs.
//
// 17, against 16: 8 x 16 per thread, tiles of 128 x 256, one block on each CU. Per k six loads of
// 16 bytes from LDS for 128 FMAs in place of four for 64; but only two waves are left for each
// scheduler. On the H200 47.14 TFLOP/s, 0.95 of 16. Compiled as above: 216, 228 and 217 VGPRs,
// 37248 bytes of LDS; 89.4, 87.7 and 89.2 % of the loop are FMAs.
//
// 18, against 17: FMAs go up and down the columns, a load for the next k comes after every fourth,
// and the next tile's copies begin at the fourth k. ptxas moves instructions as it likes, and what
// it makes of one order or another differs by some percent: this one was found best by measurement.
// For clang the order holds, but copies begin at the first k: amid FMAs they take more registers.
// On the H200 51.35 TFLOP/s, 1.09 times 17, 1.002 times cuBLAS. Compiled as above: 208, 222 and 209
// VGPRs, LDS and FMAs as 17.
//
// 19 and 20 split its tiles along k.
#pragma once

#include <cstdint>
#include <type_traits>

#include "8-kernels/gemm/split_tiles.h"
#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

inline constexpr unsigned pipeline_depth = 8;  // of k in one buffer
inline constexpr unsigned pipeline_buffers = 3;

using SplitTiles = gemm::SplitTiles<float>;

__host__ __device__ constexpr unsigned steps_of(unsigned k) {
  return gemm::steps_of(k, pipeline_depth);
}

/// Copies `bytes`, of which the first `valid` are from memory and the others 0, and does not wait.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HIPSCOPE_SGEMM_COPIES_TO_LDS
template <unsigned bytes>
__device__ void copy_to_lds(float* to, const float* from, unsigned valid) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(valid));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from),
                 "r"(valid));
  }
}
#endif

/// What the stages of this kernel differ in, as 16 has it.
template <typename Tile>
struct AsynchronousCopies : Tile {
  static constexpr FmaOrder order = FmaOrder::to_and_fro;
  static constexpr unsigned fmas_between_loads = 1;  ///< from LDS, for the next k
  static constexpr unsigned copies_begin_at = 0;     ///< which k of a tile
  static constexpr unsigned copies_end_at = 6;       ///< where they go through registers
  static constexpr bool splits_tiles = false;
  static constexpr bool copies_b_by_values = false;
  static constexpr unsigned buffers = pipeline_buffers;

  /// The first step of a block, of all tiles' steps one tile after the other. On NVIDIA by a
  /// division of 64 bits: not for its sake, but ptxas then gives out other registers.
  __device__ static unsigned first_step(unsigned block, const SplitTiles& split, unsigned steps) {
#if !defined(__HIP_DEVICE_COMPILE__)
    if (block < split.blocks) {
      return static_cast<unsigned>(std::uint64_t{split.tiles} * steps * block / split.blocks);
    }
#endif
    return gemm::first_step(block, split, steps);
  }
  /// After a block's steps of a tile, up to `end`: whether its sums are the tile's, and are stored.
  template <typename Part>
  __device__ static bool finish(Part&, SplitTiles, unsigned, unsigned, unsigned) {
    return true;
  }
};
using EightBySixteen = AsynchronousCopies<ThreadTile<8, 16>>;
template <typename Pipeline>
struct InColumns : Pipeline {
  static constexpr FmaOrder order = FmaOrder::up_and_down;
  static constexpr unsigned fmas_between_loads = 4;
#if !defined(__HIP_DEVICE_COMPILE__)
  static constexpr unsigned copies_begin_at = 3;
#endif
};
struct FmasInColumns : InColumns<EightBySixteen> {
  __device__ static unsigned first_step(unsigned block, const SplitTiles& split, unsigned steps) {
    return gemm::first_step(block, split, steps);
  }
};

/// B comes value by value, as A does: its rows may begin anywhere.
template <typename Pipeline>
struct BByValues : Pipeline {
  static constexpr bool copies_b_by_values = true;
};

/// The place of a tile: groups of rows of tiles, each column by column, so that blocks that run at
/// the same time share parts of A and of B in L2.
__device__ inline Place place_of_tile(unsigned tile, Extents extents, unsigned block_rows,
                                      unsigned block_columns) {
  constexpr unsigned group = 8;
  const unsigned rows = (extents.m + block_rows - 1) / block_rows;
  const unsigned columns = computed_here((extents.n + block_columns - 1) / block_columns);
  const unsigned first = tile / (group * columns) * group;
  const unsigned height = rows - first < group ? rows - first : group;
  const unsigned in_group = tile % (group * columns);
  return {(first + in_group % height) * block_rows, in_group / height * block_columns};
}

/// A block's copies of A and B from global memory to LDS, tile by tile of `pipeline_depth` k.
template <typename Pipeline>
class Copies {
 public:
  static constexpr unsigned a_pitch = Pipeline::block_rows + 4;
  static constexpr unsigned b_pitch = Pipeline::block_columns;
  static constexpr unsigned a_values = pipeline_depth * a_pitch;  // of one buffer
  static constexpr unsigned b_values = pipeline_depth * b_pitch;

  __device__ Copies(Extents extents, const float* a, const float* b, float* a_tiles, float* b_tiles,
                    Place tile, unsigned first_k)
      : a_(a + first_k),
        b_(b + std::size_t{first_k} * extents.ldb),
        b_pitch_in_memory_(extents.ldb),
        left_(extents.k > first_k ? extents.k - first_k : 0) {
    const unsigned row = thread_index() / pipeline_depth;
    const unsigned k = thread_index() % pipeline_depth;
    a_k_ = k;
    a_to_ = a_tiles + k * a_pitch + row;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      const unsigned wanted = tile.row + row + i * a_rows;
      a_from_[i] = (wanted < extents.m ? wanted : extents.m - 1) * extents.lda + k;
    }
#if defined(__HIP_DEVICE_COMPILE__)
    a_ += std::size_t{tile.row} * extents.lda;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      a_from_[i] -= tile.row * extents.lda;
    }
#endif
    b_k_ = thread_index() / b_threads;
    if constexpr (Pipeline::copies_b_by_values) {
      b_to_ = b_tiles + b_k_ * b_pitch + thread_index() % b_threads;
      const unsigned column = tile.column + thread_index() % b_threads;
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
      b_from_[0] = b_k_ * extents.ldb + column;
#else
#pragma unroll
      for (unsigned i = 0; i < b_places; ++i) {
        const unsigned wanted = column + i * b_threads;
        b_from_[i] = b_k_ * extents.ldb + (wanted < extents.n ? wanted : extents.n - 1);
      }
#endif
      return;
    }
    const unsigned column = tile.column + thread_index() % b_threads * 4;
    const unsigned there = column < extents.n ? extents.n - column : 0;
    b_to_ = b_tiles + b_k_ * b_pitch + thread_index() % b_threads * 4;
    b_from_[0] = b_k_ * extents.ldb + (there > 0 ? column : 0);
    b_bytes_ = there < 4 ? there * 4 : 16;
  }

  /// Loads the next tile of k; on NVIDIA to LDS.
  __device__ void begin() {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    const unsigned a_bytes = a_k_ < left_ ? 4 : 0;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      copy_to_lds<4>(a_to_ + buffer_ * a_values + i * a_rows, a_ + a_from_[i], a_bytes);
    }
    if constexpr (Pipeline::copies_b_by_values) {
      const unsigned b_bytes = b_k_ < left_ ? 4 : 0;
#pragma unroll
      for (unsigned i = 0; i < Pipeline::block_columns; i += b_threads) {
        copy_to_lds<4>(b_to_ + buffer_ * b_values + i, b_ + b_from_[0] + i, b_bytes);
      }
    } else {
#pragma unroll
      for (unsigned i = 0; i < b_copies; ++i) {
        const unsigned b_bytes = b_k_ + i * b_rows < left_ ? b_bytes_ : 0;
        const float* const from = b_ + std::size_t{i * b_rows} * b_pitch_in_memory_ + b_from_[0];
        copy_to_lds<16>(b_to_ + buffer_ * b_values + i * b_rows * b_pitch, from, b_bytes);
      }
    }
#else
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      a_loaded_[i] = 0;
    }
    if (a_k_ < left_) {
#pragma unroll
      for (unsigned i = 0; i < a_copies; ++i) {
        a_loaded_[i] = *at(a_, a_from_[i]);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
#pragma unroll
      for (unsigned j = 0; j < b_places; ++j) {
        b_loaded_[i][j] = BPiece{};
      }
      if (b_k_ + i * b_rows < left_) {
#pragma unroll
        for (unsigned j = 0; j < b_places; ++j) {
          const float* const row = b_ + std::size_t{i * b_rows} * b_pitch_in_memory_;
          b_loaded_[i][j] = load_piece<BPiece>(at(row, b_from_[j]));
        }
      }
    }
#endif
    a_ += pipeline_depth;
    b_ += std::size_t{pipeline_depth} * b_pitch_in_memory_;
    left_ = left_ > pipeline_depth ? left_ - pipeline_depth : 0;
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    asm volatile("cp.async.commit_group;");
    next_buffer();
#endif
  }

  /// Stores to LDS what `begin` has loaded, where that is not done by the hardware.
  __device__ void end() {
#if !defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    keep_together(a_loaded_);
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      a_to_[buffer_ * a_values + i * a_rows] = a_loaded_[i];
    }
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
#pragma unroll
      for (unsigned j = 0; j < b_places; ++j) {
        float* const to = b_to_ + buffer_ * b_values + i * b_rows * b_pitch + j * b_threads;
        *reinterpret_cast<BPiece*>(to) = b_loaded_[i][j];
      }
    }
    next_buffer();
#endif
  }

  /// Waits until all but the `in_flight` last tiles are in LDS, for all Pipeline::threads of the
  /// block.
  template <unsigned in_flight>
  __device__ static void wait() {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    asm volatile("cp.async.wait_group %0;" ::"n"(in_flight));
#endif
    __syncthreads();
  }

 private:
  static constexpr unsigned a_rows = Pipeline::threads / pipeline_depth;  // at once
  static constexpr unsigned a_copies = Pipeline::block_rows / a_rows;
  static constexpr unsigned b_threads =  // of one row
      Pipeline::copies_b_by_values ? 32 : Pipeline::block_columns / 4;
  static constexpr unsigned b_rows = Pipeline::threads / b_threads;
  static constexpr unsigned b_copies = pipeline_depth / b_rows;
  using BPiece = std::conditional_t<Pipeline::copies_b_by_values, float, float4>;
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  static constexpr unsigned b_places = 1;
#else
  static constexpr unsigned b_places =
      Pipeline::copies_b_by_values ? Pipeline::block_columns / b_threads : 1;
#endif
  static_assert(Pipeline::block_rows % a_rows == 0 && Pipeline::threads % b_threads == 0 &&
                pipeline_depth % b_rows == 0 && Pipeline::block_columns % b_threads == 0);

  /// (Of an assignment from memory under a condition clang 22 makes scratch.)
  template <typename Piece>
  __device__ static Piece load_piece(const float* from) {
    return *reinterpret_cast<const Piece*>(from);
  }
  __device__ void next_buffer() { buffer_ = buffer_ + 1 == Pipeline::buffers ? 0 : buffer_ + 1; }

  const float* a_;  // of k that is loaded next
  const float* b_;
  unsigned b_pitch_in_memory_;
  unsigned left_;  // k from there to the end
  unsigned a_from_[a_copies];
  unsigned a_k_;
  float* a_to_;
  unsigned b_from_[b_places];
  unsigned b_k_;
  unsigned b_bytes_;
  float* b_to_;
  unsigned buffer_ = 0;
#if !defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  float a_loaded_[a_copies];
  BPiece b_loaded_[b_copies][b_places];
#endif
};

/// Adds the products of `steps` tiles of k from `first_k` on to a thread's sums.
template <typename Pipeline>
__device__ void multiply_tile(ThreadPart<Pipeline>& part, Extents extents, const float* a,
                              const float* b, Place tile, unsigned first_k, unsigned steps,
                              float* a_tiles, float* b_tiles) {
  using TileCopies = Copies<Pipeline>;
  TileCopies copies(extents, a, b, a_tiles, b_tiles, tile, first_k);
#pragma unroll
  for (unsigned i = 0; i + 1 < pipeline_buffers; ++i) {
    copies.begin();
    copies.end();
  }
  TileCopies::template wait<pipeline_buffers - 2>();
  const float* const a_first = a_tiles + Pipeline::place(thread_index()).row;
  const float* const b_first = b_tiles + Pipeline::place(thread_index()).column;
  const float* a_now = a_first;
  const float* b_now = b_first;
#pragma unroll
  for (unsigned i = 0; i < ThreadPart<Pipeline>::loads; ++i) {
    part.template load<0>(i, a_now, b_now);
  }
  unsigned buffer = 0;
  const auto one_k = [&]<unsigned k>() {
    // The next k's operands, after the last k those of the next buffer.
    const float* a_next = a_now + (k + 1) * TileCopies::a_pitch;
    const float* b_next = b_now + (k + 1) * TileCopies::b_pitch;
    wait_for_lds();
    if constexpr (k == Pipeline::copies_begin_at) {
      copies.begin();
    }
    if constexpr (k == Pipeline::copies_end_at) {
      copies.end();
    }
    if constexpr (k + 1 == pipeline_depth) {
      TileCopies::template wait<pipeline_buffers - 2>();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a_next = a_first + buffer * TileCopies::a_values;
      b_next = b_first + buffer * TileCopies::b_values;
      a_now = a_next;
      b_now = b_next;
    }
#pragma unroll
    for (unsigned i = 0; i < Pipeline::fmas; ++i) {
      if (i % Pipeline::fmas_between_loads == 0) {
        part.template load<(k + 1) % 2>(i / Pipeline::fmas_between_loads, a_next, b_next);
        if (i / Pipeline::fmas_between_loads < ThreadPart<Pipeline>::loads) {
          scheduling_barrier();
        }
      }
      part.template multiply_add<k % 2>(Pipeline::place_of_fma(Pipeline::order, i));
    }
    scheduling_barrier();
  };
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    for_each_k<pipeline_depth>(UpTo<pipeline_depth>{}, one_k);
  }
  // What is still in flight would be written over the next tile.
  TileCopies::template wait<0>();
}

/// Stores a thread's part of C from column `first` on, 16 bytes at a time where C's rows allow it.
template <typename Pipeline>
__device__ void store_part(const ThreadPart<Pipeline>& part, Extents extents, Place tile,
                           [[maybe_unused]] unsigned first, float alpha, float beta, float* c) {
  const Place place = Pipeline::place(thread_index());
  const bool is_aligned = extents.ldc % 4 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
#pragma unroll
  for (unsigned i = 0; i < Pipeline::thread_rows; ++i) {
    const unsigned row = tile.row + place.row + Pipeline::row_of(i);
    if (row < extents.m) {
      float* const c_row = c + std::size_t{row} * extents.ldc;
#pragma unroll
      for (unsigned j = 0; j < Pipeline::thread_columns; j += 4) {
        const unsigned column = tile.column + place.column + Pipeline::column_of(j);
        const float four[4] = {part.sum(i, j), part.sum(i, j + 1), part.sum(i, j + 2),
                               part.sum(i, j + 3)};
        if (!Pipeline::copies_b_by_values && is_aligned && column + 4 <= extents.n) {
          store_results(c_row + column, alpha, four, beta);
        } else {
#pragma unroll
          for (unsigned piece = 0; piece < 4; ++piece) {
            if (column + piece < extents.n &&
                (!Pipeline::copies_b_by_values || column + piece >= first)) {
              store_result(c_row + column + piece, alpha, four[piece], beta);
            }
          }
        }
      }
    }
  }
}

/// B's rows begin at multiples of 16 bytes, or B has at least a tile's columns and is copied by
/// values: the last tile of a row then ends where B does. m and n are not 0. A block has the steps
/// along k from first_step(block) to first_step(block + 1): here one tile's. From its last step to
/// its first, so that what another block waits for comes first.
template <typename Pipeline>
__global__ void __launch_bounds__(Pipeline::threads, Pipeline::blocks_per_unit)
    pipelined_kernel(Extents extents, float alpha, const float* __restrict__ a,
                     const float* __restrict__ b, float beta, float* __restrict__ c,
                     SplitTiles split) {
  alignas(16) __shared__ float a_tiles[pipeline_buffers * Copies<Pipeline>::a_values];
  alignas(16) __shared__ float b_tiles[pipeline_buffers * Copies<Pipeline>::b_values];
  const unsigned steps = steps_of(extents.k);
  const unsigned begin = same_for_all_lanes(Pipeline::first_step(blockIdx.x, split, steps));
  unsigned end = same_for_all_lanes(Pipeline::first_step(blockIdx.x + 1, split, steps));
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = same_for_all_lanes((end - 1) / computed_here(steps));
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    Place place = same_for_all_lanes(
        place_of_tile(tile, extents, Pipeline::block_rows, Pipeline::block_columns));
    const unsigned first_column = place.column;
    if (Pipeline::copies_b_by_values && place.column + Pipeline::block_columns > extents.n) {
      place.column = extents.n - Pipeline::block_columns;
    }
    ThreadPart<Pipeline> part;
    multiply_tile(part, extents, a, b, place, (first - tile_begin) * pipeline_depth, end - first,
                  a_tiles, b_tiles);
    if (Pipeline::finish(part, split, steps, tile_begin, end)) {
      store_part(part, extents, place, first_column, alpha, beta, c);
    }
    end = first;
  }
}

}  // namespace sgemm
