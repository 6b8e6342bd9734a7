// Two buffers in LDS, and the next tiles in flight while these are multiplied.
//
// Against 06: loads of the next tiles are issued before the products and stored to the other buffer
// after them, so the products hide memory's latency, and one barrier per tile is enough in place of
// two. A load costs registers until it is stored: 16 per thread.
// On the H200 151 TFLOP/s, 1.10 x 06.
#pragma once

#include <hipscope/scheduling_barrier.h>

#include "matrix_instructions.h"
#include "stage.h"

namespace hgemm {

template <typename Code, typename Value, typename Result>
static __global__ void __launch_bounds__(256)
    two_lds_buffers_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                           const Value* __restrict__ b, float beta, Result* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 32;
  constexpr unsigned pitch = depth + 8;
  alignas(16) __shared__ Value a_tile[2][block_rows][pitch];
  alignas(16) __shared__ Value b_tile[2][block_columns][pitch];
  // Of A a thread copies 16 bytes of two rows; of B 16 bytes of two rows that are neighbours.
  const unsigned a_row = threadIdx.x / 4;
  const unsigned a_k = threadIdx.x % 4 * 8;
  const unsigned b_k = threadIdx.x % 16 * 2;
  const unsigned b_column = threadIdx.x / 16 * 8;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + a_k;
  b += std::size_t{b_k} * extents.ldb + blockIdx.x * block_columns + b_column;
  // Of A a thread has rows a_row and a_row + 64 of the tile, of B rows b_k and b_k + 1.
  const std::size_t half_of_a = std::size_t{64} * extents.lda;
  const auto store = [&](unsigned buffer, const Piece& upper, const Piece& lower, const Piece& even,
                         const Piece& odd) {
    piece_at(&a_tile[buffer][a_row][a_k]) = upper;
    piece_at(&a_tile[buffer][a_row + 64][a_k]) = lower;
    store_pairs(&b_tile[buffer][b_column][b_k], pitch, even, odd);
  };
  WaveTile<Code> wave;
  store(0, piece_at(a), piece_at(a + half_of_a), piece_at(b), piece_at(b + extents.ldb));
  __syncthreads();
  for (unsigned first_k = 0; first_k < extents.k; first_k += depth) {
    const unsigned buffer = first_k / depth % 2;
    const bool goes_on = first_k + depth < extents.k;
    Piece upper{};
    Piece lower{};
    Piece even{};
    Piece odd{};
    if (goes_on) {
      a += depth;
      b += std::size_t{depth} * extents.ldb;
      upper = piece_at(a);
      lower = piece_at(a + half_of_a);
      even = piece_at(b);
      odd = piece_at(b + extents.ldb);
    }
#pragma unroll
    for (unsigned k = 0; k < depth; k += Code::k) {
      wave.multiply_add(a_tile[buffer], b_tile[buffer], k);
    }
    // The other buffer was read before the last barrier. In the last turn these are zeros that
    // nobody reads: with a condition here clang moves the products after the stores. And for
    // gfx1201 clang 22 would move the stores ahead of the products, and the wait for their values
    // with them.
    hipscope::scheduling_barrier();
    store(1 - buffer, upper, lower, even, odd);
    __syncthreads();
  }
  wave.store(c + std::size_t{blockIdx.y * block_rows} * extents.ldc + blockIdx.x * block_columns,
             extents.ldc, alpha, beta);
}

template <typename Value = Half, typename Result = Value>
std::vector<gemm::Stage<Value, Result>> two_lds_buffers_stages() {
  return stages_by_instruction<Value>([]<typename Code>(Instruction<Code>) {
    auto stage = matrix_stage<Code, two_lds_buffers_kernel<Code, Value, Result>, Value, Result>(
        ", two LDS buffers", 32);
    stage.is_contender = true;  // the last one for devices of several kinds
    return stage;
  });
}

}  // namespace hgemm
