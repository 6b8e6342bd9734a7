// Two LDS buffers for the 128 x 128 tile, A transposed.
//
// Against tile_128.h: the next tile's loads are issued before the FMAs of this one and stored to
// the other buffer after them (as in double_buffers.h, which says why that is not done by asm
// statements), with one barrier per tile. The source stores before it has waited.
//   ThreadTile::one_piece  8 x 8 neighbouring elements: lanes load 16 bytes from places 32 bytes
//                          apart, so that only every second bank answers
//   ThreadTile::halves     four pieces of 4 x 4, one in each quarter of the block's tile: lanes
//                          load neighbouring 16 bytes
//   RegisterBuffers::two   a double buffer in registers too: the operands of the next k
//                          are loaded before the FMAs of this one
#pragma once

#include "device_code.h"
#include "stage.h"
#include "tile_128.h"

namespace sgemm {

enum class ThreadTile { one_piece, halves };
enum class RegisterBuffers : unsigned { one = 1, two = 2 };

template <ThreadTile thread_tile, RegisterBuffers register_buffers, unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    tile_128_double_buffers_kernel(Extents extents, float alpha, const float* __restrict__ a,
                                   const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 8;
  constexpr unsigned thread_rows = 8;
  constexpr unsigned thread_columns = 8;
  constexpr unsigned pitch = 128 + 4;
  constexpr auto buffers = static_cast<unsigned>(register_buffers);
  // A thread's elements come in pieces of four; from the first four to the second:
  constexpr unsigned first_step = thread_tile == ThreadTile::halves ? 4 : 8;
  constexpr unsigned second_four = thread_tile == ThreadTile::halves ? 64 : 4;
  alignas(16) __shared__ float a_tiles[2][depth * pitch];
  alignas(16) __shared__ float b_tiles[2][depth * pitch];
  const Place place = place_of<Layout::rows_of_16>(threadIdx.x);
  const unsigned first_row = place.row * first_step;
  const unsigned first_column = place.column * first_step;
  const unsigned a_copy_row = threadIdx.x / 2;
  const unsigned a_copy_k = threadIdx.x % 2 * 4;
  const unsigned b_copy_k = threadIdx.x / 32;
  const unsigned b_copy_column = threadIdx.x % 32 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + first_row) * extents.ldc + blockIdx.x * block_columns +
       first_column;
  const auto store_tiles = [&](unsigned buffer, float4 of_a, float4 of_b) {
    store_transposed(a_tiles[buffer] + a_copy_k * pitch + a_copy_row, pitch, of_a);
    store_four(b_tiles[buffer] + b_copy_k * pitch + b_copy_column, of_b);
  };
  const auto read_eight = [&](float(&values)[2][4], const float* from) {
    load(values[0], from);
    load(values[1], from + second_four);
  };
  float sums[thread_rows][2][4] = {};
  store_tiles(0, load_four(a), load_four(b));
  __syncthreads();
  const unsigned tiles = extents.k / depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    // Behind the last tile the same is loaded once more: in the loop there is nothing to decide.
    const unsigned advance = tile + 1 < tiles ? 1 : 0;
    a += advance * depth;
    b += advance * depth * extents.ldb;
    const float4 next_of_a = load_four(a);
    const float4 next_of_b = load_four(b);
    hold_order();
    float a_fragment[buffers][2][4];
    float b_fragment[buffers][2][4];
    const auto read = [&](unsigned k) {
      read_eight(a_fragment[k % buffers], a_tiles[tile % 2] + k * pitch + first_row);
      read_eight(b_fragment[k % buffers], b_tiles[tile % 2] + k * pitch + first_column);
    };
    if (buffers == 2) {
      read(0);
    }
#pragma unroll
    for (unsigned k = 0; k < depth; ++k) {
      if (buffers == 1) {
        read(k);
      } else if (k + 1 < depth) {
        read(k + 1);
        hold_order();
      }
#pragma unroll
      for (unsigned i = 0; i < thread_rows; ++i) {
#pragma unroll
        for (unsigned j = 0; j < thread_columns; ++j) {
          sums[i][j / 4][j % 4] +=
              a_fragment[k % buffers][i / 4][i % 4] * b_fragment[k % buffers][j / 4][j % 4];
        }
      }
    }
    hold_order();
    store_tiles((tile + 1) % 2, next_of_a, next_of_b);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    const unsigned row = i / 4 * second_four + i % 4;
#pragma unroll
    for (unsigned piece = 0; piece < 2; ++piece) {
      store_results(c + row * extents.ldc + piece * second_four, alpha, sums[i][piece], beta);
    }
  }
}

template <ThreadTile thread_tile, RegisterBuffers register_buffers, unsigned planned_threads>
Stage tile_128_double_buffers_stage(const std::string& technique,
                                    const std::string& source_kernel) {
  return stage_of<tile_128_double_buffers_kernel<thread_tile, register_buffers, planned_threads>>(
      technique, source_kernel, tiles_128);
}

}  // namespace sgemm
