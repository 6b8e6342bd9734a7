// Against 4.16: two blocks on an SM, each with half a tile, 128 x 64. They are never at the same
// place for long: while one waits at its barrier, stores C, or begins, the other multiplies. It
// costs half as many bytes from L2 again.
//
// And rows of B's tile are not longer by 16 bytes: pieces of 16 are exchanged instead (by XOR), so
// that the 128 bytes that L2 gives go to 128 bytes of LDS that begin at a multiple of 128. With
// longer rows L1 asks L2 for half of B twice (ncu: 15.0 GB at 4096 where the tiles have 12.9).
#pragma once

#include "4.16-eight-k-per-instruction.h"
#include "pipeline.h"
#include "stage.h"

namespace dgemm {

#if !defined(HIPSCOPE_BACKEND_AMD)

struct HalfTile {
  static constexpr unsigned rows = WholeTile::rows;
  static constexpr unsigned columns = 64;
  static constexpr unsigned blocks_per_unit = 2;
  static constexpr unsigned b_pitch = columns;
  /// Eight lanes read rows 2 t, or 2 t + 1, and of each 32 bytes: two of eight places of 16 bytes
  /// that use the same banks, in each row two others.
  __device__ static constexpr unsigned exchange_of_b(unsigned k) { return k % 8 * 2; }
};

inline Stage two_blocks_stage() {
  Stage stage =
      pipeline_stage<EightKPart<HalfTile>, true>("matrix instructions, two blocks", Unit::matrix);
  stage.needs = matrix_instruction;
  return stage;
}

#endif

}  // namespace dgemm
