// Against 4.17: the copy engine brings tiles to LDS (NVIDIA: TMA, sm_90 and later). One warp starts
// its copies, the others only load operands and multiply; and the code is small.
//
// An instruction of eight k holds a warp for 32 cycles. Where a scheduler has one or two warps, as
// with small tiles, nothing is multiplied while they do other work: in 4.17 the copies, the barrier
// of each step, and fetching code from L2, 16 to 80 KB. Here a warp that does not multiply asks for
// boxes, as many steps ahead as LDS has room for. Barriers that count bytes tell each warp that a
// step's boxes are there, and the copying warp that all have read them (as in hgemm, from 09 on).
// Elements outside of the matrices become zeros without an instruction. Sums go to C through LDS,
// where a loop can index them, as it cannot in registers. C takes whole pieces of 16 bytes; other
// products use 4.17's kernel. In LDS rows of boxes have 128 bytes, whose pieces of 16 are XORed
// with the number of the row (128-byte swizzle). A lane's row of A is lane / 4 with its bits
// rotated, so that no two lanes use the same bank; the instruction allows that, as long as C's row
// is the same. The blocks of a cluster share a tile, each with its part of k, and so do the two
// groups of warps of a block: with one group a scheduler would have a single warp, and idle while
// it waits.
// On an H100 55.39 TFLOP/s at 4096, 1.077 times 4.17; beside the library 4.18, which chooses it,
// gains 1.10 to 1.13 times by it at 256 to 512, and 1.21 times at 4096 x 64 x 4096.
#pragma once

#include <algorithm>
#include <string>

#include "4.17-small-tiles.h"

namespace dgemm {

#if defined(HIPSCOPE_BACKEND_NVIDIA)

namespace tensor_tiles {

/// A block's tile; `slices_` groups of warps share its k, and each warp has `warp_rows_` x
/// `warp_columns_` of it. A step has `boxes_` times 16 k.
template <unsigned rows_, unsigned columns_, unsigned warp_rows_, unsigned warp_columns_,
          unsigned slices_, unsigned boxes_, unsigned blocks_per_unit_ = 1>
struct Shape {
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned warp_rows = warp_rows_;
  static constexpr unsigned warp_columns = warp_columns_;
  static constexpr unsigned slices = slices_;
  static constexpr unsigned boxes = boxes_;
  static constexpr unsigned blocks_per_unit = blocks_per_unit_;  ///< that are to fit into a CU
  static constexpr unsigned depth = 16 * boxes;
  static constexpr unsigned groups_of_rows = rows / warp_rows;
  static constexpr unsigned groups = groups_of_rows * (columns / warp_columns);
  static constexpr unsigned multiplying_warps = groups * slices;
  static constexpr unsigned multiplying_threads = 32 * multiplying_warps;
  static constexpr unsigned threads = multiplying_threads + 32;
  static constexpr unsigned a_box_bytes = rows * 128;
  static constexpr unsigned b_box_bytes = depth * 128;  ///< of 16 columns
  static constexpr unsigned step_bytes = boxes * (rows + columns) * 128;
  static constexpr unsigned pieces = warp_rows / 8 * 2 * (warp_columns / 16);  ///< of a thread
  static constexpr unsigned sums_bytes = pieces * multiplying_threads * 16;
  static constexpr unsigned room = (228 / blocks_per_unit - 2) * 1024 - 1024;
  /// Of large tiles sums come to where steps were, once all warps have read those.
  static constexpr bool sums_over_steps = (room - sums_bytes) / step_bytes < 4;
  static constexpr unsigned buffers =  ///< places for a step
      std::min(8U, (room - (sums_over_steps ? 0 : sums_bytes)) / step_bytes);
  static constexpr unsigned sums_at = sums_over_steps ? 0 : buffers * step_bytes;
  static constexpr unsigned lds_bytes = 1024 + std::max(buffers * step_bytes, sums_at + sums_bytes);
  static_assert(buffers >= 2 && boxes % slices == 0);
};

__device__ inline double2 load_lds(unsigned address) {
  double2 two;
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(two.x), "=d"(two.y) : "r"(address));
  return two;
}
/// From an LDS address of the cluster.
__device__ inline gemm::Piece<double> load_piece_of_cluster(unsigned address) {
  gemm::Piece<double> piece;
  asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];"
               : "=d"(piece.values[0]), "=d"(piece.values[1])
               : "r"(address));
  return piece;
}
__device__ inline void store_lds(unsigned address, const gemm::Piece<double>& piece) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(address), "d"(piece.values[0]),
               "d"(piece.values[1])
               : "memory");
}
/// A value that the compiler does not compute again: where LDS is says a special register, for
/// which a warp waits.
__device__ inline unsigned computed_once(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}
/// Waits until the phase of this parity of the barrier at an LDS address is complete.
__device__ inline void wait_for_barrier(unsigned address, unsigned parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; "
      "@!done bra again; }" ::"r"(address),
      "r"(parity)
      : "memory");
}
__device__ inline void arrive_at_barrier(unsigned address) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address) : "memory");
}

/// What a warp multiplies, step by step.
template <typename Shape>
class Part {
 public:
  static constexpr unsigned rows = Shape::warp_rows / 8;
  static constexpr unsigned columns = Shape::warp_columns / 16;
  static constexpr unsigned units = Shape::boxes / Shape::slices * 2;  // of a step, 8 k each
  static_assert(units % 2 == 0);

  /// `warp` of those that multiply; the first step is at `steps`.
  __device__ Part(unsigned warp, unsigned steps) {
    const unsigned group = warp % Shape::groups;
    const unsigned slice = warp / Shape::groups;
    first_row_ = group % Shape::groups_of_rows * Shape::warp_rows;
    first_column_ = group / Shape::groups_of_rows * Shape::warp_columns;
    const unsigned lane = threadIdx.x % 32;
    const unsigned g = lane / 4;
    const unsigned t = lane % 4;
    const unsigned row = g % 2 * 4 + g / 2;
    const unsigned a = steps + slice * Shape::a_box_bytes + (first_row_ + row) * 128;
    const unsigned b = steps + Shape::boxes * Shape::a_box_bytes +
                       first_column_ / 16 * Shape::b_box_bytes + slice * 2048 + 2 * t * 128;
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      a_at_[i] = a + ((i * 4 + t) ^ row) * 16;
      b_at_[i] = b + i * 128 + (g ^ (2 * t + i)) * 16;
    }
  }

  /// Loads the first operands of the first step.
  __device__ void begin(unsigned at) {
    load_b(0, 0, at);
    load_a(0, 0, 0, at);
  }
  /// Adds the products of the step at `at`, an offset; loads the first operands of that at `next`
  /// once `wait` has returned.
  template <typename Wait>
  __device__ void multiply(unsigned at, unsigned next, Wait wait) {
#pragma unroll
    for (unsigned unit = 0; unit < units; ++unit) {
      const bool is_last = unit + 1 == units;
      if (is_last) {
        wait();
      }
      const unsigned next_at = is_last ? next : at;
#pragma unroll
      for (unsigned i = 0; i < rows; ++i) {
        if (i == 0) {
          load_b((unit + 1) % 2, (unit + 1) % units, next_at);
        }
        const unsigned row = unit * rows + i;
        if (i + 1 < rows) {
          load_a((row + 1) % 2, unit, i + 1, at);
        } else {
          load_a((row + 1) % 2, (unit + 1) % units, 0, next_at);
        }
#pragma unroll
        for (unsigned j = 0; j < columns; ++j) {
          multiply_add_eight_k(sums_[i][j], b_[unit % 2][j], a_[row % 2]);
        }
      }
    }
  }

  /// The thread's pieces of C: two neighbouring columns each.
  [[nodiscard]] __device__ gemm::Piece<double> piece(unsigned i) const {
    const double(&of)[4] = sums_[i / (2 * columns)][i % columns];
    const unsigned row = i / columns % 2;
    return {of[row], of[2 + row]};
  }
  [[nodiscard]] __device__ Place place_of_piece(unsigned i) const {
    const unsigned lane = threadIdx.x % 32;
    return {first_row_ + i / columns * 4 + lane % 4,
            first_column_ + i % columns * 16 + lane / 4 * 2};
  }

 private:
  __device__ void load_a(unsigned set, unsigned unit, unsigned i, unsigned at) {
    const unsigned box = unit / 2 * Shape::slices;
    a_[set] = load_lds(a_at_[unit % 2] + at + box * Shape::a_box_bytes + i * 1024);
  }
  __device__ void load_b(unsigned set, unsigned unit, unsigned at) {
    const unsigned of_unit = unit / 2 * Shape::slices * 2048 + unit % 2 * 1024;
#pragma unroll
    for (unsigned j = 0; j < columns; ++j) {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) {
        b_[set][j][i] = load_lds(b_at_[i] + at + j * Shape::b_box_bytes + of_unit);
      }
    }
  }

  unsigned first_row_;
  unsigned first_column_;
  unsigned a_at_[2];  // of the first and the second 8 k of a box
  unsigned b_at_[2];  // of k 2 t and 2 t + 1
  double2 a_[2];
  double2 b_[2][columns][2];
  double sums_[rows][columns][4] = {};
};

/// Whose turn it is of the places for steps.
template <unsigned places>
struct Turn {
  unsigned place = 0;
  unsigned parity = 0;  ///< of its barriers
  __device__ void go_on() {
    if (++place == places) {
      place = 0;
      parity ^= 1U;
    }
  }
};

/// C = alpha A B by whole pieces, a cluster for each tile. m and n are not 0.
template <typename Shape>
static __global__ void __launch_bounds__(Shape::threads, Shape::blocks_per_unit)
    tensor_tiles_kernel(const __grid_constant__ hipscope::TensorMap a_map,
                        const __grid_constant__ hipscope::TensorMap b_map,
                        const gemm::SharedTiles<double> shared, const Extents extents, double alpha,
                        double* c) {
#if defined(HIPSCOPE_GEMM_CLUSTERS)
  constexpr unsigned places = Shape::buffers;
  extern __shared__ unsigned char lds[];
  __shared__ std::uint64_t full[places];
  __shared__ std::uint64_t empty[places];
  __shared__ unsigned answer;
  // The swizzle goes by addresses: boxes begin at multiples of 1024 bytes.
  const unsigned lds_at = (hipscope::lds_address(lds) + 1023) / 1024 * 1024;
  const unsigned warp = __shfl_sync(0xFFFFFFFFU, threadIdx.x / 32, 0);
  const bool is_copying = warp == Shape::multiplying_warps;
  const unsigned cluster = shared.cluster;
  const gemm::Rank rank = gemm::rank_of_block();
  if (is_copying) {
    if (gemm::elect()) {
      gemm::prefetch_map(&a_map);
      gemm::prefetch_map(&b_map);
#pragma unroll
      for (unsigned place = 0; place < places; ++place) {
        hipscope::init_barrier(&full[place], 1);
        hipscope::init_barrier(&empty[place], Shape::multiplying_warps);
      }
      hipscope::publish_barriers();
    }
    __syncwarp();
  }
  if (is_copying) {
    gemm::arrive_at_barrier_of(1, Shape::threads);
  } else {
    gemm::barrier_of(1, Shape::threads);
  }
  gemm::let_next_kernel_begin();
  gemm::wait_for_kernel_before();
  const auto [begin, end] = gemm::steps_of(shared, rank);
  const gemm::TilePlace tile = gemm::place_of(shared.order, rank.tile);
  const Place first = {tile.row * Shape::rows, tile.column * Shape::columns};
  Turn<places> turn;
  if (is_copying) {
    if (gemm::elect()) {
#pragma unroll 1
      for (unsigned step = begin; step < end; ++step) {
        hipscope::wait_for(&empty[turn.place], turn.parity ^ 1U);
        hipscope::arrive_expecting(&full[turn.place], Shape::step_bytes);
        const unsigned a = lds_at + turn.place * Shape::step_bytes;
        const unsigned b = a + Shape::boxes * Shape::a_box_bytes;
        const unsigned k = step * Shape::depth;
#pragma unroll
        for (unsigned box = 0; box < Shape::boxes; ++box) {
          hipscope::copy_box(gemm::lds_at(a + box * Shape::a_box_bytes), &a_map, k + box * 16,
                             first.row, &full[turn.place]);
        }
#pragma unroll
        for (unsigned box = 0; box < Shape::columns / 16; ++box) {
          hipscope::copy_box(gemm::lds_at(b + box * Shape::b_box_bytes), &b_map,
                             first.column + box * 16, k, &full[turn.place]);
        }
        turn.go_on();
      }
    }
    return;
  }
  const unsigned full_at = computed_once(hipscope::lds_address(full));
  const unsigned empty_at = computed_once(hipscope::lds_address(empty));
  const unsigned lane = threadIdx.x % 32;
  Part<Shape> part(warp, lds_at);
  if (begin < end) {
    wait_for_barrier(full_at, 0);
  }
  part.begin(0);
#pragma unroll 1
  for (unsigned step = begin; step < end; ++step) {
    const unsigned read = turn.place;
    const unsigned at = read * Shape::step_bytes;
    turn.go_on();
    const bool is_last = step + 1 == end;
    part.multiply(at, is_last ? at : turn.place * Shape::step_bytes, [&] {
      if (!is_last) {
        wait_for_barrier(full_at + turn.place * 8, turn.parity);
      }
    });
    if (lane == 0) {
      arrive_at_barrier(empty_at + read * 8);
    }
  }
  if (Shape::sums_over_steps) {
    gemm::barrier_of(2, Shape::multiplying_threads);
  }
  // Piece after piece, of which each lane has 16 bytes.
  const unsigned of_warp = lds_at + Shape::sums_at + lane * 16;
  constexpr unsigned warp_bytes = Shape::pieces * 512;
#pragma unroll
  for (unsigned i = 0; i < Shape::pieces; ++i) {
    store_lds(of_warp + warp * warp_bytes + i * 512, part.piece(i));
  }
  if (cluster > 1) {
    gemm::cluster_barrier();
  } else if (Shape::slices > 1) {
    gemm::barrier_of(2, Shape::multiplying_threads);
  }
  // Slices of blocks take turns: each adds up and stores its share of a thread's pieces.
  const unsigned group = warp % Shape::groups;
  const unsigned first_piece = rank.block * Shape::slices + warp / Shape::groups;
  const unsigned stride = cluster * Shape::slices;
  const auto place_in_memory = [&](unsigned of_cluster, unsigned i) {
    const std::size_t parts = std::size_t{rank.tile} * shared.clusters + of_cluster;
    return shared.sums + ((parts * Shape::pieces + i) * Shape::groups + group) * (32 * 2) +
           lane * 2;
  };
  const auto store = [&](unsigned i, const gemm::Piece<double>& sum) {
    const Place in_tile = part.place_of_piece(i);
    gemm::store_whole_piece(c, extents, first.row + in_tile.row, first.column + in_tile.column, sum,
                            alpha);
  };
#pragma unroll 2
  for (unsigned i = first_piece; i < Shape::pieces; i += stride) {
    const unsigned here = of_warp + group * warp_bytes + i * 512;
    const auto sum = gemm::sum_of_pieces<4, double>(cluster, [&](unsigned block) {
      const unsigned there = cluster > 1 ? gemm::address_at(here, block) : here;
      gemm::Piece<double> of_block{};
#pragma unroll
      for (unsigned slice = 0; slice < Shape::slices; ++slice) {
        gemm::add_piece(of_block,
                        load_piece_of_cluster(there + slice * Shape::groups * warp_bytes));
      }
      return of_block;
    });
    if (shared.clusters == 1) {
      store(i, sum);
    } else {
      gemm::store_piece(place_in_memory(rank.cluster, i), sum);
    }
  }
  if (cluster > 1) {
    // A block's LDS is there until all have read it.
    gemm::cluster_barrier();
  }
  if (shared.clusters == 1 || !gemm::comes_last(shared, rank, &answer, [] {
        gemm::barrier_of(2, Shape::multiplying_threads);
      })) {
    return;
  }
#pragma unroll 2
  for (unsigned i = first_piece; i < Shape::pieces; i += stride) {
    store(i, gemm::sum_of_pieces<8, double>(shared.clusters, [&](unsigned of_cluster) {
            return gemm::load_piece(place_in_memory(of_cluster, i));
          }));
  }
#endif
}

/// Whether the rows of all matrices are whole pieces of 16 bytes, and C is not read.
inline bool takes_whole_pieces(const Product& product) {
  const Extents& e = product.extents;
  return gemm::begins_aligned(product.a, e.lda) && gemm::begins_aligned(product.b, e.ldb) &&
         gemm::begins_aligned(product.c, e.ldc) && e.n % 2 == 0 && product.beta == 0;
}

/// Enqueues the kernel on a cluster for each tile.
template <typename Shape>
void enqueue(const Product& product, gemm::Split split) {
  if (!takes_whole_pieces(product)) {
    small_tiles::enqueue<small_tiles::Tile>(product, {});
    return;
  }
  static const auto kernel = hipscope::allow_lds(tensor_tiles_kernel<Shape>, Shape::lds_bytes);
  const Extents& e = product.extents;
  constexpr unsigned rows_at_once = 1024;
  const gemm::SharedTiles<double> shared =
      gemm::shared_tiles<Shape>(product, split, rows_at_once / Shape::rows);
  const auto map_of = [](const double* matrix, unsigned rows, unsigned columns, unsigned pitch,
                         unsigned box_rows) {
    return hipscope::tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, matrix, rows, columns, pitch,
                                {.rows = box_rows, .columns = 16}, CU_TENSOR_MAP_SWIZZLE_128B);
  };
  gemm::launch_clusters(kernel,
                        {.grid = dim3(shared.order.tiles * split.cluster, split.clusters),
                         .block = dim3(Shape::threads),
                         .lds_bytes = Shape::lds_bytes},
                        dim3(split.cluster), true, map_of(product.a, e.m, e.k, e.lda, Shape::rows),
                        map_of(product.b, e.k, e.n, e.ldb, Shape::depth), shared, e, product.alpha,
                        product.c);
}

/// The tile of this stage.
using Tile = Shape<64, 64, 32, 32, 2, 2>;

}  // namespace tensor_tiles

#endif

#if !defined(HIPSCOPE_BACKEND_AMD)

inline Stage tensor_copies_stage() {
  Stage stage = small_tiles_stage();
  stage.technique = "tensor copies, a warp that only copies";
  stage.needs = {.what = "tensor copies, sm_90 and later",
                 .on = [](const std::string& name) { return gemm::sm_of(name) >= 90; }};
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  using tensor_tiles::Tile;
  stage.tiles = {Tile::rows,    Tile::columns,   Tile::depth,
                 Tile::threads, Tile::warp_rows, Tile::warp_columns};
  stage.dynamic_lds_bytes = Tile::lds_bytes;
  stage.kernel = reinterpret_cast<const void*>(tensor_tiles::tensor_tiles_kernel<Tile>);
  stage.enqueue = [](const Stage&, const Product& product) {
    tensor_tiles::enqueue<Tile>(
        product,
        gemm::blocks_that_fit<Tile, tensor_tiles::tensor_tiles_kernel<Tile>>(product.extents));
  };
#endif
  return stage;
}

#endif

}  // namespace dgemm
