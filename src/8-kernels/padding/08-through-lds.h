// Through LDS: a block reads its planes with loads of 16 bytes, and pads from LDS. Blocks of 192,
// 169 of whose threads store (or `Threads`).
//
// Against 07: the input is read in whole vectors, and each value is found in LDS.
#pragma once

#include "places.h"

namespace hipscope::padding {

template <unsigned Threads, unsigned Rounds, Hint store_hint>
__global__ void __launch_bounds__(Threads, 1)
    lds_kernel(const float* input, float* output, unsigned planes, ReadAhead ahead) {
  using Block = Tile<Threads, Rounds>;
  __shared__ float4 tile[Block::loads];
  read_ahead(input, ahead);
#pragma unroll
  for (unsigned first = 0; first < Block::loads; first += Threads) {
    const unsigned at = first + threadIdx.x;
    if (at < Block::loads) {
      tile[at] = load_four(input, 4 * (blockIdx.x * Block::loads + at), planes * FixedShape::plane);
    }
  }
  const FourPlaces places(threadIdx.x);
  __syncthreads();
  const unsigned count = planes * FixedShape::padded_plane;
  const unsigned first = 4 * (blockIdx.x * Block::storing_threads * Rounds + threadIdx.x);
  if (threadIdx.x >= Block::storing_threads || first >= count) {
    return;
  }
  const float* from = reinterpret_cast<const float*>(tile) +
                      threadIdx.x / FixedShape::padded_plane * (4 * FixedShape::plane);
#pragma unroll
  for (unsigned round = 0; round < Rounds; ++round) {
    float values[4];
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      values[e] = places.is_inside[e] ? (from + places.from[e])[round * Block::loaded] : 0;
    }
    store_four<store_hint>(output + first, round * Block::stored, count - first, values);
  }
}

template <unsigned Threads, unsigned Rounds, Hint store_hint = Hint::none>
Stage lds_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  return tile_stage<Threads, Rounds>(name, lds_kernel<Threads, Rounds, store_hint>, clump_bytes);
}

}  // namespace hipscope::padding
