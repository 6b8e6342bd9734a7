// Where pieces of rows are in LDS, so that no bank conflicts and no row is padded.
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

/// A row, and which of its pieces.
struct PieceOfRow {
  unsigned row;
  unsigned piece;
};

/// What has this place.
__host__ __device__ constexpr PieceOfRow piece_at_place(unsigned place) {
  const unsigned line = place / 8;
  const unsigned in_line = place % 8 ^ line % 4 ^ line / 2 % 2 * 4;
  return {.row = line * 2 + in_line / 4, .piece = in_line % 4};
}

}  // namespace gemm
