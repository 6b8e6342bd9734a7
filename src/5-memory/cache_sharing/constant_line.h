// In which pieces does the first cache of constants keep what it has fetched? A few nodes are kept,
// then one word is read in each chunk of c bytes, then the few are looked at again. Some footprint
// of chunks evicts a third of them: the same for all chunks up to the line, and beyond it the
// larger the chunk, since a word takes a whole line however far apart words lie.
//
// The chunks are read in turn, so that all of one line follow one another: then the line is missed
// once, whatever the cache replaces, and only the number of lines counts. Where in its chunk a word
// lies is random: at equal distances they would meet in a few sets of the cache.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "5-memory/leaving.h"
#include "chase.h"
#include "pairs.h"

namespace cache_sharing {

inline constexpr std::uint64_t largest_chunk = 1024;
inline constexpr std::uint64_t smallest_line = 32;

// What evicts begins past what is kept.
inline constexpr std::uint64_t chunks_begin = 2 * kept_bytes;

// A word of each chunk.
inline std::vector<std::uint64_t> words_of_chunks(std::uint64_t chunks, std::uint64_t chunk_bytes,
                                                  std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    offsets.push_back(chunks_begin + chunk * chunk_bytes +
                      random() % (chunk_bytes / word_bytes) * word_bytes);
  }
  return offsets;
}

inline void measure_constant_line(Sweep& sweep, const Sizes& sizes, PhasesKernel kernel) {
  sweep.axis({.name = "chunk", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("footprint");
  sweep.note("footprint: of chunks, one word read of each, that evicts " +
             hipscope::number(memory::leaving_share) + " of " + std::to_string(kept_nodes) +
             " nodes kept before");
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  const std::uint64_t most_bytes =
      std::min<std::uint64_t>(sizes.evict, constant_bytes - chunks_begin);
#else
  const std::uint64_t most_bytes = sizes.evict;
#endif
  sweep.require_memory(chunks_begin + sizes.evict, "--evict");
  const auto memory =
      std::make_shared<DeviceBuffer<std::uint64_t>>((chunks_begin + most_bytes) / word_bytes);
  const NodeRing kept(Path::constant,
                      scattered(0, kept_nodes, spacing_of(Path::constant), sweep.seed()), memory);
  std::uint64_t seed = sweep.seed();
  for (std::uint64_t chunk = word_bytes; chunk <= largest_chunk; chunk *= 2) {
    auto point = sweep.point(std::to_string(chunk), static_cast<double>(chunk));
    Ends ends;
    // Cycles per load of what was kept. Words lie anew before each launch: what is evicted depends
    // on where, and where a cache replaces at random on chance, too.
    const auto after = [&](std::uint64_t chunks, std::uint64_t chunk_bytes) {
      std::vector<double> cycles;
      for (std::uint64_t i = 0; i < sizes.repeats; ++i) {
        const NodeRing words(Path::constant, words_of_chunks(chunks, chunk_bytes, seed++), memory);
        cycles.push_back(run_checked(1, kernel, kept, words,
                                     {.kept = kept.ring(),
                                      .fill_steps = 2 * kept_nodes,
                                      .evictor = words.ring(),
                                      .evict_steps = static_cast<unsigned>(chunks),
                                      .look_steps = kept_nodes},
                                     ends, [] {}));
      }
      return median_of(cycles);
    };
    // All there is evicts all that was kept.
    const double miss = after(most_bytes / smallest_line, smallest_line);
    const double hit = after(1, chunk);
    const bool evicts = miss > clear_miss * hit;
    // Enough chunks that small ones, too, are several times what such caches hold.
    const std::uint64_t most_chunks =
        std::min(std::min(constant_bytes, most_bytes) / word_bytes, most_bytes / chunk);
    const double nodes = memory::leaving_nodes(
        1, static_cast<double>(most_chunks), sweep.is_hardware() ? 9 : 2, [&](double middle) {
          constexpr unsigned draws = 3;
          std::vector<double> shares;
          for (unsigned draw = 0; draw < draws; ++draw) {
            const double look = after(static_cast<std::uint64_t>(std::lround(middle)), chunk);
            shares.push_back(evicts ? (look - hit) / (miss - hit) : 1);
          }
          return median_of(shares);
        });
    ends.verify(point);
    point.value("footprint", sweep.counted(nodes * static_cast<double>(chunk)), "bytes");
    point.value("hit", sweep.counted(hit), "cycles");
    point.value("miss", sweep.counted(miss), "cycles");
  }
}

}  // namespace cache_sharing
