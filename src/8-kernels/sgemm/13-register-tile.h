// A large thread tile, two buffers in LDS and two in registers, all at compile-time places: 8 x 8
// per thread in tiles of 128 x 128, 256 threads. Plain HIP for every GPU.
//
// It removes the limits of fileaccent's stages one by one:
//   LDS bandwidth  8 x 8 elements per thread need 1 byte per FMA from LDS; their pieces of 4 x 4
//                  are 64 apart, so that neighbouring lanes load neighbouring 16 bytes from A,
//                  which is transposed, and from B
//   latency        the operands of the next k are loaded from LDS before the FMAs of this one, also
//                  across the barrier: the next 8 k are in the other LDS buffer, and the barrier
//                  passed, before the last FMAs of these 8; 6 k of FMAs hide device memory's
//                  latency
//   registers      the launch bound leaves a thread 256
//   instructions   the loop has the turns of both LDS buffers, so addresses are constants; it waits
//                  once per k, for loads issued one k earlier
// On the H200 49.94 TFLOP/s, 75.0 % of the peak and 97.7 % of cuBLAS.
//
// And 8 x 16 per thread in tiles of 128 x 256 (14): 0.75 bytes per FMA from LDS in place of 1, six
// loads for 128 FMAs in place of four for 64; twice the sums, 128 registers, leave room for one
// block on a CU. On the H200 47.79 TFLOP/s, 0.96 of 13.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned column_pieces>  // of 4 x 4, per thread
__global__ void __launch_bounds__(256, 1)
    register_tile_kernel(Extents extents, float alpha, const float* __restrict__ a,
                         const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned threads = 256;
  constexpr unsigned row_pieces = 2;
  constexpr unsigned distance = 64;  // from a thread's piece to its next
  constexpr unsigned block_rows = row_pieces * distance;
  constexpr unsigned block_columns = column_pieces * distance;
  constexpr unsigned depth = 8;  // of one LDS buffer
  constexpr unsigned a_pitch = block_rows + 4;
  constexpr unsigned b_pitch = block_columns + 4;
  // 16 bytes each: two in a row of A's tile, and these rows are copied at a time.
  constexpr unsigned a_copies = block_rows * depth / 4 / threads;
  constexpr unsigned a_copy_rows = threads * 4 / depth;
  constexpr unsigned b_copies = block_columns * depth / 4 / threads;
  constexpr unsigned b_copy_rows = threads * 4 / block_columns;
  alignas(16) __shared__ float a_tile[2][depth * a_pitch];
  alignas(16) __shared__ float b_tile[2][depth * b_pitch];
  const unsigned wave = threadIdx.x / wave_lanes;
  const unsigned lane = threadIdx.x % wave_lanes;
  const Place place = {wave / 2 * 8 + lane / 8, wave % 2 * 8 + lane % 8};
  const unsigned a_copy_row = threadIdx.x / 2;
  const unsigned a_copy_k = threadIdx.x % 2 * 4;
  const unsigned b_copy_k = threadIdx.x / (block_columns / 4);
  const unsigned b_copy_column = threadIdx.x % (block_columns / 4) * 4;
  const float* const a_mine = &a_tile[0][place.row * 4];
  const float* const b_mine = &b_tile[0][place.column * 4];
  float* const a_mine_to_copy = &a_tile[0][a_copy_k * a_pitch + a_copy_row];
  float* const b_mine_to_copy = &b_tile[0][b_copy_k * b_pitch + b_copy_column];
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * 4) * extents.ldc + blockIdx.x * block_columns +
       place.column * 4;

  float4 next_of_a[a_copies];
  float4 next_of_b[b_copies];
  const auto load_tiles = [&] {
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      next_of_a[i] = load_four(a + i * a_copy_rows * extents.lda);
    }
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
      next_of_b[i] = load_four(b + i * b_copy_rows * extents.ldb);
    }
  };
  const auto store_tiles = [&](unsigned buffer) {
#pragma unroll
    for (unsigned i = 0; i < a_copies; ++i) {
      store_transposed(a_mine_to_copy + buffer * depth * a_pitch + i * a_copy_rows, a_pitch,
                       next_of_a[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < b_copies; ++i) {
      store_four(b_mine_to_copy + (buffer * depth + i * b_copy_rows) * b_pitch, next_of_b[i]);
    }
  };
  float a_fragment[2][row_pieces][4];
  Pair b_fragment[2][column_pieces][2];
  const auto read = [&](unsigned buffer, unsigned k) {
#pragma unroll
    for (unsigned i = 0; i < row_pieces; ++i) {
      load(a_fragment[k % 2][i], a_mine + (buffer * depth + k) * a_pitch + i * distance);
    }
#pragma unroll
    for (unsigned j = 0; j < column_pieces; ++j) {
      load(b_fragment[k % 2][j], b_mine + (buffer * depth + k) * b_pitch + j * distance);
    }
  };
  Pair sums[row_pieces * 4][column_pieces * 2] = {};  // of two columns each

  load_tiles();
  store_tiles(0);
  __syncthreads();
  read(0, 0);
#pragma unroll 1
  for (unsigned tile = 0; tile < extents.k; tile += 2 * depth) {
#pragma unroll
    for (unsigned buffer = 0; buffer < 2; ++buffer) {
#pragma unroll
      for (unsigned k = 0; k < depth; ++k) {
        wait_for_lds();
        if (k == 0) {
          // After the last tile the same is loaded once more: in the loop nothing branches.
          const bool is_last = buffer == 1 && tile + 2 * depth >= extents.k;
          a += is_last ? 0 : depth;
          b += is_last ? 0 : depth * extents.ldb;
          load_tiles();
        }
        if (k == depth - 2) {
          store_tiles(1 - buffer);
        }
        if (k == depth - 1) {
          __syncthreads();
          read(1 - buffer, 0);
        } else {
          read(buffer, k + 1);
        }
        scheduling_barrier();
#pragma unroll
        for (unsigned i = 0; i < row_pieces * 4; ++i) {
#pragma unroll
          for (unsigned j = 0; j < column_pieces * 2; ++j) {
            multiply_add(sums[i][j], a_fragment[k % 2][i / 4][i % 4],
                         b_fragment[k % 2][j / 2][j % 2]);
          }
        }
        scheduling_barrier();
      }
    }
  }
#pragma unroll
  for (unsigned i = 0; i < row_pieces * 4; ++i) {
    const unsigned row = i / 4 * distance + i % 4;
#pragma unroll
    for (unsigned j = 0; j < column_pieces; ++j) {
      const Pair left = sums[i][2 * j];
      const Pair right = sums[i][2 * j + 1];
      const float four[4] = {left.x, left.y, right.x, right.y};
      store_results(c + row * extents.ldc + j * distance, alpha, four, beta);
    }
  }
}

}  // namespace sgemm
