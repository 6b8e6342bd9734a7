// What does the translation of addresses cost, and how far does a TLB reach?
#pragma once

#include "chaser.h"
#include "findings.h"

namespace memory_latency {

inline constexpr std::uint64_t fewest_pages = 4;

// Names the axis of a sweep over pages, which needs up to `most` of them, as far as they fit into
// nine tenths of the free memory; returns so many.
inline std::uint64_t open_pages(Sweep& sweep, std::uint64_t page_bytes, std::uint64_t most) {
  sweep.axis({.name = "pages", .scale = hipscope::Scale::logarithmic});
  const auto free_bytes = static_cast<double>(sweep.device().free_memory_bytes);
  const auto pages =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(0.9 * free_bytes) / page_bytes,
                                fewest_pages, std::max(fewest_pages, most));
  sweep.require_memory(pages * page_bytes, "--pages");
  return pages;
}

// As many nodes spread over `page_bytes` apart pages as dense: both hit in L2, past L1, whose hits
// may need no translation.
inline void measure_tlb(Sweep& sweep, const Sizes& sizes, std::uint64_t page_bytes) {
  // This many lines at least, since each has a latency of its own.
  constexpr std::uint64_t fewest_nodes = 1024;
  // All nodes must stay in L2: in a quarter of it.
  const std::uint64_t l2_bytes = sweep.device().l2_bytes;
  const std::uint64_t in_l2 = l2_bytes > 0 ? l2_bytes / 4 / line_bytes : sizes.pages;
  const std::uint64_t most_pages =
      open_pages(sweep, page_bytes, std::min<std::uint64_t>(sizes.pages, in_l2));
  sweep.headline("paged over dense");
  sweep.note("at most " + hipscope::number(static_cast<double>(most_pages * page_bytes) / mib, 6) +
             " MiB of memory; past L1, at least " + std::to_string(fewest_nodes) + " lines");
  const DeviceBuffer<unsigned char> memory(most_pages * page_bytes);
  const std::uint64_t base = address_of(memory);
  Chaser<Load::l2> chaser(sweep, sizes.steps);
  // A TLB's reach is far up: finer points over the last two octaves.
  auto all = footprints(fewest_pages, most_pages, std::max<std::uint64_t>(1, sizes.points / 2), 1);
  all.merge(footprints(std::max(fewest_pages, most_pages / 4), most_pages, sizes.points, 1));
  for (const std::uint64_t pages : all) {
    auto point = sweep.point(std::to_string(pages), static_cast<double>(pages));
    const std::uint64_t count = round_up(std::max(fewest_nodes, pages), pages);
    const auto measure = [&](const Nodes& nodes, const std::string& what) {
      link(sweep, nodes);
      const double cycles = chaser.measure(point, chaser.walk(nodes), what).net;
      point.value(what + "latency", cycles, "cycles");
      return cycles;
    };
    const double dense = measure(dense_nodes(base, count, line_bytes, sweep.seed()), "dense ");
    const double paged =
        measure(paged_nodes(base, count, pages, page_bytes, sweep.seed()), "paged ");
    point.value("paged over dense", paged / dense, "");
  }
}

// Loads from memory, past all caches, of lines that fill few pages and of as many that are spread
// over all the pages there is memory for: where that is many times what TLBs reach, nearly every
// load goes to a page that none of them has.
inline void measure_cold_tlb(Sweep& sweep, const Sizes& sizes) {
  constexpr std::uint64_t lines_of_page = large_page / line_bytes;
  // More than the caches hold, also those behind L2 that drivers do not tell of: 256 MiB on MI300X.
  constexpr std::uint64_t past_all_caches = 512 * mib;
  const std::uint64_t bytes = std::min<std::uint64_t>(
      sizes.footprint, std::max<std::uint64_t>(past_all_caches, 4 * sweep.device().l2_bytes));
  const std::uint64_t pages = open_pages(sweep, large_page, sizes.pages);
  const std::uint64_t count = std::min(bytes / line_bytes, pages * lines_of_page);
  sweep.headline("latency");
  sweep.note(std::to_string(count) + " lines in as few pages as they fill, and spread over " +
             std::to_string(pages) + " pages of 2 MiB");
  const DeviceBuffer<unsigned char> memory(pages * large_page);
  const std::uint64_t base = address_of(memory);
  Chaser<Load::l2> chaser(sweep, sizes.steps);
  const auto measure = [&](const std::string& label, std::uint64_t in_pages, const Nodes& nodes) {
    auto point = sweep.point(label, static_cast<double>(in_pages));
    link(sweep, nodes);
    chaser.measure_row(point, nodes);
  };
  measure("warm", std::max<std::uint64_t>(1, count / lines_of_page),
          dense_nodes(base, count, line_bytes, sweep.seed()));
  const std::uint64_t spread = std::min(pages, count);
  measure("cold", spread, paged_nodes(base, count, spread, large_page, sweep.seed()));
}

}  // namespace memory_latency
