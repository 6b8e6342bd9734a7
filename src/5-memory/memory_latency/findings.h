// What memory_latency concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// How many loads took how long, over times that grow by a twenty-fourth of an octave. A count need
/// not be whole.
class LatencyHistogram {
 public:
  static constexpr std::size_t bins = 384;  // up to 2^16 cycles, after which a time is as good

  static std::size_t bin_of(double cycles);
  /// The cycles at which a bin begins.
  static double first_of(std::size_t bin);

  void add(double cycles, double loads = 1);
  /// The share of loads in the bins [begin, end).
  [[nodiscard]] double share(std::size_t begin, std::size_t end) const;

 private:
  std::vector<double> counts_ = std::vector<double>(bins);
  double loads_ = 0;
};

/// The bins [begin, end) around one of several times that are common.
struct LatencyMode {
  std::size_t begin = 0;
  std::size_t end = 0;
  double density = 0;  // at its highest
};

/// The modes of the loads of many footprints, `all`, from the shortest time to the longest: between
/// two of them hardly any load falls. A mode is one that a quarter of the loads of some footprint
/// belongs to; what is less often belongs to the mode beside it. Together they cover all times.
std::vector<LatencyMode> find_latency_modes(std::span<const LatencyHistogram> all);

/// Latency and capacity of each cache level and the latency of memory (sweeps footprint and edges:
/// "latency"; footprint: "again", at the end; events: "difference"), with the shares of single
/// loads that hit (load-times: "mode 1", "mode 2", ...), the same of constant caches (constant) and
/// of those that other kinds of load go through (read-only, texture, scalar: "latency"), and the
/// reach and the miss penalty of TLBs (tlb-64k and tlb-2m: "paged over dense", "paged latency",
/// "dense latency"). Whether two levels are halves of one cache atomics tell (lines and units:
/// "atomic"). What was not measured is left out.
void conclude(hipscope::Results& results);

}  // namespace memory_latency
