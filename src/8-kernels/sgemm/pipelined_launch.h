// What the pipelined rungs share: how they are launched, on B with aligned rows and with room for
// sums that blocks hand over, and which steps along k a block has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "../gemm/problem.h"
#include "device_code.h"
#include "stage.h"

namespace sgemm {

inline constexpr unsigned pipeline_depth = 8;  // of k in one buffer
inline constexpr unsigned pipeline_buffers = 3;

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
#if defined(__HIP_DEVICE_COMPILE__)
    // The same without a division of 64 bits, which AMD's GPUs do in many instructions.
    const unsigned all = split.tiles * steps;
    return all / split.blocks * block + all % split.blocks * block / split.blocks;
#else
    return static_cast<unsigned>(std::uint64_t{split.tiles} * steps * block / split.blocks);
#endif
  }
  return (split.tiles + block - split.blocks) * steps;
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

/// Copies a matrix to rows that begin at multiples of 16 bytes.
[[maybe_unused]] static __global__ void __launch_bounds__(gemm::reference_threads)
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

using PipelinedKernel = void (*)(Extents, float, const float*, const float*, float, float*,
                                 SplitTiles);

/// Blocks of a pipelined kernel that the device has room for at once.
template <PipelinedKernel kernel>
unsigned resident_blocks(unsigned threads) {
  static const unsigned blocks = [threads] {
    int device = 0;
    int units = 0;
    int per_unit = 0;
    hipscope::check(hipGetDevice(&device));
    hipscope::check(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device));
    hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_unit, reinterpret_cast<const void*>(kernel), static_cast<int>(threads), 0));
    return static_cast<unsigned>(units * std::max(per_unit, 1));
  }();
  return blocks;
}

/// Where a launch's workspace has what: marks, handed over sums, B with aligned rows.
struct Workspace {
  Workspace(const Tiles& tiles, unsigned resident, const Extents& extents)
      : blocks(resident),
        aligned_pitch((extents.n + 3) / 4 * 4),
        marks((blocks + 63) / 64 * 64),
        sums(std::uint64_t{blocks} * (tiles.block_rows * tiles.block_columns)),
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

/// Enqueues a pipelined kernel on one block per tile; with `splits_tiles` the last rounds' tiles
/// are dealt out among all blocks.
template <PipelinedKernel kernel, bool splits_tiles>
void enqueue_pipelined(const Stage& stage, const Product& product) {
  Extents extents = product.extents;
  const Workspace workspace(stage.tiles, resident_blocks<kernel>(stage.tiles.threads), extents);
  auto* const values = static_cast<float*>(product.workspace);
  const float* b = product.b;
  // Through registers B comes by 16 bytes each, of which none may lie behind its end.
  const bool has_aligned_rows =
      extents.ldb % 4 == 0 && extents.n % 4 == 0 && reinterpret_cast<std::uintptr_t>(b) % 16 == 0;
  if (extents.k > 0 && !has_aligned_rows) {
    float* const aligned = values + workspace.marks + workspace.sums;
    hipscope::launch(align_rows_kernel, gemm::row_shape(extents.k, (extents.n + 3) / 4), aligned,
                     workspace.aligned_pitch, b, extents.ldb, extents.k, extents.n);
    b = aligned;
    extents.ldb = workspace.aligned_pitch;
  }
  const unsigned tiles = blocks_of(extents.m, stage.tiles.block_rows) *
                         blocks_of(extents.n, stage.tiles.block_columns);
  SplitTiles split;
  if (splits_tiles) {
    split = split_tiles(tiles, steps_of(extents.k), workspace.blocks);
    split.ready = reinterpret_cast<unsigned*>(values);
    split.sums = values + workspace.marks;
  }
  hipscope::launch(
      kernel,
      {.grid = dim3(split.blocks + tiles - split.tiles), .block = dim3(stage.tiles.threads)},
      extents, product.alpha, product.a, b, product.beta, product.c, split);
}

/// `tiles` is known when it compiles, so that a stage's functions know it.
template <PipelinedKernel kernel, Tiles tiles, bool splits_tiles>
Stage pipelined_stage(const std::string& technique) {
  return {.technique = technique,
          .tiles = tiles,
          .any_size = true,
          .is_contender = splits_tiles,
          .kernel = reinterpret_cast<const void*>(kernel),
          .enqueue = enqueue_pipelined<kernel, splits_tiles>,
          .workspace_bytes = [](const Extents& extents) {
            return Workspace(tiles, resident_blocks<kernel>(tiles.threads), extents).bytes();
          }};
}

}  // namespace sgemm
