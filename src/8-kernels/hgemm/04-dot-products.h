// Products of two halves at once: an instruction adds a0 b0 + a1 b1 to a sum in FP32.
//
// Against 03: LDS holds pairs of neighbours along k, of A as stored, of B from two rows. AMD has
// such an instruction from gfx906 on (v_dot2_f32_f16): half as many instructions, and no
// conversions. Elsewhere the pair costs two FMAs and four conversions, as before.
// On the H200, which has none, 34.2 TFLOP/s, 1.02 x 03.
#pragma once

#include "hipscope/matrix/packed.h"
#include "stage.h"

namespace hgemm {

/// sum + a0 b0 + a1 b1.
__device__ inline float add_products(unsigned a, unsigned b, float sum) {
#if MATRIX_RATE_DOT > 0
  using Pair = matrix_rate::Vector<_Float16, 2>;
  return __builtin_amdgcn_fdot2(__builtin_bit_cast(Pair, a), __builtin_bit_cast(Pair, b), sum,
                                false);
#else
  const auto low = [](unsigned pair) {
    return hipscope::to_float(Half{static_cast<std::uint16_t>(pair)});
  };
  return sum + low(a) * low(b) + low(a >> 16) * low(b >> 16);
#endif
}

static __global__ void __launch_bounds__(256)
    dot_products_kernel(Extents extents, float alpha, const Half* __restrict__ a,
                        const Half* __restrict__ b, float beta, Half* __restrict__ c) {
  constexpr unsigned block_rows = 128;
  constexpr unsigned block_columns = 128;
  constexpr unsigned depth = 16;
  constexpr unsigned side = 8;  // of a thread's tile
  alignas(16) __shared__ unsigned a_tile[depth / 2][block_rows];
  alignas(16) __shared__ unsigned b_tile[depth / 2][block_columns];
  // Of A a thread copies four pairs of a row; of B four columns of two rows.
  const unsigned a_row = threadIdx.x / 2;
  const unsigned a_pair = threadIdx.x % 2 * 4;
  const unsigned b_pair = threadIdx.x / 32;
  const unsigned b_column = threadIdx.x % 32 * 4;
  const unsigned row = threadIdx.x / 16 * side;
  const unsigned column = threadIdx.x % 16 * side;
  a += std::size_t{blockIdx.y * block_rows + a_row} * extents.lda + 2 * a_pair;
  b += std::size_t{2 * b_pair} * extents.ldb + blockIdx.x * block_columns + b_column;
  float sums[side][side] = {};
  for (unsigned first_k = 0; first_k < extents.k; first_k += depth) {
    const uint4 of_a = *reinterpret_cast<const uint4*>(a);
    a_tile[a_pair][a_row] = of_a.x;
    a_tile[a_pair + 1][a_row] = of_a.y;
    a_tile[a_pair + 2][a_row] = of_a.z;
    a_tile[a_pair + 3][a_row] = of_a.w;
    const uint2 even = *reinterpret_cast<const uint2*>(b);
    const uint2 odd = *reinterpret_cast<const uint2*>(b + extents.ldb);
    *reinterpret_cast<uint4*>(&b_tile[b_pair][b_column]) =
        make_uint4((even.x & 0xFFFF) | odd.x << 16, even.x >> 16 | (odd.x & 0xFFFF0000),
                   (even.y & 0xFFFF) | odd.y << 16, even.y >> 16 | (odd.y & 0xFFFF0000));
    a += depth;
    b += std::size_t{depth} * extents.ldb;
    __syncthreads();
#pragma unroll
    for (unsigned pair = 0; pair < depth / 2; ++pair) {
      unsigned left[side];
      unsigned right[side];
#pragma unroll
      for (unsigned i = 0; i < side; ++i) {
        left[i] = a_tile[pair][row + i];
        right[i] = b_tile[pair][column + i];
      }
#pragma unroll
      for (unsigned i = 0; i < side; ++i) {
#pragma unroll
        for (unsigned j = 0; j < side; ++j) {
          sums[i][j] = add_products(left[i], right[j], sums[i][j]);
        }
      }
    }
    __syncthreads();  // nobody may overwrite what another still reads
  }
  c += std::size_t{blockIdx.y * block_rows + row} * extents.ldc + blockIdx.x * block_columns +
       column;
#pragma unroll
  for (unsigned i = 0; i < side; ++i) {
#pragma unroll
    for (unsigned j = 0; j < side; ++j) {
      store_result(c + std::size_t{i} * extents.ldc + j, alpha, sums[i][j], beta);
    }
  }
}

}  // namespace hgemm
