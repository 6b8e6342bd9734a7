// Against 4.08: FP64 matrix instructions, of CDNA2 and later.
//
// v_mfma_f64_16x16x4f64 multiplies 16 x 4 by 4 x 16 values that lie in the registers of a wave of
// 64: one of A and one of B per lane, four sums. 1024 FMAs; MI200's 256 FP64 matrix operations per
// cycle and CU are 128 FMAs, twice what its vector unit does (AMD's CDNA2 white paper).
//
// Tiles of 128 x 128 with a depth of 8 in two LDS buffers; 4 waves of 64 x 64, each as 4 x 4
// instructions' sums, 128 registers (AGPRs, where the compiler likes).
#pragma once

#include <string>

#include "stage.h"

namespace dgemm {

/// CDNA2 and later; and the host backend, which computes what the instruction does.
inline bool has_mfma(const hipscope::DeviceDescription& device) {
  const auto begins = [&](const char* start) { return device.architecture.rfind(start, 0) == 0; };
  return begins("gfx90a") || begins("gfx94") || begins("gfx95") || begins("host");
}

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
#define HIPSCOPE_HAS_MFMA
#endif

inline constexpr unsigned mfma_lanes = 64;
inline constexpr unsigned mfma_threads = 256;

/// One lane's 4 of the 16 x 16 sums: value i is in row 4 i + lane / 16 and in column lane % 16.
#if defined(__HIP_DEVICE_COMPILE__)
using MfmaSums = double __attribute__((ext_vector_type(4)));
#else
using MfmaSums = double[4];
#endif

/// sums += A's column of row lane % 16 and k lane / 16, times B's row of that k and column
/// lane % 16.
__device__ inline void multiply_add_mfma([[maybe_unused]] MfmaSums& sums, [[maybe_unused]] double a,
                                         [[maybe_unused]] double b) {
#if defined(HIPSCOPE_HAS_MFMA)
  sums = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, sums, 0, 0, 0);
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_trap();  // never launched there
#else
  __shared__ double a_of_lanes[mfma_threads];
  __shared__ double b_of_lanes[mfma_threads];
  const unsigned lane = threadIdx.x % mfma_lanes;
  const unsigned first = threadIdx.x - lane;
  a_of_lanes[threadIdx.x] = a;
  b_of_lanes[threadIdx.x] = b;
  __syncthreads();
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned k = 0; k < 4; ++k) {
      sums[i] +=
          a_of_lanes[first + k * 16 + 4 * i + lane / 16] * b_of_lanes[first + k * 16 + lane % 16];
    }
  }
  __syncthreads();
#endif
}

static __global__ void __launch_bounds__(mfma_threads)
    mfma_kernel(Extents extents, double alpha, const double* __restrict__ a,
                const double* __restrict__ b, double beta, double* __restrict__ c) {
  constexpr unsigned side = 128;
  constexpr unsigned wave_side = 64;
  constexpr unsigned depth = 8;
  constexpr unsigned pitch = side + 2;
  constexpr unsigned copies = 2;  // of 16 bytes, per thread and matrix
  constexpr unsigned pieces = wave_side / 16;
  alignas(16) __shared__ double a_tiles[2][depth][pitch];
  alignas(16) __shared__ double b_tiles[2][depth][pitch];
  const unsigned wave = threadIdx.x / mfma_lanes;
  const unsigned lane = threadIdx.x % mfma_lanes;
  const unsigned first_row = wave / 2 * wave_side;
  const unsigned first_column = wave % 2 * wave_side;
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 2;
  const unsigned b_k = threadIdx.x / 64;
  const unsigned b_column = threadIdx.x % 64 * 2;
  a += (blockIdx.y * side + a_row) * extents.lda + a_k;
  b += b_k * extents.ldb + blockIdx.x * side + b_column;
  c += (blockIdx.y * side + first_row) * extents.ldc + blockIdx.x * side + first_column;
  double2 next_of_a[copies];
  double2 next_of_b[copies];
  const auto load_tiles = [&] {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      next_of_a[i] = load_two(a + i * 64 * extents.lda);
      next_of_b[i] = load_two(b + i * 4 * extents.ldb);
    }
  };
  const auto store_tiles = [&](unsigned buffer) {
#pragma unroll
    for (unsigned i = 0; i < copies; ++i) {
      a_tiles[buffer][a_k][a_row + i * 64] = next_of_a[i].x;
      a_tiles[buffer][a_k + 1][a_row + i * 64] = next_of_a[i].y;
      *reinterpret_cast<double2*>(&b_tiles[buffer][b_k + i * 4][b_column]) = next_of_b[i];
    }
  };
  MfmaSums sums[pieces][pieces] = {};
  load_tiles();
  store_tiles(0);
  __syncthreads();
  const unsigned tiles = extents.k / depth;
#pragma unroll 1
  for (unsigned tile = 0; tile < tiles; ++tile) {
    // Behind the last tile the same is loaded once more: in the loop there is nothing to decide.
    const unsigned advance = tile + 1 < tiles ? depth : 0;
    a += advance;
    b += advance * extents.ldb;
    load_tiles();
#pragma unroll
    for (unsigned k = 0; k < depth; k += 4) {
      double of_a[pieces];
      double of_b[pieces];
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
        of_a[i] = a_tiles[tile % 2][k + lane / 16][first_row + i * 16 + lane % 16];
        of_b[i] = b_tiles[tile % 2][k + lane / 16][first_column + i * 16 + lane % 16];
      }
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
        for (unsigned j = 0; j < pieces; ++j) {
          multiply_add_mfma(sums[i][j], of_a[i], of_b[j]);
        }
      }
    }
    store_tiles((tile + 1) % 2);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
    for (unsigned j = 0; j < pieces; ++j) {
#pragma unroll
      for (unsigned value = 0; value < 4; ++value) {
        const unsigned row = i * 16 + 4 * value + lane / 16;
        store_result(c + row * extents.ldc + j * 16 + lane % 16, alpha, sums[i][j][value], beta);
      }
    }
  }
}

#endif

inline Stage mfma_stage() {
  Stage stage{.technique = "matrix instructions (MFMA)",
              .tiles = {.block_rows = 128,
                        .block_columns = 128,
                        .depth = 8,
                        .threads = 256,
                        // Of a wave: what it loads from LDS for one k is a column and a row of 64.
                        .thread_rows = 64,
                        .thread_columns = 64},
              .unit = Unit::matrix};
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  stage.kernel = reinterpret_cast<const void*>(mfma_kernel);
  stage.enqueue = gemm::enqueue<double, mfma_kernel>;
#endif
  stage.is_contender = true;
  stage.is_on = has_mfma;
  return stage;
}

}  // namespace dgemm
