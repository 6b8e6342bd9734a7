// Vector loads: 16 bytes per thread in one load; then eight such loads in flight at once; then grid
// stride. Blocks of 256; further launches sum the blocks' sums. One kernel, launched in three ways:
//
// Vector load: a block for each tile of a vector per thread. Against 05: twice the bytes of a
// thread by half the loads. On the H200 283 us, 82.0 % of the rate of 00.
//
// Eight vector loads: all loads come before the first addition, so that enough bytes are in flight
// to hide the memory's latency (memory_bandwidth says how many that takes). 238 us, 97.8 %.
//
// Grid stride: no more blocks than fit at once; each goes on by a whole grid until the array ends.
// No block has to start while another ends, and few sums are left for the second launch. 237 us,
// 98.2 %.
#pragma once

#include "stage.h"

namespace hipscope::reduction {

// (The second launch bound: or else the compilers keep to few registers, and load fewer vectors at
// once than the source says.)
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
