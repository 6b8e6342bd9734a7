// The copy that every stage is held against: what the memory takes.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>

#include "accesses.h"
#include "reference.h"

namespace hipscope::batch_norm {

constexpr unsigned copy_block = 256;

// One value of 16 bytes per thread, one tile per block: the best shape of memory_bandwidth.
static __global__ void __launch_bounds__(copy_block)
    copy_kernel(const uint4* __restrict__ input, uint4* __restrict__ output, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * copy_block + threadIdx.x;
  if (i < count) {
    output[i] = input[i];
  }
}

inline void run_copy(const Arrays& arrays) {
  const std::uint64_t count = arrays.input.size() / 4;
  launch(copy_kernel, {.grid = dim3(blocks_for(count, copy_block)), .block = dim3(copy_block)},
         static_cast<const uint4*>(static_cast<const void*>(arrays.input.data())),
         static_cast<uint4*>(static_cast<void*>(arrays.output.data())), count);
}

}  // namespace hipscope::batch_norm
