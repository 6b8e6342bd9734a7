// 4.10, against 4.08: FP64 matrix instructions, of CDNA2 and later.
//
// v_mfma_f64_16x16x4f64 multiplies 16 x 4 by 4 x 16 values in the registers of a wave of
// 64: one of A and one of B per lane, four sums. 1024 FMAs; MI200's 256 FP64 matrix operations per
// cycle and CU are 128 FMAs, twice what its vector unit does (AMD's CDNA2 white paper).
//
// Tiles of 128 x 128 with a depth of 8 in two LDS buffers; 4 waves of 64 x 64, each as 4 x 4
// instructions' sums, 128 registers (AGPRs, where the compiler likes).
//
// 4.11, against 4.10: tiles that are split along k among blocks, as 4.09 against 4.08.
#pragma once

#include "4.09-split-along-k.h"
#include "hipscope/matrix/mfma.h"
#include "staged_tiles.h"

namespace dgemm {

/// And the host backend, which computes what the instruction does.
inline constexpr gemm::Needs mfma = {
    .what = "MFMA of FP64, CDNA 2 and later", .on = [](const std::string& architecture) {
      return matrix_rate::cdna_generation(architecture) >= 2 || gemm::is_host(architecture);
    }};

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
#define HIPSCOPE_HAS_MFMA
#endif

inline constexpr unsigned mfma_lanes = 64;

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
#elif !defined(__HIP_DEVICE_COMPILE__)
  __shared__ double a_of_lanes[staged_threads];
  __shared__ double b_of_lanes[staged_threads];
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

/// A wave's 64 x 64 of the tile: 4 x 4 instructions' sums.
class MfmaPart {
 public:
  static constexpr unsigned pieces = 4;                // instructions in each direction
  static constexpr unsigned groups = pieces * pieces;  // of sums, each of an instruction
  static constexpr unsigned group_sums = 4;            // in it
  static constexpr unsigned blocks_per_unit = 1;

  __device__ MfmaPart() {
#if defined(__HIP_DEVICE_COMPILE__) && !defined(HIPSCOPE_HAS_MFMA)
    __builtin_trap();  // never launched there
#endif
  }

  /// Of `steps` tiles, from the one that `copies` is at.
  __device__ void multiply(StagedCopies& copies, const TilesInLds& tiles, unsigned steps) {
    copies.load();
    copies.store(0);
    __syncthreads();
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step) {
      // After the last tile the same is loaded once more: in the loop there is nothing to decide.
      copies.advance(step + 1 < steps ? staged_depth : 0);
      copies.load();
      multiply(tiles, step % 2);
      copies.store((step + 1) % 2);
      __syncthreads();
    }
  }

  /// The wave's first element.
  __device__ static Place place() {
    const unsigned wave = threadIdx.x / mfma_lanes;
    return {wave / 2 * side, wave % 2 * side};
  }
  /// Stores a group of sums; `c` is where the first element is.
  __device__ static void store(double* c, const Extents& extents, unsigned group,
                               const double (&values)[group_sums], double alpha, double beta) {
    const unsigned lane = threadIdx.x % mfma_lanes;
#pragma unroll
    for (unsigned value = 0; value < group_sums; ++value) {
      const unsigned row = group / pieces * 16 + 4 * value + lane / 16;
      store_result(c + row * extents.ldc + group % pieces * 16 + lane % 16, alpha, values[value],
                   beta);
    }
  }

  MfmaSums sums[groups] = {};

 private:
  static constexpr unsigned side = 16 * pieces;
  __device__ void multiply(const TilesInLds& tiles, unsigned buffer) {
    const unsigned lane = threadIdx.x % mfma_lanes;
#pragma unroll
    for (unsigned k = 0; k < staged_depth; k += 4) {
      double of_a[pieces];
      double of_b[pieces];
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
        of_a[i] = tiles.a[buffer][k + lane / 16][place().row + i * 16 + lane % 16];
        of_b[i] = tiles.b[buffer][k + lane / 16][place().column + i * 16 + lane % 16];
      }
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
        for (unsigned j = 0; j < pieces; ++j) {
          multiply_add_mfma(sums[i * pieces + j], of_a[i], of_b[j]);
        }
      }
    }
  }
};

#endif

/// On a backend without such devices a row that says that it is missing.
inline Stage mfma_stage() {
  const std::string technique = "matrix instructions (MFMA)";
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  Stage stage{.technique = technique, .unit = Unit::matrix};
#else
  Stage stage =
      staged_stage<MfmaPart>(technique, {.thread_rows = 64, .thread_columns = 64}, Unit::matrix);
#endif
  stage.needs = mfma;
  return stage;
}

inline Stage mfma_split_stage() {
  const std::string technique = "matrix instructions (MFMA), split along k";
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  Stage stage = mfma_stage();
  stage.technique = technique;
  return stage;
#else
  return staged_split_stage<MfmaPart>(mfma_stage(), technique);
#endif
}

}  // namespace dgemm
