// Matrix instructions of CDNA GPUs, in FP32 throughout; not on other GPUs.
//
// Against 13, whose tile it has with a depth of 16:
// v_mfma_f32_32x32x2f32 multiplies 32 x 2 by 2 x 32 values in the registers of a whole
// wave: 2048 FMAs for two registers of operands per lane, in 64 cycles of a SIMD. That makes 128
// FMAs per cycle and CU, where the vector unit of MI100 (gfx908) has 64: so rocBLAS there exceeds
// what fileaccent took for the card's peak. Inputs, products and sums are FP32: no precision is
// lost.
//
// Tiles of 128 x 128 with a depth of 16 in two LDS buffers, A transposed; 4 waves of 64 x 64, each
// as 2 x 2 blocks of 32 x 32, whose sums take 64 registers (AGPRs, where the compiler likes).
#pragma once

#include <string>

#include "device_code.h"
#include "hipscope/matrix/mfma.h"
#include "stage.h"

namespace sgemm {

/// And the host backend, which computes what the instruction does.
inline constexpr gemm::Needs matrix_instructions = {
    .what = "MFMA", .on = [](const std::string& architecture) {
      return matrix_rate::cdna_generation(architecture) > 0 || gemm::is_host(architecture);
    }};

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

static __global__ void __launch_bounds__(256)
    matrix_instructions_kernel(Extents extents, float alpha, const float* __restrict__ a,
                               const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 16;
  constexpr unsigned threads = 256;
  using Code = matrix_rate::MfmaFp32Side32;
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (MATRIX_RATE_CDNA < Code::since) {
    __builtin_trap();  // never launched there
  }
#endif
  constexpr unsigned side = Code::m;  // of a block of sums
  // Of A 32 lanes store values of eight rows and four k, four apart: each to a bank of its own. Of
  // B pieces of 16 bytes are stored in their order.
  constexpr unsigned a_pitch = 128 + 2;
  constexpr unsigned b_pitch = 128 + 4;
  constexpr unsigned copies = 2;  // of 16 bytes, per thread and matrix
  alignas(16) __shared__ float a_tile[2][depth * a_pitch];
  alignas(16) __shared__ float b_tile[2][depth * b_pitch];
  const unsigned wave = threadIdx.x / Code::lanes;
  const unsigned lane = threadIdx.x % Code::lanes;
  const unsigned first_row = wave / 2 * 2 * side;
  const unsigned first_column = wave % 2 * 2 * side;
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 32;
  const unsigned b_copy_column = threadIdx.x % 32 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + first_row) * extents.ldc + blockIdx.x * block_columns +
       first_column;
  float4 next_of_a[copies];
  float4 next_of_b[copies];
  const auto load_tiles = [&] {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      next_of_a[i] = load_four(a + i * (threads / 4) * extents.lda);
      next_of_b[i] = load_four(b + i * (threads / 32) * extents.ldb);
    }
  };
  const auto store_tiles = [&](unsigned buffer) {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      store_transposed(a_tile[buffer] + a_copy_k * a_pitch + a_copy_row + i * (threads / 4),
                       a_pitch, next_of_a[i]);
      store_four(b_tile[buffer] + (b_copy_k + i * (threads / 32)) * b_pitch + b_copy_column,
                 next_of_b[i]);
    }
  };
  Code::Sum sums[2][2] = {};
  load_tiles();
  store_tiles(0);
  __syncthreads();
  const unsigned tiles = extents.k / depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    // After the last tile the same is loaded once more: in the loop there is nothing to decide.
    const unsigned advance = tile + 1 < tiles ? depth : 0;
    a += advance;
    b += advance * extents.ldb;
    load_tiles();
    scheduling_barrier();
    const matrix_rate::Place of_a = Code::a_place(lane, 0);
    const matrix_rate::Place of_b = Code::b_place(lane, 0);
    const float* const a_mine = a_tile[tile % 2] + of_a.column * a_pitch + of_a.row + first_row;
    const float* const b_mine = b_tile[tile % 2] + of_b.row * b_pitch + of_b.column + first_column;
#pragma unroll
    for (unsigned k = 0; k < depth; k += Code::k) {
#pragma unroll
      for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
        for (unsigned j = 0; j < 2; ++j) {
          Code::multiply_add(sums[i][j], {a_mine[k * a_pitch + i * side]},
                             {b_mine[k * b_pitch + j * side]});
        }
      }
    }
    scheduling_barrier();
    store_tiles((tile + 1) % 2);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < 2; ++i) {
#pragma unroll
    for (unsigned j = 0; j < 2; ++j) {
#pragma unroll
      for (unsigned value = 0; value < Code::sum_elements; ++value) {
        const matrix_rate::Place at = Code::sum_place(lane, value);
        store_result(c + (i * side + at.row) * extents.ldc + j * side + at.column, alpha,
                     sums[i][j].value[value], beta);
      }
    }
  }
}

#endif

inline Stage matrix_instructions_stage() {
  // A wave's 64 x 64 in place of a thread's: for one k it loads a column of 64 and a row of 64.
  constexpr Tiles tiles = {128, 128, 16, 256, 64, 64};
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  Stage stage{.technique = "matrix instructions", .tiles = tiles};
#else
  Stage stage = stage_of<matrix_instructions_kernel>("", "matrix instructions", tiles);
#endif
  stage.needs = matrix_instructions;
  return stage;
}

}  // namespace sgemm
