// The random order in which memory_latency visits its nodes, and where these lie.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "test_support.h"
#include "visiting_order.h"

namespace {

using memory_latency::address_of;
using memory_latency::dense_nodes;
using memory_latency::line_bytes;
using memory_latency::Nodes;
using memory_latency::paged_nodes;
using memory_latency::scrambled;
using memory_latency::visited;
using memory_latency::visited_address;

constexpr std::uint64_t base = std::uint64_t{3} << 40;

// Where two numbers are scrambled alike, a walk may never come to its next node.
bool can_be_undone(const Nodes& nodes) {
  std::vector<bool> met(std::size_t{1} << nodes.bits);
  for (unsigned k = 0; k < met.size(); ++k) {
    const unsigned result = scrambled(nodes, k);
    if (result >= met.size() || met[result]) {
      return false;
    }
    met[result] = true;
  }
  return true;
}

// Empty, and a failure, where it might not end.
std::vector<unsigned> order_of(const Nodes& nodes) {
  std::vector<unsigned> order;
  if (!can_be_undone(nodes)) {
    ADD_FAILURE() << nodes.bits << " bits, seed " << nodes.seed << ": two are scrambled alike";
    return order;
  }
  for (unsigned k = 0; k < nodes.count; ++k) {
    order.push_back(visited(nodes, k));
  }
  return order;
}

std::uint64_t different(const std::vector<unsigned>& order) {
  return std::set(order.begin(), order.end()).size();
}

TEST(VisitingOrder, EveryNodeIsVisitedOnce) {
  std::vector<std::uint64_t> counts(600);
  std::iota(counts.begin(), counts.end(), 1);
  // Where the number of bits changes.
  counts.insert(counts.end(), {4095, 4096, 4097, 32767, 32768, 32769});
  for (const std::uint64_t count : counts) {
    for (const std::uint64_t seed : {std::uint64_t{0}, count}) {
      const std::vector<unsigned> order = order_of(dense_nodes(base, count, line_bytes, seed));
      ASSERT_EQ(different(order), count);
      ASSERT_EQ(*std::max_element(order.begin(), order.end()), count - 1);
    }
  }
}

TEST(VisitingOrder, AfterTheLastNodeComesTheFirst) {
  const Nodes nodes = dense_nodes(base, 37, line_bytes, 5);
  ASSERT_TRUE(can_be_undone(nodes));
  for (std::uint64_t k = 0; k < nodes.count; ++k) {
    EXPECT_EQ(visited_address(nodes, k + nodes.count), visited_address(nodes, k));
  }
}

// Neither that of the addresses nor that of another seed: a stride would be a prefetcher's.
TEST(VisitingOrder, IsRandom) {
  const std::vector<unsigned> order = order_of(dense_nodes(base, 4096, line_bytes, 1));
  const std::vector<unsigned> other = order_of(dense_nodes(base, 4096, line_bytes, 2));
  ASSERT_EQ(order.size(), other.size());
  unsigned next_line = 0;
  unsigned same_node = 0;
  std::set<unsigned> strides;
  for (std::size_t k = 1; k < order.size(); ++k) {
    next_line += order[k] == order[k - 1] + 1 ? 1 : 0;
    same_node += order[k] == other[k] ? 1 : 0;
    strides.insert(order[k] - order[k - 1]);
  }
  EXPECT_LT(next_line, 16U);  // about one in an order by chance
  EXPECT_LT(same_node, 16U);
  EXPECT_GT(strides.size(), 2048U);
}

TEST(VisitingOrder, DenseNodesLieSideBySide) {
  for (const std::uint64_t spacing : {std::uint64_t{8}, std::uint64_t{128}, std::uint64_t{4096}}) {
    const Nodes nodes = dense_nodes(base, 300, spacing, 3);
    for (unsigned i = 0; i < nodes.count; ++i) {
      EXPECT_EQ(address_of(nodes, i), base + i * spacing);
    }
  }
}

// Each page has as many nodes as any other, in lines of its own and within it.
TEST(VisitingOrder, PagedNodesAreSharedOutEvenly) {
  constexpr std::uint64_t page_bytes = std::uint64_t{64} * 1024;
  for (const std::uint64_t pages : {1U, 4U, 5U, 48U, 512U}) {
    for (const std::uint64_t per_page : {1U, 2U, 3U, 32U}) {
      const Nodes nodes = paged_nodes(base, pages * per_page, pages, page_bytes, 11);
      std::set<std::uint64_t> places;
      std::vector<std::uint64_t> in_page(pages);
      for (unsigned i = 0; i < nodes.count; ++i) {
        const std::uint64_t offset = address_of(nodes, i) - base;
        ASSERT_LT(offset, pages * page_bytes);
        EXPECT_EQ(offset % line_bytes, 0U);
        places.insert(offset);
        ++in_page[offset / page_bytes];
      }
      EXPECT_EQ(places.size(), nodes.count);
      EXPECT_EQ(in_page, std::vector<std::uint64_t>(pages, per_page));
    }
  }
}

// Were it the same line in all pages, they would meet in one set of the cache.
TEST(VisitingOrder, LinesDifferFromPageToPage) {
  constexpr std::uint64_t page_bytes = std::uint64_t{2048} * 1024;
  constexpr unsigned pages = 256;
  const Nodes nodes = paged_nodes(base, pages, pages, page_bytes, 11);
  std::set<std::uint64_t> lines;
  for (unsigned i = 0; i < pages; ++i) {
    lines.insert((address_of(nodes, i) - base) % page_bytes);
  }
  EXPECT_GT(lines.size(), pages - 16U);  // two in one by chance
}

TEST(VisitingOrder, NodesBeyondFourGigabytesHaveAddressesOfTheirOwn) {
  const Nodes nodes = dense_nodes(base, std::uint64_t{1} << 28, 1024, 9);
  EXPECT_EQ(address_of(nodes, nodes.count - 1), base + (std::uint64_t{1} << 38) - 1024);
}

}  // namespace
