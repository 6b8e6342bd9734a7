// Tiles are copied to LDS past the registers, and ldmatrix loads them in the instruction's layout;
// NVIDIA, from compute capability 8.0 on.
//
// Against 07: cp.async needs no register, so three tiles can be in flight. ldmatrix reads 8 x 8
// elements, rows of 16 bytes, and gives each lane its pair, four matrices at once, transposed on
// request: B stays row-major as in memory, and no thread builds pairs. On the H200 289 TFLOP/s,
// 1.91 x 07.
#pragma once

#include <hipscope/lds_copies.h>

#include "matrix_instructions.h"
#include "stage.h"

namespace hgemm {

#if defined(HIPSCOPE_BACKEND_NVIDIA)

using hipscope::copy_to_lds;
using hipscope::end_group;
using hipscope::wait_for_groups;

/// Four matrices of 8 x 8 halves: lanes 8 i to 8 i + 7 name the rows of matrix i, and `values[i]`
/// is lane l's pair of row l / 4, from column 2 (l % 4) on.
__device__ inline void load_matrices([[maybe_unused]] unsigned (&values)[4],
                                     [[maybe_unused]] const void* row) {
#if MATRIX_RATE_SM >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}
/// The same of the matrices transposed.
__device__ inline void load_transposed([[maybe_unused]] unsigned (&values)[4],
                                       [[maybe_unused]] const void* row) {
#if MATRIX_RATE_SM >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}

static __global__ void __launch_bounds__(256)
    asynchronous_copies_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                               const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 32;
  constexpr unsigned a_pitch = depth + 8;
  constexpr unsigned b_pitch = block_columns + 8;
  constexpr unsigned buffers = 4;
  using ATile = Half[block_rows][a_pitch];
  using BTile = Half[depth][b_pitch];
  extern __shared__ unsigned char lds[];
  auto* const a_tile = reinterpret_cast<ATile*>(lds);
  auto* const b_tile = reinterpret_cast<BTile*>(lds + buffers * sizeof(ATile));
  // Two pieces of 16 bytes of each tile, half a tile apart.
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 8;
  const unsigned b_k = threadIdx.x / 16;
  const unsigned b_column = threadIdx.x % 16 * 8;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + a_k;
  b += std::size_t{b_k} * extents.ldb + blockIdx.x * block_columns + b_column;
  const unsigned lane = threadIdx.x % Mma::lanes;
  using Wave = WaveTile<Mma>;
  const unsigned row = Wave::first_row();
  const unsigned column = Wave::first_column();
  const unsigned tiles = extents.k / depth;
  const auto copy = [&](unsigned tile) {
    if (tile < tiles) {
      const unsigned buffer = tile % buffers;
      copy_to_lds<16>(&a_tile[buffer][a_row][a_k], a);
      copy_to_lds<16>(&a_tile[buffer][a_row + 64][a_k], a + std::size_t{64} * extents.lda);
      copy_to_lds<16>(&b_tile[buffer][b_k][b_column], b);
      copy_to_lds<16>(&b_tile[buffer][b_k + 16][b_column], b + std::size_t{16} * extents.ldb);
      a += depth;
      b += std::size_t{depth} * extents.ldb;
    }
    end_group();  // an empty one too, so that groups count tiles
  };
  Wave wave;
#pragma unroll
  for (unsigned tile = 0; tile < buffers - 1; ++tile) {
    copy(tile);
  }
  for (unsigned tile = 0; tile < tiles; ++tile) {
    wait_for_groups<buffers - 2>();
    // All copies of this tile are there, and everybody has left the buffer that the next copy
    // takes.
    __syncthreads();
    copy(tile + buffers - 1);
    const unsigned buffer = tile % buffers;
#pragma unroll
    for (unsigned k = 0; k < depth; k += Mma::k) {
      Mma::A left[Wave::down];
#pragma unroll
      for (unsigned i = 0; i < Wave::down; ++i) {
        load_matrices(left[i].value,
                      &a_tile[buffer][row + i * Mma::m + lane % 16][k + lane / 16 * 8]);
      }
      Mma::B right[Wave::across];
#pragma unroll
      for (unsigned j = 0; j < Wave::across; j += 2) {
        unsigned two[4];  // of B's two operands, side by side
        load_transposed(two, &b_tile[buffer][k + lane % 16][column + j * Mma::n + lane / 16 * 8]);
        right[j] = {{two[0], two[1]}};
        right[j + 1] = {{two[2], two[3]}};
      }
      wave.multiply_add(left, right);
    }
  }
  wave.store(c + std::size_t{blockIdx.y * block_rows} * extents.ldc + blockIdx.x * block_columns,
             extents.ldc, alpha, beta);
}

inline void enqueue_asynchronous_copies(const Stage& stage, const Product& product) {
  static const auto ready =
      hipscope::allow_lds(asynchronous_copies_kernel, stage.dynamic_lds_bytes);
  static_cast<void>(ready);
  gemm::enqueue<Half, asynchronous_copies_kernel>(stage, product);
}

#endif

inline Stage asynchronous_copies_stage() {
  Stage stage{.technique = "asynchronous copies, transposing loads",
              .tiles = {128, 128, 32, 256, 64, 32},
              .unit = gemm::Unit::matrix,
              .dynamic_lds_bytes = 4 * (128 * (32 + 8) + 32 * (128 + 8)) * sizeof(Half)};
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  stage.kernel = reinterpret_cast<const void*>(asynchronous_copies_kernel);
  stage.enqueue = enqueue_asynchronous_copies;
#endif
  stage.needs = {
      .what = "cp.async, ldmatrix and mma.sync, sm_80 and later",
      .on = [](const std::string& architecture) { return gemm::sm_of(architecture) >= 80; }};
  return stage;
}

}  // namespace hgemm
