// Places kept: a block stores whole groups of four planes, 169 stores of 16 bytes each, whose
// pattern is the same. Blocks of 352, 338 of whose threads store (or `Threads`).
//
// Against 06: a thread has the same place in each of its groups, and searches for it once.
#pragma once

#include "places.h"

namespace hipscope::padding {

template <unsigned Threads, unsigned Rounds>
__global__ void __launch_bounds__(Threads, 1)
    kept_places_kernel(const float* input, float* output, unsigned planes, ReadAhead ahead) {
  using Block = Tile<Threads, Rounds>;
  read_ahead(input, ahead);
  const unsigned count = planes * FixedShape::padded_plane;
  const unsigned first = 4 * (blockIdx.x * Block::storing_threads * Rounds + threadIdx.x);
  if (threadIdx.x >= Block::storing_threads || first >= count) {
    return;
  }
  const FourPlaces places(threadIdx.x);
  const float* from = input + std::size_t{blockIdx.x} * (4 * Block::loads) +
                      threadIdx.x / FixedShape::padded_plane * (4 * FixedShape::plane);
  const unsigned rest = count - first;
  float values[Rounds][4];
#pragma unroll
  for (unsigned round = 0; round < Rounds; ++round) {
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      const bool is_there = places.is_inside[e] && round * Block::stored + e < rest;
      values[round][e] = is_there ? (from + places.from[e])[round * Block::loaded] : 0;
    }
  }
#pragma unroll
  for (unsigned round = 0; round < Rounds; ++round) {
    store_four(output + first, round * Block::stored, rest, values[round]);
  }
}

template <unsigned Threads, unsigned Rounds>
Stage kept_places_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  return tile_stage<Threads, Rounds>(name, kept_places_kernel<Threads, Rounds>, clump_bytes);
}

}  // namespace hipscope::padding
