// Vector loads: 16 bytes per thread in one load; then eight such loads in flight at once; then grid
// stride. Blocks of 256; further launches sum the blocks' sums. One kernel, launched in three ways:
//
// Vector load: a block sums one tile, a vector for each thread. Against 04: sum_tiles in place of
// sum_of_loads; a thread loads 16 bytes by one instruction, not 8 by two. On the H200 it takes
// 282 us, 82.2 % of the rate of 00.
//
// Eight vector loads: all loads of a tile come before the first addition (add_tile), so that enough
// bytes are in flight to hide the memory's latency (memory_bandwidth says how many they must be).
// 238 us, 97.4 %.
//
// Grid stride: no more blocks than fit at once; each goes on by a whole grid until the array ends.
// No block has to start while another ends, and few sums are left for the second launch. 234 us,
// 99.1 %.
#pragma once

#include "block_sum.h"
#include "stage.h"

namespace hipscope::reduction {

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
  scheduling_barrier();
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
// tile may be a part. `step` is the number of blocks: if there are fewer than tiles, that is the
// grid stride.
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

// (Without the second launch bound the compilers keep to few registers, and have fewer loads in
// flight than are written here.)
template <typename Value, unsigned Threads, unsigned Loads>
__global__ void __launch_bounds__(Threads, 1)
    vector_loads_kernel(Vectors<Value> input, unsigned blocks, Value* sums, Value* /*total*/,
                        unsigned* /*counter*/) {
  Value sum = sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  sum = block_sum<Threads>(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Loads>
Stage<Value> vector_loads_stage(const std::string& name, const Spread& spread) {
  constexpr unsigned threads = 256;
  return vector_stage<Value>({.name = name,
                              .kernel = vector_loads_kernel<Value, threads, Loads>,
                              .threads = threads,
                              .loads = Loads,
                              .spread = spread,
                              .finish = Finish::store});
}

template <typename Value>
Stage<Value> vector_load_stage() {
  return vector_loads_stage<Value, 1>("vector load", {.tiles_per_block = 1});
}

template <typename Value>
Stage<Value> eight_vector_loads_stage() {
  return vector_loads_stage<Value, 8>("eight vector loads", {.tiles_per_block = 1});
}

template <typename Value>
Stage<Value> grid_stride_stage() {
  return vector_loads_stage<Value, 8>("grid stride", to_resident_blocks);
}

}  // namespace hipscope::reduction
