// What memory_latency concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <cstdint>

#include "hipscope/experiment.h"

namespace memory_latency {

/// A step that is smaller than this is none: latencies of neighbouring levels differ by more.
inline constexpr double smallest_step = 1.12;

/// Bytes from page to page in sweeps tlb-64k and tlb-2m.
inline constexpr std::uint64_t small_page = 64 * 1024;
inline constexpr std::uint64_t large_page = 2048 * 1024;

/// Latency and capacity of each cache level and the latency of memory (sweeps footprint and edges:
/// "latency"; events: "difference"), the same of constant caches (constant), the reach of TLBs
/// (tlb-64k and tlb-2m: "paged over dense"), store-to-load latency, and the spread over lines and
/// CUs (lines and units: "latency" and "atomic"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace memory_latency
