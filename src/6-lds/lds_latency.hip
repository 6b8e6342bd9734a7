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
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned block_threads = 256;  // to fill LDS; the chains have fewer lanes
constexpr unsigned largest_block = 1024;

// Steps in the body of the loop. An odd number, so that what swaps two values does not come out as
// if nothing had been done.
constexpr unsigned body_steps = 127;

// --- LDS by address ---------------------------------------------------------------------------

#if defined(__HIP_DEVICE_COMPILE__)
template <typename T>
using LdsPointer = const __attribute__((address_space(3))) T*;
#endif

// Where `lds` is, as a load instruction of LDS takes it.
__device__ unsigned lds_address([[maybe_unused]] const unsigned* lds) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__cvta_generic_to_shared(lds));
#elif defined(__HIP_DEVICE_COMPILE__)
  return reinterpret_cast<unsigned>((LdsPointer<unsigned>)lds);
#else
  return 0;
#endif
}

// The last of the `Dwords` dwords at an LDS address, loaded all by one instruction: nothing may
// leave out those that nobody uses.
template <unsigned Dwords>
__device__ unsigned load_last([[maybe_unused]] const unsigned* lds, unsigned address) {
#if defined(__CUDA_ARCH__)
  unsigned x;
  unsigned y;
  unsigned z;
  unsigned last;
  if constexpr (Dwords == 1) {
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(last) : "r"(address) : "memory");
  } else if constexpr (Dwords == 2) {
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(x), "=r"(last)
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(last)
                 : "r"(address)
                 : "memory");
  }
  return last;
#elif defined(__HIP_DEVICE_COMPILE__)
  using Vector = unsigned __attribute__((ext_vector_type(Dwords)));
  Vector loaded = *reinterpret_cast<LdsPointer<Vector>>(address);
  if constexpr (Dwords > 1) {
    asm("" : "+v"(loaded));  // uses, for all that clang knows, the whole of it
  }
  return loaded[Dwords - 1];
#else
  return lds[address / sizeof(unsigned) + Dwords - 1];
#endif
}

// --- Chains -----------------------------------------------------------------------------------

// Each chain begins with what its block's LDS holds, takes one step at a time, and has an end. The
// origin is what is added to every dword that goes into LDS: it makes addresses of offsets.

// x -> lds[x].
struct IndexChase {
  static constexpr unsigned dwords = 1;
  static constexpr unsigned unit_bytes = sizeof(unsigned);  // a node's number counts these
  const unsigned* lds;
  unsigned x = 0;

  __device__ explicit IndexChase(unsigned* given) : lds(given) {}
  __device__ static unsigned origin(const unsigned* /*given*/) { return 0; }
  __device__ void step() { x = lds[x]; }
  __device__ unsigned end() const { return x; }
};

// The address of the next node is the last dword of the node.
template <unsigned Dwords>
struct AddressChase {
  static constexpr unsigned dwords = Dwords;
  static constexpr unsigned unit_bytes = 1;
  const unsigned* lds;
  unsigned address;

  __device__ explicit AddressChase(unsigned* given) : lds(given), address(lds_address(given)) {}
  __device__ static unsigned origin(const unsigned* given) { return lds_address(given); }
  __device__ void step() { address = load_last<Dwords>(lds, address); }
  __device__ unsigned end() const { return address - lds_address(lds); }
};

// The atomics all work on the first dword, with what the last one returned. The state is one that
// the host can follow, too.
struct AtomicState {
  unsigned x;
  unsigned last_x;
};

// (x, word) -> (word, word + x): Fibonacci's numbers.
struct AtomicAdd {
  __device__ static void step(unsigned* word, AtomicState& state) {
    state.x = atomicAdd(word, state.x);
  }
  static void reference(unsigned& word, AtomicState& state) {
    word += state.x;
    state.x = word - state.x;
  }
};

// (x, word) -> (word, x).
struct AtomicExchange {
  __device__ static void step(unsigned* word, AtomicState& state) {
    state.x = atomicExch(word, state.x);
  }
  static void reference(unsigned& word, AtomicState& state) { std::swap(word, state.x); }
};

// The word, which is the value returned before the last one, is swapped for the last.
struct AtomicCompareAndSwap {
  __device__ static void step(unsigned* word, AtomicState& state) {
    const unsigned returned = atomicCAS(word, state.last_x, state.x);
    state = {.x = returned, .last_x = state.x};
  }
  static void reference(unsigned& word, AtomicState& state) {
    const unsigned old = word;
    word = old == state.last_x ? state.x : old;
    state = {.x = old, .last_x = state.x};
  }
};

// LDS holds the word, the first value, and for each thread where the word is, which is the same
// place: nvcc does not know that. For what it knows to be one address it would add up the operands
// of all lanes first, by some twenty instructions.
template <typename Operation>
struct AtomicChain {
  unsigned* word;
  AtomicState state;

  __device__ explicit AtomicChain(unsigned* lds)
      : word(lds + lds[2 + threadIdx.x]), state{lds[1], lds[0]} {}
  __device__ static unsigned origin(const unsigned* /*given*/) { return 0; }
  __device__ void step() { Operation::step(word, state); }
  __device__ unsigned end() const { return state.x; }
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

// What the chains of lanes have in common: each lane has its own dword of LDS in a register.
struct LaneChain {
  unsigned mine;
  unsigned x;

  __device__ explicit LaneChain(const unsigned* lds)
      : mine(lds[threadIdx.x]), x(lds[threadIdx.x]) {}
  __device__ static unsigned origin(const unsigned* /*given*/) { return 0; }
  __device__ unsigned end() const { return x; }
};

// Each lane asks lane x for its dword, which is the next x.
struct Shuffle : LaneChain {
  using LaneChain::LaneChain;
  __device__ void step() {
    x = static_cast<unsigned>(__shfl(static_cast<int>(mine), static_cast<int>(x)));
  }
};
struct BareShuffle : LaneChain {
  using LaneChain::LaneChain;
  __device__ void step() { x = bare_shuffle(mine, x); }
};

// Each lane asks the same lane every time: its dword says which. Only the value is on its way.
struct FixedShuffle : LaneChain {
  using LaneChain::LaneChain;
  __device__ void step() { x = bare_shuffle(x, mine); }
};

#if defined(HIPSCOPE_BACKEND_AMD)
constexpr unsigned row_lanes = 16;

// Lane i of a row of 16 gets the value of lane i - 1, by DPP (data-parallel primitives): a move
// that reads another lane's register by a fixed pattern, without LDS hardware.
struct RowRotation : LaneChain {
  using LaneChain::LaneChain;
  __device__ void step() {
#if defined(__HIP_DEVICE_COMPILE__)
    constexpr int rotate_row_by_one = 0x121;
    constexpr int all = 0xF;
    x = __builtin_amdgcn_mov_dpp(static_cast<int>(x), rotate_row_by_one, all, all, false);
#endif
  }
};

// One lane for the whole wave: its number is in a scalar register, and so is what it says.
struct ReadLane : LaneChain {
  __device__ explicit ReadLane(const unsigned* lds) : LaneChain(lds) { x = 0; }
  __device__ void step() {
#if defined(__HIP_DEVICE_COMPILE__)
    x = __builtin_amdgcn_readlane(static_cast<int>(mine), static_cast<int>(x));
#endif
  }
};
#endif

// --- Kernels ----------------------------------------------------------------------------------

constexpr unsigned warm_up_rounds = 1;

// Fills LDS with `words`, then takes body_steps x `rounds` steps in each of the first `lanes` lanes
// after a warm-up that goes through the same code. `ends` are those of the lanes, and the first
// dword of LDS.
template <typename Chain>
__global__ void __launch_bounds__(block_threads)
    chain_kernel(const unsigned* words, unsigned word_count, unsigned lanes, unsigned* ends,
                 long long* cycles, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  for (unsigned i = threadIdx.x; i < word_count; i += blockDim.x) {
    lds[i] = words[i] + Chain::origin(lds);
  }
  __syncthreads();
  if (threadIdx.x >= lanes) {
    return;
  }
  Chain chain(lds);
  long long start = 0;
  long long end = 0;
  unsigned repeats = warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    start = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < repeats; ++round) {
#pragma unroll
      for (unsigned step = 0; step < body_steps; ++step) {
        chain.step();
      }
    }
    end = clock64();
    repeats = rounds;
  }
  ends[threadIdx.x] = chain.end();
  if (threadIdx.x == 0) {
    ends[lanes] = lds[0] - Chain::origin(lds);
    *cycles = end - start;
  }
}

// An even number, since the exchange has two buffers, which take turns, but not a multiple of four:
// values then do not come back to where they began.
constexpr unsigned body_barriers = 62;
constexpr unsigned buffers = 2;

// From how many threads further on a thread loads: from another wave for each buffer.
__host__ __device__ unsigned partner_distance(unsigned buffer, unsigned wave_size) {
  return (buffer + 1) * wave_size + 1;
}

// Counts the barriers in a way that no compiler makes one step of two.
__host__ __device__ unsigned count_barrier(unsigned x) {
  constexpr unsigned flipped = 1664525U;
  constexpr unsigned addend = 1013904223U;
  return (x ^ flipped) + addend;
}

// body_barriers x `rounds` barriers in every thread, after a warm-up. With `Exchange` each step
// hands a value on through LDS: store, barrier, load what a thread of another wave stored. Without,
// two instructions count the barriers, and nothing waits for them.
template <bool Exchange>
__global__ void __launch_bounds__(largest_block)
    barrier_kernel(const unsigned* words, unsigned* ends, long long* cycles, unsigned rounds) {
  HIP_DYNAMIC_SHARED(unsigned, lds)
  unsigned partner[buffers];
#pragma unroll
  for (unsigned buffer = 0; buffer < buffers; ++buffer) {
    partner[buffer] = (threadIdx.x + partner_distance(buffer, warpSize)) % blockDim.x;
  }
  unsigned x = words[threadIdx.x];
  long long start = 0;
  long long end = 0;
  unsigned repeats = warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    __syncthreads();
    start = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < repeats; ++round) {
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
    }
    end = clock64();
    repeats = rounds;
  }
  ends[threadIdx.x] = x;
  if (threadIdx.x == 0) {
    *cycles = end - start;
  }
}

// --- Inputs and references --------------------------------------------------------------------

using Words = std::vector<unsigned>;

// One cycle through all of 0 ... count - 1 in random order (Sattolo's algorithm): next[i] follows
// i.
std::vector<unsigned> random_cycle(unsigned count, std::uint64_t seed) {
  std::vector<unsigned> next(count);
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

unsigned follow(const std::vector<unsigned>& next, unsigned node, std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps; ++step) {
    node = next[node];
  }
  return node;
}

// --- Measuring --------------------------------------------------------------------------------

// The cycles that the last launches of a kernel have counted.
class Cycles {
 public:
  // Where the next launch stores them.
  long long* next() { return cycles_.data() + launches_++ % kept_launches; }

  // The median of the launches since the last call.
  double take() {
    const std::vector<long long> all = cycles_.to_host();
    const std::vector<double> kept(all.begin(), all.begin() + std::min(launches_, kept_launches));
    launches_ = 0;
    return hipscope::summarize(kept).median;
  }

 private:
  static constexpr unsigned kept_launches = 8;
  unsigned launches_ = 0;
  DeviceBuffer<long long> cycles_{kept_launches};
};

// Enqueues a kernel of so many rounds that counts its cycles there.
using Run = std::function<void(long long*, std::uint64_t)>;

// Cycles per step by the counter in the kernel and by events, each less those of no steps.
struct Latency {
  double counted = 0;
  double by_events = 0;
  double empty = 0;
};

Latency measure_latency(const Sweep& sweep, hipscope::Point& point, const Run& run,
                        std::uint64_t rounds, unsigned steps_per_round,
                        const std::string& name = "time") {
  Cycles cycles;
  const auto time = point.measure([&] { run(cycles.next(), rounds); }, {.name = name, .batch = 1});
  const double all = cycles.take();
  const auto empty_time =
      point.measure([&] { run(cycles.next(), 0); }, {.name = name + " of no steps", .batch = 1});
  const double empty = cycles.take();
  // The host backend counts nanoseconds.
  const double unknown = sweep.is_hardware() ? 0 : std::numeric_limits<double>::quiet_NaN();
  const auto steps = static_cast<double>(rounds * steps_per_round);
  return {.counted = (all - empty) / steps + unknown,
          .by_events = (time.cycles() - empty_time.cycles()) / steps,
          .empty = empty + unknown};
}

void show(hipscope::Point& point, const Latency& latency) {
  point.value("latency", latency.counted, "cycles");
  point.value("by events", latency.by_events, "cycles");
  point.value("counter's own", latency.empty, "cycles");
}

// What a kernel must give after so many steps.
using Expected = std::function<Words(std::uint64_t)>;

std::uint64_t count_wrong(const Words& results, const Words& expected) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    wrong += results[i] == expected[i] ? 0 : 1;
  }
  return wrong;
}

// Runs the warm-up alone and then all, once each.
void verify_ends(hipscope::Point& point, const std::string& what, const Run& run,
                 std::uint64_t rounds, unsigned steps_per_round, DeviceBuffer<unsigned>& ends,
                 const Expected& expected) {
  for (const std::uint64_t repeats : {std::uint64_t{0}, rounds}) {
    Cycles unused;
    ends.poison();
    run(unused.next(), repeats);
    const Words right = expected((warm_up_rounds + repeats) * steps_per_round);
    point.verify(repeats == 0 ? what + " after the warm-up" : what,
                 count_wrong(ends.to_host(), right), ends.size());
  }
}

// One chain: its ends, then its latency.
template <typename Chain>
void measure_chain(const Sweep& sweep, hipscope::Point& point, const Words& words, unsigned lanes,
                   std::uint64_t rounds, const Expected& expected) {
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(words)};
  DeviceBuffer<unsigned> ends(lanes + 1);
  const unsigned threads = lanes == 1 ? block_threads : lanes;  // the others help to fill LDS
  const Run run = [&](long long* cycles, std::uint64_t repeats) {
    launch(chain_kernel<Chain>,
           {.grid = dim3(1),
            .block = dim3(threads),
            .lds_bytes = static_cast<std::uint32_t>(words.size() * sizeof(unsigned))},
           given.data(), words.size(), lanes, ends.data(), cycles, repeats);
  };
  verify_ends(point, "ends of the chains", run, rounds, body_steps, ends, expected);
  show(point, measure_latency(sweep, point, run, rounds, body_steps));
}

// --- Sweeps -----------------------------------------------------------------------------------

void set_axis(Sweep& sweep, const std::string& axis) {
  sweep.axis({.name = axis});
  sweep.headline("latency");
}

// A chase through `bytes` of LDS.
template <typename Chase>
void measure_chase(Sweep& sweep, hipscope::Point& point, std::uint64_t bytes,
                   std::uint64_t rounds) {
  constexpr unsigned node_bytes = Chase::dwords * sizeof(unsigned);
  const auto nodes = static_cast<unsigned>(bytes / node_bytes);
  const std::vector<unsigned> next = random_cycle(nodes, sweep.seed());
  const auto number_of = [](unsigned node) { return node * node_bytes / Chase::unit_bytes; };
  // The other dwords of a node lead back to itself.
  Words words(std::size_t{nodes} * Chase::dwords);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto node = static_cast<unsigned>(i / Chase::dwords);
    const bool is_last = i % Chase::dwords == Chase::dwords - 1;
    words[i] = number_of(is_last ? next[node] : node);
  }
  measure_chain<Chase>(sweep, point, words, 1, rounds, [&](std::uint64_t steps) {
    return Words{number_of(follow(next, 0, steps)), words[0]};
  });
}

// Rows of sweeps chase and lanes that inference asks for.
constexpr double raw_row = 1;
constexpr double net_row = 2;

constexpr std::uint64_t chase_bytes = 8192;
constexpr const char* published_series = "chase, one lane";

void measure_chases(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "load");
  sweep.note("one lane, random cycle through 8 KiB; raw: x = lds[x]; net: the address is loaded");
  {
    auto point = sweep.point("raw, 4 bytes", raw_row, published_series);
    measure_chase<IndexChase>(sweep, point, chase_bytes, rounds);
  }
  {
    auto point = sweep.point("net, 4 bytes", net_row);
    measure_chase<AddressChase<1>>(sweep, point, chase_bytes, rounds);
  }
  {
    auto point = sweep.point("net, 8 bytes", 3);
    measure_chase<AddressChase<2>>(sweep, point, chase_bytes, rounds);
  }
  {
    auto point = sweep.point("net, 16 bytes", 4);
    measure_chase<AddressChase<4>>(sweep, point, chase_bytes, rounds);
  }
}

template <typename Operation>
void measure_atomic(Sweep& sweep, const std::string& label, double x, std::uint64_t rounds) {
  auto point = sweep.point(label, x);
  constexpr unsigned index_of_word = 0;
  Words words = random_words(2, sweep.seed());
  words.push_back(index_of_word);
  const auto expected = [&](std::uint64_t steps) {
    unsigned word = words[0];
    AtomicState state{.x = words[1], .last_x = words[0]};
    for (std::uint64_t step = 0; step < steps; ++step) {
      Operation::reference(word, state);
    }
    return Words{state.x, word};
  };
  measure_chain<AtomicChain<Operation>>(sweep, point, words, 1, rounds, expected);
}

void measure_atomics(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "atomic");
  sweep.note("one lane, one dword of LDS; each operand is what the last atomic has returned");
  measure_atomic<AtomicAdd>(sweep, "add", 1, rounds);
  measure_atomic<AtomicExchange>(sweep, "exchange", 2, rounds);
  measure_atomic<AtomicCompareAndSwap>(sweep, "compare and swap", 3, rounds);
}

// `end` says which lane's dword a lane has after so many steps.
template <typename Chain, typename End>
void measure_lanes_of(Sweep& sweep, const std::string& label, double x, const Words& words,
                      std::uint64_t rounds, End end) {
  auto point = sweep.point(label, x);
  const auto lanes = static_cast<unsigned>(words.size());
  measure_chain<Chain>(sweep, point, words, lanes, rounds, [&](std::uint64_t steps) {
    Words ends(lanes + 1, words[0]);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      ends[lane] = words[end(lane, steps)];
    }
    return ends;
  });
}

void measure_lanes(Sweep& sweep, std::uint64_t rounds) {
  set_axis(sweep, "from lane to lane");
  sweep.note("one wave; raw: x = __shfl(value, x); net: the shuffle instruction alone");
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  const std::vector<unsigned> next = random_cycle(lanes, sweep.seed());
  // A lane begins with its own dword, which is one step already: `steps` more lead to the dword of
  // the lane `steps` after it.
  const auto along = [&](unsigned lane, std::uint64_t steps) { return follow(next, lane, steps); };
  Words in_units = next;
  for (unsigned& lane : in_units) {
    lane *= lane_unit;
  }
  measure_lanes_of<Shuffle>(sweep, "raw shuffle", raw_row, next, rounds, along);
  measure_lanes_of<BareShuffle>(sweep, "net shuffle", net_row, in_units, rounds, along);
  measure_lanes_of<FixedShuffle>(sweep, "net shuffle, fixed lanes", 3, in_units, rounds, along);
#if defined(HIPSCOPE_BACKEND_AMD)
  const Words values = random_words(lanes, sweep.seed());
  measure_lanes_of<RowRotation>(
      sweep, "DPP row rotation", 4, values, rounds, [](unsigned lane, std::uint64_t steps) {
        const auto turned = static_cast<unsigned>((lane + row_lanes - steps % row_lanes));
        return lane - lane % row_lanes + turned % row_lanes;
      });
  measure_lanes_of<ReadLane>(
      sweep, "readlane", 5, next, rounds,
      [&](unsigned /*lane*/, std::uint64_t steps) { return follow(next, 0, steps - 1); });
#else
  sweep.note("DPP row rotation and readlane: not on this device");
#endif
}

// The most LDS that a block may have. A CUDA kernel must ask for more than the 48 KiB that the
// properties tell.
std::uint64_t largest_lds_bytes(const Sweep& sweep) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  int bytes = 0;
  hipscope::check(hipDeviceGetAttribute(&bytes, hipDeviceAttributeSharedMemPerBlockOptin,
                                        sweep.device().index));
  hipscope::check(hipFuncSetAttribute(reinterpret_cast<const void*>(chain_kernel<AddressChase<1>>),
                                      hipFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return static_cast<std::uint64_t>(bytes);
#else
  return sweep.device().lds_bytes_per_block;
#endif
}

void measure_footprint(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "footprint", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  const std::uint64_t most_bytes = largest_lds_bytes(sweep);
  sweep.note("net, 4 bytes; a block may have " + std::to_string(most_bytes) + " bytes");
  constexpr std::uint64_t fewest_bytes = 256;
  for (std::uint64_t octave = fewest_bytes; octave <= most_bytes; octave *= 2) {
    for (const std::uint64_t bytes : {octave, octave + octave / 2}) {
      if (bytes <= most_bytes) {
        auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
        measure_chase<AddressChase<1>>(sweep, point, bytes, rounds);
      }
    }
  }
}

template <bool Exchange>
Latency measure_barriers(const Sweep& sweep, hipscope::Point& point, const std::string& name,
                         const Words& words, std::uint64_t rounds) {
  const auto threads = static_cast<unsigned>(words.size());
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(words)};
  DeviceBuffer<unsigned> ends(threads);
  const Run run = [&](long long* cycles, std::uint64_t repeats) {
    launch(barrier_kernel<Exchange>,
           {.grid = dim3(1),
            .block = dim3(threads),
            .lds_bytes = static_cast<std::uint32_t>(buffers * threads * sizeof(unsigned))},
           given.data(), ends.data(), cycles, repeats);
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
  verify_ends(point, name, run, rounds, body_barriers, ends, expected);
  return measure_latency(sweep, point, run, rounds, body_barriers, name);
}

void measure_barrier(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "waves", .scale = hipscope::Scale::logarithmic});
  sweep.headline("barrier");
  sweep.note("exchange: store to LDS, barrier, load what a thread of another wave has stored");
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const unsigned most_waves = sweep.is_hardware() ? largest_block / wave_size : 2;
  for (unsigned waves = 1; waves <= most_waves; waves *= 2) {
    auto point = sweep.point(std::to_string(waves), waves);
    const Words words = random_words(std::size_t{waves} * wave_size, sweep.seed());
    const Latency barrier = measure_barriers<false>(sweep, point, "barriers", words, rounds);
    const Latency exchange = measure_barriers<true>(sweep, point, "exchanges", words, rounds);
    point.value("barrier", barrier.counted, "cycles");
    point.value("barrier by events", barrier.by_events, "cycles");
    point.value("exchange", exchange.counted, "cycles");
    point.value("exchange by events", exchange.by_events, "cycles");
  }
}

// --- What the curves show ---------------------------------------------------------------------

double value_at(const std::vector<hipscope::CurvePoint>& curve, double x) {
  const auto point = std::find_if(curve.begin(), curve.end(),
                                  [=](const hipscope::CurvePoint& each) { return each.x == x; });
  return point == curve.end() ? std::numeric_limits<double>::quiet_NaN() : point->y;
}

// The latency in row `row` of `sweep`, believed as far as the counter and the events agree about
// it.
void infer_latency(hipscope::Results& results, const std::string& sweep, double row,
                   hipscope::Inference inference) {
  const auto curve = results.curve(sweep, "latency");
  if (curve.empty()) {
    return;
  }
  const double counted = value_at(curve, row);
  const double by_events = value_at(results.curve(sweep, "by events"), row);
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
  infer_latency(
      results, "chase", net_row,
      {.name = "LDS latency",
       .statement = "from one load of 4 bytes by one lane to the next, whose address it loads",
       .evidence = evidence});
  infer_latency(results, "chase", raw_row,
                {.name = "LDS latency by index",
                 .statement = "the same for x = lds[x], in which the index must be scaled first"});
}

void infer_shuffle_latency(hipscope::Results& results) {
  const auto lanes = results.curve("lanes", "latency");
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
