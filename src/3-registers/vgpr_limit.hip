// How many vector registers does a thread get, and what does it cost to want more?
//
// Every live value of a thread needs a vector register (VGPR; NVIDIA: register). A thread may have
// so many and no more, and what does not fit is spilled: parked in scratch memory (NVIDIA: local
// memory), which is memory like any other. Take kernels with 8, 16 ... 512 values that are all
// alive in a loop of FMAs: the FMA rate is flat as long as they fit, and falls off a cliff behind.
// Where it falls is the register budget, and it depends on the launch bound: a block of 1024
// threads must fit on one compute unit (CU; NVIDIA: streaming multiprocessor, SM), so each thread
// of it gets a 1024th of the CU's register file at most.
//
// Long before the cliff, registers cost something else: the more a thread has, the fewer waves
// (NVIDIA: warps) fit on a CU. A loop of FMAs does not care, a wave that waits for memory does. The
// sweep of waiting waves counts how many are in place at once, and shows the steps in their rate.
//
// What the assembler and the compiler allow on AMD is asked in
// scripts/hipscope_isa/register_limits.py, which needs no GPU.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

// Threads start from so many different sets of values. A prime, so that blocks differ.
constexpr unsigned patterns = 31;

constexpr int most_values = 512;

// What a value takes from its neighbour in each pass. So little that 2^19 passes stay far from
// overflow, and a thousand times the last bit of a value, so that a pass too few shows.
constexpr float coupling = 0x1p-14F;

// --- Kernels ----------------------------------------------------------------------------------

// The values form one ring, in which each feeds the one before it: none can be finished before the
// others, so all are alive all the time. The ring goes through the even values and then through the
// odd ones, so that a GPU with packed FMAs (gfx90a) can take two neighbours at once.
__host__ __device__ constexpr int neighbour(int i, int values) {
  return i + 2 < values ? i + 2 : (i + 2 - values) ^ 1;
}

// FMAs in the body of the loop, as far as whole passes allow: the loop itself costs three
// instructions, about one percent. More passes would only make the compiler spill more.
constexpr int wanted_fmas_per_iteration = 256;

__host__ __device__ constexpr int passes_per_iteration(int values) {
  return values < wanted_fmas_per_iteration ? wanted_fmas_per_iteration / values : 1;
}

template <int Values>
__device__ void load_values(float (&value)[Values], const float* input, unsigned thread) {
#pragma unroll
  for (int i = 0; i < Values; ++i) {
    value[i] = input[i * patterns + thread % patterns];
  }
  // AMD's compiler waits for loads before a barrier; else it would in every iteration of a loop.
  __syncthreads();
}

// Takes a value's bits into a number that changes with each of them.
__host__ __device__ constexpr unsigned add_to_hash(unsigned hash, unsigned bits) {
  return (hash << 5 | hash >> 27) + bits;
}

template <int Values>
__device__ unsigned fingerprint(const float (&value)[Values]) {
  unsigned hash = 0;
#pragma unroll
  for (int i = 0; i < Values; ++i) {
    hash = add_to_hash(hash, __float_as_uint(value[i]));
  }
  return hash;
}

// The second bound asks for no more than one resident block (AMD: one wave per SIMD). Without it
// CUDA 13's compiler gives a kernel of 256 threads and 320 values just 32 registers: once many
// values are in memory anyway, it goes for many waves.
template <int Values, int BlockThreads>
__global__ void __launch_bounds__(BlockThreads, 1)
    ring_kernel(const float* input, unsigned* output, unsigned iterations) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float value[Values];
  load_values(value, input, thread);
#pragma unroll 1
  for (unsigned iteration = 0; iteration < iterations; ++iteration) {
#pragma unroll
    for (int pass = 0; pass < passes_per_iteration(Values); ++pass) {
#pragma unroll
      for (int i = 0; i < Values; ++i) {
        value[i] = fmaf(value[neighbour(i, Values)], coupling, value[i]);
      }
    }
  }
  output[thread] = fingerprint(value);
}

// One wave on AMD's CDNA, two of 32 lanes elsewhere: residency in small steps.
constexpr unsigned waiting_threads = 64;

// A chain stays in one 128-byte line, so that a hop moves no more than that.
constexpr unsigned nodes_per_chain = 32;

// A line for every block that is in place at once, of any GPU so far: 1 MiB in all, which L2 holds.
constexpr unsigned chains = 8192;

// Where the chain of a block starts.
__host__ __device__ constexpr unsigned first_node(unsigned block) {
  return block % chains * nodes_per_chain;
}

// Blocks that are in place at this moment, and the most there ever were.
struct Places {
  unsigned taken;
  unsigned most;
};

// Values that are alive while the block waits for `hops` loads, each from where the one before it
// says. Loads from volatile memory come from L2, so the wait is long and costs the CU next to
// nothing. All lanes of a block follow one chain. `places` is null in timed launches.
template <int Values>
__global__ void __launch_bounds__(waiting_threads, 1)
    waiting_kernel(const float* input, const volatile unsigned* next, unsigned hops, Places* places,
                   unsigned* output) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float value[Values];
  load_values(value, input, thread);
  if (places != nullptr && threadIdx.x == 0) {
    atomicMax(&places->most, atomicAdd(&places->taken, 1U) + 1);
  }
  unsigned node = first_node(blockIdx.x);
  for (unsigned hop = 0; hop < hops; ++hop) {
    node = next[node];
  }
  if (places != nullptr && threadIdx.x == 0) {
    atomicSub(&places->taken, 1U);
  }
  output[thread] = fingerprint(value) + node;
}

// --- Kernels of so many values ----------------------------------------------------------------

template <typename Function>
struct Kernel {
  int values;
  Function function;
};

using RingKernel = Kernel<decltype(&ring_kernel<8, 256>)>;
using WaitingKernel = Kernel<decltype(&waiting_kernel<8>)>;

template <int BlockThreads, int... Values>
std::vector<RingKernel> ring_kernels(std::integer_sequence<int, Values...> /*values*/) {
  return {{Values, ring_kernel<Values, BlockThreads>}...};
}

template <int... Values>
std::vector<WaitingKernel> waiting_kernels(std::integer_sequence<int, Values...> /*values*/) {
  return {{Values, waiting_kernel<Values>}...};
}

// Close together around 256, where the encoding of every instruction set so far ends.
using ValuesOf256Threads = std::integer_sequence<int, 8, 16, 32, 64, 96, 128, 160, 192, 224, 240,
                                                 244, 248, 252, 256, 264, 272, 288, 320, 512>;

// Close together around 64 and 128: a 1024th of 64 Ki and of 128 Ki registers.
using ValuesOf1024Threads =
    std::integer_sequence<int, 8, 16, 32, 48, 56, 60, 64, 72, 80, 96, 112, 120, 128, 192, 256, 512>;

using ValuesThatWait = std::integer_sequence<int, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96,
                                             104, 112, 120, 128, 144, 160, 176, 192, 208, 224, 240>;

// What the runtime says of a kernel. Registers mean nothing on the host backend: NaN.
struct Footprint {
  double registers;      ///< per thread
  double scratch_bytes;  ///< per thread
  int resident_blocks;   ///< per CU, by the occupancy calculator
};

template <typename... Parameters>
Footprint footprint(const Sweep& sweep, void (*kernel)(Parameters...), unsigned threads) {
  hipFuncAttributes attributes{};
  hipscope::check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  int blocks = 0;
  hipscope::check(
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  if (!sweep.is_hardware()) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    return {.registers = unknown, .scratch_bytes = unknown, .resident_blocks = blocks};
  }
  return {.registers = double(attributes.numRegs),
          .scratch_bytes = static_cast<double>(attributes.localSizeBytes),
          .resident_blocks = blocks};
}

unsigned waves_per_block(const Sweep& sweep, unsigned threads) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  return (threads + lanes - 1) / lanes;
}

void add_footprint(hipscope::Point& point, const Sweep& sweep, const Footprint& print,
                   unsigned threads) {
  point.value("registers", print.registers, "per thread");
  point.value("scratch", print.scratch_bytes, "bytes/thread");
  point.value("resident", print.resident_blocks * double(waves_per_block(sweep, threads)),
              "waves/CU");
}

// The host backend runs one block after the other.
unsigned compute_units(const Sweep& sweep) {
  return sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 1;
}

// --- Reference --------------------------------------------------------------------------------

// Value i of pattern p is at [i * patterns + p].
std::vector<float> random_values(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(0.5F, 1.0F);
  std::vector<float> values(std::size_t{most_values} * patterns);
  std::generate(values.begin(), values.end(), [&] { return uniform(random); });
  return values;
}

// The fingerprint of each pattern after so many passes. Host and device round an fma once, so they
// must agree to the last bit.
std::vector<unsigned> reference(const std::vector<float>& input, int values, std::uint64_t passes) {
  std::vector<unsigned> hashes;
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    std::vector<float> value;
    for (int i = 0; i < values; ++i) {
      value.push_back(input[std::size_t(i) * patterns + pattern]);
    }
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (int i = 0; i < values; ++i) {
        value[i] = std::fma(value[neighbour(i, values)], coupling, value[i]);
      }
    }
    const auto add = [](unsigned hash, float v) {
      return add_to_hash(hash, std::bit_cast<unsigned>(v));
    };
    hashes.push_back(std::accumulate(value.begin(), value.end(), 0U, add));
  }
  return hashes;
}

// --- Sweeps over rings of FMAs ----------------------------------------------------------------

// Every CU gets as many blocks as fit on it at once, and each of them an equal part of the CU's
// FMAs. With more blocks than that, some CU gets one more than the others, and all wait for it: on
// an H200 with 8 blocks per CU a launch took 9/8 of the time, with 32 blocks 33/32.
void measure_rings(Sweep& sweep, const std::vector<RingKernel>& kernels, unsigned threads,
                   std::uint64_t fmas_per_cu) {
  sweep.axis({.name = "live values", .scale = hipscope::Scale::logarithmic});
  sweep.headline("FMA rate");
  const std::vector<float> input = random_values(sweep.seed());
  const DeviceBuffer<float> device_input{std::span<const float>(input)};
  std::vector<hipscope::Point> points;
  std::vector<double> rates;
  for (const RingKernel& kernel : kernels) {
    auto point = sweep.point(std::to_string(kernel.values), kernel.values);
    const Footprint print = footprint(sweep, kernel.function, threads);
    const auto blocks_per_cu = static_cast<unsigned>(std::max(1, print.resident_blocks));
    const unsigned blocks = blocks_per_cu * compute_units(sweep);
    const auto passes = static_cast<std::uint64_t>(passes_per_iteration(kernel.values));
    const std::uint64_t fmas_per_iteration = passes * static_cast<unsigned>(kernel.values);
    const std::uint64_t threads_per_cu = std::uint64_t{blocks_per_cu} * threads;
    const std::uint64_t iterations =
        std::max<std::uint64_t>(1, fmas_per_cu / (threads_per_cu * fmas_per_iteration));
    DeviceBuffer<unsigned> output(std::size_t{blocks} * threads);
    const auto run = [&] {
      launch(kernel.function, {.grid = dim3(blocks), .block = dim3(threads)}, device_input.data(),
             output.data(), iterations);
    };
    output.poison();
    run();
    const std::vector<unsigned> results = output.to_host();
    const std::vector<unsigned> expected = reference(input, kernel.values, iterations * passes);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      wrong += results[i] == expected[i % patterns] ? 0 : 1;
    }
    point.verify("fingerprint of every thread's values", wrong, results.size());
    const auto time = point.measure(run);
    add_footprint(point, sweep, print, threads);
    const auto fmas = static_cast<double>(threads_per_cu * iterations * fmas_per_iteration);
    rates.push_back(fmas / time.cycles());
    point.value("FMA rate", rates.back(), "FMA/cycle/CU");
    points.push_back(point);
  }
  const double best = *std::max_element(rates.begin(), rates.end());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].value("share of best", 100 * rates[i] / best, "%");
  }
}

// --- Sweep over waiting waves -----------------------------------------------------------------

// Each line's nodes form one cycle in the same random order.
std::vector<unsigned> make_chains(std::uint64_t seed) {
  std::vector<unsigned> order(nodes_per_chain);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  std::vector<unsigned> next(std::size_t{chains} * nodes_per_chain);
  for (unsigned line = 0; line < chains; ++line) {
    for (unsigned i = 0; i < nodes_per_chain; ++i) {
      const unsigned first = line * nodes_per_chain;
      next[first + order[i]] = first + order[(i + 1) % nodes_per_chain];
    }
  }
  return next;
}

// Where so many hops lead from every node.
std::vector<unsigned> chain_ends(const std::vector<unsigned>& next, std::uint64_t hops) {
  std::vector<unsigned> ends(next.size());
  std::iota(ends.begin(), ends.end(), 0U);
  for (std::uint64_t hop = 0; hop < hops % nodes_per_chain; ++hop) {
    std::transform(ends.begin(), ends.end(), ends.begin(), [&](unsigned end) { return next[end]; });
  }
  return ends;
}

std::uint64_t count_wrong(const std::vector<unsigned>& results,
                          const std::vector<unsigned>& fingerprints,
                          const std::vector<unsigned>& ends) {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const unsigned end = ends[first_node(static_cast<unsigned>(i / waiting_threads))];
    wrong += results[i] == fingerprints[i % patterns] + end ? 0 : 1;
  }
  return wrong;
}

void measure_waiting(Sweep& sweep, std::uint64_t blocks_per_cu, std::uint64_t hops) {
  sweep.axis({.name = "live values"});
  sweep.headline("hop rate");
  sweep.note("waves are counted where they run: the most blocks that were in place at once");
  const auto blocks = static_cast<unsigned>(compute_units(sweep) * blocks_per_cu);
  const std::vector<float> input = random_values(sweep.seed());
  const std::vector<unsigned> next = make_chains(sweep.seed());
  const std::vector<unsigned> ends = chain_ends(next, hops);
  const DeviceBuffer<float> device_input{std::span<const float>(input)};
  const DeviceBuffer<unsigned> device_next{std::span<const unsigned>(next)};
  DeviceBuffer<unsigned> output(std::size_t{blocks} * waiting_threads);
  DeviceBuffer<Places> places(1);
  for (const WaitingKernel& kernel : waiting_kernels(ValuesThatWait())) {
    auto point = sweep.point(std::to_string(kernel.values), kernel.values);
    const auto run = [&](Places* counters) {
      launch(kernel.function, {.grid = dim3(blocks), .block = dim3(waiting_threads)},
             device_input.data(), device_next.data(), hops, counters, output.data());
    };
    output.poison();
    places.clear();
    run(places.data());
    const std::vector<unsigned> results = output.to_host();
    point.verify("fingerprint of every thread's values and end of its chain",
                 count_wrong(results, reference(input, kernel.values, 0), ends), results.size());
    const Places counted = places.to_host()[0];
    point.verify("every block left its place", counted.taken, counted.most);
    const auto time = point.measure([&] { run(nullptr); });
    const double waves_of_block = waves_per_block(sweep, waiting_threads);
    add_footprint(point, sweep, footprint(sweep, kernel.function, waiting_threads),
                  waiting_threads);
    point.value("counted", counted.most * waves_of_block / compute_units(sweep), "waves/CU");
    point.value("hop rate",
                double(blocks_per_cu) * waves_of_block * static_cast<double>(hops) / time.cycles(),
                "hops/cycle/CU");
  }
}

// --- What the curves show ---------------------------------------------------------------------

using Curve = std::vector<hipscope::CurvePoint>;

std::string ring_sweep(unsigned threads) { return "live-" + std::to_string(threads); }

// A slowdown of this factor is no noise and no loop overhead any more.
constexpr double noticeable = 1.1;

double highest(const Curve& curve) {
  return std::max_element(curve.begin(), curve.end(), [](auto& a, auto& b) { return a.y < b.y; })
      ->y;
}

// Time per FMA, which is flat as long as the values fit.
Curve reciprocal(Curve curve) {
  for (hipscope::CurvePoint& point : curve) {
    point.y = 1 / point.y;
  }
  return curve;
}

double value_at(const Curve& curve, double x) {
  return std::find_if(curve.begin(), curve.end(), [&](auto& point) { return point.x == x; })->y;
}

std::vector<std::string> budget_evidence(const hipscope::Results& results, unsigned threads) {
  std::vector<std::string> evidence;
  const Curve scratch = results.curve(ring_sweep(threads), "scratch");
  const Curve registers = results.curve(ring_sweep(threads), "registers");
  const auto spilled =
      std::find_if(scratch.begin(), scratch.end(), [](auto& point) { return point.y > 0; });
  if (spilled != scratch.end() && spilled != scratch.begin()) {
    const double fits = (spilled - 1)->x;
    evidence.push_back("by the compiler's report " + number(fits, 4) + " values fit in " +
                       number(value_at(registers, fits), 4) + " registers; " +
                       number(spilled->x, 4) + " need " + number(spilled->y, 4) +
                       " bytes of scratch per thread");
  }
  const std::string series =
      threads == 1024 ? std::to_string(threads) + "-thread block" : std::string("assembler");
  for (const auto& curve : results.published(series, "highest VGPR index")) {
    evidence.push_back("published for " + curve.gpu + ": highest register v" +
                       number(curve.points.front().second, 4));
  }
  return evidence;
}

void infer_budget(hipscope::Results& results, unsigned threads) {
  const Curve rate = results.curve(ring_sweep(threads), "FMA rate");
  const Curve registers = results.curve(ring_sweep(threads), "registers");
  if (rate.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "register budget per thread, blocks of " + std::to_string(threads),
      .unit = "registers",
      .statement = "the FMA rate shows no cliff",
      .evidence = budget_evidence(results, threads)};
  inference.evidence.push_back("the compiler uses up to " + number(highest(registers), 4) +
                               " registers, and scratch for what does not fit");
  if (const auto step = hipscope::find_plateau_end(reciprocal(rate), noticeable)) {
    inference.value = value_at(registers, step->last_flat_x);
    inference.confidence = step->confidence;
    inference.statement = "full rate up to " + number(step->last_flat_x, 4) + " live values in " +
                          number(*inference.value, 4) + " registers; with " +
                          number(step->next_x, 4) + " an FMA takes " + number(step->ratio) +
                          " times as long";
  }
  results.infer(inference);
}

void infer_cliff(hipscope::Results& results, unsigned threads) {
  const Curve rate = results.curve(ring_sweep(threads), "FMA rate");
  if (rate.empty()) {
    return;
  }
  const double best = highest(rate);
  const hipscope::CurvePoint& last = rate.back();
  hipscope::Inference inference{
      .name = "rate past the budget, blocks of " + std::to_string(threads),
      .unit = "% of the best",
      .statement = "no kernel of the sweep falls under half of the best rate",
      .evidence = {"fsword73, 2.3: under 5 % of peak past the cliff"}};
  const auto halved =
      std::find_if(rate.begin(), rate.end(), [&](auto& point) { return point.y < best / 2; });
  if (halved != rate.end()) {
    inference.value = 100 * last.y / best;
    inference.confidence = std::max(0.0, 1 - last.relative_spread);
    inference.statement = number(last.x, 4) + " live values run at " + number(*inference.value, 2) +
                          " % of the best rate; half of it is lost from " + number(halved->x, 4) +
                          " on";
  }
  results.infer(inference);
}

// "64 waves up to 32 registers, 40 up to 48, ...".
std::string residency_steps(const Curve& counted, const Curve& registers) {
  std::string text;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (i + 1 == counted.size() || counted[i + 1].y != counted[i].y) {
      text += (text.empty() ? "" : ", ") + number(counted[i].y, 4) +
              (text.empty() ? " waves" : "") + " up to " + number(registers[i].y, 4) +
              (text.empty() ? " registers" : "");
    }
  }
  return text;
}

// How much the time that a wave takes per hop varies over the sweep: the rate follows the waves.
std::string rate_follows_waves(const Curve& rate, const Curve& counted) {
  std::vector<double> per_wave;
  for (std::size_t i = 0; i < rate.size(); ++i) {
    per_wave.push_back(counted[i].y / rate[i].y);
  }
  const auto [least, most] = std::minmax_element(per_wave.begin(), per_wave.end());
  return "a hop of one wave takes " + number(*least) + " to " + number(*most) +
         " cycles, while the waves per CU fall from " + number(counted.front().y, 4) + " to " +
         number(counted.back().y, 4);
}

// Waves in place x lanes x registers per thread can come close to the size of the register file,
// and never exceed it.
void infer_register_file(hipscope::Results& results) {
  const Curve counted = results.curve("waiting", "counted");
  const Curve registers = results.curve("waiting", "registers");
  if (counted.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "registers of a CU",
      .unit = "registers",
      .statement = "the number of waves in place never falls: registers do not limit it",
      .driver = results.device().registers_per_block};
  double most = 0;
  std::size_t limited_points = 0;
  std::size_t filling_points = 0;
  const auto taken = [&](std::size_t i) {
    return counted[i].y * results.device().wave_size * registers[i].y;
  };
  for (std::size_t i = 0; i < counted.size(); ++i) {
    most = std::max(most, taken(i));
  }
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i].y < counted.front().y) {
      constexpr double nearly_full = 0.8;
      ++limited_points;
      filling_points += taken(i) > nearly_full * most ? 1 : 0;
    }
  }
  if (limited_points > 0) {
    inference.value = most;
    inference.confidence = double(filling_points) / static_cast<double>(limited_points);
    inference.statement = "waves in place hold up to " + number(most, 6) + " registers, " +
                          number(most * 4 / 1024, 4) + " KiB, of one CU";
    inference.evidence = {residency_steps(counted, registers),
                          rate_follows_waves(results.curve("waiting", "hop rate"), counted)};
  }
  results.infer(inference);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "vgpr_limit",
      {.question =
           "How many vector registers does a thread get, and what do more live values cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.3 (examples 3a and 3b)"}});
  const auto fmas = experiment.size(
      "--fmas", "FMAs per compute unit, shared by all threads that fit on it",
      {.gpu = 1U << 27, .quick = 1U << 25, .host = 1U << 17, .minimum = 1, .maximum = 1U << 30});
  const auto blocks_per_cu =
      experiment.size("--blocks-per-cu", "waiting blocks launched per compute unit",
                      {.gpu = 256, .quick = 128, .host = 4, .minimum = 1, .maximum = 4096});
  const auto hops =
      experiment.size("--hops", "dependent loads for which a block waits",
                      {.gpu = 128, .quick = 64, .host = 5, .minimum = 1, .maximum = 1U << 20});

  experiment.sweep("live-256", "rings of FMAs, blocks of 256 threads", [&](Sweep& sweep) {
    measure_rings(sweep, ring_kernels<256>(ValuesOf256Threads()), 256, fmas);
  });
  experiment.sweep("live-1024", "rings of FMAs, blocks of 1024 threads", [&](Sweep& sweep) {
    measure_rings(sweep, ring_kernels<1024>(ValuesOf1024Threads()), 1024, fmas);
  });
  experiment.sweep("waiting", "values alive while a block of 64 threads waits for memory",
                   [&](Sweep& sweep) { measure_waiting(sweep, blocks_per_cu, hops); });

  experiment.conclude([](hipscope::Results& results) {
    for (const unsigned threads : {256U, 1024U}) {
      infer_budget(results, threads);
      infer_cliff(results, threads);
    }
    infer_register_file(results);
  });
  return experiment.run(argc, argv);
}
