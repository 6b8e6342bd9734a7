// In which pieces do the caches of constants fetch? Two loads, the second in the other half of an
// aligned block: it is as fast as a hit if the first has brought it too. The first level brings one
// piece, the second may bring a larger one: two steps.
#pragma once

#include <hipscope/hipscope.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "chase.h"
#include "pairs.h"

namespace cache_sharing {

inline constexpr std::uint64_t group_bytes = 1024;  // in each one pair
inline constexpr std::uint64_t group_count = constant_bytes / group_bytes - 1;

// Pairs of words in the two halves of aligned blocks, in random order, either half first.
inline std::vector<std::uint64_t> pairs_in_blocks(std::uint64_t block, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> pairs;
  const std::uint64_t half = block / 2;
  for (const std::uint64_t group : scattered(0, group_count, group_bytes, seed)) {
    const std::uint64_t begin = group + random() % (group_bytes / block) * block;
    std::uint64_t first = begin + random() % (half / word_bytes) * word_bytes;
    std::uint64_t second = begin + half + random() % (half / word_bytes) * word_bytes;
    if (random() % 2 != 0) {
      std::swap(first, second);
    }
    pairs.insert(pairs.end(), {first, second});
  }
  return pairs;
}

inline void measure_constant_unit(Sweep& sweep, const Sizes& sizes, PhasesKernel kernel) {
  sweep.axis({.name = "aligned block", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("second load");
  sweep.note("written anew before every launch, so that no cache of constants holds any of it");
  const NodeRing nothing = kept_ring(Path::vector, sweep.seed());
  for (std::uint64_t block = 2 * word_bytes; block <= group_bytes; block *= 2) {
    auto point = sweep.point(std::to_string(block), static_cast<double>(block));
    const auto cycles = [&](const std::vector<std::uint64_t>& offsets, const std::string& what) {
      const NodeRing ring(Path::constant, offsets);
      const Phases phases = {.kept = ring.ring(),
                             .fill_steps = 0,
                             .evictor = nothing.ring(),
                             .evict_steps = 0,
                             .look_steps = ring.ring().nodes};
      const double each = run_phases(sweep, point, sizes, kernel, ring, nothing, phases, what,
                                     [&] { ring.write(); });
      return each * phases.look_steps / group_count;
    };
    const auto pairs = pairs_in_blocks(block, sweep.seed() + block);
    std::vector<std::uint64_t> firsts;
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      firsts.push_back(pairs[i]);
    }
    const double first = cycles(firsts, "first loads");
    point.value("first load", first, "cycles");
    point.value("second load", cycles(pairs, "pairs") - first, "cycles");
  }
}

}  // namespace cache_sharing
