// Operands as tensor copies take them: rows that begin at multiples of 16 bytes. Others are packed
// into a workspace first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "8-kernels/gemm/problem_kernels.h"
#include "hopper.h"
#include "stage.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// Copies a matrix of `rows` x `columns` to one with rows of `pitch`, filled up with zeros.
template <typename Value>
using CopyRows = void (*)(Value* to, unsigned pitch, const Value* from, unsigned rows,
                          unsigned columns, unsigned from_pitch);

/// A value per thread: stage 13's.
inline void pack_by_values(Half* to, unsigned pitch, const Half* from, unsigned rows,
                           unsigned columns, unsigned from_pitch) {
  hipscope::launch(gemm::copy_kernel<Half>, gemm::row_shape(rows, pitch), to, rows, pitch, pitch,
                   from, rows, columns, from_pitch);
}

constexpr unsigned pack_threads = 256;
constexpr unsigned rows_per_block = 8;

/// Two neighbours per thread, of eight rows, whose loads run at the same time: from stage 14 on.
template <typename Value>
static __global__ void __launch_bounds__(pack_threads)
    pack_kernel(unsigned* __restrict__ to, unsigned to_pairs, const Value* __restrict__ from,
                unsigned rows, unsigned columns, unsigned from_pitch) {
  const unsigned pair = blockIdx.x * pack_threads + threadIdx.x;
  const unsigned first_row = blockIdx.y * rows_per_block;
  if (pair < to_pairs) {
#pragma unroll
    for (unsigned i = 0; i < rows_per_block; ++i) {
      if (first_row + i < rows) {
        const Value* const at = from + std::size_t{first_row + i} * from_pitch + 2 * pair;
        const unsigned low = 2 * pair < columns ? at[0].bits : 0;
        const unsigned high = 2 * pair + 1 < columns ? at[1].bits : 0;
        to[std::size_t{first_row + i} * to_pairs + pair] = low | high << 16U;
      }
    }
  }
}

template <typename Value>
void pack(Value* to, unsigned pitch, const Value* from, unsigned rows, unsigned columns,
          unsigned from_pitch) {
  hipscope::launch(
      pack_kernel<Value>,
      {.grid = dim3(blocks_of(pitch / 2, pack_threads), blocks_of(rows, rows_per_block)),
       .block = dim3(pack_threads)},
      reinterpret_cast<unsigned*>(to), pitch / 2, from, rows, columns, from_pitch);
}

// Rows for tensor copies: 16 bytes are 8 values, of which a copy to memory always stores all.
inline unsigned whole_pitch(std::uint64_t columns) {
  return static_cast<unsigned>((columns + 7) / 8 * 8);
}
template <typename Value>
bool has_whole_rows(const Value* matrix, unsigned columns, unsigned pitch) {
  return columns % 8 == 0 && gemm::begins_aligned(matrix, pitch);
}

// With k = 0 both operands are zeros in the workspace, 8 deep.
inline std::uint64_t whole_rows_workspace(const Extents& e) {
  const std::uint64_t k = std::max(8U, e.k);
  return sizeof(Half) * (e.m * std::uint64_t{whole_pitch(k)} + k * whole_pitch(e.n));
}

/// `product` with whole rows of A and B: its own, or copies in `workspace`.
template <typename Value, typename Result>
gemm::Product<Value, Result> with_whole_rows(gemm::Product<Value, Result> product, void* workspace,
                                             CopyRows<Value> copy_rows) {
  auto* room = static_cast<Value*>(workspace);
  Extents& e = product.extents;
  if (e.k == 0) {
    e.k = e.lda = 8;
    e.ldb = whole_pitch(e.n);
    product.a = room;
    product.b = room + std::size_t{e.m} * e.lda;
  }
  const auto make_whole = [&](const Value*& matrix, unsigned rows, unsigned columns,
                              unsigned& pitch) {
    if (!has_whole_rows(matrix, columns, pitch) && rows > 0 && columns > 0) {
      copy_rows(room, whole_pitch(columns), matrix, rows, columns, pitch);
      matrix = room;
      pitch = whole_pitch(columns);
      room += std::size_t{rows} * pitch;
    }
  };
  make_whole(product.a, e.m, e.k, e.lda);
  make_whole(product.b, e.k, e.n, e.ldb);
  return product;
}

#endif

}  // namespace hgemm
