// Beyond the source: the stages that reach the vendor's library, on NVIDIA by copies that the
// hardware makes from global memory to LDS.
//
// What one FMA instruction costs is an issue slot, and so does everything else: each scheduler
// issues one instruction per cycle, and an FMA takes it whole (sm_90; on AMD a wave of 64 lanes on
// 16 lanes of a SIMD leaves others time). The share of FMAs among all instructions is a limit that
// nothing hides. Hence
//   copies          cp.async writes a tile's values to LDS without a register and without a store
//                   instruction, and turns A as it goes: 4 bytes each, k by k. Three buffers:
//                   two tiles are on their way while one is multiplied, one barrier per tile
//   thread tile     8 x 16: per k six loads of 16 bytes from LDS for 128 FMAs
//   fragments       two sets in registers; the loads for the next k are spread over the FMAs of
//                   this one. FMAs go up and down the columns, so that consecutive ones share an
//                   operand
//   split tiles     (`stream-K`, Osama et al., PPoPP 2023) 512 tiles on 132 CUs take four rounds
//                   where 3.88 would do, and 32 tiles leave 100 CUs idle. The tiles of the last
//                   rounds are one long row of steps along k, of which each block takes an equal
//                   piece. A block that ends inside a tile hands its sums over to the one that
//                   finishes it
//   any size        rows beyond the end are read again from the last row, and not stored; columns
//                   and k beyond the end are copied as zeros. Rows of B that do not begin at
//                   multiples of 16 bytes are moved to such that do, first
// Before sm_80, and on the host backend, the copies go through registers: loads at the beginning of
// a tile, stores to LDS at its end. On AMD these stages are left out: what the copies hold then is
// too much for a thread's registers (clang 15 spills to scratch on gfx900 and gfx1030), and
// register_tile.h, which knows no edges, has what there is room for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../gemm/problem.h"
#include "device_code.h"
#include "stage.h"

namespace sgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// In which order a thread goes through its FMAs of one k.
enum class FmaOrder {
  rows,     ///< along the rows, to and fro
  columns,  ///< up and down the columns
};

/// What a pipelined kernel is made of: 8 x 8 per thread, two blocks of 128 x 128 on each CU. The
/// other kernels say what is different.
struct Pipeline8x8 {
  static constexpr unsigned block_rows = 128;
  static constexpr unsigned block_columns = 128;
  static constexpr unsigned threads = 256;
  static constexpr unsigned thread_rows = 8;
  static constexpr unsigned thread_columns = 8;
  static constexpr unsigned lane_rows = 4;   ///< 32 lanes stand in so many rows
  static constexpr unsigned group_rows = 4;  ///< groups of 32 lanes stand in so many rows
  static constexpr unsigned blocks_per_unit = 2;
  static constexpr FmaOrder order = FmaOrder::rows;
  static constexpr unsigned fmas_between_loads = 1;  ///< from LDS, for the next k
  static constexpr unsigned copies_begin_at = 0;     ///< which k of a tile
  static constexpr bool splits_tiles = false;
};

/// 8 x 16 per thread, one block of 128 x 256 on each CU.
struct Pipeline8x16 : Pipeline8x8 {
  static constexpr unsigned block_columns = 256;
  static constexpr unsigned thread_columns = 16;
  static constexpr unsigned lane_rows = 8;
  static constexpr unsigned group_rows = 2;
  static constexpr unsigned blocks_per_unit = 1;
};

/// The same in the order that was found best by measurement: ptxas moves instructions as it likes,
/// and what it makes of one order or another differs by some percent.
struct OrderedFmas : Pipeline8x16 {
  static constexpr FmaOrder order = FmaOrder::columns;
  static constexpr unsigned fmas_between_loads = 4;
  static constexpr unsigned copies_begin_at = 3;
};

/// The same, with the last rounds' tiles shared by all blocks.
struct SplitAlongK : OrderedFmas {
  static constexpr bool splits_tiles = true;
};

constexpr unsigned pipeline_depth = 8;  // of k in one buffer
constexpr unsigned pipeline_buffers = 3;

/// The tiles that blocks share, and what they need for it. Each block below `blocks` takes an equal
/// part of the steps of the first `tiles` tiles; each further block has one of the other tiles.
struct SplitTiles {
  unsigned tiles = 0;
  unsigned blocks = 0;
  float* sums = nullptr;  ///< per block a tile's sums, that another block is to add
  unsigned* ready =
      nullptr;  ///< per block 1 when its sums are there; whoever takes them sets it to 0
};

/// Steps along k of a tile; with k = 0 one, of zeros.
__host__ __device__ constexpr unsigned steps_of(unsigned k) {
  return k == 0 ? 1 : (k + pipeline_depth - 1) / pipeline_depth;
}

/// The first step of a block, of all tiles' steps one tile after the other.
__device__ inline unsigned first_step(unsigned block, SplitTiles split, unsigned steps) {
  if (block < split.blocks) {
    return static_cast<unsigned>(std::uint64_t{split.tiles} * steps * block / split.blocks);
  }
  return (split.tiles + block - split.blocks) * steps;
}

/// Where a tile lies: groups of rows of tiles, each column by column, so that blocks that run at
/// the same time share parts of A and of B in L2.
template <typename Pipeline>
__device__ Place place_of_tile(unsigned tile, Extents extents) {
  constexpr unsigned group = 8;
  const unsigned rows = (extents.m + Pipeline::block_rows - 1) / Pipeline::block_rows;
  const unsigned columns = (extents.n + Pipeline::block_columns - 1) / Pipeline::block_columns;
  const unsigned first = tile / (group * columns) * group;
  const unsigned height = rows - first < group ? rows - first : group;
  const unsigned in_group = tile % (group * columns);
  return {(first + in_group % height) * Pipeline::block_rows,
          in_group / height * Pipeline::block_columns};
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
    const unsigned row = threadIdx.x / pipeline_depth;
    const unsigned k = threadIdx.x % pipeline_depth;
    a_k_ = k;
    a_to_ = a_tiles + k * a_pitch + row;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      const unsigned wanted = tile.row + row + i * a_rows;
      a_from_[i] = (wanted < extents.m ? wanted : extents.m - 1) * extents.lda + k;
    }
    const unsigned column = tile.column + threadIdx.x % b_threads * 4;
    const unsigned there = column < extents.n ? extents.n - column : 0;
    b_k_ = threadIdx.x / b_threads;
    b_to_ = b_tiles + b_k_ * b_pitch + threadIdx.x % b_threads * 4;
    b_from_ = b_k_ * extents.ldb + (there > 0 ? column : 0);
    b_bytes_ = there < 4 ? there * 4 : 16;
  }

  /// Loads the next tile of k; on NVIDIA to LDS.
  __device__ void begin() {
    const unsigned a_bytes = a_k_ < left_ ? 4 : 0;
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
      copy_to_lds<4>(a_to_ + buffer_ * a_values + i * a_rows, a_ + a_from_[i], a_bytes);
#else
      a_loaded_[i] = a_bytes > 0 ? a_[a_from_[i]] : 0.0F;
#endif
    }
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
      const unsigned b_bytes = b_k_ + i * b_rows < left_ ? b_bytes_ : 0;
      const float* const from = b_ + std::size_t{i * b_rows} * b_pitch_in_memory_ + b_from_;
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
      copy_to_lds<16>(b_to_ + buffer_ * b_values + i * b_rows * b_pitch, from, b_bytes);
#else
      b_loaded_[i] = make_float4(b_bytes > 0 ? from[0] : 0.0F, b_bytes > 4 ? from[1] : 0.0F,
                                 b_bytes > 8 ? from[2] : 0.0F, b_bytes > 12 ? from[3] : 0.0F);
#endif
    }
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
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      a_to_[buffer_ * a_values + i * a_rows] = a_loaded_[i];
    }
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
      store_four(b_to_ + buffer_ * b_values + i * b_rows * b_pitch, b_loaded_[i]);
    }
    next_buffer();
#endif
  }

  /// Waits until all but the `on_their_way` last tiles are in LDS, for all threads of the block.
  template <unsigned on_their_way>
  __device__ static void wait() {
#if defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
    asm volatile("cp.async.wait_group %0;" ::"n"(on_their_way));
#endif
    __syncthreads();
  }

 private:
  static constexpr unsigned a_rows = Pipeline::threads / pipeline_depth;  // at once
  static constexpr unsigned a_copies = Pipeline::block_rows / a_rows;
  static constexpr unsigned b_threads = Pipeline::block_columns / 4;  // of one row
  static constexpr unsigned b_rows = Pipeline::threads / b_threads;
  static constexpr unsigned b_copies = pipeline_depth / b_rows;
  static_assert(Pipeline::block_rows % a_rows == 0 && Pipeline::threads % b_threads == 0 &&
                pipeline_depth % b_rows == 0);

  __device__ void next_buffer() { buffer_ = buffer_ + 1 == pipeline_buffers ? 0 : buffer_ + 1; }

  const float* a_;  // of k that is loaded next
  const float* b_;
  unsigned b_pitch_in_memory_;
  unsigned left_;  // k from there to the end
  unsigned a_from_[a_copies];
  unsigned a_k_;
  float* a_to_;
  unsigned b_from_;
  unsigned b_k_;
  unsigned b_bytes_;
  float* b_to_;
  unsigned buffer_ = 0;
#if !defined(HIPSCOPE_SGEMM_COPIES_TO_LDS)
  float a_loaded_[a_copies];
  float4 b_loaded_[b_copies];
#endif
};

/// The `i`th FMA of a thread tile.
template <typename Pipeline>
__device__ constexpr Place place_of_fma(unsigned i) {
  if (Pipeline::order == FmaOrder::rows) {
    const unsigned row = i / Pipeline::thread_columns;
    const unsigned column = i % Pipeline::thread_columns;
    return {row, row % 2 == 0 ? column : Pipeline::thread_columns - 1 - column};
  }
  const unsigned column = i / Pipeline::thread_rows;
  const unsigned row = i % Pipeline::thread_rows;
  return {column % 2 == 0 ? row : Pipeline::thread_rows - 1 - row, column};
}

/// A thread's part of a tile: its sums, and the operands of two k.
template <typename Pipeline>
class ThreadPart {
 public:
  static constexpr unsigned rows = Pipeline::thread_rows;
  static constexpr unsigned columns = Pipeline::thread_columns;
  static constexpr unsigned lane_columns = 32 / Pipeline::lane_rows;

  /// The place of the thread's first element in the tile. Its elements are pieces of 4 x 4, from
  /// one to the next as many as lanes stand beside each other.
  __device__ static Place place() {
    const unsigned lane = threadIdx.x % 32;
    const unsigned group = threadIdx.x / 32;
    return {group % Pipeline::group_rows * (Pipeline::lane_rows * rows) + lane / lane_columns * 4,
            group / Pipeline::group_rows * (lane_columns * columns) + lane % lane_columns * 4};
  }
  __device__ static constexpr unsigned row_of(unsigned i) {
    return i / 4 * (4 * Pipeline::lane_rows) + i % 4;
  }
  __device__ static constexpr unsigned column_of(unsigned j) {
    return j / 4 * (4 * lane_columns) + j % 4;
  }

  /// The operands' `i`th load of 16 bytes: B's first, since every FMA of the first columns needs
  /// them.
  template <unsigned set>
  __device__ void load(unsigned i, const float* a, const float* b) {
    if (i < columns / 4) {
      sgemm::load(b_[set][i], b + column_of(4 * i));
    } else if (i < loads) {
      sgemm::load(a_[set][i - columns / 4], a + row_of(4 * (i - columns / 4)));
    }
  }
  static constexpr unsigned loads = (rows + columns) / 4;

  template <unsigned set>
  __device__ void multiply_add(Place place) {
    sums[place.row][place.column] +=
        a_[set][place.row / 4][place.row % 4] * b_[set][place.column / 4][place.column % 4];
  }

  float sums[rows][columns] = {};

 private:
  float a_[2][rows / 4][4];
  float b_[2][columns / 4][4];
};

/// Adds the products of `steps` tiles of k from `first_k` on to a thread's sums.
template <typename Pipeline>
__device__ void multiply_tile(ThreadPart<Pipeline>& part, Extents extents, const float* a,
                              const float* b, Place tile, unsigned first_k, unsigned steps,
                              float* a_tiles, float* b_tiles) {
  using Part = ThreadPart<Pipeline>;
  Copies<Pipeline> copies(extents, a, b, a_tiles, b_tiles, tile, first_k);
#pragma unroll
  for (unsigned i = 0; i + 1 < pipeline_buffers; ++i) {
    copies.begin();
    copies.end();
  }
  copies.template wait<pipeline_buffers - 2>();
  const float* const a_first = a_tiles + Part::place().row;
  const float* const b_first = b_tiles + Part::place().column;
  const float* a_now = a_first;
  const float* b_now = b_first;
#pragma unroll
  for (unsigned i = 0; i < Part::loads; ++i) {
    part.template load<0>(i, a_now, b_now);
  }
  unsigned buffer = 0;
  const auto one_k = [&]<unsigned k>() {
    // The next k's operands, after the last k those of the next buffer.
    const float* a_next = a_now + (k + 1) * Copies<Pipeline>::a_pitch;
    const float* b_next = b_now + (k + 1) * Copies<Pipeline>::b_pitch;
    if constexpr (k == Pipeline::copies_begin_at) {
      copies.begin();
    }
    if constexpr (k + 1 == pipeline_depth) {
      copies.end();
      copies.template wait<pipeline_buffers - 2>();
      buffer = buffer + 1 == pipeline_buffers ? 0 : buffer + 1;
      a_next = a_first + buffer * Copies<Pipeline>::a_values;
      b_next = b_first + buffer * Copies<Pipeline>::b_values;
      a_now = a_next;
      b_now = b_next;
    }
#pragma unroll
    for (unsigned i = 0; i < Part::rows * Part::columns; ++i) {
      if (i % Pipeline::fmas_between_loads == 0) {
        part.template load<(k + 1) % 2>(i / Pipeline::fmas_between_loads, a_next, b_next);
      }
      part.template multiply_add<k % 2>(place_of_fma<Pipeline>(i));
    }
  };
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    one_k.template operator()<0>();
    one_k.template operator()<1>();
    one_k.template operator()<2>();
    one_k.template operator()<3>();
    one_k.template operator()<4>();
    one_k.template operator()<5>();
    one_k.template operator()<6>();
    one_k.template operator()<7>();
  }
  static_assert(pipeline_depth == 8);
  // What is still on its way would be written over the next tile.
  copies.template wait<0>();
}

/// Hands a thread's sums over. Each value by itself: with stores of 16 bytes the compiler would
/// keep the sums in groups of four registers, where FMAs' operands get into each other's way.
template <typename Pipeline>
__device__ void hand_over(const ThreadPart<Pipeline>& part, SplitTiles split) {
  using Part = ThreadPart<Pipeline>;
  float* const to = split.sums +
                    std::size_t{blockIdx.x} * (Pipeline::block_rows * Pipeline::block_columns) +
                    threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < Part::rows * Part::columns; ++i) {
    to[i * Pipeline::threads] = part.sums[i / Part::columns][i % Part::columns];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&split.ready[blockIdx.x], 1U);
  }
}

/// Adds the sums of all blocks before this one that have steps of the tile that begins at step
/// `tile_begin`, down to its first. They have handed them over before they did anything else.
template <typename Pipeline>
__device__ void take_over(ThreadPart<Pipeline>& part, SplitTiles split, unsigned steps,
                          unsigned tile_begin) {
  using Part = ThreadPart<Pipeline>;
  unsigned block = blockIdx.x;
  while (first_step(block, split, steps) > tile_begin) {
    --block;
    if (threadIdx.x == 0) {
      while (atomicCAS(&split.ready[block], 1U, 0U) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    const float* const from =
        split.sums + std::size_t{block} * (Pipeline::block_rows * Pipeline::block_columns) +
        threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < Part::rows * Part::columns; ++i) {
      part.sums[i / Part::columns][i % Part::columns] += from[i * Pipeline::threads];
    }
  }
}

/// Stores a thread's part of C, 16 bytes at a time where C's rows allow it.
template <typename Pipeline>
__device__ void store_part(const ThreadPart<Pipeline>& part, Extents extents, Place tile,
                           float alpha, float beta, float* c) {
  using Part = ThreadPart<Pipeline>;
  const Place place = Part::place();
  const bool is_aligned = extents.ldc % 4 == 0 && reinterpret_cast<std::uintptr_t>(c) % 16 == 0;
#pragma unroll
  for (unsigned i = 0; i < Part::rows; ++i) {
    const unsigned row = tile.row + place.row + Part::row_of(i);
    if (row < extents.m) {
      float* const c_row = c + std::size_t{row} * extents.ldc;
#pragma unroll
      for (unsigned j = 0; j < Part::columns; j += 4) {
        const unsigned column = tile.column + place.column + Part::column_of(j);
        const float four[4] = {part.sums[i][j], part.sums[i][j + 1], part.sums[i][j + 2],
                               part.sums[i][j + 3]};
        if (is_aligned && column + 4 <= extents.n) {
          store_results(c_row + column, alpha, four, beta);
        } else {
#pragma unroll
          for (unsigned piece = 0; piece < 4; ++piece) {
            if (column + piece < extents.n) {
              store_result(c_row + column + piece, alpha, four[piece], beta);
            }
          }
        }
      }
    }
  }
}

/// B's rows begin at multiples of 16 bytes, m and n are not 0. From its last step to its first, so
/// that what another block waits for comes first.
template <typename Pipeline>
__global__ void __launch_bounds__(Pipeline::threads, Pipeline::blocks_per_unit)
    pipelined_kernel(Extents extents, float alpha, const float* __restrict__ a,
                     const float* __restrict__ b, float beta, float* __restrict__ c,
                     SplitTiles split) {
  alignas(16) __shared__ float a_tiles[pipeline_buffers * Copies<Pipeline>::a_values];
  alignas(16) __shared__ float b_tiles[pipeline_buffers * Copies<Pipeline>::b_values];
  const unsigned steps = steps_of(extents.k);
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = place_of_tile<Pipeline>(tile, extents);
    ThreadPart<Pipeline> part;
    multiply_tile(part, extents, a, b, place, (first - tile_begin) * pipeline_depth, end - first,
                  a_tiles, b_tiles);
    bool is_mine = true;
    if constexpr (Pipeline::splits_tiles) {
      is_mine = end == tile_begin + steps;
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

/// Copies a matrix to rows that begin at multiples of 16 bytes.
static __global__ void __launch_bounds__(gemm::reference_threads)
    align_rows_kernel(float* to, unsigned to_pitch, const float* from, unsigned from_pitch,
                      unsigned rows, unsigned columns) {
  const unsigned column = (blockIdx.x * gemm::reference_threads + threadIdx.x) * 4;
  if (column < columns) {
    for (unsigned row = blockIdx.y; row < rows; row += gridDim.y) {
      const float* const place = from + std::size_t{row} * from_pitch + column;
      const unsigned there = columns - column;
      store_four(to + std::size_t{row} * to_pitch + column,
                 make_float4(place[0], there > 1 ? place[1] : 0.0F, there > 2 ? place[2] : 0.0F,
                             there > 3 ? place[3] : 0.0F));
    }
  }
}

/// Blocks of a pipelined kernel that the device has room for at once.
template <typename Pipeline>
unsigned resident_blocks() {
  static const unsigned blocks = [] {
    int device = 0;
    int units = 0;
    int per_unit = 0;
    hipscope::check(hipGetDevice(&device));
    hipscope::check(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
    hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_unit, reinterpret_cast<const void*>(pipelined_kernel<Pipeline>),
        static_cast<int>(Pipeline::threads), 0));
    return static_cast<unsigned>(units * std::max(per_unit, 1));
  }();
  return blocks;
}

/// Where a launch's workspace has what: marks, handed over sums, B with aligned rows.
template <typename Pipeline>
struct Workspace {
  explicit Workspace(const Extents& extents)
      : blocks(resident_blocks<Pipeline>()),
        aligned_pitch((extents.n + 3) / 4 * 4),
        marks((blocks + 63) / 64 * 64),
        sums(std::uint64_t{blocks} * (Pipeline::block_rows * Pipeline::block_columns)),
        aligned_b(std::uint64_t{extents.k} * aligned_pitch) {}

  [[nodiscard]] std::uint64_t bytes() const { return sizeof(float) * (marks + sums + aligned_b); }

  unsigned blocks;
  unsigned aligned_pitch;
  std::uint64_t marks;  // and what follows: values of 4 bytes
  std::uint64_t sums;
  std::uint64_t aligned_b;
};

/// The tiles that do not fill the last round of blocks, and one round more, are split.
inline SplitTiles split_tiles(unsigned tiles, unsigned steps, unsigned resident) {
  constexpr unsigned fewest_steps = 4;  // of a block: less is not worth handing over
  SplitTiles split;
  if (tiles % resident > 0) {
    split.tiles = std::min(tiles, tiles % resident + resident);
    const unsigned most = std::max(split.tiles, split.tiles * steps / fewest_steps);
    split.blocks = std::min(resident, most);
  }
  return split;
}

template <typename Pipeline>
void enqueue_pipelined(const Stage&, const Product& product) {
  Extents extents = product.extents;
  const Workspace<Pipeline> workspace(extents);
  auto* const values = static_cast<float*>(product.workspace);
  const float* b = product.b;
  if (extents.k > 0 && (extents.ldb % 4 != 0 || reinterpret_cast<std::uintptr_t>(b) % 16 != 0)) {
    float* const aligned = values + workspace.marks + workspace.sums;
    hipscope::launch(align_rows_kernel, gemm::row_shape(extents.k, (extents.n + 3) / 4), aligned,
                     workspace.aligned_pitch, b, extents.ldb, extents.k, extents.n);
    b = aligned;
    extents.ldb = workspace.aligned_pitch;
  }
  const unsigned tiles =
      blocks_of(extents.m, Pipeline::block_rows) * blocks_of(extents.n, Pipeline::block_columns);
  SplitTiles split;
  if (Pipeline::splits_tiles) {
    split = split_tiles(tiles, steps_of(extents.k), workspace.blocks);
    split.ready = reinterpret_cast<unsigned*>(values);
    split.sums = values + workspace.marks;
  }
  hipscope::launch(
      pipelined_kernel<Pipeline>,
      {.grid = dim3(split.blocks + tiles - split.tiles), .block = dim3(Pipeline::threads)}, extents,
      product.alpha, product.a, b, product.beta, product.c, split);
}

template <typename Pipeline>
Stage pipelined_stage(const std::string& technique) {
  return {.technique = technique,
          .tiles = {.block_rows = Pipeline::block_rows,
                    .block_columns = Pipeline::block_columns,
                    .depth = pipeline_depth,
                    .threads = Pipeline::threads,
                    .thread_rows = Pipeline::thread_rows,
                    .thread_columns = Pipeline::thread_columns},
          .any_size = true,
          .is_contender = Pipeline::splits_tiles,
          .kernel = reinterpret_cast<const void*>(pipelined_kernel<Pipeline>),
          .enqueue = enqueue_pipelined<Pipeline>,
          .workspace_bytes = [](const Extents& extents) {
            return Workspace<Pipeline>(extents).bytes();
          }};
}

/// For matrices of few tiles.
struct SplitAlongK8x8 : Pipeline8x8 {
  static constexpr bool splits_tiles = true;
};

/// In the order of the ladder; none on AMD.
inline std::vector<Stage> pipelined_stages() {
  return {pipelined_stage<Pipeline8x8>("asynchronous copies, 8 x 8"),
          pipelined_stage<Pipeline8x16>("8 x 16 per thread"),
          pipelined_stage<OrderedFmas>("FMAs in columns, copies amid them"),
          pipelined_stage<SplitAlongK>("tiles split along k"),
          pipelined_stage<SplitAlongK8x8>("8 x 8, tiles split along k")};
}

#else

inline std::vector<Stage> pipelined_stages() { return {}; }

#endif

}  // namespace sgemm
