// Shared by 09 to 13: buffers in LDS for tiles of A and of B, filled by tensor copies and
// multiplied by two groups of four warps; and the launch.
#pragma once

#include <string>

#include "hopper.h"
#include "stage.h"
#include "wgmma.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// `count_` places, each for 128 rows of A and `columns` of B, 64 deep. A place goes from full,
/// when all bytes of its tiles have come, to empty, when all groups have multiplied them. Tile
/// `tile` of a block is in place `tile % count_`.
template <unsigned columns, unsigned count_ = 4>
class TilePlaces {
 public:
  static constexpr unsigned count = count_;
  static constexpr unsigned block_rows = 128;
  static constexpr unsigned depth = 64;
  static constexpr unsigned group_threads = 128;
  static constexpr unsigned boxes = columns / 64;              // of a tile of B
  static constexpr unsigned row_bytes = depth * sizeof(Half);  // of a box: 64 values
  static constexpr unsigned a_bytes = block_rows * row_bytes;
  static constexpr unsigned b_bytes = columns * row_bytes;
  static constexpr unsigned lds_bytes = 1024 + count * (a_bytes + b_bytes);

  /// Barriers are there after `init` and a barrier of all threads.
  __device__ TilePlaces(unsigned char* lds, std::uint64_t (&full)[count],
                        std::uint64_t (&empty)[count])
      // The swizzle goes by addresses: tiles begin at multiples of 1024 bytes.
      : a_(lds + (1024 - lds_address(lds) % 1024) % 1024),
        b_(a_ + count * a_bytes),
        full_(full),
        empty_(empty) {}

  /// For one thread: how many groups multiply from each place.
  __device__ void init(unsigned groups) {
    for (unsigned place = 0; place < count; ++place) {
      init_barrier(&full_[place], 1);
      init_barrier(&empty_[place], groups);
    }
    publish_barriers();
  }

  /// Waits until the tile's place is empty, and expects the bytes of both tiles.
  __device__ void expect(unsigned tile) {
    wait_for(&empty_[tile % count], tile / count % 2 ^ 1U);
    arrive_expecting(&full_[tile % count], a_bytes + b_bytes);
  }
  __device__ void copy_a(unsigned tile, const TensorMap& map, unsigned k, unsigned row) {
    copy_box(a_ + tile % count * a_bytes, &map, k, row, &full_[tile % count]);
  }
  __device__ void copy_b(unsigned tile, const TensorMap& map, unsigned box, unsigned column,
                         unsigned k) {
    copy_box(b_ + tile % count * b_bytes + box * b_bytes / boxes, &map, column + box * 64, k,
             &full_[tile % count]);
  }
  /// The same, to both blocks of a cluster.
  __device__ void copy_b_to_both(unsigned tile, const TensorMap& map, unsigned box, unsigned column,
                                 unsigned k) {
    copy_box_to(0b11, b_ + tile % count * b_bytes + box * b_bytes / boxes, &map, column + box * 64,
                k, &full_[tile % count]);
  }

  /// Waits for the tile, and begins to add a group's products to its sums.
  __device__ void begin_multiply(float (&sums)[columns / 2], unsigned tile, unsigned group,
                                 bool is_first) {
    wait_for(&full_[tile % count], tile / count % 2);
    begin_products();
    const unsigned char* const a = a_ + tile % count * a_bytes + group * 64 * row_bytes;
    const unsigned char* const b = b_ + tile % count * b_bytes;
#pragma unroll
    for (unsigned part = 0; part < 4; ++part) {  // of 16 along k
      multiply(sums, descriptor_of(a + part * 32, 0),
               descriptor_of(b + part * 16 * row_bytes, b_bytes / boxes), !is_first || part > 0);
    }
    commit_products();
  }

  /// Of a group that has multiplied the tile.
  __device__ void leave(unsigned tile) { arrive(&empty_[tile % count]); }
  /// At this or the other block of a cluster.
  __device__ void leave_at(unsigned tile, unsigned block) {
    arrive_at(&empty_[tile % count], block);
  }

  /// What is after all places.
  __device__ unsigned char* end() const { return b_ + count * b_bytes; }

 private:
  unsigned char* a_;
  unsigned char* b_;
  std::uint64_t* full_;
  std::uint64_t* empty_;
};

/// Sum `i` of a lane is in this row and column of its group's 64 x `columns`.
__device__ inline uint2 place_of_sum(unsigned i) {
  const unsigned lane = threadIdx.x % 32;
  return {threadIdx.x % 128 / 32 * 16 + lane / 4 + i / 2 % 2 * 8, lane % 4 * 2 + i / 4 * 8 + i % 2};
}

/// A group's sums to C, whose first element is at `c`, by the lanes that have them.
template <unsigned count>
__device__ void store_by_lanes(const float (&sums)[count], float alpha, float beta, Half* c,
                               unsigned pitch) {
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    const uint2 at = place_of_sum(i);
    store_result(c + std::size_t{at.x} * pitch + at.y, alpha, sums[i], beta);
  }
}

/// Enqueues a kernel on one block per 128 x `columns` of C, in clusters of `cluster` blocks one
/// above the other.
template <auto kernel, unsigned columns, unsigned cluster = 1>
void enqueue_tensor_copies(const Stage& stage, const Product& product) {
  static const auto ready = hipscope::allow_lds(kernel, stage.dynamic_lds_bytes);
  const Extents& e = product.extents;
  launch_clusters(ready,
                  {.grid = dim3(blocks_of(e.n, columns), blocks_of(e.m, 128 * cluster) * cluster),
                   .block = dim3(stage.tiles.threads),
                   .lds_bytes = stage.dynamic_lds_bytes},
                  dim3(1, cluster), false, map_of(product.a, e.m, e.k, e.lda, 128, 64),
                  map_of(product.b, e.k, e.n, e.ldb, 64, 64), e, product.alpha, product.beta,
                  product.c);
}

#endif

/// A stage of Hopper, without its kernel.
template <typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> hopper_stage(const std::string& technique, unsigned rows,
                                        unsigned columns, unsigned threads) {
  gemm::Stage<Value, Result> stage{
      .technique = technique,
      .tiles = {rows, columns, 128 / unsigned{sizeof(Value)}, threads, 64, columns},
      .unit = gemm::Unit::matrix};
  stage.needs = hopper_instructions;
  return stage;
}

}  // namespace hgemm
