// In which pieces does a cache fetch memory, and in which does it keep it?
//
// A miss fetches a sector: the smallest piece that comes alone. A cache keeps its tags by lines,
// which may hold several sectors. Two experiments tell them apart.
//   sector  Load a word that is not there, then another in the other half of the same aligned block
//           of 8, 16 ... 1024 bytes. Up to the sector the second load always hits, and beyond it
//           always misses. So that alignment shows too, the same with two words side by side on
//           both sides of the block's middle: 4 bytes apart, and yet a miss where sectors meet.
//   line    Spread nodes over memory, one at a random place of each chunk of c bytes, and find the
//           footprint at which a third of their loads miss. It is the same for all chunks up to
//           the line. Beyond, it grows with the chunk: a node takes a whole line, so the same
//           number of nodes fits however far apart they lie.
// The third is fsword73's idea: walk up through cold memory with a stride of 4 ... 512 bytes. The
// average latency rises with the share of loads that miss, up to the stride where all do. Its
// program (sweep published) means to stay in ranges of r values by (a & (r-1)) | (a & ~(r-1)),
// which is a: its latencies are those of its strides.
//
// All loads are made by one lane in a chain, each giving the address of the next. Level 1 is the
// cache of a compute unit (CU; NVIDIA: streaming multiprocessor, SM). Level 2 is the first that
// loads reach which pass by the CU's own caches.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cache_line_findings.h"

using hipscope::check;
using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;

// A block of one wave on every GPU: it surely has one level 1. On RDNA a larger one has two.
constexpr unsigned one_wave = 32;

constexpr unsigned word_bytes = 4;
constexpr unsigned poison_word = 0xFFFFFFFF;

enum class Loads { through_level_1, past_level_1 };

// --- Kernels ----------------------------------------------------------------------------------

// A node is one word, the lower half of the next node's address; the upper is the same for all.
// So nodes can be 4 bytes apart, and following them takes no arithmetic.
struct Chain {
  unsigned upper;  // halves of addresses
  unsigned first;
  unsigned loads;
};

// What is read before the chain is timed. A block reads one word in each of strata x per_stratum
// chunks, `passes` times; one lane follows the chain itself `laps` times.
struct WarmUp {
  unsigned strata = 0;
  unsigned per_stratum = 0;
  unsigned chunk_bytes = 0;
  unsigned salt = 0;
  unsigned passes = 0;
  unsigned laps = 0;
};

// Left as poison by a chain that did not end.
struct Outcome {
  long long cycles;
  unsigned end;
};

__host__ __device__ unsigned scramble(unsigned bits) {
  bits *= 0x9E3779B1U;  // 2^32 over the golden ratio, made odd
  bits = (bits ^ (bits >> 15)) * 0x7FEB352DU;
  return bits ^ (bits >> 16);
}

// Chunks that share a line of this size or a smaller one are read one right after another.
constexpr unsigned longest_line = 256;  // bytes

__host__ __device__ unsigned chunks_per_line(const WarmUp& warm_up) {
  return warm_up.chunk_bytes < longest_line ? longest_line / warm_up.chunk_bytes : 1;
}

// The node that a warm-up reads in one stratum in round 0, 1 ... per_stratum - 1: chunks in turn,
// from the start of a random line on, and in the chunk (of 2^n bytes) a random word. The chain goes
// through nodes of these first lines: what is read after them can drive them out.
__host__ __device__ unsigned node_place(const WarmUp& warm_up, unsigned stratum, unsigned round) {
  const auto random = static_cast<unsigned>(
      static_cast<std::uint64_t>(scramble(stratum + warm_up.salt)) * warm_up.per_stratum >> 32);
  const unsigned into_line = (stratum * warm_up.per_stratum + random) % chunks_per_line(warm_up);
  const unsigned first = random > into_line ? random - into_line : 0;
  const unsigned turn = first + round;
  const unsigned chunk = stratum * warm_up.per_stratum +
                         (turn < warm_up.per_stratum ? turn : turn - warm_up.per_stratum);
  return chunk * warm_up.chunk_bytes +
         (scramble(chunk ^ warm_up.salt) & (warm_up.chunk_bytes - word_bytes));
}

// One load. On NVIDIA .cg caches in L2 only; on AMD a load that must see what other CUs wrote
// carries the bits (glc, and dlc on RDNA) that make it pass by the CU's caches.
template <Loads loads>
__device__ unsigned load(unsigned upper, unsigned lower) {
#if defined(__CUDA_ARCH__)
  // Put together in assembly, the address costs one register copy beside the load (5 cycles on an
  // H200) and no arithmetic: no matter where only hits are to be told from misses.
  unsigned word;
  if constexpr (loads == Loads::through_level_1) {
    asm volatile("{ .reg .b64 address; mov.b64 address, {%1, %2}; ld.global.ca.u32 %0, [address]; }"
                 : "=r"(word)
                 : "r"(lower), "r"(upper)
                 : "memory");
  } else {
    asm volatile("{ .reg .b64 address; mov.b64 address, {%1, %2}; ld.global.cg.u32 %0, [address]; }"
                 : "=r"(word)
                 : "r"(lower), "r"(upper)
                 : "memory");
  }
  return word;
#elif defined(__HIP_DEVICE_COMPILE__)
  const auto page = static_cast<std::uintptr_t>(static_cast<std::uint64_t>(upper) << 32);
  // A number made an address could be of any memory: the address space says that it is global. As a
  // sum of a scalar and a vector register it is all in the load instruction.
  using GlobalByte = const char __attribute__((address_space(1)));
  using GlobalWord = const unsigned __attribute__((address_space(1)));
  auto* const word = reinterpret_cast<GlobalWord*>(reinterpret_cast<GlobalByte*>(page) + lower);
  if constexpr (loads == Loads::through_level_1) {
    return *word;
  } else {
    return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
#else
  return *reinterpret_cast<const unsigned*>(
      static_cast<std::uintptr_t>(static_cast<std::uint64_t>(upper) << 32 | lower));
#endif
}

// A barrier for the block and no more: __syncthreads also empties the level 1 of RDNA.
__device__ void wait_for_block() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_barrier();
#else
  __syncthreads();
#endif
}

// Warms up by the whole block, then times the chain by one lane. `sums` holds what each thread read
// while warming up.
template <Loads loads>
__global__ void __launch_bounds__(largest_block)
    chase_kernel(Chain chain, WarmUp warm_up, unsigned base, unsigned* sums, Outcome* outcome) {
  unsigned sum = 0;
  for (unsigned pass = 0; pass < warm_up.passes; ++pass) {
    for (unsigned round = 0; round < warm_up.per_stratum; ++round) {
      for (unsigned stratum = threadIdx.x; stratum < warm_up.strata; stratum += blockDim.x) {
        sum += load<loads>(chain.upper, base + node_place(warm_up, stratum, round));
      }
    }
  }
  sums[threadIdx.x] = sum;
  wait_for_block();
  if (threadIdx.x != 0) {
    return;
  }
  unsigned lower = chain.first;
  CycleClock<> clock;
#pragma unroll 1
  for (unsigned lap = 0; lap <= warm_up.laps; ++lap) {
    lower = chain.first;
    clock.start();
#pragma unroll 1
    for (unsigned i = 0; i < chain.loads; ++i) {
      lower = load<loads>(chain.upper, lower);
      clock.lap();
    }
  }
  // To ask for the value is to wait for it, and only then is the counter read. Its own cost, some
  // tens of cycles, is shared by all loads of the chain.
  if (lower != poison_word) {
    clock.stop();
    outcome->cycles = clock.elapsed();
    outcome->end = lower;
  }
}

// Node i leads to node i + 1; the last is never loaded. `places` are offsets into `memory`.
__global__ void __launch_bounds__(largest_block)
    link_kernel(unsigned* memory, const unsigned* places, unsigned loads) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < loads) {
    const auto base = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(memory));
    memory[places[i] / word_bytes] = base + places[i + 1];
  }
}

// fsword73's own (example 6b): one thread, whose next index is computed of what it has just loaded.
// The last two operations leave it as it is. All of `values` are 1, but where the chain is checked.
// Corrected: the end is stored, where the published kernel has a condition that is never true. A
// launch makes fewer loads, all of memory that no cache holds: his go on for 256 MiB.
__global__ void __launch_bounds__(1)
    range_steps_kernel(const int* values, int* end, int range, int loads) {
  int value = values[threadIdx.x];
  for (int i = 1; i < loads; ++i) {
    int index = i * value * range;
    index = index - 1;
    index = (index & (range - 1)) | (index & ~(range - 1));
    value = values[index];
  }
  *end = value;
}

// --- Chains in memory -------------------------------------------------------------------------

unsigned upper_half(const unsigned* address) {
  return static_cast<unsigned>(
      static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address)) >> 32);
}

unsigned lower_half(const unsigned* address) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address));
}

// Memory for nodes, all of it with the same upper half of the address: of twice as much, one half
// at least crosses no multiple of 4 GiB.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : words_(bytes / word_bytes), both_(2 * words_) {
    const bool crosses = upper_half(both_.data()) != upper_half(both_.data() + words_ - 1);
    nodes_ = both_.data() + (crosses ? words_ : 0);
    spare_ = both_.data() + (crosses ? 0 : words_);
  }

  [[nodiscard]] unsigned* data() const { return nodes_; }
  void poison() const { fill(nodes_); }

  // Writes the other half, so that a cache smaller than that keeps nothing of this one.
  void flush() const { fill(spare_); }

 private:
  void fill(unsigned* half) const {
    check(hipMemsetAsync(half, hipscope::poison_byte, words_ * word_bytes, nullptr));
  }

  std::size_t words_;
  DeviceBuffer<unsigned> both_;
  unsigned* nodes_ = nullptr;
  unsigned* spare_ = nullptr;
};

// Outcomes of checks.
struct Checks {
  std::uint64_t wrong = 0;
  std::uint64_t checked = 0;

  void add(bool good) {
    wrong += good ? 0 : 1;
    ++checked;
  }
};

// A chain through `places`, the last of which is its end, linked in `arena`, where every other word
// is poison.
template <Loads loads>
class Chase {
 public:
  Chase(const Arena& arena, const std::vector<unsigned>& places)
      : base_(lower_half(arena.data())),
        end_(base_ + places.back()),
        chain_{.upper = upper_half(arena.data()),
               .first = base_ + places.front(),
               .loads = static_cast<unsigned>(places.size() - 1)} {
    arena.poison();
    const DeviceBuffer<unsigned> list{std::span<const unsigned>(places)};
    const unsigned blocks = (chain_.loads + largest_block - 1) / largest_block;
    launch(link_kernel, {.grid = dim3(blocks), .block = dim3(largest_block)}, arena.data(),
           list.data(), chain_.loads);
    check(hipDeviceSynchronize());
    for (unsigned i = 0; i < chain_.loads; ++i) {
      links_less_poison_ += base_ + places[i + 1] - poison_word;
    }
  }

  // Enqueues one chase.
  void run(const WarmUp& warm_up = {}) {
    launch(chase_kernel<loads>, {.grid = dim3(1), .block = dim3(block_size)}, chain_, warm_up,
           base_, sums_.data(), outcomes_.data() + launches_++ % kept_launches);
  }

  // One chase. It must end where the chain does, and its warm-up must have read all words: their
  // sum is known. Returns cycles per load.
  double run_checked(Checks& checks, const WarmUp& warm_up = {}) {
    outcomes_.poison();
    sums_.poison();
    launches_ = 0;
    run(warm_up);
    launches_ = 0;
    const Outcome outcome = outcomes_.to_host()[0];
    checks.add(outcome.end == end_);
    if (warm_up.passes != 0) {
      const std::vector<unsigned> sums = sums_.to_host();
      const unsigned words = warm_up.strata * warm_up.per_stratum;
      checks.add(std::accumulate(sums.begin(), sums.end(), 0U) ==
                 warm_up.passes * (words * poison_word + links_less_poison_));
    }
    return static_cast<double>(outcome.cycles) / chain_.loads;
  }

  // Samples the chase in caches as the launch finds them; its cycles, in the median.
  double measure(hipscope::Point& point, const std::string& name, bool cold) {
    Checks checks;
    run_checked(checks);
    point.verify("end of the chain of " + name, checks.wrong, checks.checked);
    point.measure([&] { run(); }, {.name = name, .batch = 1, .cold = cold});
    const std::vector<Outcome> outcomes = outcomes_.to_host();
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      cycles.push_back(static_cast<double>(outcomes[i].cycles));
    }
    return hipscope::summarize(cycles).median;
  }

 private:
  static constexpr unsigned block_size = loads == Loads::through_level_1 ? one_wave : largest_block;
  static constexpr unsigned kept_launches = 16;

  unsigned base_;
  unsigned end_;
  Chain chain_;
  unsigned links_less_poison_ = 0;
  unsigned launches_ = 0;
  DeviceBuffer<unsigned> sums_{block_size};
  DeviceBuffer<Outcome> outcomes_{kept_launches};
};

// --- Sector: neighbours -----------------------------------------------------------------------

// Pairs are so far apart that no pair's loads fetch for another. Smaller than a page.
constexpr unsigned group_bytes = 4096;
constexpr unsigned smallest_block = 8;
constexpr unsigned largest_neighbourhood = 1024;

enum class Neighbours { anywhere_in_halves, at_the_middle };

// Pairs of words in the two halves of aligned blocks, one pair in each group, in random order; the
// lower or the upper half first. The last place is the end of the chain.
std::vector<unsigned> pair_places(std::uint64_t groups, unsigned block_bytes, Neighbours neighbours,
                                  std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned> order(groups);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  const unsigned half = block_bytes / 2;
  std::vector<unsigned> places;
  for (const unsigned group : order) {
    const auto bits = static_cast<unsigned>(random());
    const auto words = static_cast<unsigned>(random());
    const unsigned block = group * group_bytes + bits % (group_bytes / block_bytes) * block_bytes;
    const bool anywhere = neighbours == Neighbours::anywhere_in_halves;
    const unsigned lower = anywhere ? words % half : half - word_bytes;
    const unsigned upper = anywhere ? (words >> 16) % half : 0;
    places.push_back(block + lower / word_bytes * word_bytes);
    places.push_back(block + half + upper / word_bytes * word_bytes);
    if ((bits >> 31) != 0) {
      std::swap(places.back(), places[places.size() - 2]);
    }
  }
  places.push_back(static_cast<unsigned>(groups) * group_bytes);
  return places;
}

// Without the second load of each pair.
std::vector<unsigned> firsts_of(const std::vector<unsigned>& pairs) {
  std::vector<unsigned> firsts;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    firsts.push_back(pairs[i]);
  }
  return firsts;
}

// Through level 1 the chains are warm in level 2, since each launch finds level 1 empty and leaves
// level 2 as it is; past level 1 they are cold. The second load's latency is what it adds to a
// chain of the first loads alone.
template <Loads loads>
void measure_sector(Sweep& sweep, std::uint64_t groups) {
  sweep.axis({.name = "aligned block", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("second load");
  sweep.note("second load: in the other half of the block than the first load, which missed");
  sweep.note("across the middle: the same, of two words side by side where the halves meet");
  const std::size_t bytes = (groups + 1) * group_bytes;
  sweep.require_memory(2 * bytes, "--groups");
  const Arena arena(bytes);
  hipscope::prefer_level_1_cache(chase_kernel<Loads::through_level_1>);
  constexpr bool cold = loads == Loads::past_level_1;
  for (unsigned block = smallest_block; block <= largest_neighbourhood; block *= 2) {
    auto point = sweep.point(std::to_string(block), block);
    const auto cycles = [&](const std::vector<unsigned>& places, const std::string& name) {
      return Chase<loads>(arena, places).measure(point, name, cold) / static_cast<double>(groups);
    };
    const auto pairs =
        pair_places(groups, block, Neighbours::anywhere_in_halves, sweep.seed() + block);
    const double first = cycles(firsts_of(pairs), "firsts");
    const double both = cycles(pairs, "pairs");
    const double across = cycles(
        pair_places(groups, block, Neighbours::at_the_middle, sweep.seed() + block), "middle");
    point.value("first load", sweep.counted(first), "cycles");
    point.value("second load", sweep.counted(both - first), "cycles");
    point.value("across the middle", sweep.counted(across - first), "cycles");
  }
}

// --- Line: capacity ---------------------------------------------------------------------------

struct LineSearch {
  unsigned smallest_chunk;
  unsigned largest_chunk;
  std::size_t span;  // bytes: the largest footprint
};

struct NodeLatency {
  double hit = 0;
  double miss = 0;
  double share = 0;  // of the way from hit to miss, after all nodes were read
};

// One node in each of about `nodes` chunks. All three latencies are of the same chain, spread over
// all of the footprint, so that address translation costs them alike.
template <Loads loads>
NodeLatency node_latency(const Arena& arena, double nodes, unsigned chunk_bytes, unsigned salt,
                         Checks& checks) {
  constexpr unsigned fewest_strata = 16;
  // A stratum has one node of the chain, which must fit into the level: the smallest level 1 so far
  // has 128 lines (RDNA: 16 KiB in lines of 128 bytes).
  constexpr unsigned most_strata = loads == Loads::through_level_1 ? 64 : 4096;
  // So that hardly two nodes of the chain share a line.
  const unsigned nodes_per_stratum = std::max(8U, 2 * longest_line / chunk_bytes);
  WarmUp warm_up{.strata = fewest_strata, .chunk_bytes = chunk_bytes, .salt = salt};
  while (warm_up.strata < most_strata && 2.0 * warm_up.strata * nodes_per_stratum <= nodes) {
    warm_up.strata *= 2;
  }
  warm_up.per_stratum = static_cast<unsigned>(nodes / warm_up.strata);
  std::vector<unsigned> places;
  for (unsigned stratum = 0; stratum < warm_up.strata; ++stratum) {
    const unsigned rounds = std::min(chunks_per_line(warm_up), warm_up.per_stratum);
    const unsigned round = scramble(stratum ^ salt) % rounds;
    places.push_back(node_place(warm_up, stratum, round));
  }
  std::shuffle(places.begin(), places.end(), std::mt19937(salt));
  Chase<loads> chase(arena, places);
  NodeLatency latency;
  latency.hit = chase.run_checked(checks, {.laps = 1});
  // A kernel starts with an empty level 1, but not with an empty level 2.
  if (loads == Loads::past_level_1) {
    arena.flush();
  }
  latency.miss = chase.run_checked(checks);
  warm_up.passes = 2;
  const double after_all = chase.run_checked(checks, warm_up);
  // Where even the chain alone does not stay in the level, nothing does.
  constexpr double clearly_less = 0.8;
  const bool stays = latency.hit < clearly_less * latency.miss;
  latency.share = stays ? (after_all - latency.hit) / (latency.miss - latency.hit) : 1;
  return latency;
}

// Loads have left the level when their mean latency has gone this share of the way from hit to
// miss: when about a third of them miss. An H200's level 2 consists of two partitions, and what
// leaves the near one is 0.6 of the way.
constexpr double leaving_share = 0.3;

// The number of nodes at which loads leave the level, by bisection on a logarithmic scale; NaN if
// they leave it nowhere in the range.
template <Loads loads>
double leaving_nodes(Sweep& sweep, const Arena& arena, unsigned chunk_bytes, double most_nodes,
                     Checks& checks, NodeLatency& latency) {
  constexpr double fewest_nodes = 64;
  constexpr unsigned chains = 3;
  const unsigned halvings = sweep.is_hardware() ? 9 : 3;
  double inside = fewest_nodes;
  double outside = most_nodes;
  for (unsigned i = 0; i < halvings; ++i) {
    const double middle = std::sqrt(inside * outside);
    std::vector<double> shares;
    for (unsigned chain = 0; chain < chains; ++chain) {
      const auto salt = static_cast<unsigned>(sweep.seed()) + chains * i + chain;
      latency = node_latency<loads>(arena, middle, chunk_bytes, salt, checks);
      shares.push_back(latency.share);
    }
    (hipscope::summarize(shares).median < leaving_share ? inside : outside) = middle;
  }
  const bool found = inside > fewest_nodes && outside < most_nodes;
  return found ? std::sqrt(inside * outside) : std::numeric_limits<double>::quiet_NaN();
}

template <Loads loads>
void measure_line(Sweep& sweep, const LineSearch& search) {
  sweep.axis({.name = "chunk", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("footprint");
  sweep.note("footprint: one node per chunk, and the latency of a load " + number(leaving_share) +
             " of the way from a hit to a miss");
  sweep.require_memory(2 * search.span, "--span");
  const Arena arena(search.span);
  hipscope::prefer_level_1_cache(chase_kernel<Loads::through_level_1>);
  for (unsigned chunk = search.smallest_chunk; chunk <= search.largest_chunk; chunk *= 2) {
    auto point = sweep.point(std::to_string(chunk), chunk);
    Checks checks;
    NodeLatency latency;
    const double nodes = leaving_nodes<loads>(
        sweep, arena, chunk, static_cast<double>(search.span) / chunk, checks, latency);
    point.verify("ends of chains and sums of what warm-ups read", checks.wrong, checks.checked);
    constexpr double kibi = 1024;
    point.value("footprint", sweep.counted(nodes * chunk / kibi), "KiB");
    point.value("nodes", sweep.counted(nodes), "nodes");
    point.value("hit", sweep.counted(latency.hit), "cycles");
    point.value("miss", sweep.counted(latency.miss), "cycles");
  }
}

// --- Stride -----------------------------------------------------------------------------------

template <Loads loads>
double measure_walk(Sweep& sweep, hipscope::Point& point, const Arena& arena, unsigned stride,
                    std::uint64_t loads_in_walk, const std::string& name) {
  std::vector<unsigned> places;
  for (std::uint64_t i = 0; i <= loads_in_walk; ++i) {
    places.push_back(static_cast<unsigned>(i) * stride);
  }
  const double cycles = Chase<loads>(arena, places).measure(point, name, true);
  return sweep.counted(cycles / static_cast<double>(loads_in_walk));
}

void measure_stride(Sweep& sweep, std::uint64_t loads_in_walk) {
  sweep.axis({.name = "stride", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  constexpr unsigned largest_stride = 512;
  const std::size_t bytes = (loads_in_walk + 1) * largest_stride;
  sweep.require_memory(2 * bytes, "--loads");
  const Arena arena(bytes);
  hipscope::prefer_level_1_cache(chase_kernel<Loads::through_level_1>);
  for (unsigned stride = word_bytes; stride <= largest_stride; stride *= 2) {
    auto point = sweep.point(std::to_string(stride), stride);
    point.value(
        "latency",
        measure_walk<Loads::through_level_1>(sweep, point, arena, stride, loads_in_walk, "walk"),
        "cycles");
    point.value("past level 1",
                measure_walk<Loads::past_level_1>(sweep, point, arena, stride, loads_in_walk,
                                                  "walk past level 1"),
                "cycles");
  }
}

// The published times are those of all that a step holds, by events, through memory that no cache
// holds yet; and so are these.
void measure_published(Sweep& sweep, std::uint64_t loads_in_walk) {
  sweep.axis({.name = "range", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("latency");
  sweep.compare("range sweep");
  sweep.note(
      "one thread; x = values[x * i * range - 1], so much further on with each load; caches are "
      "flushed before; time by events");
  constexpr int first_range = 4;  // values of 4 bytes
  constexpr int last_range = 64;
  const auto loads = static_cast<int>(loads_in_walk);
  const std::size_t count = 2 * loads_in_walk * last_range;
  sweep.require_memory(2 * count * sizeof(int), "--loads");
  const unsigned key = hipscope::key_of(sweep.seed());
  std::vector<int> random(count);
  for (unsigned i = 0; i < count; ++i) {
    random[i] = static_cast<int>(1 + hipscope::random_bits(i + key) % 2);
  }
  const DeviceBuffer<int> random_values{std::span<const int>(random)};
  const DeviceBuffer<int> ones{std::span<const int>(std::vector<int>(count, 1))};
  const DeviceBuffer<int> end(1);
  for (int range = first_range; range <= last_range; range *= 2) {
    const auto bytes = static_cast<unsigned>(range) * sizeof(int);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const auto run = [&](const DeviceBuffer<int>& values) {
      launch(range_steps_kernel, {.grid = dim3(1), .block = dim3(1)}, values.data(), end.data(),
             range, loads);
    };
    run(random_values);
    int expected = random[0];
    for (int i = 1; i < loads; ++i) {
      expected = random[static_cast<std::size_t>(i * expected * range - 1)];
    }
    point.verify("end of the chain", end.to_host()[0] == expected ? 0 : 1, 1);
    const auto time = point.measure([&] { run(ones); }, {.cold = true});
    point.value("latency", time.cycles() / loads, "cycles");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "cache_line",
      {.question = "In which units does each cache level fetch memory, and in which does it keep "
                   "it?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.6.2 and 2.7.1 (examples 6b, "
                   "7a, 7b)"}});
  const auto groups =
      experiment.size("--groups", "pairs of loads in sweeps sector-l1 and sector-l2",
                      {.gpu = 2048, .quick = 1024, .host = 32, .minimum = 1, .maximum = 1U << 16});
  const auto loads =
      experiment.size("--loads", "loads of sweep stride",
                      {.gpu = 8192, .quick = 4096, .host = 64, .minimum = 1, .maximum = 1U << 20});
  const auto span =
      experiment.size("--span", "largest footprint in sweep line-l2, in MiB",
                      {.gpu = 2048, .quick = 512, .host = 1, .minimum = 1, .maximum = 2048});
  constexpr std::uint64_t mebi = 1U << 20;
  constexpr std::uint64_t level_1_span = 64 * mebi;
  experiment.sweep("sector-l1", "two loads of an aligned block, through level 1, warm in level 2",
                   [&](Sweep& sweep) { measure_sector<Loads::through_level_1>(sweep, groups); });
  experiment.sweep("sector-l2", "two loads of an aligned block, past level 1, cold",
                   [&](Sweep& sweep) { measure_sector<Loads::past_level_1>(sweep, groups); });
  experiment.sweep("line-l1", "footprint that leaves level 1", [&](Sweep& sweep) {
    measure_line<Loads::through_level_1>(
        sweep, {.smallest_chunk = 8,
                .largest_chunk = 1024,
                .span = std::min<std::uint64_t>(span * mebi, level_1_span)});
  });
  experiment.sweep("line-l2", "footprint that leaves level 2", [&](Sweep& sweep) {
    measure_line<Loads::past_level_1>(
        sweep, {.smallest_chunk = 32, .largest_chunk = 1024, .span = span * mebi});
  });
  experiment.sweep("stride", "ascending walk through cold memory",
                   [&](Sweep& sweep) { measure_stride(sweep, loads); });
  experiment.sweep("published", "the same as the published program has it",
                   [&](Sweep& sweep) { measure_published(sweep, loads); });
  experiment.conclude(cache_line::conclude);
  return experiment.run(argc, argv);
}
