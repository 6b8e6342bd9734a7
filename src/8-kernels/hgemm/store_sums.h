// Lanes store their sums to C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hopper.h"
#include "stage.h"

namespace hgemm {

#if defined(HGEMM_HAS_HOPPER)

/// One sum, or two neighbours: floats at once, where they may be.
template <typename Result>
__device__ void store_two(Result* c, bool has_second, float alpha, float first, float second,
                          float beta) {
  if constexpr (std::is_same_v<Result, float>) {
    if (has_second && beta == 0 && reinterpret_cast<std::uintptr_t>(c) % sizeof(float2) == 0) {
      *reinterpret_cast<float2*>(c) = {alpha * first, alpha * second};
      return;
    }
  }
  store_result(c, alpha, first, beta);
  if (has_second) {
    store_result(c + 1, alpha, second, beta);
  }
}

/// A thread's place in C: four sums that belong together are in two columns of row `row` and in
/// those of row `row` + 8; by columns the other way round.
struct SumsPlace {
  unsigned row;
  unsigned column;
};
template <typename Tile>
__device__ SumsPlace place_of_sums(unsigned first_row, unsigned first_column, unsigned group,
                                   unsigned warp, unsigned lane, unsigned quad) {
  const unsigned first = group * 64 + warp * 16 + lane / 4;
  const unsigned second = quad * 8 + lane % 4 * 2;
  return Tile::by_columns ? SumsPlace{first_row + second, first_column + first}
                          : SumsPlace{first_row + first, first_column + second};
}

template <typename Tile, typename Result>
__device__ void store_sums(Result* c, const Extents& extents, SumsPlace at, float4 sums,
                           float alpha, float beta) {
  const auto store = [&](unsigned row, unsigned column, float first, float second) {
    if (row < extents.m && column < extents.n) {
      store_two(c + std::size_t{row} * extents.ldc + column, column + 1 < extents.n, alpha, first,
                second, beta);
    }
  };
  const auto store_one = [&](unsigned row, unsigned column, float sum) {
    if (row < extents.m && column < extents.n) {
      store_result(c + std::size_t{row} * extents.ldc + column, alpha, sum, beta);
    }
  };
  if constexpr (Tile::by_columns) {
    store_one(at.row, at.column, sums.x);
    store_one(at.row + 1, at.column, sums.y);
    store_one(at.row, at.column + 8, sums.z);
    store_one(at.row + 1, at.column + 8, sums.w);
  } else {
    store(at.row, at.column, sums.x, sums.y);
    store(at.row + 8, at.column, sums.z, sums.w);
  }
}

#endif

}  // namespace hgemm
