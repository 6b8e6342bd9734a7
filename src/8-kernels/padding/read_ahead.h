// Reading the input ahead of time, in clumps, into L2.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>

#include "reference.h"

namespace hipscope::padding {

/// Where a block's input is if each has the same share of the whole, in values of 16 bytes.
struct Shares {
  std::uint64_t per_block;  // in units of 2^-24 values

  static Shares of(std::uint64_t values, std::uint64_t blocks) {
    return {.per_block = (values << 24) / blocks};
  }
  __host__ __device__ std::uint64_t begin(std::uint64_t block) const {
    return (block * per_block) >> 24;
  }
};

/// Reading ahead: memory loses time whenever it turns from reading to writing. So the input comes
/// into L2 in clumps, long before it is needed: of the blocks that share a clump the first
/// `readers` ask for all of a later one, each for `pieces` blocks' input.
struct ReadAhead {
  unsigned readers;  // 0: nobody reads ahead
  unsigned pieces;
  unsigned distance;  // in clumps
  unsigned blocks;    // of the grid
  Shares shares;
};

#if defined(HIPSCOPE_BACKEND_AMD)
inline constexpr bool can_read_ahead = false;  // gfx9 and gfx10 have no such instruction
#else
inline constexpr bool can_read_ahead = true;
#endif

/// Asks for the `values` from `first` on, and waits for nothing: on NVIDIA from sm_90 on all in one
/// instruction, before that one for each line.
__device__ inline void ask_for([[maybe_unused]] const float4* first,
                               [[maybe_unused]] std::uint64_t values) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(first)),
                 "r"(static_cast<unsigned>(values * sizeof(float4)))
               : "memory");
#elif defined(__CUDA_ARCH__)
  constexpr unsigned line = 128 / sizeof(float4);
  for (std::uint64_t at = 0; at < values; at += line) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(first + at)));
  }
#endif
}

__device__ inline void read_ahead(const float* input, const ReadAhead& ahead) {
  if (threadIdx.x != 0 || ahead.readers == 0) {
    return;
  }
  const unsigned clump_blocks = ahead.readers * ahead.pieces;
  const unsigned clump = blockIdx.x / clump_blocks;
  const unsigned reader = blockIdx.x - clump * clump_blocks;
  const std::uint64_t first =
      std::uint64_t{clump + ahead.distance} * clump_blocks + std::uint64_t{reader} * ahead.pieces;
  if (reader < ahead.readers && first + ahead.pieces <= ahead.blocks) {
    const std::uint64_t begin = ahead.shares.begin(first);
    const std::uint64_t end = ahead.shares.begin(first + ahead.pieces);
    if (end > begin) {
      ask_for(reinterpret_cast<const float4*>(input) + begin, end - begin);
    }
  }
}

/// For clumps of `clump_bytes`; none for 0. `values` of 16 bytes are the whole input.
inline ReadAhead read_ahead_of(std::uint64_t clump_bytes, unsigned units, std::uint64_t values,
                               std::uint64_t blocks) {
  if (clump_bytes == 0) {
    return {};
  }
  // At an H200's rate this is asked for some 3 us before it is needed.
  constexpr std::uint64_t least_bytes_ahead = 3000000;
  const std::uint64_t piece_bytes = clump_bytes / units;
  const std::uint64_t block_bytes = std::max<std::uint64_t>(1, values * sizeof(float4) / blocks);
  return {.readers = units,
          .pieces = static_cast<unsigned>(std::max<std::uint64_t>(1, piece_bytes / block_bytes)),
          .distance = static_cast<unsigned>((least_bytes_ahead + clump_bytes - 1) / clump_bytes),
          .blocks = static_cast<unsigned>(blocks),
          .shares = Shares::of(values, blocks)};
}

// What the input's whole 16-byte values are to `blocks` blocks that read ahead.
inline ReadAhead ahead_of(const Arrays& arrays, std::uint64_t clump_bytes, std::uint64_t blocks) {
  return read_ahead_of(clump_bytes, arrays.units, arrays.sizes.inputs() / 4, blocks);
}

// Read at once, for all CUs together; among the best on an H200 (sweep read-ahead).
constexpr std::uint64_t best_clump_bytes = 800000;

}  // namespace hipscope::padding
