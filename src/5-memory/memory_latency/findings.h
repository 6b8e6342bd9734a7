// What memory_latency concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <cstdint>
#include <vector>

#include "hipscope/experiment.h"

namespace memory_latency {

/// A step that is smaller than this is none: latencies of neighbouring levels differ by more.
inline constexpr double smallest_step = 1.12;

/// Footprints from one to another, at equal steps per octave.
struct Footprints {
  double first = 0;
  double last = 0;
  unsigned per_octave = 0;
};

/// Where a second pass of sweep `footprint` reads, after a first one that gave `curve`: closely at
/// the ends of levels.
std::vector<Footprints> second_pass(const std::vector<hipscope::CurvePoint>& curve);

/// Bytes from page to page in sweeps tlb-64k and tlb-2m.
inline constexpr std::uint64_t small_page = 64 * 1024;
inline constexpr std::uint64_t large_page = 2048 * 1024;

/// Latency and capacity of each cache level and the latency of memory (sweeps footprint and edges:
/// "latency"; footprint: "again", at the end; events: "difference"), with the shares of single
/// loads that hit (load-times: "mode 1", "mode 2", ...), the same of constant caches (constant) and
/// of those that other kinds of load go through (read-only, texture, scalar: "latency"), the reach
/// and the miss penalty of TLBs (tlb-64k and tlb-2m: "paged over dense", "paged latency", "dense
/// latency"), and memory's latency with a cold one (cold-tlb: "latency"). Whether two levels are
/// halves of one cache atomics tell (lines and units: "atomic"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace memory_latency
