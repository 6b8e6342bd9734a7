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

/// A wave's 64 x 64 of the tile: 4 x 4 instructions' sums.
class MfmaPart {
 public:
  using Code = matrix_rate::MfmaFp64;
  static constexpr unsigned pieces = 4;                       // instructions in each direction
  static constexpr unsigned groups = pieces * pieces;         // of sums, each of an instruction
  static constexpr unsigned group_sums = Code::sum_elements;  // in it
  static constexpr unsigned blocks_per_unit = 1;

  __device__ MfmaPart() {
#if defined(__HIP_DEVICE_COMPILE__)
    if constexpr (MATRIX_RATE_CDNA < Code::since) {
      __builtin_trap();  // never launched there
    }
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
    const unsigned wave = threadIdx.x / Code::lanes;
    return {wave / 2 * side, wave % 2 * side};
  }
  /// Stores a group of sums; `c` is where the first element is.
  __device__ static void store(double* c, const Extents& extents, unsigned group,
                               const double (&values)[group_sums], double alpha, double beta) {
    const unsigned lane = threadIdx.x % Code::lanes;
#pragma unroll
    for (unsigned value = 0; value < group_sums; ++value) {
      const matrix_rate::Place at = Code::sum_place(lane, value);
      store_result(c + (group / pieces * Code::m + at.row) * extents.ldc +
                       group % pieces * Code::n + at.column,
                   alpha, values[value], beta);
    }
  }

  /// Of a group.
  struct Sums : Code::Sum {
    __device__ double operator[](unsigned i) const { return this->value[i]; }
  };
  Sums sums[groups] = {};

 private:
  static constexpr unsigned side = Code::m * pieces;
  __device__ void multiply(const TilesInLds& tiles, unsigned buffer) {
    const unsigned lane = threadIdx.x % Code::lanes;
    const matrix_rate::Place at_a = Code::a_place(lane, 0);
    const matrix_rate::Place at_b = Code::b_place(lane, 0);
#pragma unroll
    for (unsigned k = 0; k < staged_depth; k += Code::k) {
      double of_a[pieces];
      double of_b[pieces];
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
        of_a[i] = tiles.a[buffer][k + at_a.column][place().row + i * Code::m + at_a.row];
        of_b[i] = tiles.b[buffer][k + at_b.row][place().column + i * Code::n + at_b.column];
      }
#pragma unroll
      for (unsigned i = 0; i < pieces; ++i) {
#pragma unroll
        for (unsigned j = 0; j < pieces; ++j) {
          Code::multiply_add(sums[i * pieces + j], {of_a[i]}, {of_b[j]});
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
  Stage stage = staged_stage<MfmaPart>(technique, 64, 64, Unit::matrix);
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
