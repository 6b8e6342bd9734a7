// How pipelined kernels bring tiles of A and B to LDS: on NVIDIA (sm_80 and later) by cp.async,
// which needs no register and no store instruction for it, and takes care of what lies beyond the
// matrices by writing zeros. Elsewhere by plain loads and stores; not on AMD, where 4.09 and 4.11
// stage them in registers.
//
// Both tiles lie as in memory, A's with k along a row: a thread reads two k of a row at once.
#pragma once

#include <cstdint>

#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// Pipelined kernels: blocks of 128 x 128, groups of 32 lanes on 32 x 64. The host backend's LDS
/// has room for 64 x 64.
#if defined(HIPSCOPE_BACKEND_HOST)
inline constexpr unsigned pipeline_side = 64;
inline constexpr unsigned pipeline_buffers = 3;
#else
inline constexpr unsigned pipeline_side = 128;
inline constexpr unsigned pipeline_buffers = 4;
#endif
inline constexpr unsigned pipeline_depth = 16;  // of k in one buffer
inline constexpr unsigned group_rows = 32;
inline constexpr unsigned group_columns = 64;
inline constexpr unsigned pipeline_threads =
    pipeline_side / group_rows * (pipeline_side / group_columns) * 32;

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

/// A block's copies, tile by tile of `pipeline_depth` k. `TileOfA` says where in LDS a pair of A's
/// values lies: `pitch` from one row to the next, and `place_of_pair(row, pair)` in a row.
template <typename TileOfA, bool is_even>
class Copies {
 public:
  static constexpr unsigned b_pitch = pipeline_side + 2;
  static constexpr unsigned a_values = pipeline_side * TileOfA::pitch;  // of one buffer
  static constexpr unsigned b_values = pipeline_depth * b_pitch;
  static constexpr unsigned lds_bytes = pipeline_buffers * (a_values + b_values) * sizeof(double);

  __device__ Copies(Extents extents, const double* a, const double* b, double* lds, Place tile,
                    unsigned first_k)
      : a_pitch_in_memory_(extents.lda),
        b_pitch_in_memory_(extents.ldb),
        left_(extents.k > first_k ? extents.k - first_k : 0),
        a_tiles_(lds),
        b_tiles_(lds + pipeline_buffers * a_values) {
    const unsigned row = threadIdx.x / a_pairs;
    const unsigned pair = threadIdx.x % a_pairs;
    a_ = a + std::size_t{tile.row + row} * extents.lda + first_k + pair * 2;
    a_to_ = a_tiles_ + row * TileOfA::pitch + TileOfA::place_of_pair(row, pair);
    rows_left_ = tile.row + row < extents.m ? extents.m - tile.row - row : 0;
    const unsigned k = threadIdx.x / b_pairs;
    const unsigned column = threadIdx.x % b_pairs * 2;
    b_ = b + std::size_t{first_k + k} * extents.ldb + tile.column + column;
    b_to_ = b_tiles_ + k * b_pitch + column;
    columns_left_ = tile.column + column < extents.n ? extents.n - tile.column - column : 0;
  }

  /// Begins to copy the next tile; beyond the matrices, zeros.
  __device__ void begin() {
    const unsigned a_k = threadIdx.x % a_pairs * 2;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      const bool is_there = i * a_rows < rows_left_;
      copy_pair<is_even>(a_to_ + buffer_ * a_values + i * a_rows * TileOfA::pitch,
                         a_ + std::size_t{i * a_rows} * a_pitch_in_memory_, is_there && a_k < left_,
                         is_there && a_k + 1 < left_);
    }
    const unsigned b_k = threadIdx.x / b_pairs;
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
      const bool is_there = b_k + i * b_rows < left_;
      copy_pair<is_even>(b_to_ + buffer_ * b_values + i * b_rows * b_pitch,
                         b_ + std::size_t{i * b_rows} * b_pitch_in_memory_,
                         is_there && columns_left_ > 0, is_there && columns_left_ > 1);
    }
    a_ += pipeline_depth;
    b_ += std::size_t{pipeline_depth} * b_pitch_in_memory_;
    left_ = left_ > pipeline_depth ? left_ - pipeline_depth : 0;
    buffer_ = buffer_ + 1 == pipeline_buffers ? 0 : buffer_ + 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
  }

  /// Waits until all but the `on_their_way` last tiles are in LDS, for all threads of the block.
  template <unsigned on_their_way = pipeline_buffers - 2>
  __device__ static void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(on_their_way) : "memory");
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
  static constexpr unsigned a_pairs = pipeline_depth / 2;         // in a row
  static constexpr unsigned a_rows = pipeline_threads / a_pairs;  // at once
  static constexpr unsigned a_copies = pipeline_side / a_rows;
  static constexpr unsigned b_pairs = pipeline_side / 2;
  static constexpr unsigned b_rows = pipeline_threads / b_pairs;
  static constexpr unsigned b_copies = pipeline_depth / b_rows;
  static_assert(pipeline_side % a_rows == 0 && pipeline_threads % b_pairs == 0 &&
                pipeline_depth % b_rows == 0 && a_rows % 8 == 0);

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
  unsigned rows_left_;
  unsigned columns_left_;
  unsigned buffer_ = 0;
};

/// Whether all pairs of values begin at multiples of 16 bytes.
inline bool is_even(const Product& product) {
  const Extents& extents = product.extents;
  const auto is_aligned = [](const double* matrix) {
    return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0;
  };
  return extents.n % 2 == 0 && extents.k % 2 == 0 && extents.lda % 2 == 0 && extents.ldb % 2 == 0 &&
         is_aligned(product.a) && is_aligned(product.b);
}

#endif

}  // namespace dgemm
