// Grid stride: blocks of 256, no more than fit at once; each goes on by a whole grid until the
// array ends.
//
// Against rung 9: the same kernel, launched otherwise. No block has to start while another ends,
// and few sums are left for the second launch.
//
// On the H200 237 us, 98.2 % of rung 0's rate.
#pragma once

#include "stage.h"

namespace hipscope::reduction {
namespace grid_stride {

// Adds `Loads` vectors to `sum`: all loads first, then a tree. Those from `end` on do not count;
// they are loaded from `at`, which is before it, so that no load depends on a branch.
template <unsigned Threads, unsigned Loads, bool Whole, typename Access>
__device__ void add_tile(Access& sum, const Access* vectors, std::uint64_t at,
                         [[maybe_unused]] std::uint64_t end) {
  Access loaded[Loads];
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    const std::uint64_t place = at + i * Threads;
    loaded[i] = vectors[Whole || place < end ? place : at];
  }
  end_of_loads();
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    if (!Whole && at + i * Threads >= end) {
      loaded[i] = Access{};
    }
  }
  add_halves<Loads / 2>(loaded);
  add(sum, loaded[0]);
}

// Sums tile `first` of `Loads` vectors per thread, then the one `step` further, and so on; the last
// tile may be a part.
template <unsigned Threads, unsigned Loads, typename Value>
__device__ Value sum_tiles(const Vectors<Value>& input, unsigned first, unsigned step) {
  constexpr unsigned tile_vectors = Threads * Loads;
  const auto whole_tiles = static_cast<unsigned>(input.count / tile_vectors);
  Vector<Value> sum{};
  unsigned tile = first;
#pragma unroll 1
  for (; tile < whole_tiles; tile += step) {
    add_tile<Threads, Loads, true>(sum, input.vectors,
                                   std::uint64_t{tile} * tile_vectors + threadIdx.x, input.count);
  }
  const std::uint64_t at = std::uint64_t{tile} * tile_vectors + threadIdx.x;
  if (tile == whole_tiles && at < input.count) {
    add_tile<Threads, Loads, false>(sum, input.vectors, at, input.count);
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

// The sum over the block, in all lanes of its first wave.
template <unsigned Threads, typename Value>
__device__ Value block_sum(Value sum) {
  __shared__ Value wave_sums[largest_block / smallest_wave];
  const unsigned lane = threadIdx.x % wave_lanes();
  const unsigned wave = threadIdx.x / wave_lanes();
  sum = wave_sum(sum);
  if (lane == 0) {
    wave_sums[wave] = sum;
  }
  __syncthreads();
  if (wave == 0) {
    sum = wave_sum(lane < Threads / wave_lanes() ? wave_sums[lane] : Value{});
  }
  return sum;
}

}  // namespace grid_stride

// (The second launch bound: or else the compilers keep to few registers, and load fewer vectors at
// once than the source says.)
template <typename Value, unsigned Threads, unsigned Loads>
__global__ void __launch_bounds__(Threads, 1)
    grid_stride_kernel(Vectors<Value> input, unsigned blocks, Value* sums, Value* /*total*/,
                       unsigned* /*counter*/) {
  Value sum = grid_stride::sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  sum = grid_stride::block_sum<Threads>(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads = 256, unsigned Loads = 8>
Stage<Value> grid_stride_stage() {
  return vector_stage<Value>({.name = "grid stride",
                              .kernel = grid_stride_kernel<Value, Threads, Loads>,
                              .threads = Threads,
                              .loads = Loads,
                              .deal = to_resident_blocks,
                              .finish = Finish::store});
}

}  // namespace hipscope::reduction
