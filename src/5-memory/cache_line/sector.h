// In which pieces does a cache fetch memory? Two loads, the second in the other half of an aligned
// block: it hits if the first has brought it too.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "chase.h"

namespace cache_line {

// Pairs are so far apart that no pair's loads fetch for another. Smaller than a page.
inline constexpr unsigned group_bytes = 4096;
inline constexpr unsigned smallest_block = 8;
inline constexpr unsigned largest_neighbourhood = 1024;

enum class Neighbours { anywhere_in_halves, at_the_middle };

// Pairs of words in the two halves of aligned blocks, one pair in each group, in random order; the
// lower or the upper half first. The last place is the end of the chain.
inline std::vector<unsigned> pair_places(std::uint64_t groups, unsigned block_bytes,
                                         Neighbours neighbours, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned> order(groups);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  const unsigned half = block_bytes / 2;
  std::vector<unsigned> places;
  for (const unsigned group : order) {
    const auto bits = static_cast<unsigned>(random());
    const auto words = static_cast<unsigned>(random());
    const unsigned block = group * group_bytes + bits % (group_bytes / block_bytes) * block_bytes;
    const bool anywhere = neighbours == Neighbours::anywhere_in_halves;
    const unsigned lower = anywhere ? words % half : half - word_bytes;
    const unsigned upper = anywhere ? (words >> 16) % half : 0;
    places.push_back(block + lower / word_bytes * word_bytes);
    places.push_back(block + half + upper / word_bytes * word_bytes);
    if ((bits >> 31) != 0) {
      std::swap(places.back(), places[places.size() - 2]);
    }
  }
  places.push_back(static_cast<unsigned>(groups) * group_bytes);
  return places;
}

// Without the second load of each pair.
inline std::vector<unsigned> firsts_of(const std::vector<unsigned>& pairs) {
  std::vector<unsigned> firsts;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    firsts.push_back(pairs[i]);
  }
  return firsts;
}

// Through level 1 the chains are warm in level 2, since each launch finds level 1 empty and leaves
// level 2 as it is; past level 1 they are cold. The second load's latency is what it adds to a
// chain of the first loads alone.
inline void measure_sector(hipscope::Sweep& sweep, const Path& path, std::uint64_t groups) {
  sweep.axis({.name = "aligned block", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("second load");
  sweep.note("second load: in the other half of the block than the first load, which missed");
  sweep.note("across the middle: the same, of two words side by side where the halves meet");
  const std::size_t bytes = (groups + 1) * group_bytes;
  sweep.require_memory(2 * bytes, "--groups");
  const Arena arena(bytes);
  prefer_level_1_cache(path);
  const bool cold = path.loads == Loads::past_level_1;
  for (unsigned block = smallest_block; block <= largest_neighbourhood; block *= 2) {
    auto point = sweep.point(std::to_string(block), block);
    const auto cycles = [&](const std::vector<unsigned>& places, const std::string& name) {
      return Chase(path, arena, places).measure(point, name, cold) / static_cast<double>(groups);
    };
    const auto pairs =
        pair_places(groups, block, Neighbours::anywhere_in_halves, sweep.seed() + block);
    const double first = cycles(firsts_of(pairs), "firsts");
    const double both = cycles(pairs, "pairs");
    const double across = cycles(
        pair_places(groups, block, Neighbours::at_the_middle, sweep.seed() + block), "middle");
    point.value("first load", sweep.counted(first), "cycles");
    point.value("second load", sweep.counted(both - first), "cycles");
    point.value("across the middle", sweep.counted(across - first), "cycles");
  }
}

}  // namespace cache_line
