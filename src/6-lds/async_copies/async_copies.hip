// What does a kernel gain by copying from memory to LDS without registers, and how many copies must
// be in flight?
//
// A tile gets into LDS (NVIDIA: shared memory) through registers, by a load and a store, or past
// them: by loads whose data go to LDS (AMD's gfx9), by copies of each lane (cp.async; NVIDIA from
// sm_80 on), by a copy unit that one lane starts (bulk and tensor copies; sm_90). A wave copies
// pieces of an array, in every way that the device has:
//   latency-*  a chain of pieces, each of which says where the next is: copied, waited for, and its
//              first word loaded from LDS
//   unit-*     one block alone, with several pieces in flight in each of its waves
//   device-*   the same with a block on each CU
//   code       the registers of those kernels, by the compiler
// each from L2 and from memory. A word's place gives its value: every copied word is checked once,
// and in timed runs one per lane.
#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ways.h"
#include "words.h"

namespace async_copies {
namespace {

using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;
using hipscope::WaveTimes;

// All ways that some device has to copy past the registers, and the one through them that they are
// held against.
constexpr const char* through_registers = "load and store 16";
constexpr std::array past_registers = {
    "cp.async 4", "cp.async 8",           "cp.async 16",          "bulk",
    "tensor",     "global load to LDS 4", "buffer load to LDS 4", "global load to LDS 16"};

// "latency" of the way through the registers, "bulk latency" of another.
std::string value_name(const std::string& way, const std::string& what) {
  return way == through_registers ? what : way + " " + what;
}

// --- Kernels ----------------------------------------------------------------------------------

// One wave, `steps` pieces of an array of mask + 1. The next is `stride` on, which only the first
// word of the piece before tells.
template <typename Way>
__global__ void __launch_bounds__(block_threads)
    chain_kernel(const __grid_constant__ typename Way::Array array, unsigned mask, unsigned first,
                 unsigned stride, unsigned steps, bool all, unsigned key, unsigned* results,
                 WaveTime* time) {
  HIP_DYNAMIC_SHARED(Line, lds)
  const Slots slots = slots_of_wave<Way>(lds);
  Way way(array, slots);
  unsigned piece = first;
  unsigned right = 0;
  CycleClock clock;
  clock.start();
#pragma unroll 1
  for (unsigned step = 0; step < steps; ++step) {
    way.begin(0, piece);
    way.template finish<0>(0, step);
    const unsigned word = hipscope::lds_load<4>(slots.lds, slots.address(0)).word[0];
    right += right_words<Way>(slots, 0, piece, all, key);
    way.release();
    // The difference is 0, which nothing but the word tells.
    piece = (piece + stride + word - word_at(piece * Way::words, key)) & mask;
    clock.lap();
  }
  clock.stop();
  results[threadIdx.x] = right;
  if (threadIdx.x == 0) {
    results[blockDim.x] = piece;
    *time = {.start = clock.started(), .end = clock.ended()};
  }
}

// Each wave copies in_flight pieces in each of `turns` turns, `stride` from one to the next: once
// one has been read, the next is asked for.
template <typename Way>
__global__ void __launch_bounds__(block_threads)
    rate_kernel(const __grid_constant__ typename Way::Array array, unsigned mask, unsigned first,
                unsigned stride, unsigned turns, bool all, unsigned key, unsigned* results,
                WaveTime* times) {
  HIP_DYNAMIC_SHARED(Line, lds)
  const Slots slots = slots_of_wave<Way>(lds);
  const unsigned wave = same_for_all_lanes((blockIdx.x * blockDim.x + threadIdx.x) / lanes());
  Way way(array, slots);
  unsigned piece = first + wave;  // that is waited for
  unsigned next = piece;          // that is asked for
  unsigned right = 0;
  CycleClock clock;
  clock.start();
#pragma unroll
  for (unsigned slot = 0; slot < Way::in_flight; ++slot) {
    way.begin(slot, next & mask);
    next += stride;
  }
#pragma unroll 1
  for (unsigned turn = 0; turn + 1 < turns; ++turn) {
#pragma unroll
    for (unsigned slot = 0; slot < Way::in_flight; ++slot) {
      way.template finish<Way::in_flight - 1>(slot, turn);
      right += right_words<Way>(slots, slot, piece & mask, all, key);
      piece += stride;
      way.release();
      way.begin(slot, next & mask);
      next += stride;
    }
    clock.lap();
  }
#pragma unroll
  for (unsigned slot = 0; slot < Way::in_flight; ++slot) {
    way.template finish<0>(slot, turns - 1);
    right += right_words<Way>(slots, slot, piece & mask, all, key);
    piece += stride;
  }
  clock.stop();
  results[blockIdx.x * blockDim.x + threadIdx.x] = right;
  if (slots.lane == 0) {
    times[wave] = {.start = clock.started(), .end = clock.ended()};
  }
}

// --- Measuring --------------------------------------------------------------------------------

// `is_l2`: L2 holds the words. Each chain starts where the last one ended, at `first`: else it
// would find in L2 what that one has brought.
template <typename Way>
void measure_chain(const Sweep& sweep, Point& point, const Words& words, bool is_l2, unsigned steps,
                   unsigned& first) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  const auto pieces = static_cast<unsigned>(words.bytes() / Way::bytes);
  const unsigned mask = pieces - 1;
  constexpr double golden = 0.6180339887;  // far from all that came before
  const unsigned stride = static_cast<unsigned>(golden * pieces) | 1U;
  const auto array = Way::array_of(words.data(), words.bytes());
  DeviceBuffer<unsigned> results(lanes + 1);
  WaveTimes times(1);
  WaveTimes unused(1);
  hipscope::allow_lds(chain_kernel<Way>, lds_bytes<Way>(1));
  const auto run = [&](WaveTimes& to, unsigned count, bool all) {
    launch(chain_kernel<Way>,
           {.grid = dim3(1), .block = dim3(lanes), .lds_bytes = lds_bytes<Way>(1)}, array, mask,
           first, stride, count, all, words.key(), results.data(), to.next());
    first = (first + count * stride) & mask;
  };
  const auto verify = [&](const std::string& what, unsigned count, unsigned looked_at) {
    const std::vector<unsigned> found = results.to_host();
    const std::uint64_t sum = std::uint64_t{count} * looked_at;
    const std::uint64_t wrong = wrong_words(std::span(found).first(lanes), sum);
    point.verify(Way::name() + what, wrong + (found.back() == first ? 0 : 1), sum + 1,
                 [&](hipscope::Comparison& comparison) {
                   comparison.compare_all(found, [&](std::uint64_t i) {
                     return i == lanes ? first : count * words_of_lane(i, lanes, looked_at);
                   });
                 });
  };
  // From L2, all pieces, which brings them there.
  const unsigned verified = is_l2 ? pieces : steps;
  run(unused, verified, true);
  verify(": every word, and the chain's end", verified, Way::words);
  results.poison();
  point.measure([&] { run(times, steps, false); },
                {.name = value_name(Way::name(), "time"), .batch = 1});
  verify(": words of a chain that was timed, and its end", steps, std::min(lanes, Way::words));
  point.value(value_name(Way::name(), "latency"), sweep.counted(times.take(point)) / steps,
              "cycles");
}

// What the waves of some blocks bring in a launch.
struct Load {
  unsigned blocks;
  std::uint64_t bytes;
};

template <typename Way>
void measure_rate(const Sweep& sweep, Point& point, const Words& words, const Load& load) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  const unsigned mask = static_cast<unsigned>(words.bytes() / Way::bytes) - 1;
  const unsigned block_waves = block_threads / lanes;
  const unsigned waves = load.blocks * block_waves;
  const unsigned stride = waves | 1U;  // odd, so that a wave comes to every piece
  const auto turns = static_cast<unsigned>(std::max<std::uint64_t>(
      2, load.bytes / (std::uint64_t{waves} * Way::in_flight * Way::bytes)));
  const unsigned pieces = turns * Way::in_flight;  // of each wave
  const auto array = Way::array_of(words.data(), words.bytes());
  DeviceBuffer<unsigned> right(std::size_t{waves} * lanes);
  WaveTimes times(waves);
  WaveTimes unused(waves);
  unsigned first = 0;
  hipscope::allow_lds(rate_kernel<Way>, lds_bytes<Way>(block_waves));
  const auto run = [&](WaveTimes& to, bool all) {
    launch(rate_kernel<Way>,
           {.grid = dim3(load.blocks),
            .block = dim3(block_threads),
            .lds_bytes = lds_bytes<Way>(block_waves)},
           array, mask, first, stride, turns, all, words.key(), right.data(), to.next());
    first = (first + pieces * stride) & mask;
  };
  const auto verify = [&](const std::string& what, unsigned looked_at) {
    const std::vector<unsigned> found = right.to_host();
    const std::uint64_t sum = std::uint64_t{waves} * pieces * looked_at;
    point.verify(Way::name() + what, wrong_words(found, sum), sum,
                 [&](hipscope::Comparison& comparison) {
                   comparison.compare_all(found, [&](std::uint64_t i) {
                     return pieces * words_of_lane(i % lanes, lanes, looked_at);
                   });
                 });
  };
  run(unused, true);
  verify(": every word", Way::words);
  right.poison();
  const auto time = point.measure([&] { run(times, false); },
                                  {.name = value_name(Way::name(), "time"), .batch = 1});
  verify(": words of a launch that was timed", std::min(lanes, Way::words));
  const double bytes = static_cast<double>(waves) * pieces * Way::bytes;
  const std::string name = value_name(Way::name(), "bandwidth");
  if (load.blocks == 1) {
    point.value(name, bytes / sweep.counted(times.take(point)), "bytes/cycle");
  } else {
    point.value(name, 1e-9 * bytes / time.seconds().median, "GB/s");
  }
}

// --- Sweeps -----------------------------------------------------------------------------------

struct Sizes {
  std::uint64_t footprint;   // of what comes from memory
  std::uint64_t unit_bytes;  // that a block alone brings in a launch
  unsigned steps;            // of a chain
};

// Calls `body` for each way of which the device has the instructions, and room in its registers.
template <unsigned Bytes, unsigned InFlight, typename Body>
void for_each_way(const Sweep& sweep, Body body) {
  const auto offer = [&]<typename Way>() {
    if constexpr (Way::fits) {
      if (Way::is_on(sweep.device())) {
        body.template operator()<Way>();
      }
    }
  };
  offer.template operator()<LoadAndStore<16, Bytes, InFlight>>();
  offer.template operator()<LoadAndStore<4, Bytes, InFlight>>();
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  offer.template operator()<LaneCopy<4, Bytes, InFlight>>();
  offer.template operator()<LaneCopy<8, Bytes, InFlight>>();
  offer.template operator()<LaneCopy<16, Bytes, InFlight>>();
  offer.template operator()<BulkCopy<Bytes, InFlight>>();
  offer.template operator()<TensorCopy<Bytes, InFlight>>();
#elif defined(HIPSCOPE_BACKEND_AMD)
  offer.template operator()<LoadToLds<LdsLoad::global, Bytes, InFlight>>();
  offer.template operator()<LoadToLds<LdsLoad::buffer, Bytes, InFlight>>();
  offer.template operator()<LoadToLds<LdsLoad::wide, Bytes, InFlight>>();
#endif
}

// What of past_registers the device has not, in a line.
void note_ways(Sweep& sweep, const std::string& what) {
  std::string missing;
  std::vector<std::string> there;
  for_each_way<1024, 1>(sweep, [&]<typename Way>() { there.push_back(Way::name()); });
  for (const std::string way : past_registers) {
    if (std::find(there.begin(), there.end(), way) == there.end()) {
      missing += (missing.empty() ? "" : ", ") + way;
    }
  }
  sweep.note(what + ": " + through_registers + "; not on this device: " + missing);
}

template <unsigned... bytes>
void measure_latencies(Sweep& sweep, const Words& words, bool is_l2, unsigned steps) {
  const auto row = [&]<unsigned size>() {
    auto point = sweep.point(std::to_string(size), size);
    unsigned first = 0;
    for_each_way<size, 1>(sweep, [&]<typename Way>() {
      measure_chain<Way>(sweep, point, words, is_l2, steps, first);
    });
  };
  (row.template operator()<bytes>(), ...);
}

void measure_latency(Sweep& sweep, const Sizes& sizes, bool is_l2) {
  sweep.axis({.name = "copy", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  note_ways(sweep, "latency");
  constexpr unsigned share = 16;
  const Words words(sweep, is_l2 ? l2_share(sweep, sizes.footprint, share) : sizes.footprint);
  measure_latencies<64, 256, 1024, 4096, 16384>(sweep, words, is_l2, sizes.steps);
}

// A row of the rates: pieces of `Bytes` bytes, `InFlight` of them in each wave.
template <unsigned Bytes, unsigned InFlight>
void measure_row(Sweep& sweep, const Words& words, const Load& load) {
  const std::string label = std::to_string(InFlight) + " x " + std::to_string(Bytes);
  const unsigned waves = block_threads / static_cast<unsigned>(sweep.device().wave_size);
  if (lds_bytes<LoadAndStore<16, Bytes, InFlight>>(waves) >
      sweep.device().largest_lds_bytes_per_block) {
    sweep.note(label + " in each wave: more than a block's LDS");
    return;
  }
  auto point = sweep.point(label, Bytes * InFlight * waves);
  for_each_way<Bytes, InFlight>(
      sweep, [&]<typename Way>() { measure_rate<Way>(sweep, point, words, load); });
}

void measure_rates(Sweep& sweep, const Sizes& sizes, bool is_l2, bool is_unit) {
  sweep.axis({.name = "in flight per CU", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  note_ways(sweep, "bandwidth");
  sweep.note("a block of " + std::to_string(block_threads) +
             " threads, N pieces of M bytes in each wave; load and store: only where a lane has "
             "registers for it");
  constexpr unsigned share = 4;
  const std::uint64_t l2_bytes = l2_share(sweep, sizes.footprint, share);
  const Words words(
      sweep, is_l2 ? std::min(l2_bytes, is_unit ? sizes.unit_bytes : l2_bytes) : sizes.footprint);
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const Load load = {.blocks = is_unit               ? 1U
                               : sweep.is_hardware() ? units
                                                     : 2U,
                     .bytes = is_unit ? sizes.unit_bytes : sizes.footprint};
  measure_row<256, 2>(sweep, words, load);
  measure_row<1024, 1>(sweep, words, load);
  measure_row<256, 8>(sweep, words, load);
  measure_row<1024, 2>(sweep, words, load);
  measure_row<1024, 4>(sweep, words, load);
  measure_row<4096, 1>(sweep, words, load);
  measure_row<1024, 8>(sweep, words, load);
  measure_row<4096, 2>(sweep, words, load);
  measure_row<4096, 4>(sweep, words, load);
  measure_row<16384, 1>(sweep, words, load);
  measure_row<16384, 2>(sweep, words, load);
}

template <unsigned InFlight>
void add_registers(Sweep& sweep) {
  auto point = sweep.point(std::to_string(InFlight), InFlight);
  for_each_way<1024, InFlight>(sweep, [&]<typename Way>() {
    hipFuncAttributes attributes{};
    hipscope::check(
        hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(rate_kernel<Way>)));
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    point.value(value_name(Way::name(), "registers"),
                sweep.is_hardware() ? attributes.numRegs : unknown, "per thread");
  });
}

void tell_registers(Sweep& sweep) {
  sweep.axis({.name = "in flight per wave", .unit = "pieces of 1024 bytes"});
  sweep.headline("registers");
  note_ways(sweep, "registers");
  sweep.note("compiled code of the kernels of unit-* and device-*, as the runtime says; no times");
  add_registers<1>(sweep);
  add_registers<2>(sweep);
  add_registers<4>(sweep);
  add_registers<8>(sweep);
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "async_copies",
      {.question = "What does it bring to copy from memory to LDS past the registers, and how many "
                   "copies must be in flight?",
       .sources = {"hipscope's own"}});
  const auto footprint =
      experiment.size("--footprint", "bytes of the array in memory, rounded down to a power of two",
                      {.gpu = std::uint64_t{1} << 30,
                       .quick = std::uint64_t{1} << 28,
                       .host = std::uint64_t{1} << 16,
                       .minimum = 1U << 16,
                       .maximum = std::uint64_t{1} << 31,
                       .share_of_memory = 1.0 / 4});
  const auto unit_bytes = experiment.size(
      "--unit-bytes", "bytes that a single block copies in a launch, rounded down likewise",
      {.gpu = 1U << 23,
       .quick = 1U << 20,
       .host = 1U << 16,
       .minimum = 1U << 16,
       .maximum = 1U << 30});
  const auto steps = experiment.size("--steps", "copies in a chain",
                                     {.gpu = 512, .quick = 128, .host = 8, .maximum = 1U << 16});
  const auto sizes = [=] {
    return Sizes{.footprint = std::bit_floor(std::uint64_t{footprint}),
                 .unit_bytes = std::bit_floor(std::uint64_t{unit_bytes}),
                 .steps = static_cast<unsigned>(steps)};
  };
  // Memory first: the device is warmed up before the first sample, which leaves nothing in L2.
  for (const bool is_l2 : {false, true}) {
    const std::string from = is_l2 ? "l2" : "memory";
    const std::string where = is_l2 ? "L2" : "memory";
    // The same kernels with other addresses and more blocks.
    const auto in_tiny = is_l2 ? hipscope::InTiny::measured : hipscope::InTiny::left_out;
    experiment.sweep(
        "latency-" + from, "one copy after another by one wave, from " + where,
        [=](Sweep& sweep) { measure_latency(sweep, sizes(), is_l2); }, in_tiny);
    experiment.sweep(
        "unit-" + from, "one block on one CU, from " + where,
        [=](Sweep& sweep) { measure_rates(sweep, sizes(), is_l2, true); }, in_tiny);
    experiment.sweep(
        "device-" + from, "a block on each CU, from " + where,
        [=](Sweep& sweep) { measure_rates(sweep, sizes(), is_l2, false); },
        hipscope::InTiny::left_out);
  }
  experiment.sweep("code", "registers of a thread", tell_registers);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace async_copies

int main(int argc, char** argv) { return async_copies::run(argc, argv); }
