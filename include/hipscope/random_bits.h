// Random numbers that host and device can tell from an index, without the array that holds them.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace hipscope {

/// Chris Wellons' lowbias32: a permutation of the 32-bit numbers, each of whose bits looks random.
__host__ __device__ inline unsigned random_bits(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

/// A key for `random_bits(index + key)` from --seed.
inline unsigned key_of(std::uint64_t seed) {
  return random_bits(static_cast<unsigned>(seed) + random_bits(static_cast<unsigned>(seed >> 32)));
}

}  // namespace hipscope
