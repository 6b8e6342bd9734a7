// Where pieces of rows are in LDS, so that no bank is asked twice and no row is padded.
#pragma once

#include <hip/hip_runtime.h>

namespace gemm {

/// The place of a row's piece of 16 bytes, of rows of four: two rows are a line of eight pieces,
/// all banks. Eight neighbouring rows have a piece in eight places of a line, and so has a row its
/// four and the one four rows further on its own.
__host__ __device__ constexpr unsigned place_of_piece(unsigned row, unsigned piece) {
  const unsigned in_line = (row % 2 * 4 + piece) ^ (row / 2 % 4) ^ (row / 4 % 2 * 4);
  return row / 2 * 8 + in_line;
}

}  // namespace gemm
