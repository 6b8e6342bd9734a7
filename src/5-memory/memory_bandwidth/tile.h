// What a thread moves at once, for streams and walks alike: all loads of a tile before anything
// waits for the first.
#pragma once

#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>
#include <hipscope/scheduling_barrier.h>

#include <cstddef>
#include <cstdint>

#include "bandwidth_functions.h"

namespace memory_bandwidth {

using hipscope::DeviceBuffer;
using hipscope::Hint;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::bandwidth::apply;
using hipscope::bandwidth::Arrays;
using hipscope::bandwidth::arrays_moved;
using hipscope::bandwidth::as;
using hipscope::bandwidth::inputs_of;
using hipscope::bandwidth::stores;
using hipscope::bandwidth::verify;

inline constexpr unsigned largest_block = 1024;
// Of 16 bytes per thread: more do not fit into registers.
inline constexpr unsigned most_values = 8;

// The largest tile of a block; arrays are multiples of it, so that no thread has to look where they
// end.
inline constexpr std::uint64_t tile_bytes =
    std::uint64_t{largest_block} * most_values * sizeof(uint4);

template <typename Access>
constexpr unsigned words_of = sizeof(Access) / sizeof(unsigned);

template <typename Access>
__device__ unsigned& word(Access& access, unsigned i) {
  return static_cast<unsigned*>(static_cast<void*>(&access))[i];
}

inline constexpr unsigned smallest_wave = 32;

// NVIDIA's warpSize is no constant for the compiler: it divides by it, and loops.
__device__ inline unsigned wave_lanes() {
#if defined(__CUDA_ARCH__)
  return smallest_wave;
#else
  return warpSize;
#endif
}

// The sum over the wave, in its first lane; NVIDIA has one instruction for it from sm_80 on.
__device__ inline unsigned sum_of_wave(unsigned sum) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFF, sum);
#else
  for (unsigned distance = wave_lanes() / 2; distance > 0; distance /= 2) {
    sum += __shfl_down(sum, distance);
  }
  return sum;
#endif
}

// Adds the threads' sums up, so that no load can be left out.
__device__ inline void store_block_sum(unsigned sum, unsigned* sums) {
  __shared__ unsigned wave_sums[largest_block / smallest_wave];
  sum = sum_of_wave(sum);
  if (threadIdx.x % wave_lanes() == 0) {
    wave_sums[threadIdx.x / wave_lanes()] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned wave = 1; wave < blockDim.x / wave_lanes(); ++wave) {
      sum += wave_sums[wave];
    }
    sums[blockIdx.x] = sum;
  }
}

// Moves one tile; returns the sum of what was moved. Thread t has the accesses at start + t, as far
// apart as `distance`. Nothing says that `output` is another array than the inputs, so every load
// comes before the first store.
template <Function function, typename Access, unsigned Values, Hint load_hint, Hint store_hint>
__device__ unsigned move_tile(const Access* first, const Access* second, Access* output,
                              std::size_t start, unsigned distance, unsigned first_count) {
  constexpr unsigned words = words_of<Access>;
  Access a[Values];
  Access b[Values];
#pragma unroll
  for (unsigned i = 0; i < Values; ++i) {
    const std::size_t at = start + i * distance;
    if constexpr (inputs_of(function) == 0) {
#pragma unroll
      for (unsigned w = 0; w < words; ++w) {
        word(a[i], w) = first_count + static_cast<unsigned>(at) * words + w;
      }
    } else {
      a[i] = hipscope::load<load_hint>(first + at);
    }
    b[i] = a[i];
    if constexpr (inputs_of(function) == 2) {
      b[i] = hipscope::load<load_hint>(second + at);
    }
  }
  hipscope::scheduling_barrier();  // clang would load a few at a time, to save registers
  unsigned sum = 0;
#pragma unroll
  for (unsigned i = 0; i < Values; ++i) {
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
      word(a[i], w) = apply<function>(word(a[i], w), word(b[i], w));
      sum += word(a[i], w);
    }
    if constexpr (stores(function)) {
      hipscope::store<store_hint>(output + start + i * distance, a[i]);
    }
  }
  return sum;
}

// The host backend's waves of 64 lanes fill no fewer threads; more only take time.
inline constexpr unsigned threads_on_host = 64;

}  // namespace memory_bandwidth
