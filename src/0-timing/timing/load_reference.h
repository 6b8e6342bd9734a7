// What the load of sweep drift computes: a chain of FMAs in each thread.
#pragma once

#include <cmath>
#include <vector>

namespace timing {

inline constexpr float factor = 0.75F;
inline constexpr float addend = 0.5F;
inline constexpr unsigned fmas_per_lap = 256;

/// The chain's end for each thread of a block. Host and device round an fma once.
inline std::vector<float> ends_of_chains(unsigned threads, unsigned laps) {
  std::vector<float> ends(threads);
  for (unsigned thread = 0; thread < threads; ++thread) {
    float x = static_cast<float>(thread);
    for (unsigned i = 0; i < laps * fmas_per_lap; ++i) {
      x = std::fma(x, factor, addend);
    }
    ends[thread] = x;
  }
  return ends;
}

}  // namespace timing
