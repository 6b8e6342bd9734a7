// Against 4.16: two blocks on an SM, each with half a tile, 128 x 64. They do not stay in step:
// while one waits at its barrier, begins, or stores C, the other multiplies. It takes 1.5 times as
// many bytes from L2.
//
// And rows of B's tile are not longer by 16 bytes; pieces of 16 change places instead (by XOR). So
// 128 bytes from L2 go to 128 bytes of LDS that begin at a multiple of 128. With longer rows L1
// asks L2 for half of B twice (ncu: 15.0 GB at 4096, where the tiles have 12.9).
//
// On the H200 4248 thousand cycles at 4096, 95.4 % of the peak; 4.16 has 4329, 93.8 %. Rows that
// are copied value by value take 6 to 13 % longer than in 4.16. (LDS of sm_80 has room for one
// block.)
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
  /// Eight lanes read 32 bytes of each of four rows, at the same columns. A row's number, XORed
  /// with that of the piece, gives each lane four banks of its own.
  __device__ static constexpr unsigned exchange_of_b(unsigned k) { return k % 8 * 2; }
};

inline Stage two_blocks_stage() {
  return pipeline_stage<EightKPart<HalfTile>, true>("matrix instructions, two blocks",
                                                    Unit::matrix);
}

#endif

}  // namespace dgemm
