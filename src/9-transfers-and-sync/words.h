// The words that this chapter copies.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>

namespace transfers {

inline constexpr unsigned largest_block = 512;

// Word i is random_bits(i + key).
static __global__ void __launch_bounds__(largest_block)
    fill_kernel(unsigned* words, std::uint64_t count, unsigned key) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    words[i] = hipscope::random_bits(static_cast<unsigned>(i) + key);
  }
}

}  // namespace transfers
