// Nodes in memory and the random order in which a chase visits them: computed wherever it is
// needed, by host and device, since a table of it would stand in the caches.
#pragma once

#include <hipscope/random_bits.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace memory_latency {

inline constexpr unsigned line_bytes = 128;

// Where the nodes lie and in which order they are visited. Node i is in page i modulo `pages`, in a
// line that differs from page to page, so that the sets of the caches are used evenly. Dense nodes
// have a page of one line each.
struct Nodes {
  std::uint64_t base;  // address of the first page
  unsigned count;
  unsigned pages;
  std::uint64_t page_bytes;  // from one page to the next
  unsigned last_line;        // lines in a page less one, a mask
  unsigned seed;
  unsigned bits;  // of a node's number, at least 2
};

inline Nodes paged_nodes(std::uint64_t base, std::uint64_t count, std::uint64_t pages,
                         std::uint64_t page_bytes, std::uint64_t seed) {
  return {.base = base,
          .count = static_cast<unsigned>(count),
          .pages = static_cast<unsigned>(pages),
          .page_bytes = page_bytes,
          .last_line = static_cast<unsigned>(page_bytes / line_bytes - 1),
          .seed = static_cast<unsigned>(seed),
          .bits = std::max<unsigned>(2, std::bit_width(count - 1))};
}

inline Nodes dense_nodes(std::uint64_t base, std::uint64_t count, std::uint64_t spacing,
                         std::uint64_t seed) {
  Nodes nodes = paged_nodes(base, count, count, spacing, seed);
  nodes.last_line = 0;
  return nodes;
}

__host__ __device__ inline std::uint64_t address_of(const Nodes& nodes, unsigned i) {
  if (nodes.last_line == 0) {
    return nodes.base + i * nodes.page_bytes;
  }
  const unsigned page = i % nodes.pages;
  const unsigned line =
      (hipscope::random_bits(page ^ nodes.seed) + i / nodes.pages) & nodes.last_line;
  return nodes.base + page * nodes.page_bytes + std::uint64_t{line} * line_bytes;
}

// A number of `nodes.bits` bits for each k of as many. Two halves of them are scrambled by each
// other in turns, which can be undone, so no two k give the same (a Feistel network).
__host__ __device__ inline unsigned scrambled(const Nodes& nodes, unsigned k) {
  const unsigned low_bits = nodes.bits / 2;
  const unsigned low_mask = (1U << low_bits) - 1;
  const unsigned high_mask = (1U << (nodes.bits - low_bits)) - 1;
  unsigned low = k & low_mask;
  unsigned high = k >> low_bits;
  for (unsigned round = 0; round < 4; round += 2) {
    low ^= hipscope::random_bits(high + nodes.seed + round) & low_mask;
    high ^= hipscope::random_bits(low + nodes.seed + round + 1) & high_mask;
  }
  return (high << low_bits) | low;
}

// The node that comes as number k of the walk: what is no node's number is scrambled again, which
// ends since scrambling can be undone. Host and devices compute it wherever they need it: a table
// of the order would stand in the caches.
__host__ __device__ inline unsigned visited(const Nodes& nodes, unsigned k) {
  do {
    k = scrambled(nodes, k);
  } while (k >= nodes.count);
  return k;
}

__host__ __device__ inline std::uint64_t visited_address(const Nodes& nodes, std::uint64_t k) {
  return address_of(nodes, visited(nodes, static_cast<unsigned>(k % nodes.count)));
}

}  // namespace memory_latency
