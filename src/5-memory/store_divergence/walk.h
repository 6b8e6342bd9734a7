// How a launch of store_divergence walks over a pattern, what it loads and stores, and the checks
// of every dword and sum.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "patterns.h"

namespace store_divergence {

#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned block_threads = 64;  // scaled down
constexpr unsigned in_flight = 2;
constexpr std::uint64_t smallest_footprint = 1U << 16;
#else
constexpr unsigned block_threads = 256;
// Accesses that a lane has in flight: enough for the memory's bandwidth with dwords.
constexpr unsigned in_flight = 8;
constexpr std::uint64_t smallest_footprint = 1U << 20;
#endif

/// How the blocks of a launch share the tiles: a chunk is what a block's waves access at once.
struct Walk {
  unsigned rows = 1;
  unsigned step = 0;
  unsigned chunks = 0;  // a power of two
  unsigned rounds = 1;  // chunks that a block takes, one after the other
  unsigned size_bits = 0;
};

/// Numbers below 2^bits onto themselves, neighbours far apart: each step can be undone.
__host__ __device__ inline unsigned scramble(unsigned x, unsigned bits) {
  const unsigned mask = (1U << bits) - 1;
  x = (x * 0x9E3779B1U) & mask;
  x ^= x >> (bits / 2);
  x = (x * 0x85EBCA6BU) & mask;
  return x ^ (x >> (bits / 2));
}

__host__ __device__ inline unsigned first_tile(const Walk& walk, unsigned block, unsigned round,
                                               unsigned chunk_tiles) {
  const unsigned chunk = (block / walk.rows * walk.rounds + round) & (walk.chunks - 1);
  return chunk * chunk_tiles;
}

/// Who accesses: a number for each lane of each row of each tile.
__host__ __device__ inline unsigned source_number(const Walk& walk, unsigned tile, unsigned row,
                                                  unsigned lanes, unsigned lane) {
  return (tile * walk.rows + row) * lanes + lane;
}

/// A source's own value: never the poison of a buffer, whose highest bit is set.
constexpr unsigned token_factor = 2654435761U;
constexpr unsigned token_inverse = 244002641U;
static_assert(token_factor * token_inverse == 1U, "so that a token tells its source");
constexpr unsigned token_mask = 0x7fffffffU;

__host__ __device__ inline unsigned token(unsigned source, unsigned seed) {
  return (source * token_factor + seed) & token_mask;
}
__host__ __device__ inline unsigned source_of(unsigned token, unsigned seed) {
  return ((token - seed) * token_inverse) & token_mask;
}

/// What is loaded is value(i) = factor * i + addend: random to look at, and a thread's sum of any
/// number of them is known without adding them up. Both from the seed; the factor is odd.
struct Values {
  unsigned factor;
  unsigned addend;
};

inline Values values_of(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  return {.factor = static_cast<unsigned>(random()) | 1U,
          .addend = static_cast<unsigned>(random())};
}

static __global__ void __launch_bounds__(block_threads)
    fill_kernel(unsigned* data, unsigned size, Values values) {
  for (unsigned i = blockIdx.x * block_threads + threadIdx.x; i < size;
       i += gridDim.x * block_threads) {
    data[i] = values.factor * i + values.addend;
  }
}

// Counts, over all of memory, the dwords that hold the token of a source that goes there, and those
// that hold anything else but poison.
static __global__ void __launch_bounds__(block_threads)
    check_kernel(const unsigned* data, unsigned size, const unsigned* offsets, Walk walk,
                 unsigned sources, unsigned seed, unsigned long long* counts) {
  unsigned right = 0;
  unsigned wrong = 0;
  for (unsigned i = blockIdx.x * block_threads + threadIdx.x; i < size;
       i += gridDim.x * block_threads) {
    constexpr unsigned poison = ~0U;
    if (data[i] == poison) {
      continue;
    }
    const unsigned source = source_of(data[i], seed);
    const unsigned in_tile = source % (walk.rows * warpSize);
    const unsigned tile = source / (walk.rows * warpSize);
    const unsigned index = walk.size_bits != 0 ? scramble(source, walk.size_bits)
                                               : tile * walk.step + offsets[in_tile];
    const bool is_right = source < sources && index == i && data[i] == token(source, seed);
    right += is_right ? 1 : 0;
    wrong += is_right ? 0 : 1;
  }
  atomicAdd(&counts[0], static_cast<unsigned long long>(right));
  atomicAdd(&counts[1], static_cast<unsigned long long>(wrong));
}

/// What a dword holds that holds its own number.
struct OwnNumber {
  __host__ __device__ int operator()(std::uint64_t i) const { return static_cast<int>(i); }
};

// --- A launch -----------------------------------------------------------------------------------

/// A pattern, how the blocks of a launch share it, and what they must load and leave.
class Traversal {
 public:
  // `accesses` of a wave in all, a power of two and at least one per source.
  Traversal(const Pattern& pattern, std::uint64_t accesses)
      : pattern_(pattern), offsets_(std::span<const unsigned>(pattern.offsets)) {
    constexpr std::uint64_t most_blocks = 1U << 14;
    const unsigned chunk_tiles = block_threads / pattern.lanes * in_flight;
    const std::uint64_t chunks = accesses / chunk_tiles;
    blocks_ = static_cast<unsigned>(std::min(chunks, most_blocks));
    walk_ = {
        .rows = pattern.rows,
        .step = pattern.step,
        .chunks = pattern.tiles / chunk_tiles,
        .rounds = static_cast<unsigned>(chunks / blocks_),
        .size_bits = pattern.scrambled ? static_cast<unsigned>(std::countr_zero(pattern.size)) : 0};
  }

  [[nodiscard]] hipscope::LaunchShape shape() const {
    return {.grid = dim3(blocks_), .block = dim3(block_threads)};
  }
  [[nodiscard]] bool is_scrambled() const { return pattern_.scrambled; }
  [[nodiscard]] const unsigned* offsets() const { return offsets_.data(); }
  [[nodiscard]] const Walk& walk() const { return walk_; }

  // Sources whose token is not where it belongs, and dwords that nobody should have written.
  [[nodiscard]] std::uint64_t count_wrong_stores(const hipscope::DeviceBuffer<unsigned>& data,
                                                 unsigned seed) const {
    hipscope::DeviceBuffer<unsigned long long> counts(2);
    counts.clear();
    hipscope::launch(check_kernel, {.grid = dim3(check_blocks), .block = dim3(block_threads)},
                     data.data(), static_cast<unsigned>(data.size()), offsets_.data(), walk_,
                     static_cast<unsigned>(pattern_.sources()), seed, counts.data());
    const auto counted = counts.to_host();
    return pattern_.sources() - std::min<std::uint64_t>(counted[0], pattern_.sources()) +
           counted[1];
  }

  // The place of a source, for spot checks by the host alone.
  [[nodiscard]] std::uint64_t index_of(std::uint64_t source) const {
    const std::uint64_t in_tile = pattern_.offsets.size();
    return pattern_.scrambled
               ? scramble(static_cast<unsigned>(source), walk_.size_bits)
               : source / in_tile * pattern_.step + pattern_.offsets[source % in_tile];
  }

  [[nodiscard]] unsigned blocks() const { return blocks_; }

  // The sum, over a block's rounds, of the tile that its first wave begins with.
  [[nodiscard]] unsigned sum_of_tiles(unsigned block) const {
    unsigned sum = 0;
    for (unsigned round = 0; round < walk_.rounds; ++round) {
      sum += first_tile(walk_, block, round, block_threads / pattern_.lanes * in_flight);
    }
    return sum;
  }

  // What a thread must sum up that goes by the table, from the sum of its block's tiles.
  [[nodiscard]] unsigned expected_sum(unsigned block, unsigned thread, unsigned tiles,
                                      const Values& values) const {
    const unsigned waves = block_threads / pattern_.lanes;
    const unsigned wave = thread / pattern_.lanes;
    const unsigned lane = thread % pattern_.lanes;
    const unsigned offset = pattern_.offsets[block % walk_.rows * pattern_.lanes + lane];
    constexpr unsigned sum_of_i = in_flight * (in_flight - 1) / 2;
    const unsigned in_a_round =
        in_flight * (wave * walk_.step + offset) + sum_of_i * waves * walk_.step;
    const unsigned indices = in_flight * tiles * walk_.step + walk_.rounds * in_a_round;
    return values.factor * indices + values.addend * in_flight * walk_.rounds;
  }

  // The same for a thread of a scrambled pattern, which takes as many steps as it has accesses.
  [[nodiscard]] unsigned expected_scrambled_sum(unsigned block, unsigned thread,
                                                const Values& values) const {
    const unsigned waves = block_threads / pattern_.lanes;
    unsigned indices = 0;
    for (unsigned round = 0; round < walk_.rounds; ++round) {
      for (unsigned i = 0; i < in_flight; ++i) {
        const unsigned tile = first_tile(walk_, block, round, waves * in_flight) +
                              thread / pattern_.lanes + i * waves;
        indices += scramble(source_number(walk_, tile, 0, pattern_.lanes, thread % pattern_.lanes),
                            walk_.size_bits);
      }
    }
    return values.factor * indices + values.addend * in_flight * walk_.rounds;
  }

  static constexpr unsigned check_blocks = 2048;

 private:
  const Pattern& pattern_;
  hipscope::DeviceBuffer<unsigned> offsets_;
  unsigned blocks_ = 0;
  Walk walk_;
};

// --- Verification -------------------------------------------------------------------------------

inline void verify_stores(hipscope::Point& point, const Traversal& traversal,
                          const Pattern& pattern, const hipscope::DeviceBuffer<unsigned>& data,
                          unsigned seed) {
  point.verify(
      "every dword stored by its lane, all others untouched",
      traversal.count_wrong_stores(data, seed), pattern.sources(),
      [&](hipscope::Comparison& comparison) {
        std::vector<unsigned> expected(data.size(), ~0U);  // poison
        for (std::uint64_t source = 0; source < pattern.sources(); ++source) {
          expected[traversal.index_of(source)] = token(static_cast<unsigned>(source), seed);
        }
        comparison.compare_all(data.to_host(), [&](std::uint64_t i) { return expected[i]; });
      });
  constexpr std::uint64_t spots = 32;
  const std::uint64_t distance = std::max<std::uint64_t>(1, pattern.sources() / spots);
  hipscope::Comparison comparison;
  for (std::uint64_t i = 0; i < spots && i * distance < pattern.sources(); ++i) {
    const std::uint64_t source = i * distance + i % distance;
    const std::uint64_t index = traversal.index_of(source);
    unsigned stored = 0;
    hipscope::check(hipMemcpy(&stored, data.data() + index, sizeof(stored), hipMemcpyDeviceToHost));
    comparison.compare(index, token(static_cast<unsigned>(source), seed), stored);
  }
  point.verify("spots read by the host", comparison);
}

/// Each thread's sum.
inline void verify_loads(hipscope::Point& point, const Traversal& traversal,
                         const std::vector<unsigned>& sums, const Values& values) {
  hipscope::Comparison comparison;
  for (unsigned block = 0; block < traversal.blocks(); ++block) {
    const unsigned tiles = traversal.sum_of_tiles(block);
    for (unsigned thread = 0; thread < block_threads; ++thread) {
      const std::size_t number = std::size_t{block} * block_threads + thread;
      comparison.compare(number, traversal.expected_sum(block, thread, tiles, values),
                         sums[number]);
    }
  }
  point.verify("sums of the threads", comparison);
}

/// The sums of some threads, since it takes long to add up where they have been; and the sum of
/// all, which must have met every dword equally often.
inline void verify_scrambled_loads(hipscope::Point& point, const Traversal& traversal,
                                   const Pattern& pattern, const std::vector<unsigned>& sums,
                                   const Values& values, std::uint64_t accesses) {
  constexpr unsigned distance = 61;
  hipscope::Comparison comparison;
  for (unsigned number = 0; number < sums.size(); number += distance) {
    comparison.compare(
        number,
        traversal.expected_scrambled_sum(number / block_threads, number % block_threads, values),
        sums[number]);
  }
  point.verify("sums of one in 61 threads", comparison);
  const unsigned sum = std::accumulate(sums.begin(), sums.end(), 0U);
  const std::uint64_t sum_of_indices = pattern.size / 2 * (pattern.size - 1);
  const std::uint64_t repeats = accesses * pattern.lanes / pattern.size;
  const auto expected = static_cast<unsigned>(
      repeats * (values.factor * sum_of_indices + values.addend * pattern.size));
  point.check_value("sum of all threads", sum, expected);
}

}  // namespace store_divergence
