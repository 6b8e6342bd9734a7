// Kernels of several tiles, and the one of them that tile_choice.h's model takes for a product.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "split_sums.h"
#include "stage.h"
#include "tile_choice.h"

namespace gemm {

template <typename Value>
struct SizedKernel {
  TileOption option;
  void (*enqueue)(const Product<Value>& product, unsigned blocks);
  std::uint64_t (*workspace_bytes)(const Extents& extents, unsigned blocks);
};

/// CUs of the device that is used.
inline unsigned compute_units() {
  static const int units = [] {
    int device = 0;
    int found = 0;
    hipscope::check(hipGetDevice(&device));
    hipscope::check(hipDeviceGetAttribute(&found, hipDeviceAttributeMultiprocessorCount, device));
    return found;
  }();
  return static_cast<unsigned>(units);
}

/// The choice for products on a device. Asked for the size of the time before it remembers: a
/// product is often one of many of its size, and a small one takes no longer than the model.
template <typename Value>
class Chooser {
 public:
  Chooser(const std::vector<SizedKernel<Value>>& kernels, const DeviceCosts& device)
      : device_(device) {
    for (const SizedKernel<Value>& kernel : kernels) {
      options_.push_back(kernel.option);
    }
  }

  TileChoice choice_for(const Extents& extents) {
    constexpr unsigned whole = 16 / sizeof(Value);
    const bool is_aligned = extents.lda % whole == 0 && extents.ldb % whole == 0;
    if (choice_.blocks == 0 || extents.m != size_.m || extents.n != size_.n ||
        extents.k != size_.k || is_aligned != size_.is_aligned) {
      size_ = {extents.m, extents.n, extents.k, is_aligned};
      choice_ = choose_tile(options_, size_, device_);
    }
    return choice_;
  }

 private:
  std::vector<TileOption> options_;
  DeviceCosts device_;
  ProductSize size_{};
  TileChoice choice_{};
};

/// Tiles of `Shape` over C.
template <typename Shape>
unsigned tiles_over(const Extents& extents) {
  return blocks_of(extents.m, Shape::rows) * blocks_of(extents.n, Shape::columns);
}

/// How many of the `blocks` blocks of a tile are in a cluster.
inline unsigned blocks_of_cluster(bool has_clusters, unsigned blocks) {
  return has_clusters ? std::min(blocks, most_blocks_of_a_cluster) : 1;
}

/// Marks of parts of tiles, in whole 256 bytes.
inline std::uint64_t bytes_of_marks(unsigned parts) {
  return (std::uint64_t{parts} + 63) / 64 * 64 * sizeof(unsigned);
}

/// What blocks need that share tiles, where their sums go through memory: marks, and behind them
/// sums. Enough for clusters of any size.
template <typename Value, typename Shape>
std::uint64_t bytes_of_shared_tiles(const Extents& extents, unsigned blocks) {
  const std::uint64_t shares = std::uint64_t{tiles_over<Shape>(extents)} * blocks;
  return bytes_of_marks(static_cast<unsigned>(shares)) +
         (blocks > 1 ? shares * (Shape::rows * Shape::columns) * sizeof(Value) : 0);
}

/// Enqueues a kernel on `blocks` blocks for each tile of `Shape`.
template <typename Shape, typename Value, typename SplitKernel>
void enqueue_tiles(SplitKernel kernel, unsigned cluster, const Product<Value>& product,
                   unsigned blocks) {
  const unsigned tiles = tiles_over<Shape>(product.extents);
  const SharedTiles<Value> shared = {
      .cluster = cluster,
      .clusters = blocks / cluster,
      .sums = reinterpret_cast<Value*>(static_cast<unsigned char*>(product.workspace) +
                                       bytes_of_marks(tiles * blocks)),
      .arrived = static_cast<unsigned*>(product.workspace)};
  launch_clusters(kernel, tiles * shared.clusters, cluster, Shape::threads, Shape::lds_bytes,
                  product.extents, product.alpha, product.a, product.b, product.beta, product.c,
                  shared);
}

/// A kernel with room for its LDS, which is more than a launch takes without being asked for.
template <typename SplitKernel>
SplitKernel with_room(SplitKernel kernel, unsigned lds_bytes) {
  hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      hipFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(lds_bytes)));
  return kernel;
}

/// As many blocks for a tile, a power of two, as there is room for on the CUs and as k has steps.
template <typename Shape>
unsigned blocks_that_fit(const Extents& extents) {
  const unsigned room = compute_units() * Shape::blocks_per_unit;
  const unsigned tiles = tiles_over<Shape>(extents);
  unsigned blocks = 1;
  while (blocks < most_blocks_of_a_cluster && tiles * blocks * 2 <= room &&
         blocks * 2 * Shape::depth <= extents.k) {
    blocks *= 2;
  }
  return blocks;
}

}  // namespace gemm
