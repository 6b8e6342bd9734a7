// What the steps of part 1 have in common: their size and the textbook's signature.
#pragma once

#include "stage.h"

namespace dgemm {

inline constexpr unsigned one_block_threads = 256;
inline constexpr unsigned one_block_side = 64;  // M and N
inline constexpr unsigned one_block_k = 128;

/// A's element (i, k) is at k * m + i, B's element (k, j) at k * n + j, C's (i, j) at i * n + j.
using OneBlockKernel = void (*)(const double* a, const double* b, double* c, double alpha,
                                double beta, int size_m, int size_n, int size_k);

}  // namespace dgemm
