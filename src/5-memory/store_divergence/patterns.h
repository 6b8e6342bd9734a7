// Where the lanes of a wave go: the patterns of store_divergence. Plain C++, no GPU headers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace store_divergence {

constexpr unsigned dword_bytes = 4;

/// Memory is cut into tiles. On each tile work `rows` waves, and lane l of the wave of row r
/// accesses the dword `offsets[r * lanes + l]` after the tile's start. A scrambled pattern has no
/// tiles: each lane of each wave goes to a place of its own anywhere.
struct Pattern {
  std::string label;
  double x = 0;
  unsigned lanes = 0;
  std::uint64_t size = 0;  // dwords of memory that the pattern reaches into
  unsigned step = 0;       // dwords from one tile to the next
  unsigned tiles = 0;      // a power of two, so that a wave's next tile takes no division
  unsigned rows = 1;       // a power of two
  std::vector<unsigned> offsets;
  bool scrambled = false;

  [[nodiscard]] std::uint64_t sources() const { return std::uint64_t{tiles} * rows * lanes; }
};

/// As many tiles of `dwords` as fit, rounded down to a power of two.
inline unsigned tiles_in(std::uint64_t footprint, std::uint64_t dwords) {
  return static_cast<unsigned>(std::bit_floor(footprint / dword_bytes / dwords));
}

inline std::vector<unsigned> lane_numbers(unsigned lanes) {
  std::vector<unsigned> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

inline Pattern strided(unsigned lanes, unsigned stride, std::uint64_t footprint) {
  Pattern pattern = {.label = std::to_string(stride),
                     .x = static_cast<double>(stride),
                     .lanes = lanes,
                     .step = lanes * stride,
                     .tiles = tiles_in(footprint, lanes * stride),
                     .offsets = lane_numbers(lanes)};
  pattern.size = std::uint64_t{pattern.tiles} * pattern.step;
  for (unsigned& offset : pattern.offsets) {
    offset *= stride;
  }
  return pattern;
}

constexpr unsigned largest_shift = 32;

inline Pattern misaligned(unsigned lanes, unsigned shift, std::uint64_t footprint) {
  Pattern pattern = strided(lanes, 1, footprint);
  pattern.label = std::to_string(shift);
  pattern.x = shift;
  pattern.size += largest_shift;
  for (unsigned& offset : pattern.offsets) {
    offset += shift;
  }
  return pattern;
}

/// The first `strays` lanes go to another region: all to the same one, or each to its own. There a
/// lane keeps its place, so that no two waves share a segment.
inline Pattern stray(unsigned lanes, unsigned strays, bool scattered, std::uint64_t footprint) {
  const unsigned others = scattered ? strays : std::min(strays, 1U);
  Pattern pattern = strided(lanes, 1, footprint / (others + 1));
  pattern.label = std::to_string(strays);
  pattern.x = strays;
  const auto region = static_cast<unsigned>(pattern.size);
  for (unsigned lane = 0; lane < strays; ++lane) {
    pattern.offsets[lane] += region * (scattered ? lane + 1 : 1);
  }
  pattern.size *= others + 1;
  return pattern;
}

/// Lanes take places in a line in the order `places`, and lines in turn: a tile is `lines` lines of
/// a wave's width, and the wave of row r finds its place p in line (p + r) % lines.
inline Pattern permuted(const std::string& label, const std::vector<unsigned>& places,
                        unsigned lines, std::uint64_t footprint) {
  const auto lanes = static_cast<unsigned>(places.size());
  Pattern pattern = {.label = label,
                     .lanes = lanes,
                     .step = lines * lanes,
                     .tiles = tiles_in(footprint, std::uint64_t{lines} * lanes),
                     .rows = lines,
                     .offsets = {}};
  pattern.size = std::uint64_t{pattern.tiles} * pattern.step;
  for (unsigned row = 0; row < lines; ++row) {
    for (const unsigned place : places) {
      pattern.offsets.push_back((place + row) % lines * lanes + place);
    }
  }
  return pattern;
}

/// How many segments of `bytes` a wave's access touches, on average over the rows.
inline double segments(const Pattern& pattern, unsigned bytes) {
  if (pattern.scrambled) {
    return pattern.lanes;  // as good as always
  }
  std::size_t touched = 0;
  for (unsigned row = 0; row < pattern.rows; ++row) {
    std::set<unsigned> distinct;
    for (unsigned lane = 0; lane < pattern.lanes; ++lane) {
      distinct.insert(pattern.offsets[row * pattern.lanes + lane] / (bytes / dword_bytes));
    }
    touched += distinct.size();
  }
  return static_cast<double>(touched) / pattern.rows;
}

// --- The patterns of a sweep --------------------------------------------------------------------

inline std::vector<Pattern> stray_patterns(unsigned lanes, std::uint64_t footprint,
                                           bool scattered) {
  std::vector<Pattern> patterns = {stray(lanes, 0, scattered, footprint)};
  for (unsigned strays = 1; strays < lanes; strays *= 2) {
    patterns.push_back(stray(lanes, strays, scattered, footprint));
  }
  patterns.push_back(stray(lanes, lanes - 1, scattered, footprint));
  patterns.push_back(stray(lanes, lanes, scattered, footprint));
  return patterns;
}

inline std::vector<Pattern> stride_patterns(unsigned lanes, std::uint64_t footprint) {
  std::vector<Pattern> patterns;
  for (const unsigned stride :
       {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64}) {
    patterns.push_back(strided(lanes, stride, footprint));
  }
  return patterns;
}

inline std::vector<Pattern> misaligned_patterns(unsigned lanes, std::uint64_t footprint) {
  std::vector<Pattern> patterns;
  for (const unsigned shift : {0, 1, 2, 4, 7, 8, 12, 15, 16, 24, 31, 32}) {
    patterns.push_back(misaligned(lanes, shift, footprint));
  }
  return patterns;
}

inline std::vector<Pattern> permuted_patterns(unsigned lanes, std::uint64_t footprint,
                                              std::uint64_t seed) {
  const std::vector<unsigned> in_order = lane_numbers(lanes);
  const std::vector<unsigned> reversed(in_order.rbegin(), in_order.rend());
  std::vector<unsigned> random = in_order;
  std::shuffle(random.begin(), random.end(), std::mt19937_64(seed));
  std::vector<Pattern> patterns = {permuted("in order", in_order, 1, footprint),
                                   permuted("reversed", reversed, 1, footprint),
                                   permuted("random in one line", random, 1, footprint)};
  for (unsigned lines = 2; lines <= lanes; lines *= 2) {
    patterns.push_back(
        permuted("across " + std::to_string(lines) + " lines", random, lines, footprint));
  }
  patterns.push_back(permuted("random everywhere", random, 1, footprint));
  patterns.back().scrambled = true;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    patterns[i].x = static_cast<double>(i + 1);
  }
  return patterns;
}

}  // namespace store_divergence
