// What cu_staircase concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "hipscope/experiment.h"

namespace cu_staircase {

constexpr unsigned largest_block = 1024;

/// Threads per block of sweeps staircase-N, of busy blocks, and resident-N, of waiting ones.
constexpr std::array<unsigned, 4> staircase_blocks = {256, 512, 768, 1024};
constexpr std::array<unsigned, 7> residency_blocks = {32, 64, 128, 256, 512, 768, 1024};

inline std::string staircase_name(unsigned threads) {
  return "staircase-" + std::to_string(threads);
}
inline std::string residency_name(unsigned threads) {
  return "resident-" + std::to_string(threads);
}

/// The number of CUs, and how many blocks fit on one: from the value "cycles" of those sweeps.
/// `occupancy` is what the runtime's calculator says of a waiting block of that many threads. What
/// a sweep that was left out would have told is left out.
void conclude(hipscope::Results& results, const std::function<int(unsigned threads)>& occupancy);

}  // namespace cu_staircase
