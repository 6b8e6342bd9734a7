// How many rows a tile is to have, by the CUs that there are. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace hgemm {

/// Those that stage 07.7 has kernels for.
using TileRows = std::integer_sequence<unsigned, 256, 224, 192, 160, 128>;

/// The rows that the CU with the most tiles multiplies, one tile after the other: C has `m` rows,
/// and is `across` tiles wide.
constexpr std::uint64_t rows_of_a_cu(unsigned rows, unsigned m, unsigned across, unsigned cus) {
  const std::uint64_t tiles = std::uint64_t{(m + rows - 1) / rows} * across;
  return (tiles + cus - 1) / cus * rows;
}

/// All of them, from the least such rows on; of equals the larger tile comes first.
template <unsigned... rows>
std::vector<unsigned> likely_rows(unsigned m, unsigned across, unsigned cus,
                                  std::integer_sequence<unsigned, rows...> /*all*/) {
  std::vector<unsigned> likely = {rows...};
  std::stable_sort(likely.begin(), likely.end(), [=](unsigned left, unsigned right) {
    return rows_of_a_cu(left, m, across, cus) < rows_of_a_cu(right, m, across, cus);
  });
  return likely;
}

}  // namespace hgemm
