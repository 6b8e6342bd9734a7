// Where the lanes of lds_banks go, which banks these are, and where the published chains end. Plain
// C++.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace lds_banks {

using Words = std::vector<unsigned>;

inline constexpr unsigned dword_bytes = 4;

/// Where the lanes of a wave go, in bytes; `place_of` says it in units.
template <typename PlaceOf>
Words offsets_of(unsigned lanes, PlaceOf place_of, unsigned unit_bytes = dword_bytes) {
  Words offsets(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    offsets[lane] = place_of(lane) * unit_bytes;
  }
  return offsets;
}

/// LDS holds that many copies of each pattern, and accesses take turns. Copies are as far apart for
/// all lanes, so that the conflicts are the same in each.
inline constexpr unsigned copies = 3;

/// From one copy to the next, in bytes, and the dwords of all.
struct Copies {
  unsigned pitch;
  unsigned words;
};

/// The copies follow each other. Where LDS has no room for that they lie 16 bytes apart, in each
/// other's gaps: the lanes of so long a pattern are far apart.
inline Copies copies_of(const Words& offsets, unsigned access_bytes) {
  constexpr unsigned widest = 16;             // so that the copies are aligned for every access
  constexpr unsigned most_bytes = 48 * 1024;  // that every device gives a block without being asked
  const auto aligned = [](unsigned bytes) { return (bytes + widest - 1) / widest * widest; };
  const unsigned end = *std::max_element(offsets.begin(), offsets.end()) + access_bytes;
  const unsigned pitch = copies * aligned(end) <= most_bytes ? aligned(end) : widest;
  return {.pitch = pitch, .words = aligned(end + (copies - 1) * pitch) / dword_bytes};
}

/// The most different dwords of one bank that a wave asks for, if there are 32 banks of 4 bytes (as
/// the CUDA C++ programming guide and AMD's manuals of GCN and CDNA say; RDNA has two sets of 32):
/// the passes that it takes at least.
inline double dwords_of_busiest_bank(const Words& offsets, unsigned access_bytes) {
  constexpr unsigned banks = 32;
  std::array<std::set<unsigned>, banks> dwords;
  for (const unsigned offset : offsets) {
    for (unsigned byte = offset; byte < offset + access_bytes; ++byte) {
      dwords[byte / dword_bytes % banks].insert(byte / dword_bytes);
    }
  }
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return static_cast<double>(std::max_element(dwords.begin(), dwords.end(), by_size)->size());
}

/// `count` random words of the bits that `mask` has.
template <typename T>
std::vector<T> random_words(std::size_t count, std::uint64_t mask, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> words(count);
  std::generate(words.begin(), words.end(), [&] { return static_cast<T>(random() & mask); });
  return words;
}

struct Pattern {
  std::string label;
  Words offsets;  ///< in bytes
};

/// Patterns of dwords that are no strides.
inline std::vector<Pattern> patterns(unsigned lanes, std::uint64_t seed) {
  constexpr unsigned same_bank = 256;  // a multiple of every number of banks so far
  constexpr unsigned random_dwords = 1024;
  std::mt19937_64 random(seed);
  Words shuffled(lanes);
  std::iota(shuffled.begin(), shuffled.end(), 0U);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const auto dwords = [=](auto place_of) { return offsets_of(lanes, place_of); };
  return {
      {"all one dword", dwords([](unsigned) { return 0U; })},
      {"two dwords in two banks", dwords([](unsigned lane) { return lane % 2; })},
      {"two dwords in one bank", dwords([](unsigned lane) { return lane % 2 * same_bank; })},
      {"a dword for each half",
       dwords([=](unsigned lane) { return lane / (lanes / 2) * same_bank; })},
      {"four dwords in one bank", dwords([](unsigned lane) { return lane % 4 * same_bank; })},
      {"a dword for every two lanes", dwords([](unsigned lane) { return lane / 2; })},
      {"a dword for each lane", dwords([](unsigned lane) { return lane; })},
      {"the same in random order", dwords([&](unsigned lane) { return shuffled[lane]; })},
      {"any of 1024 dwords",
       dwords([&](unsigned) { return static_cast<unsigned>(random() % random_dwords); })},
  };
}

/// A square tile with its rows as columns.
inline Words transposed(const Words& tile, unsigned size) {
  Words result(tile.size());
  for (unsigned i = 0; i < result.size(); ++i) {
    result[i] = tile[i % size * size + i / size];
  }
  return result;
}

/// The end of a thread's chain x = (words[x] + thread) * stride, from 0 on, where a mask keeps x
/// among the words.
inline int end_of_chain(int thread, const std::vector<int>& words, int stride, int mask,
                        unsigned steps) {
  int x = (thread * stride) & mask;
  for (unsigned step = 0; step < steps; ++step) {
    x = ((words[static_cast<std::size_t>(x)] + thread) * stride) & mask;
  }
  return x;
}

}  // namespace lds_banks
