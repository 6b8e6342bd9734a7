// Where pieces of rows are in LDS, so that no bank conflicts and no row is padded.
#pragma once

#include <hip/hip_runtime.h>

namespace gemm {

/// The place of a row's piece of 16 bytes, of rows of four: two rows are a line of eight pieces,
/// all banks. Eight neighbouring rows have a piece in eight places of a line, and so has a row its
/// four and the one four rows further on its own. A row of eight pieces is a line by itself.
template <unsigned of_row = 4>
__host__ __device__ constexpr unsigned place_of_piece(unsigned row, unsigned piece) {
  static_assert(of_row == 4 || of_row == 8);
  if constexpr (of_row == 8) {
    return row * 8 + (piece ^ row % 8);
  } else {
    const unsigned in_line = (row % 2 * 4 + piece) ^ (row / 2 % 4) ^ (row / 4 % 2 * 4);
    return row / 2 * 8 + in_line;
  }
}

/// A row, and which of its pieces.
struct PieceOfRow {
  unsigned row;
  unsigned piece;
};

/// What has this place.
template <unsigned of_row = 4>
__host__ __device__ constexpr PieceOfRow piece_at_place(unsigned place) {
  const unsigned line = place / 8;
  if constexpr (of_row == 8) {
    return {.row = line, .piece = place % 8 ^ line % 8};
  } else {
    const unsigned in_line = place % 8 ^ line % 4 ^ line / 2 % 2 * 4;
    return {.row = line * 2 + in_line / 4, .piece = in_line % 4};
  }
}

/// Where a piece of a line of eight is, and which is there: of rows k to k + 3, k a multiple of 4,
/// a load that transposes reads half a line each, which then are in all 64 banks of gfx950.
__host__ __device__ constexpr unsigned place_in_panel(unsigned k, unsigned piece) {
  return piece ^ k / 2 % 2 * 4;
}

}  // namespace gemm
