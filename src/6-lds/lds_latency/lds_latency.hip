// How long does a lane wait for a value from LDS, and for one from another lane?
//
// LDS (local data share; NVIDIA: shared memory) is memory inside the compute unit that the threads
// of a block share. One lane follows a chain of addresses through it: each load waits for the last
// one, so a step takes the latency. Two ways to write that:
//   raw  x = lds[x], as a programmer writes it: the index must become an address, which on AMD
//        takes an instruction between two loads
//   net  the loaded dword is the next LDS address, so there is nothing between two loads
// The same chains go through wide loads, atomics, and the registers of other lanes (shuffles). Then
// come the footprint, which must not matter, since LDS is no cache, and the barrier, which a wave
// needs before it reads another wave's value.
//
// The kernel counts cycles around the steps alone; the count of no steps is taken off. Events
// around the launch are the cross-check: the time of all steps less that of none.
#include <hipscope/hipscope.h>
#include <hipscope/lds.h>
#include <hipscope/timed_rounds.h>

#include <bit>
#include <string>
#include <vector>

#include "findings.h"
#include "lds_chains.h"
#include "steps.h"
#include "words.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::lds_address;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;
using lds_latency::Atomic;
using lds_latency::AtomicChain;
using lds_latency::follow;
using lds_latency::Hop;
using lds_latency::LaneChain;
using lds_latency::measure_steps;
using lds_latency::net_row;
using lds_latency::random_cycle;
using lds_latency::random_words;
using lds_latency::raw_row;
using lds_latency::Words;

namespace {

constexpr unsigned block_threads = 256;  // to fill LDS; the chains have fewer lanes
constexpr unsigned largest_block = 1024;

// Steps in the body of the loop. An odd number: an even number of swaps would look like none.
constexpr unsigned body_steps = 127;

// --- Chains -----------------------------------------------------------------------------------

// Each chain begins with what its block's LDS holds and ends with x. Those of atomics and those
// from lane to lane are in lds_chains.h.

// A walk through nodes of `Dwords` dwords. Raw, a node's dword is the number of the next; net, a
// node's last dword is the address of the next.
enum class Walk { raw, net };

template <Walk walk, unsigned Dwords>
struct Chase {
  static constexpr bool follows_addresses = walk == Walk::net;
  const unsigned* lds;
  unsigned x;

  __device__ explicit Chase(unsigned* given)
      : lds(given), x(follows_addresses ? lds_address(given) : 0) {}
  __device__ void step() {
    if constexpr (walk == Walk::raw) {
      x = lds[x];
    } else {
      x = hipscope::lds_load<Dwords * sizeof(unsigned)>(lds, x).word[Dwords - 1];
    }
  }
};

// --- Kernels ----------------------------------------------------------------------------------

// Fills LDS with `words`, then takes body_steps x `rounds` steps in each of the first `lanes`
// lanes. `ends` are those of the lanes, and the first dword of LDS.
template <typename Chain>
__global__ void __launch_bounds__(block_threads)
    chain_kernel(const unsigned* words, unsigned word_count, unsigned lanes, unsigned* ends,
                 WaveTime* time, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  // Makes addresses of the offsets in `words`, where the chain follows addresses.
  const unsigned origin = Chain::follows_addresses ? lds_address(lds) : 0;
  for (unsigned i = threadIdx.x; i < word_count; i += blockDim.x) {
    lds[i] = words[i] + origin;
  }
  __syncthreads();
  if (threadIdx.x >= lanes) {
    return;
  }
  Chain chain(lds);
  const WaveTime taken = hipscope::time_rounds<false>(rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      chain.step();
    }
  });
  ends[threadIdx.x] = chain.x - origin;
  if (threadIdx.x == 0) {
    ends[lanes] = lds[0] - origin;
    *time = taken;
  }
}

// An even number, since the exchange has two buffers, which take turns, but not a multiple of four:
// values then do not come back to where they began.
constexpr unsigned body_barriers = 62;
constexpr unsigned buffers = 2;

// How many threads further on a thread loads from: with three waves, from another wave for each
// buffer.
__host__ __device__ unsigned partner_distance(unsigned buffer, unsigned wave_size) {
  return (buffer + 1) * wave_size + 1;
}

// Counts the barriers in a way that no compiler makes one step of two.
__host__ __device__ unsigned count_barrier(unsigned x) {
  constexpr unsigned flipped = 1664525U;
  constexpr unsigned addend = 1013904223U;
  return (x ^ flipped) + addend;
}

// body_barriers x `rounds` barriers in every thread, timed by the first wave. With `Exchange` each
// step hands a value on through LDS: store, barrier, load what a thread of another wave stored.
// Without, two instructions count the barriers, and nothing waits for them.
template <bool Exchange>
__global__ void __launch_bounds__(largest_block)
    barrier_kernel(const unsigned* words, unsigned* ends, WaveTime* time, unsigned rounds) {
  HIP_DYNAMIC_SHARED(unsigned, lds)
  const unsigned partner[buffers] = {(threadIdx.x + partner_distance(0, warpSize)) % blockDim.x,
                                     (threadIdx.x + partner_distance(1, warpSize)) % blockDim.x};
  unsigned x = words[threadIdx.x];
  const WaveTime taken = hipscope::time_rounds<true>(rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_barriers; ++step) {
      const unsigned buffer = step % buffers;
      if constexpr (Exchange) {
        lds[buffer * blockDim.x + threadIdx.x] = x;
      } else {
        x = count_barrier(x);
      }
      __syncthreads();
      if constexpr (Exchange) {
        x = lds[buffer * blockDim.x + partner[buffer]];
      }
    }
  });
  ends[threadIdx.x] = x;
  if (threadIdx.x == 0) {
    *time = taken;
  }
}

// fsword73's own (example 9a): a block of one thread, which follows x = lds[x] & mask. Not its own:
// more of LDS is filled than the one dword that a mask of 0 leaves, so that the chain can be
// checked.
constexpr unsigned published_words = 4096;
constexpr unsigned published_filled = 16;
constexpr unsigned published_steps = 100;  // of the inner loop

__global__ void __launch_bounds__(1) masked_chase_kernel(int* buffer, int mask, int outer_loops) {
  __shared__ int lds[published_words];
  for (unsigned i = 0; i < published_filled; ++i) {
    lds[i] = buffer[i];
  }
  int x = static_cast<int>(threadIdx.x);
  for (int i = 0; i < outer_loops; ++i) {
    for (unsigned j = 0; j < published_steps; ++j) {
      x = lds[x] & mask;
    }
  }
  if (x > 0) {
    buffer[threadIdx.x] = x;
  }
}

// --- Measuring --------------------------------------------------------------------------------

// One chain in each of the first `lanes` lanes, with `words` in LDS.
template <typename Chain, typename Expected>
void measure_chain(const Sweep& sweep, Point point, const Words& words, unsigned lanes,
                   std::uint64_t rounds, Expected expected) {
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(words)};
  DeviceBuffer<unsigned> ends(lanes + 1);
  const unsigned threads = lanes == 1 ? block_threads : lanes;  // the others help to fill LDS
  const auto lds_bytes = static_cast<std::uint32_t>(words.size() * sizeof(unsigned));
  const auto run = [&](WaveTime* time, std::uint64_t repeats) {
    launch(chain_kernel<Chain>, {.grid = dim3(1), .block = dim3(threads), .lds_bytes = lds_bytes},
           given.data(), words.size(), lanes, ends.data(), time, repeats);
  };
  measure_steps(sweep, point, {"latency", "time", body_steps}, rounds, ends, run, expected);
}

// --- Sweeps -----------------------------------------------------------------------------------

void set_axis(Sweep& sweep, const std::string& axis) {
  sweep.axis({.name = axis});
  sweep.headline("latency");
}

// A chase through `bytes` of LDS.
template <Walk walk, unsigned Dwords>
void measure_chase(Sweep& sweep, Point point, std::uint64_t rounds, std::uint64_t bytes = 8192) {
  constexpr unsigned node_bytes = Dwords * sizeof(unsigned);
  constexpr unsigned unit = walk == Walk::raw ? 1 : node_bytes;  // from one node to the next
  const Words next = random_cycle(static_cast<unsigned>(bytes / node_bytes), sweep.seed());
  const Words words = lds_latency::nodes_of(next, Dwords, unit);
  measure_chain<Chase<walk, Dwords>>(sweep, point, words, 1, rounds, [&](std::uint64_t steps) {
    return Words{follow(next, 0, steps) * unit, words[0]};
  });
}

void measure_chases(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "load");
  sweep.note("one lane, random cycle through 8 KiB; raw: x = lds[x]; net: the address is loaded");
  measure_chase<Walk::raw, 1>(sweep, sweep.point("raw, 4 bytes", raw_row), rounds);
  measure_chase<Walk::net, 1>(sweep, sweep.point("net, 4 bytes", net_row), rounds);
  measure_chase<Walk::net, 2>(sweep, sweep.point("net, 8 bytes", 3), rounds);
  measure_chase<Walk::net, 4>(sweep, sweep.point("net, 16 bytes", 4), rounds);
}

// Between two of its loads are an AND and the scaling of the index. The published time includes
// both and is by events, and so is this.
void measure_published(Sweep& sweep, std::uint64_t loops) {
  set_axis(sweep, "chain");
  sweep.note("one thread, x = lds[x] & mask with a mask of 0, 100 steps to a loop; time by events");
  auto point = sweep.point("9a x = lds[x] & mask", 1, "chase, one lane");
  const Words next = random_cycle(published_filled, sweep.seed());
  const std::vector<int> words(next.begin(), next.end());
  const DeviceBuffer<int> buffer{std::span<const int>(words)};
  const auto run = [&](int mask, std::uint64_t outer_loops) {
    launch(masked_chase_kernel, {.grid = dim3(1), .block = dim3(1)}, buffer.data(), mask,
           static_cast<int>(outer_loops));
  };
  // The kernel stores no end at 0, where the chain is after each 16 steps: an odd number of 100s
  // ends elsewhere.
  const std::uint64_t odd_loops = loops | 1U;
  run(published_filled - 1, odd_loops);
  std::vector<int> expected = words;
  expected.front() = static_cast<int>(follow(next, 0, odd_loops * published_steps));
  point.check("the chain's end", buffer.to_host(), [&](std::uint64_t i) { return expected[i]; });
  const auto time = point.measure([&] { run(0, loops); });
  point.value("latency", time.cycles() / static_cast<double>(loops * published_steps), "cycles");
}

template <Atomic atomic>
void measure_atomic(Sweep& sweep, const std::string& label, double x, std::uint64_t rounds) {
  const Words words = lds_latency::words_of_atomics(sweep.seed());
  measure_chain<AtomicChain<atomic>>(
      sweep, sweep.point(label, x), words, 1, rounds,
      [&](std::uint64_t steps) { return lds_latency::atomic_ends(atomic, words, steps); });
}

void measure_atomics(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "atomic");
  sweep.note("one lane, one dword of LDS; each operand is what the last atomic has returned");
  measure_atomic<Atomic::add>(sweep, "add", 1, rounds);
  measure_atomic<Atomic::exchange>(sweep, "exchange", 2, rounds);
  measure_atomic<Atomic::compare_and_swap>(sweep, "compare and swap", 3, rounds);
}

// `end(lane, steps)` is the lane whose dword `lane` has after `steps` hops.
template <Hop hop, typename End>
void measure_hop(Sweep& sweep, const std::string& label, double x, const Words& words,
                 std::uint64_t rounds, End end) {
  const auto lanes = static_cast<unsigned>(words.size());
  const auto expected = [&](std::uint64_t steps) {
    Words ends(lanes + 1, words[0]);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      ends[lane] = words[end(lane, steps)];
    }
    return ends;
  };
  measure_chain<LaneChain<hop>>(sweep, sweep.point(label, x), words, lanes, rounds, expected);
}

void measure_lanes(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "from lane to lane");
  sweep.note("one wave; raw: x = __shfl(value, x); net: the shuffle instruction alone");
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  const Words next = random_cycle(lanes, sweep.seed());
  // A lane begins with its own dword, which is one step already: `steps` more lead to the dword of
  // the lane `steps` after it.
  const auto along = [&](unsigned lane, std::uint64_t steps) { return follow(next, lane, steps); };
  Words in_units = next;
  for (unsigned& lane : in_units) {
    lane *= lds_latency::lane_unit;
  }
  measure_hop<Hop::shuffle>(sweep, "raw shuffle", raw_row, next, rounds, along);
  measure_hop<Hop::bare_shuffle>(sweep, "net shuffle", net_row, in_units, rounds, along);
  measure_hop<Hop::fixed_shuffle>(sweep, "net shuffle, fixed lanes", 3, in_units, rounds, along);
#if defined(HIPSCOPE_BACKEND_AMD)
  const Words values = random_words(lanes, sweep.seed());
  measure_hop<Hop::row_rotation>(sweep, "DPP row rotation", 4, values, rounds,
                                 lds_latency::rotated_lane);
  measure_hop<Hop::readlane>(
      sweep, "readlane", 5, next, rounds,
      [&](unsigned /*lane*/, std::uint64_t steps) { return follow(next, 0, steps - 1); });
#else
  sweep.note("DPP row rotation and readlane: not on this device");
#endif
}

void measure_footprint(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  const std::uint64_t most_bytes = sweep.device().largest_lds_bytes_per_block;
  hipscope::allow_lds(chain_kernel<Chase<Walk::net, 1>>, static_cast<std::uint32_t>(most_bytes));
  sweep.note("net, 4 bytes; a block may have " + std::to_string(most_bytes) + " bytes");
  // Two sizes per octave.
  for (std::uint64_t bytes = 256; bytes <= most_bytes; bytes += std::bit_floor(bytes) / 2) {
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    measure_chase<Walk::net, 1>(sweep, point, rounds, bytes);
  }
}

template <bool Exchange>
void measure_barriers(const Sweep& sweep, Point& point, const Words& words, std::uint64_t rounds) {
  const auto threads = static_cast<unsigned>(words.size());
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(words)};
  DeviceBuffer<unsigned> ends(threads);
  const auto lds_bytes = static_cast<std::uint32_t>(buffers * threads * sizeof(unsigned));
  const auto run = [&](WaveTime* time, std::uint64_t repeats) {
    launch(barrier_kernel<Exchange>,
           {.grid = dim3(1), .block = dim3(threads), .lds_bytes = lds_bytes}, given.data(),
           ends.data(), time, repeats);
  };
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const std::uint64_t distance = partner_distance(0, wave_size) + partner_distance(1, wave_size);
  const auto expected = [&](std::uint64_t steps) {
    if constexpr (Exchange) {
      return lds_latency::from_further_on(words, steps / buffers * distance);
    }
    return lds_latency::after_steps(words, steps, count_barrier);
  };
  const std::string name = Exchange ? "exchange" : "barrier";
  measure_steps(sweep, point, {name, name + "s", body_barriers}, rounds, ends, run, expected);
}

void measure_barrier(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "waves", .scale = hipscope::Scale::logarithmic});
  sweep.headline("barrier");
  sweep.note(
      "exchange: store to LDS, barrier, load what another thread has stored, from three waves on "
      "one of "
      "another wave");
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const unsigned most_waves = sweep.is_hardware() ? largest_block / wave_size : 2;
  for (unsigned waves = 1; waves <= most_waves; waves *= 2) {
    auto point = sweep.point(std::to_string(waves), waves);
    const Words words = random_words(std::size_t{waves} * wave_size, sweep.seed());
    measure_barriers<false>(sweep, point, words, rounds);
    measure_barriers<true>(sweep, point, words, rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "lds_latency",
      {.question = "How long does a lane wait for a value from LDS, and for one from another lane?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.9.1 (example 9a)"}});
  const auto rounds = experiment.size(
      "--rounds", "rounds of 127 steps (62 barriers)",
      {.gpu = 64, .quick = 16, .host = 2, .tiny = 1, .minimum = 1, .maximum = 1U << 16});
  const auto loops = experiment.size(
      "--published-loops", "loops of 100 steps in sweep published",
      {.gpu = 10'000, .quick = 1000, .host = 16, .minimum = 1, .maximum = 1U << 20});
  experiment.sweep("chase", "loads of one lane, each from where the last one says",
                   [&](Sweep& sweep) { measure_chases(sweep, rounds); });
  experiment.sweep("published", "one lane as the published program has it",
                   [&](Sweep& sweep) { measure_published(sweep, loops); });
  experiment.sweep("atomics", "atomics of one lane, each with what the last one returned",
                   [&](Sweep& sweep) { measure_atomics(sweep, rounds); });
  experiment.sweep("lanes", "values from lane to lane, without LDS memory",
                   [&](Sweep& sweep) { measure_lanes(sweep, rounds); });
  experiment.sweep("footprint", "the chase against the bytes that it goes through",
                   [&](Sweep& sweep) { measure_footprint(sweep, rounds); });
  experiment.sweep("barrier", "barriers of a block, alone and with a value through LDS",
                   [&](Sweep& sweep) { measure_barrier(sweep, rounds); });
  experiment.conclude(lds_latency::conclude);
  return experiment.run(argc, argv);
}
