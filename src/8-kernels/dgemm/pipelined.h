// Beyond the source: the stages that reach the units' limits, and the vendor's library.
//
//   copies         by the hardware, from global memory to LDS (copies.h): four buffers, up to three
//                  tiles on their way while one is multiplied, one barrier per tile
//   units          the vector unit (vector_part.h) or matrix instructions (matrix_part.h)
//   split tiles    (`stream-K`, Osama et al., PPoPP 2023) 1024 tiles on 132 CUs take 8 rounds where
//                  7.76 would do. The tiles of the last rounds are one long row of steps along k,
//                  of which each block takes an equal piece. A block that ends inside a tile hands
//                  its sums over to the one that finishes it
//   any size       zeros beyond the end of k and of columns; matrices whose extents or rows are odd
//                  are copied 8 bytes at a time instead of 16
// On AMD these stages are left out: there are no such copies, and what they hold in registers
// instead is too much. register_tile.h and matrix_instructions.h have what there is room for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "copies.h"
#include "matrix_part.h"
#include "stage.h"
#include "vector_part.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

/// The tiles that blocks share, and what they need for it. Each block below `blocks` takes an equal
/// part of the steps of the first `tiles` tiles; each further block has one of the other tiles.
struct SplitTiles {
  unsigned tiles = 0;
  unsigned blocks = 0;
  double* sums = nullptr;  ///< per block a tile's sums, that another block is to add
  /// Per block 1 when its sums are there; whoever takes them sets it to 0.
  unsigned* ready = nullptr;
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
__device__ inline Place place_of_tile(unsigned tile, Extents extents) {
  constexpr unsigned group = 4;
  const unsigned rows = (extents.m + pipeline_side - 1) / pipeline_side;
  const unsigned columns = (extents.n + pipeline_side - 1) / pipeline_side;
  const unsigned first = tile / (group * columns) * group;
  const unsigned height = rows - first < group ? rows - first : group;
  const unsigned in_group = tile % (group * columns);
  return {(first + in_group % height) * pipeline_side, in_group / height * pipeline_side};
}

/// The thread's first element in its block's tile.
template <typename Part>
__device__ Place place_in_tile() {
  constexpr unsigned groups_of_rows = pipeline_side / group_rows;
  const unsigned group = threadIdx.x / 32;
  const Place place = Part::place();
  return {group % groups_of_rows * group_rows + place.row,
          group / groups_of_rows * group_columns + place.column};
}

inline constexpr unsigned tile_values = pipeline_side * pipeline_side;

/// Hands a thread's sums over.
template <typename Part>
__device__ void hand_over(const Part& part, SplitTiles split) {
  double* const to = split.sums + std::size_t{blockIdx.x} * tile_values + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < Part::rows * Part::pairs * 2; ++i) {
    to[i * pipeline_threads] = part.sums[i / (Part::pairs * 2)][i / 2 % Part::pairs][i % 2];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&split.ready[blockIdx.x], 1U);
  }
}

/// Adds the sums of all blocks before this one that have steps of the tile that begins at step
/// `tile_begin`, down to its first. They have handed them over before they did anything else; and
/// they run, or have run: split blocks come first in the grid, one for each CU at most, and lower
/// numbers begin no later.
template <typename Part>
__device__ void take_over(Part& part, SplitTiles split, unsigned steps, unsigned tile_begin) {
  unsigned block = blockIdx.x;
  while (first_step(block, split, steps) > tile_begin) {
    --block;
    if (threadIdx.x == 0) {
      while (atomicCAS(&split.ready[block], 1U, 0U) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    const double* const from = split.sums + std::size_t{block} * tile_values + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < Part::rows * Part::pairs * 2; ++i) {
      part.sums[i / (Part::pairs * 2)][i / 2 % Part::pairs][i % 2] += from[i * pipeline_threads];
    }
  }
}

/// Stores a thread's part of C, two columns at a time where C's rows allow it.
template <typename Part>
__device__ void store_part(const Part& part, Extents extents, Place tile, double alpha, double beta,
                           double* c) {
  const Place place = place_in_tile<Part>();
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

/// m and n are not 0. From its last step to its first, so that what another block waits for comes
/// first.
template <typename Part, bool is_even, bool splits_tiles>
__global__ void __launch_bounds__(pipeline_threads, 1)
    pipelined_kernel(Extents extents, double alpha, const double* __restrict__ a,
                     const double* __restrict__ b, double beta, double* __restrict__ c,
                     SplitTiles split) {
  HIP_DYNAMIC_SHARED(double2, lds)
  const unsigned steps = steps_of(extents.k);
  const unsigned begin = first_step(blockIdx.x, split, steps);
  unsigned end = first_step(blockIdx.x + 1, split, steps);
#pragma unroll 1
  while (end > begin) {
    const unsigned tile = (end - 1) / steps;
    const unsigned tile_begin = tile * steps;
    const unsigned first = begin > tile_begin ? begin : tile_begin;
    const Place place = place_of_tile(tile, extents);
    Part part;
    Copies<typename Part::TileOfA, is_even> copies(extents, a, b, reinterpret_cast<double*>(lds),
                                                   place, (first - tile_begin) * pipeline_depth);
#pragma unroll
    for (unsigned i = 0; i + 1 < pipeline_buffers; ++i) {
      copies.begin();
    }
    copies.wait();
    part.multiply(copies, place_in_tile<Part>(), end - first);
    // What is still on its way would be written over the next tile.
    copies.template wait<0>();
    bool is_mine = true;
    if constexpr (splits_tiles) {
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

template <typename Part>
inline constexpr unsigned pipeline_lds_bytes = Copies<typename Part::TileOfA, true>::lds_bytes;

/// A kernel with room for its LDS, which is more than a launch takes without being asked for.
template <typename Part, bool is_even, bool splits_tiles>
auto prepared_kernel() {
  static const auto kernel = [] {
    const auto chosen = pipelined_kernel<Part, is_even, splits_tiles>;
    hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(chosen),
                                        hipFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(pipeline_lds_bytes<Part>)));
    return chosen;
  }();
  return kernel;
}

/// Blocks that run at once: one per CU.
inline unsigned resident_blocks() {
  static const unsigned blocks = [] {
    int device = 0;
    int units = 0;
    hipscope::check(hipGetDevice(&device));
    hipscope::check(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
    return static_cast<unsigned>(units);
  }();
  return blocks;
}

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

/// The marks come first in a workspace, then the sums.
inline std::uint64_t bytes_of_marks() {
  return (std::uint64_t{resident_blocks()} + 63) / 64 * 64 * sizeof(unsigned);
}

template <typename Part, bool splits_tiles>
void enqueue_pipelined(const Stage& stage, const Product& product) {
  const Extents& extents = product.extents;
  const auto is_aligned = [](const double* matrix) {
    return reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0;
  };
  const bool is_even = extents.n % 2 == 0 && extents.k % 2 == 0 && extents.lda % 2 == 0 &&
                       extents.ldb % 2 == 0 && is_aligned(product.a) && is_aligned(product.b);
  const auto kernel = is_even ? prepared_kernel<Part, true, splits_tiles>()
                              : prepared_kernel<Part, false, splits_tiles>();
  const unsigned tiles = blocks_of(extents.m, pipeline_side) * blocks_of(extents.n, pipeline_side);
  SplitTiles split;
  if (splits_tiles) {
    split = split_tiles(tiles, steps_of(extents.k), resident_blocks());
    split.ready = static_cast<unsigned*>(product.workspace);
    split.sums = reinterpret_cast<double*>(static_cast<unsigned char*>(product.workspace) +
                                           bytes_of_marks());
  }
  hipscope::launch(kernel,
                   {.grid = dim3(split.blocks + tiles - split.tiles),
                    .block = dim3(pipeline_threads),
                    .lds_bytes = stage.dynamic_lds_bytes},
                   extents, product.alpha, product.a, product.b, product.beta, product.c, split);
}

template <typename Part, bool splits_tiles>
Stage pipelined_stage(const std::string& technique) {
  Stage stage = {
      .technique = technique,
      .tiles = {.block_rows = pipeline_side,
                .block_columns = pipeline_side,
                .depth = pipeline_depth,
                .threads = pipeline_threads,
                .thread_rows = Part::unit == Unit::matrix ? group_rows : Part::rows,
                .thread_columns = Part::unit == Unit::matrix ? group_columns : 2 * Part::pairs},
      .unit = Part::unit,
      .dynamic_lds_bytes = pipeline_lds_bytes<Part>,
      .any_size = true,
      .is_contender = splits_tiles,
      .kernel = reinterpret_cast<const void*>(pipelined_kernel<Part, true, splits_tiles>),
      .enqueue = enqueue_pipelined<Part, splits_tiles>};
  if (splits_tiles) {
    stage.workspace_bytes = [](const Extents&) {
      return bytes_of_marks() + std::uint64_t{resident_blocks()} * tile_values * sizeof(double);
    };
  }
  if (Part::unit == Unit::matrix) {
    stage.is_on = [](const hipscope::DeviceDescription& device) {
      const auto begins = [&](const char* start) {
        return device.architecture.rfind(start, 0) == 0;
      };
      const bool is_older = begins("sm_5") || begins("sm_6") || begins("sm_7");
      return !is_older;
    };
  }
  return stage;
}

/// In the order of the ladder; none on AMD.
inline std::vector<Stage> pipelined_stages() {
  return {pipelined_stage<VectorPart, false>("asynchronous copies"),
          pipelined_stage<VectorPart, true>("tiles split along k"),
          pipelined_stage<MatrixPart, false>("matrix instructions, asynchronous copies"),
          pipelined_stage<MatrixPart, true>("matrix instructions, tiles split along k")};
}

#else

inline std::vector<Stage> pipelined_stages() { return {}; }

#endif

}  // namespace dgemm
