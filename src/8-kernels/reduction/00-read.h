// What the memory gives: eight loads of 16 bytes per thread, as memory_bandwidth found them best,
// and nothing else but an integer sum for each block, so that no load can be left out. Blocks of
// 256, one for each tile.
#pragma once

#include "block_sum.h"
#include "device_code.h"

namespace hipscope::reduction {

constexpr unsigned read_threads = 256;
constexpr unsigned read_loads = 8;
constexpr std::uint64_t read_tile = std::uint64_t{read_threads} * read_loads * vector_values;

__device__ inline void read_tile_of(uint4& sum, const uint4* vectors) {
  uint4 loaded[read_loads];
#pragma unroll
  for (unsigned i = 0; i < read_loads; ++i) {
    loaded[i] = vectors[i * read_threads];
  }
  scheduling_barrier();
  add_halves<read_loads / 2>(loaded);
  add(sum, loaded[0]);
}

static __global__ void __launch_bounds__(read_threads, 1)
    read_kernel(const uint4* vectors, unsigned* sums) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * (read_threads * read_loads) + threadIdx.x;
  uint4 vector_sum{};
  read_tile_of(vector_sum, vectors + first);
  unsigned sum = (vector_sum.x + vector_sum.y) + (vector_sum.z + vector_sum.w);
  sum = block_sum<read_threads>(sum);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

}  // namespace hipscope::reduction
