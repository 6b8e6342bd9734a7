// How long does a lane wait for a value from LDS, and for one from another lane?
//
// LDS (local data share; NVIDIA: shared memory) is the memory that the threads of a block share,
// inside the compute unit. One lane follows a chain of addresses through it: each load waits for
// the last one, so steps take the latency. Two ways to write that:
//   raw  x = lds[x], as a programmer does: an index is scaled to an address between two loads,
//        by an instruction of its own on AMD
//   net  the loaded dword is the next LDS address, so there is nothing between two loads
// The same chains go through wide loads, atomics, and the registers of other lanes (shuffles). Then
// come the footprint, which must not matter, since LDS is no cache, and the barrier, without which
// a value in LDS is of no use to another wave.
//
// Cycles are counted in the kernel, around the steps alone; what is counted for no steps is taken
// off. The events around the launch are the cross-check: the time of all steps less that of none.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::lds_address;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;
using hipscope::WaveTimes;

namespace {

constexpr unsigned block_threads = 256;  // to fill LDS; the chains have fewer lanes
constexpr unsigned largest_block = 1024;

// Steps in the body of the loop. An odd number, so that what swaps two values does not come out as
// if nothing had been done.
constexpr unsigned body_steps = 127;

// --- Chains -----------------------------------------------------------------------------------

// Each chain begins with what its block's LDS holds, takes one step at a time, and ends with x.

// A walk through nodes of so many dwords. Raw, a node's dword is the number of the next; net, a
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

enum class Atomic { add, exchange, compare_and_swap };

// The atomics all work on one dword, with what the last one returned: an add makes Fibonacci's
// numbers of it, an exchange has two values take turns, and a compare and swap, which compares with
// what was returned before, always finds it and stores what was returned last.
//
// LDS holds the word, the first value, and for each thread where the word is, which is the same
// place: nvcc does not know that. For what it knows to be one address it would add up the operands
// of all lanes first, by some twenty instructions.
template <Atomic atomic>
struct AtomicChain {
  static constexpr bool follows_addresses = false;
  unsigned* word;
  unsigned x;
  unsigned last_x;

  __device__ explicit AtomicChain(unsigned* lds)
      : word(lds + lds[2 + threadIdx.x]), x(lds[1]), last_x(lds[0]) {}
  __device__ void step() {
    const unsigned operand = x;
    if constexpr (atomic == Atomic::add) {
      x = atomicAdd(word, operand);
    } else if constexpr (atomic == Atomic::exchange) {
      x = atomicExch(word, operand);
    } else {
      x = atomicCAS(word, last_x, operand);
    }
    last_x = operand;
  }
};

// A lane's number as ds_bpermute of AMD takes it: in bytes of a dword each.
#if defined(HIPSCOPE_BACKEND_AMD)
constexpr unsigned lane_unit = 4;
#else
constexpr unsigned lane_unit = 1;
#endif

// `value` of another lane, by the shuffle instruction alone. HIP's __shfl works on the lanes that
// are active and on part of a wave, which can cost further instructions.
__device__ unsigned bare_shuffle(unsigned value, unsigned lane_times_unit) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned all_lanes = 0xFFFFFFFF;
  return __shfl_sync(all_lanes, value, static_cast<int>(lane_times_unit));
#elif defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_ds_bpermute(static_cast<int>(lane_times_unit), static_cast<int>(value));
#else
  return __shfl(value, static_cast<int>(lane_times_unit));
#endif
}

// What takes a value from lane to lane. Each lane has its own dword of LDS in a register.
enum class Hop {
  shuffle,        // each lane asks lane x for its dword, which is the next x
  bare_shuffle,   // the same by the instruction alone
  fixed_shuffle,  // each lane asks the lane that its dword names: only the value is on its way
  row_rotation,  // AMD's DPP: lane i of a row of 16 has lane i - 1's register, without LDS hardware
  readlane,      // AMD: one lane for the whole wave, its number and its dword in scalar registers
};

template <Hop hop>
struct LaneChain {
  static constexpr bool follows_addresses = false;
  unsigned mine;
  unsigned x;

  __device__ explicit LaneChain(const unsigned* lds)
      : mine(lds[threadIdx.x]), x(hop == Hop::readlane ? 0 : mine) {}
  __device__ void step() {
    if constexpr (hop == Hop::shuffle) {
      x = static_cast<unsigned>(__shfl(static_cast<int>(mine), static_cast<int>(x)));
    } else if constexpr (hop == Hop::bare_shuffle) {
      x = bare_shuffle(mine, x);
    } else if constexpr (hop == Hop::fixed_shuffle) {
      x = bare_shuffle(x, mine);
    }
#if defined(__HIP_DEVICE_COMPILE__)
    if constexpr (hop == Hop::row_rotation) {
      constexpr int rotate_row_by_one = 0x121;
      constexpr int all = 0xF;
      x = __builtin_amdgcn_mov_dpp(static_cast<int>(x), rotate_row_by_one, all, all, false);
    } else if constexpr (hop == Hop::readlane) {
      x = __builtin_amdgcn_readlane(static_cast<int>(mine), static_cast<int>(x));
    }
#endif
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

// From how many threads further on a thread loads: where there are three waves, from another wave
// for each buffer.
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

// --- Inputs and references --------------------------------------------------------------------

using Words = std::vector<unsigned>;

// One cycle through all of 0 ... count - 1 in random order (Sattolo): next[i] follows i.
Words random_cycle(unsigned count, std::uint64_t seed) {
  Words next(count);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(seed);
  for (unsigned i = count - 1; i > 0; --i) {
    std::swap(next[i], next[random() % i]);
  }
  return next;
}

Words random_words(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Words words(count);
  std::generate(words.begin(), words.end(), [&] { return static_cast<unsigned>(random()); });
  return words;
}

unsigned follow(const Words& next, unsigned node, std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    node = next[node];
  }
  return node;
}

// --- Measuring --------------------------------------------------------------------------------

// What is measured of a kernel's steps, and how many of them a round has.
struct Steps {
  std::string value;
  std::string time;
  unsigned per_round;
};

// Verifies where the chains end, which `expected` gives for so many steps. Then takes the cycles of
// a step by the counter in the kernel and by events, each less those of no steps. `run` enqueues so
// many rounds, whose time goes where it is told.
template <typename Run, typename Expected>
void measure_steps(const Sweep& sweep, Point& point, const Steps& steps, std::uint64_t rounds,
                   DeviceBuffer<unsigned>& ends, Run run, Expected expected) {
  WaveTimes unused(1);
  WaveTimes all(1);
  WaveTimes none(1);
  hipscope::verify_rounds(
      point, steps.value + ": ends of the chains", rounds, ends,
      [&](std::uint64_t repeats) { run(unused.next(), repeats); },
      [&](std::uint64_t repeats) { return expected(repeats * steps.per_round); });
  const auto all_time =
      point.measure([&] { run(all.next(), rounds); }, {.name = steps.time, .batch = 1});
  const auto none_time = point.measure([&] { run(none.next(), 0); },
                                       {.name = steps.time + " of no steps", .batch = 1});
  const double none_counted = sweep.counted(none.take(point));
  const auto count = static_cast<double>(rounds * steps.per_round);
  point.value(steps.value, (all.take(point) - none_counted) / count, "cycles");
  point.value(steps.value + " by events", (all_time.cycles() - none_time.cycles()) / count,
              "cycles");
  point.value(steps.value + " counter's own", none_counted, "cycles");
}

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
  Words words;
  for (unsigned node = 0; node < next.size(); ++node) {
    words.insert(words.end(), Dwords - 1, node * unit);  // lead back to the node itself
    words.push_back(next[node] * unit);
  }
  measure_chain<Chase<walk, Dwords>>(sweep, point, words, 1, rounds, [&](std::uint64_t steps) {
    return Words{follow(next, 0, steps) * unit, words[0]};
  });
}

// Rows of sweeps chase and lanes that inference asks for.
constexpr double raw_row = 1;
constexpr double net_row = 2;

void measure_chases(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "load");
  sweep.note("one lane, random cycle through 8 KiB; raw: x = lds[x]; net: the address is loaded");
  measure_chase<Walk::raw, 1>(sweep, sweep.point("raw, 4 bytes", raw_row, "chase, one lane"),
                              rounds);
  measure_chase<Walk::net, 1>(sweep, sweep.point("net, 4 bytes", net_row), rounds);
  measure_chase<Walk::net, 2>(sweep, sweep.point("net, 8 bytes", 3), rounds);
  measure_chase<Walk::net, 4>(sweep, sweep.point("net, 16 bytes", 4), rounds);
}

template <Atomic atomic>
void measure_atomic(Sweep& sweep, const std::string& label, double x, std::uint64_t rounds) {
  constexpr unsigned index_of_word = 0;
  Words words = random_words(2, sweep.seed());
  words.push_back(index_of_word);
  const auto expected = [&](std::uint64_t steps) {
    unsigned word = words[0];
    unsigned returned = words[1];
    unsigned last_returned = words[0];
    for (std::uint64_t step = 0; step < steps; ++step) {
      const unsigned old = word;
      if (atomic == Atomic::add) {
        word += returned;
      } else if (atomic == Atomic::exchange || old == last_returned) {
        word = returned;
      }
      last_returned = returned;
      returned = old;
    }
    return Words{returned, word};
  };
  measure_chain<AtomicChain<atomic>>(sweep, sweep.point(label, x), words, 1, rounds, expected);
}

void measure_atomics(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "atomic");
  sweep.note("one lane, one dword of LDS; each operand is what the last atomic has returned");
  measure_atomic<Atomic::add>(sweep, "add", 1, rounds);
  measure_atomic<Atomic::exchange>(sweep, "exchange", 2, rounds);
  measure_atomic<Atomic::compare_and_swap>(sweep, "compare and swap", 3, rounds);
}

// `end` says which lane's dword a lane has after so many steps.
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
    lane *= lane_unit;
  }
  measure_hop<Hop::shuffle>(sweep, "raw shuffle", raw_row, next, rounds, along);
  measure_hop<Hop::bare_shuffle>(sweep, "net shuffle", net_row, in_units, rounds, along);
  measure_hop<Hop::fixed_shuffle>(sweep, "net shuffle, fixed lanes", 3, in_units, rounds, along);
#if defined(HIPSCOPE_BACKEND_AMD)
  constexpr unsigned row_lanes = 16;
  const Words values = random_words(lanes, sweep.seed());
  measure_hop<Hop::row_rotation>(
      sweep, "DPP row rotation", 4, values, rounds, [](unsigned lane, std::uint64_t steps) {
        const auto turned = static_cast<unsigned>((lane + row_lanes - steps % row_lanes));
        return lane - lane % row_lanes + turned % row_lanes;
      });
  measure_hop<Hop::readlane>(
      sweep, "readlane", 5, next, rounds,
      [&](unsigned /*lane*/, std::uint64_t steps) { return follow(next, 0, steps - 1); });
#else
  sweep.note("DPP row rotation and readlane: not on this device");
#endif
}

// The most LDS that a block may have; a CUDA kernel must ask for it.
std::uint64_t largest_lds_bytes(const Sweep& sweep) {
  const std::uint64_t bytes = sweep.device().largest_lds_bytes_per_block;
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  hipscope::check(
      hipFuncSetAttribute(reinterpret_cast<const void*>(chain_kernel<Chase<Walk::net, 1>>),
                          hipFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
#endif
  return bytes;
}

void measure_footprint(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  const std::uint64_t most_bytes = largest_lds_bytes(sweep);
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
    Words all = words;
    for (unsigned thread = 0; thread < threads; ++thread) {
      if constexpr (Exchange) {
        all[thread] = words[(thread + steps / buffers * distance) % threads];
      } else {
        for (std::uint64_t step = 0; step < steps; ++step) {
          all[thread] = count_barrier(all[thread]);
        }
      }
    }
    return all;
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

// --- What the curves show ---------------------------------------------------------------------

double value_at(const std::vector<hipscope::CurvePoint>& curve, double x) {
  const auto point = std::find_if(curve.begin(), curve.end(),
                                  [=](const hipscope::CurvePoint& each) { return each.x == x; });
  return point == curve.end() ? std::numeric_limits<double>::quiet_NaN() : point->y;
}

// The latency in row `row`, believed as far as the counter and the events agree about it.
void infer_latency(hipscope::Results& results, const std::string& sweep, double row,
                   hipscope::Inference inference) {
  const double counted = value_at(results.curve(sweep, "latency"), row);
  const double by_events = value_at(results.curve(sweep, "latency by events"), row);
  const double disagreement = std::abs(by_events - counted) / counted;
  inference.unit = "cycles";
  inference.evidence.insert(inference.evidence.begin(),
                            "by the counter in the kernel " + number(counted, 4) +
                                " cycles, by events around it " + number(by_events, 4));
  constexpr double largest_disagreement = 0.1;
  if (counted > 0 && disagreement <= largest_disagreement) {
    inference.value = counted;
    inference.confidence = 1 - disagreement;
  } else {
    inference.statement = "the counter in the kernel and the events around it do not agree";
  }
  results.infer(inference);
}

void infer_lds_latency(hipscope::Results& results) {
  const auto chase = results.curve("chase", "latency");
  if (chase.empty()) {
    return;
  }
  std::vector<std::string> evidence = {"loads of 8 bytes " + number(value_at(chase, 3), 4) +
                                       " cycles, of 16 bytes " + number(value_at(chase, 4), 4)};
  const auto footprint = results.curve("footprint", "latency");
  if (!footprint.empty()) {
    const auto by_y = [](const auto& a, const auto& b) { return a.y < b.y; };
    const auto [low, high] = std::minmax_element(footprint.begin(), footprint.end(), by_y);
    evidence.push_back("from " + number(footprint.front().x, 6) + " to " +
                       number(footprint.back().x, 6) + " bytes between " + number(low->y, 4) +
                       " and " + number(high->y, 4) + " cycles");
  }
  infer_latency(results, "chase", net_row,
                {.name = "LDS latency",
                 .statement = "from one load of 4 bytes to the next, whose address it loads",
                 .evidence = evidence});
  infer_latency(results, "chase", raw_row,
                {.name = "LDS latency by index",
                 .statement = "the same for x = lds[x], in which the index must be scaled first"});
}

void infer_shuffle_latency(hipscope::Results& results) {
  const auto lanes = results.curve("lanes", "latency");
  if (lanes.empty()) {
    return;
  }
  infer_latency(results, "lanes", net_row,
                {.name = "shuffle latency",
                 .statement = "from one shuffle of a wave to the next, whose lane numbers it gives",
                 .evidence = {"as HIP's __shfl " + number(value_at(lanes, raw_row), 4) +
                              " cycles; from fixed lanes " + number(value_at(lanes, 3), 4)}});
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "lds_latency",
      {.question = "How long does a lane wait for a value from LDS, and for one from another lane?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.9.1 (example 9a)"}});
  const auto rounds =
      experiment.size("--rounds", "rounds of 127 steps (62 barriers)",
                      {.gpu = 64, .quick = 16, .host = 2, .minimum = 1, .maximum = 1U << 16});
  experiment.sweep("chase", "loads of one lane, each from where the last one says",
                   [&](Sweep& sweep) { measure_chases(sweep, rounds); });
  experiment.sweep("atomics", "atomics of one lane, each with what the last one returned",
                   [&](Sweep& sweep) { measure_atomics(sweep, rounds); });
  experiment.sweep("lanes", "values from lane to lane, without LDS memory",
                   [&](Sweep& sweep) { measure_lanes(sweep, rounds); });
  experiment.sweep("footprint", "the chase against the bytes that it goes through",
                   [&](Sweep& sweep) { measure_footprint(sweep, rounds); });
  experiment.sweep("barrier", "barriers of a block, alone and with a value through LDS",
                   [&](Sweep& sweep) { measure_barrier(sweep, rounds); });
  experiment.conclude([](hipscope::Results& results) {
    infer_lds_latency(results);
    infer_shuffle_latency(results);
  });
  return experiment.run(argc, argv);
}
