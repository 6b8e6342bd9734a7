// The launch of the kernel of 16 to 20: on B with aligned rows or value by value, and with room for
// sums that blocks pass on.
#pragma once

#include <hipscope/footprint.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "16-asynchronous-copies.h"
#include "8-kernels/gemm/clusters.h"
#include "8-kernels/gemm/problem.h"
#include "stage.h"

namespace sgemm {

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

/// Blocks of the kernel that the device has room for at once.
template <typename Pipeline>
unsigned resident_blocks() {
  static const int per_unit =
      std::max(1, hipscope::resident_blocks(pipelined_kernel<Pipeline>, Pipeline::threads));
  return gemm::compute_units() * static_cast<unsigned>(per_unit);
}

/// Bytes of a launch's workspace: marks and sums that are handed over, then B with aligned rows.
template <typename Pipeline>
std::uint64_t bytes_of_sums() {
  return gemm::bytes_of_split_tiles<float>(Pipeline::block_rows * Pipeline::block_columns,
                                           resident_blocks<Pipeline>());
}
inline unsigned aligned_pitch(const Extents& extents) { return (extents.n + 3) / 4 * 4; }

/// Whether the kernel was compiled for a GPU that has copies to LDS.
template <typename Pipeline>
bool copies_to_lds() {
  static const bool has_them = gemm::is_compiled_for(80, pipelined_kernel<Pipeline>);
  return has_them;
}

/// Enqueues the kernel on one block per tile; where it splits tiles, the last rounds' are shared by
/// all blocks.
template <typename Pipeline>
void enqueue_tiles(const Product& product, const Extents& extents, const float* b) {
  const unsigned tiles =
      blocks_of(extents.m, Pipeline::block_rows) * blocks_of(extents.n, Pipeline::block_columns);
  SplitTiles split;
  if (Pipeline::splits_tiles) {
    split = gemm::split_tiles<float>(tiles, steps_of(extents.k), resident_blocks<Pipeline>(),
                                     product.workspace);
  }
  hipscope::launch(
      pipelined_kernel<Pipeline>,
      {.grid = dim3(split.blocks + tiles - split.tiles), .block = dim3(Pipeline::threads)}, extents,
      product.alpha, product.a, b, product.beta, product.c, split);
}

template <typename Pipeline>
void enqueue_pipelined(const Stage&, const Product& product) {
  Extents extents = product.extents;
  const float* b = product.b;
  // Through registers B comes by 16 bytes each, of which none may be past its end.
  const bool has_aligned_rows = extents.n % 4 == 0 && gemm::begins_aligned(b, extents.ldb);
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  if (!has_aligned_rows && extents.n >= Pipeline::block_columns && copies_to_lds<Pipeline>()) {
    enqueue_tiles<BByValues<Pipeline>>(product, extents, b);
    return;
  }
#endif
  if (extents.k > 0 && !has_aligned_rows) {
    auto* const aligned = reinterpret_cast<float*>(static_cast<unsigned char*>(product.workspace) +
                                                   bytes_of_sums<Pipeline>());
    const unsigned pitch = aligned_pitch(extents);
    hipscope::launch(align_rows_kernel, gemm::row_shape(extents.k, pitch / 4), aligned, pitch, b,
                     extents.ldb, extents.k, extents.n);
    b = aligned;
    extents.ldb = pitch;
  }
  enqueue_tiles<Pipeline>(product, extents, b);
}

template <typename Pipeline>
Stage pipelined_stage(const std::string& technique) {
  return {.technique = technique,
          .tiles = {Pipeline::block_rows, Pipeline::block_columns, pipeline_depth,
                    Pipeline::threads, Pipeline::thread_rows, Pipeline::thread_columns},
          .any_size = true,
          .is_contender = Pipeline::splits_tiles,
          .kernel = reinterpret_cast<const void*>(pipelined_kernel<Pipeline>),
          .enqueue = enqueue_pipelined<Pipeline>,
          .workspace_bytes = [](const Extents& extents) {
            return bytes_of_sums<Pipeline>() +
                   sizeof(float) * std::uint64_t{extents.k} * aligned_pitch(extents);
          }};
}

}  // namespace sgemm
