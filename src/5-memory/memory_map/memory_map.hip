// How far is each CU from each part of L2 and of memory, and which address bits choose the part?
//
// L2 has slices, each at its own place on the chip and in front of a part of memory. One CU after
// the other chases four words within a line, for many lines: the time of a step depends on the way
// from this CU to the line's slice. CUs that see the same lines near are near each other; lines
// that all CUs see alike are in one slice. What the addresses of such lines have in common is the
// hash that spreads addresses.
//
//   map     from every CU to some lines of L2: a matrix
//   memory  the same lines, just flushed from L2
//   lines   many lines of L2 from some CUs, to find the hash
//
// Steps in L2 are atomics, which run in a line's home slice: a load may find a nearer copy. All
// lines are in one aligned piece of the size of a page, within which virtual and physical addresses
// have the same low bits.
#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "5-memory/loads.h"
#include "findings.h"

namespace memory_map {
namespace {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;
using memory::Load;

// The words of a line that are chased, in one sector.
constexpr unsigned words = 4;
// An odd number in all, so that no walk ends where it began.
constexpr unsigned settling_steps = 5;
constexpr unsigned timed_steps = 16;

struct Sizes {
  hipscope::Size lines;
  hipscope::Size repeats;
  hipscope::Size flush;
};

// --- Kernels ----------------------------------------------------------------------------------

// What a walk through one line has seen.
struct Visit {
  std::uint64_t end;
  long long cycles;
};

struct Walk {
  const std::uint64_t* lines;  // their addresses
  unsigned count;
  unsigned settling;  // steps in each line before those that are timed
  unsigned timed;
  unsigned unit;  // the CU that walks
};

// The cycle counter, read when `address` has arrived: the branch must know it. No word is at an odd
// address.
__device__ long long cycles_after(std::uint64_t address) {
  return address != 1 ? hipscope::cycle_count() : 0;
}

template <Load kind>
__device__ std::uint64_t chase(std::uint64_t address, unsigned steps) {
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    address = memory::load<kind>(address);
  }
  return address;
}

// The first block that finds itself on the CU walks.
template <Load kind>
__global__ void __launch_bounds__(1) walk_kernel(Walk walk, Visit* visits, unsigned* taken) {
  if (hipscope::compute_unit_id() != walk.unit || atomicCAS(taken, 0U, 1U) != 0) {
    return;
  }
  for (unsigned i = 0; i < walk.count; ++i) {
    std::uint64_t address = walk.lines[i];
#if defined(__HIP_DEVICE_COMPILE__)
    // What is the same in all lanes clang would load by scalar loads.
    asm volatile("" : "+v"(address));
#endif
    address = chase<kind>(address, walk.settling);
    const long long start = cycles_after(address);
    address = chase<kind>(address, walk.timed);
    visits[i] = {.end = address, .cycles = hipscope::cycles_between(start, cycles_after(address))};
  }
}

__global__ void __launch_bounds__(1) unit_ids_kernel(unsigned* ids) {
  ids[blockIdx.x] = hipscope::compute_unit_id();
}

// --- Lines and walks --------------------------------------------------------------------------

// More blocks than there are CUs, so that each gets one.
hipscope::LaunchShape crew(const Sweep& sweep) {
  const unsigned units = sweep.is_hardware() ? 4U * sweep.device().compute_units : 2;
  return {.grid = dim3(units), .block = dim3(1)};
}

// The bytes of a page of most GPUs; fewer on the host backend.
std::uint64_t page_of(const Sweep& sweep) { return sweep.is_hardware() ? 2U << 20 : 1U << 15; }

std::vector<unsigned> unit_ids(const Sweep& sweep) {
  const DeviceBuffer<unsigned> ids(crew(sweep).grid.x);
  launch(unit_ids_kernel, crew(sweep), ids.data());
  const std::vector<unsigned> all = ids.to_host();
  const std::set<unsigned> different(all.begin(), all.end());
  return {different.begin(), different.end()};
}

// Lines of one page, as many as it has and `most` at most, and walks through all of them: in L2, or
// in memory, where `flush` bytes are written before each walk.
class Lines {
 public:
  Lines(const Sweep& sweep, const Sizes& sizes, std::uint64_t most, std::uint64_t flush)
      : sweep_(sweep),
        repeats_(sizes.repeats),
        numbers_(std::min<std::uint64_t>(page_of(sweep) / line_bytes, most)),
        memory_(2 * page_of(sweep) / sizeof(std::uint64_t)),
        addresses_(numbers_.size()),
        visits_(numbers_.size()),
        in_l2_(flush == 0),
        flushed_(std::max<std::uint64_t>(flush, 1)) {
    const auto begin = reinterpret_cast<std::uint64_t>(memory_.data());
    std::vector<std::uint64_t> next(memory_.size());  // of each word, round its sector
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = begin + (i / words * words + (i + 1) % words) * sizeof(std::uint64_t);
    }
    const std::uint64_t page = (begin + page_of(sweep) - 1) / page_of(sweep) * page_of(sweep);
    // One of each of as many equal parts of the page.
    const auto part = static_cast<unsigned>(page_of(sweep) / line_bytes / numbers_.size());
    const unsigned key = hipscope::key_of(sweep.seed());
    for (unsigned i = 0; i < numbers_.size(); ++i) {
      numbers_[i] = i * part + hipscope::random_bits(i + key) % part;
      starts_.push_back(page + numbers_[i] * line_bytes);
    }
    hipscope::check(hipMemcpy(memory_.data(), next.data(), next.size() * sizeof(std::uint64_t),
                              hipMemcpyHostToDevice));
    hipscope::check(hipMemcpy(addresses_.data(), starts_.data(),
                              starts_.size() * sizeof(std::uint64_t), hipMemcpyHostToDevice));
  }

  // Within the page, from 0 on.
  [[nodiscard]] const std::vector<std::uint64_t>& numbers() const { return numbers_; }

  // Cycles per step in each line, from one CU: the median of several walks. In memory only a line's
  // first load counts.
  std::vector<double> latencies(unsigned unit) {
    const auto kernel = in_l2_ ? walk_kernel<Load::atomic> : walk_kernel<Load::l2>;
    const Walk walk = {.lines = addresses_.data(),
                       .count = static_cast<unsigned>(numbers_.size()),
                       .settling = in_l2_ ? settling_steps : 0,
                       .timed = in_l2_ ? timed_steps : 1,
                       .unit = unit};
    std::vector<std::vector<double>> seen(numbers_.size());
    for (std::uint64_t repeat = 0; repeat < repeats_; ++repeat) {
      // Where the hardware sends no block to the CU, all blocks are sent again.
      constexpr unsigned attempts = 16;
      taken_.clear();
      for (unsigned i = 0; i < attempts && taken_.to_host()[0] == 0; ++i) {
        if (!in_l2_) {
          hipscope::check(hipMemsetAsync(flushed_.data(), 0, flushed_.size(), nullptr));
        }
        visits_.poison();
        launch(kernel, crew(sweep_), walk, visits_.data(), taken_.data());
      }
      const std::vector<Visit> visits = visits_.to_host();
      for (std::size_t i = 0; i < visits.size(); ++i) {
        ends_.compare(i, starts_[i] + (walk.settling + walk.timed) % words * sizeof(std::uint64_t),
                      visits[i].end);
        seen[i].push_back(static_cast<double>(visits[i].cycles) / walk.timed);
      }
    }
    std::vector<double> medians;
    for (const std::vector<double>& of_line : seen) {
      medians.push_back(sweep_.counted(hipscope::median_of(of_line)));
    }
    return medians;
  }

  // The ends of all walks since the last call.
  void verify(hipscope::Point& point) {
    point.verify("end of the walk through each line", ends_);
    ends_ = hipscope::Comparison();
  }

 private:
  const Sweep& sweep_;
  std::uint64_t repeats_;
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint64_t> starts_;
  DeviceBuffer<std::uint64_t> memory_;
  DeviceBuffer<std::uint64_t> addresses_;
  DeviceBuffer<Visit> visits_;
  bool in_l2_;
  DeviceBuffer<unsigned char> flushed_;
  DeviceBuffer<unsigned> taken_{1};
  hipscope::Comparison ends_;
};

// --- Sweeps -----------------------------------------------------------------------------------

// From every CU to some lines: in L2, or in memory, of which L2 is emptied by `flush` bytes.
void measure_map(Sweep& sweep, const Sizes& sizes, std::uint64_t flush) {
  sweep.axis({.name = "CU"});
  sweep.headline("latency");
  sweep.note("latency: the median of the lines, which are numbered by rising address");
  sweep.require_memory(2 * page_of(sweep) + flush, "--flush");
  Lines lines(sweep, sizes, std::min<std::uint64_t>(sizes.lines, map_lines), flush);
  for (const unsigned unit : unit_ids(sweep)) {
    auto point = sweep.point(std::to_string(unit), unit);
    const auto cycles = lines.latencies(unit);
    lines.verify(point);
    point.value("latency", hipscope::median_of(cycles), "cycles");
    // The first load of all finds the TLB cold.
    for (unsigned line = flush == 0 ? 0 : 1; line < cycles.size(); ++line) {
      point.value(line_name(line), cycles[line], "cycles");
    }
  }
}

// From some CUs to many lines.
void measure_lines(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "line"});
  sweep.headline("latency");
  sweep.note("latency: the median of the CUs; a line is told by its place in an aligned piece of " +
             std::to_string(page_of(sweep)) + " bytes");
  Lines lines(sweep, sizes, sizes.lines, 0);
  const std::vector<unsigned> units = unit_ids(sweep);
  constexpr std::size_t most_viewers = 16;
  const std::size_t viewers = std::min(units.size(), most_viewers);
  std::vector<unsigned> from;
  std::vector<std::vector<double>> cycles;
  for (std::size_t i = 0; i < viewers; ++i) {
    from.push_back(units[i * units.size() / viewers]);
    cycles.push_back(lines.latencies(from.back()));
  }
  for (std::size_t line = 0; line < lines.numbers().size(); ++line) {
    const std::uint64_t number = lines.numbers()[line];
    auto point = sweep.point(std::to_string(number), static_cast<double>(number));
    if (line == 0) {
      lines.verify(point);  // of all of them
    }
    std::vector<double> all;
    for (const std::vector<double>& of_unit : cycles) {
      all.push_back(of_unit[line]);
    }
    point.value("latency", hipscope::median_of(all), "cycles");
    for (std::size_t i = 0; i < viewers; ++i) {
      point.value(unit_name(from[i]), all[i], "cycles");
    }
  }
}

}  // namespace
}  // namespace memory_map

int main(int argc, char** argv) {
  using memory_map::Sizes;
  hipscope::Experiment experiment(
      "memory_map",
      {.question = "How far is each CU from each part of L2 and of memory, and which address bits "
                   "choose the part?",
       .sources = {"hipscope's own"}});
  const Sizes sizes = {
      .lines = experiment.size(
          "--lines", "lines of sweep lines; the others take 48 at most",
          {.gpu = 1024, .quick = 768, .host = 24, .tiny = 7, .minimum = 2, .maximum = 1U << 12}),
      .repeats = experiment.size(
          "--repeats", "walks from each CU through its lines; their median counts",
          {.gpu = 9, .quick = 5, .host = 2, .tiny = 1, .minimum = 1, .maximum = 1000}),
      .flush = experiment.size("--flush", "bytes written to empty L2",
                               {.gpu = 512U << 20,
                                .quick = 256U << 20,
                                .host = 1U << 16,
                                .minimum = 1,
                                .maximum = std::uint64_t{1} << 40})};
  experiment.sweep("map", "lines of L2 from every CU",
                   [&](hipscope::Sweep& sweep) { memory_map::measure_map(sweep, sizes, 0); });
  experiment.sweep("memory", "the same lines in memory from every CU", [&](hipscope::Sweep& sweep) {
    memory_map::measure_map(sweep, sizes, sizes.flush);
  });
  experiment.sweep("lines", "many lines of L2 from some CUs",
                   [&](hipscope::Sweep& sweep) { memory_map::measure_lines(sweep, sizes); });
  experiment.conclude(memory_map::conclude);
  return experiment.run(argc, argv);
}
