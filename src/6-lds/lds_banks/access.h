// How lds_banks takes the cycles of an access to LDS.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "contents.h"
#include "patterns.h"

namespace lds_banks {

/// `offsets` says where the lanes of a wave go in the first copy (see `copies`), in bytes. What the
/// kernel works on depends on the random `salt`.
using PatternKernel = void (*)(const unsigned* offsets, Copies placement, unsigned salt,
                               unsigned* results, hipscope::WaveTime* times, unsigned rounds);

inline unsigned lanes_of(const hipscope::Sweep& sweep) {
  return static_cast<unsigned>(sweep.device().wave_size);
}

/// Verifies what a kernel of `threads` threads gives. Then returns the cycles of a round, net of
/// what one wave counts for no rounds. `run(threads, times, rounds)` enqueues the kernel.
template <typename Run, typename Expected>
double measure_rounds(const hipscope::Sweep& sweep, hipscope::Point& point, const std::string& what,
                      unsigned threads, std::uint64_t rounds,
                      hipscope::DeviceBuffer<unsigned>& results, Run run, Expected expected) {
  const unsigned waves = threads / lanes_of(sweep);
  hipscope::WaveTimes unused(waves);
  hipscope::WaveTimes full(waves);
  hipscope::WaveTimes empty(1);
  hipscope::verify_rounds(
      point, what, rounds, results,
      [&](std::uint64_t repeats) { run(threads, unused.next(), repeats); }, expected);
  point.measure([&] { run(threads, full.next(), rounds); }, {.batch = 1});
  for (unsigned i = 0; i < hipscope::WaveTimes::kept_launches; ++i) {
    run(lanes_of(sweep), empty.next(), 0);
  }
  return sweep.counted((full.take(point) - empty.take(point)) / static_cast<double>(rounds));
}

/// A way to go to LDS, and what is measured of it.
struct Access {
  unsigned bytes;
  bool full_cu;  // a block of --threads threads, by default as many as it may have; else one wave
  const char* value;
  const char* verified;
  PatternKernel kernel;
  Words (*expected)(const Words& offsets, Copies placement, unsigned salt, std::uint64_t rounds);
};

/// How much is run: rounds of a kernel, and threads of the block that shall fill a CU.
struct Amount {
  hipscope::Size rounds;
  hipscope::Size threads;

  // In whole waves.
  [[nodiscard]] unsigned threads_on(const hipscope::Sweep& sweep) const {
    const unsigned lanes = lanes_of(sweep);
    return (static_cast<unsigned>(threads) + lanes - 1) / lanes * lanes;
  }
};

/// One access of a wave whose lanes go to `offsets`, in cycles.
inline double measure_access(const hipscope::Sweep& sweep, hipscope::Point& point,
                             const Access& access, const Words& offsets, const Amount& amount) {
  const std::uint64_t rounds = amount.rounds;
  const unsigned lanes = lanes_of(sweep);
  const unsigned all_threads = access.full_cu ? amount.threads_on(sweep) : lanes;
  const Copies placement = copies_of(offsets, access.bytes);
  const auto salt = static_cast<unsigned>(std::mt19937_64(sweep.seed())());
  const hipscope::DeviceBuffer<unsigned> given{std::span<const unsigned>(offsets)};
  const std::size_t results_of_wave = access.expected(offsets, placement, salt, 1).size();
  hipscope::DeviceBuffer<unsigned> results(results_of_wave * (all_threads / lanes));
  const auto run = [&](unsigned threads, hipscope::WaveTime* times, std::uint64_t repeats) {
    hipscope::launch(
        access.kernel,
        {.grid = dim3(1), .block = dim3(threads), .lds_bytes = placement.words * dword_bytes},
        given.data(), placement, salt, results.data(), times, repeats);
  };
  const double round = measure_rounds(
      sweep, point, access.verified, all_threads, rounds, results, run,
      [&](std::uint64_t repeats) { return access.expected(offsets, placement, salt, repeats); });
  const unsigned waves = all_threads / lanes;
  const double cycles = round / (body_steps * waves);
  point.value(access.value, cycles, "cycles");
  point.value("dwords in one bank", dwords_of_busiest_bank(offsets, access.bytes), "dwords");
  return cycles;
}

}  // namespace lds_banks
