// The chains of FMAs that the threads of wave_divergence run, each from a start of its own, and the
// check of where they end.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <vector>

#include "reference.h"

namespace wave_divergence {

constexpr unsigned largest_block = 1024;

// A loop's counter and branch take a small part of its time beside this many FMAs, and the loops of
// several waves on different paths still fit into the instruction cache nearest to a SIMD.
constexpr unsigned fmas_per_iteration = 16;

// How many values threads start from. A prime, so that threads of one path differ; all
// under 1/2, about which the chains below jump and from which they would never move.
constexpr unsigned start_values = 7;

__host__ __device__ inline float start_value(unsigned thread) {
  return (1.0F + static_cast<float>(thread % start_values)) / 16;
}

// Hides from the compiler what x is.
__device__ inline void hide([[maybe_unused]] float& x) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+f"(x));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(x));
#endif
}

// x -> addend - factor * x on each path, with a factor of its own, and so near to 1 that x keeps a
// memory of its start for 2^16 steps at least: a result tells its path, length and start.
constexpr float path_addend = 1.0F;
__host__ __device__ constexpr float path_factor(unsigned path) {
  return 1.0F - static_cast<float>(path + 1) * 0x1p-22F;
}

// The end of `chain` for each start value.
template <typename Chain>
std::vector<float> ends_of(Chain chain) {
  std::vector<float> ends(start_values);
  for (unsigned i = 0; i < start_values; ++i) {
    ends[i] = chain(start_value(i));
  }
  return ends;
}

// The first `threads` results are `expected(thread)`, no sum of which is a zero.
template <typename Expected>
void check_ends(hipscope::Point& point, const std::string& what,
                const hipscope::DeviceBuffer<float>& output, unsigned threads,
                const Expected& expected) {
  const std::vector<float> results = output.to_host();
  point.check(what, std::span(results).first(threads),
              [&](std::uint64_t thread) { return float{expected(static_cast<unsigned>(thread))}; });
}

// The end of each path for each start value.
inline std::vector<std::vector<float>> ends_of_paths(unsigned paths, std::uint64_t iterations) {
  std::vector<std::vector<float>> ends;
  for (unsigned path = 0; path < paths; ++path) {
    ends.push_back(ends_of([&](float x) {
      return chain_end(x, -path_factor(path), path_addend, iterations * fmas_per_iteration);
    }));
  }
  return ends;
}

}  // namespace wave_divergence
