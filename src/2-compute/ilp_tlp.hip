// How many independent instructions keep a compute unit busy, and does it matter whether they come
// from one wave or from many?
//
// An arithmetic instruction takes some cycles until its result can be used: its latency. A chain of
// dependent instructions waits for it each time. Two things fill the wait: more independent chains
// in the same wave (instruction-level parallelism, ILP), and more waves (thread-level parallelism,
// TLP). With n instructions in flight a round, in which every chain advances once, takes
// max(latency, n x interval): flat at first, then in proportion to n. Both limits are read off two
// curves, of one wave with 1 ... 8 chains and of one chain in 1 ... all waves of a CU, which must
// agree about the latency. The grid has both together, and peak has every CU full.
//
// Cycles are counted in the kernel, from the first wave's start behind a barrier to the last one's
// end, so that launching is no part of them. What is counted for a loop of no rounds is taken off.
#include <hip/hip_fp16.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;
constexpr unsigned most_chains = 8;

// Steps in the body of the loop, whose own three or four instructions are less than half a percent
// of it. On NVIDIA 16 KiB, on AMD 8 to 12: no larger than the instruction caches.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned body_instructions = 128;  // scaled down
#else
constexpr unsigned body_instructions = 1024;
#endif

// Threads and chains start from so many different values, a prime.
constexpr unsigned start_values = 31;

// --- Operations -------------------------------------------------------------------------------

// What comes as an argument. As literals the factors would make the instruction longer on RDNA, and
// with a multiplier that the compiler knows it might do better than multiply.
struct Operands {
  float factor;
  float one;
  float half_factor;
  unsigned multiplier;
  unsigned addend;
};

// Each operation is one step of a chain that stays bounded and never reaches zero, and that the
// host can repeat to the last bit. The FMAs are x -> 1 - factor * x, which jumps about 1/2 and
// nears it slowly.
struct FloatFma {
  using Value = float;
  using Bits = std::uint32_t;
  static constexpr const char* name = "fp32-fma";
  static constexpr const char* title = "FP32 FMA";
  static constexpr unsigned per_lane = 1;  // operations of a lane in one step
  static constexpr unsigned flops = 2;     // arithmetic operations, of which an FMA is two
  static Value start(unsigned i) { return static_cast<float>(i + 1) * 0x1p-6F; }
  __host__ __device__ static Value step(Value x, Operands operands) {
    return fmaf(x, -operands.factor, 1.0F);
  }
};

// The same with all three operands in registers of each lane, as in a matrix product.
struct FloatFmaOfRegisters : FloatFma {
  __host__ __device__ static Value step(Value x, Operands operands) {
    return fmaf(x, -operands.factor, operands.one);
  }
};

struct FloatAdd : FloatFma {
  static constexpr const char* name = "fp32-add";
  static constexpr const char* title = "FP32 ADD";
  static constexpr unsigned flops = 1;
  __host__ __device__ static Value step(Value x, Operands /*given*/) { return x + 0x1.8p-10F; }
};

struct FloatMul : FloatFma {
  static constexpr const char* name = "fp32-mul";
  static constexpr const char* title = "FP32 MUL";
  static constexpr unsigned flops = 1;
  __host__ __device__ static Value step(Value x, Operands /*given*/) {
    return x * (1.0F + 0x1p-20F);
  }
};

struct DoubleFma {
  using Value = double;
  using Bits = std::uint64_t;
  static constexpr const char* name = "fp64-fma";
  static constexpr const char* title = "FP64 FMA";
  static constexpr unsigned per_lane = 1;
  static constexpr unsigned flops = 2;
  static Value start(unsigned i) { return (i + 1) * 0x1p-6; }
  __host__ __device__ static Value step(Value x, Operands /*given*/) {
    return fma(x, -(1.0 - 0x1p-20), 1.0);
  }
};

// Two FMAs of 11-bit halves. Such a chain remembers its start and its length for 700 to 1000 steps
// and then goes on between two values.
struct PackedHalfFma {
  using Value = __half2;
  using Bits = std::uint32_t;
  static constexpr const char* name = "fp16-packed-fma";
  static constexpr const char* title = "FP16 packed FMA";
  static constexpr unsigned per_lane = 2;
  static constexpr unsigned flops = 4;
  static Value start(unsigned i) {
    const auto one = [](unsigned n) { return static_cast<float>(64 + n % start_values) * 0x1p-9F; };
    return __floats2half2_rn(one(i), one(i + 7));
  }
  __device__ static Value step(Value x, Operands operands) {
    return __hfma2(x, __float2half2_rn(-operands.half_factor), __float2half2_rn(1.0F));
  }
  // From these starts every exact sum fits into a float, so that it is rounded once.
  static Value reference(Value x, Operands operands) {
    return __floats2half2_rn(std::fma(__low2float(x), -operands.half_factor, 1.0F),
                             std::fma(__high2float(x), -operands.half_factor, 1.0F));
  }
};

// A generator of pseudo-random numbers.
struct IntegerMad {
  using Value = std::uint32_t;
  using Bits = std::uint32_t;
  static constexpr const char* name = "int32-mad";
  static constexpr const char* title = "INT32 MAD";
  static constexpr unsigned per_lane = 1;
  static constexpr unsigned flops = 2;
  static Value start(unsigned i) { return i * 2654435761U + 1; }
  __host__ __device__ static Value step(Value x, Operands operands) {
    return x * operands.multiplier + operands.addend;
  }
};

// Two FP32 FMAs, which are one instruction where there are packed ones (from gfx90a on).
struct FloatPairFma {
  struct Value {
    float first, second;
  };
  using Bits = std::uint64_t;
  static constexpr unsigned per_lane = 2;
  static constexpr unsigned flops = 4;
  static Value start(unsigned i) { return {FloatFma::start(i), FloatFma::start(i + 7)}; }
  __host__ __device__ static Value step(Value x, Operands operands) {
    return {fmaf(x.first, -operands.factor, 1.0F), fmaf(x.second, -operands.factor, 1.0F)};
  }
};

constexpr Operands operands = {.factor = 1.0F - 0x1p-20F,
                               .one = 1.0F,
                               .half_factor = 1.0F - 0x1p-10F,
                               .multiplier = 1664525U,
                               .addend = 1013904223U};

template <typename To, typename From>
__host__ __device__ To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(to));
  return to;
}

// --- Kernels ----------------------------------------------------------------------------------

// When a wave began and ended by its CU's cycle counter (a reading, and that with what has
// elapsed), and which CU it was.
struct WaveTime {
  long long start;
  long long end;
  unsigned compute_unit;
};

// Gives the operands of FloatFmaOfRegisters to each lane: adding 0 * x, which no compiler may leave
// out, changes no value and makes it one of the lane's own.
template <typename Operation>
__device__ void load_operands([[maybe_unused]] Operands& given,
                              [[maybe_unused]] typename Operation::Value x) {
  if constexpr (std::is_same_v<Operation, FloatFmaOfRegisters>) {
    given.factor = fmaf(x, 0.0F, given.factor);
    given.one = fmaf(x, 0.0F, given.one);
  }
}

// One step. clang would put two into one: the FP32 steps of two chains in a packed instruction
// (v_pk_fma_f32). An empty assembly statement, which for all that clang knows changes its operand,
// keeps them apart.
template <typename Operation>
__device__ typename Operation::Value separate_step(typename Operation::Value x, Operands given) {
  x = Operation::step(x, given);
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_arithmetic_v<typename Operation::Value>) {
    asm("" : "+v"(x));
  }
#endif
  return x;
}

// `Steps` steps of every chain in turn. Compilers unroll loops up to some length: longer ones by
// halves.
template <typename Operation, unsigned Steps, unsigned Chains>
__device__ void advance(typename Operation::Value (&x)[Chains], Operands given) {
  constexpr unsigned longest_unrolled = 128;
  if constexpr (Steps * Chains > longest_unrolled) {
    advance<Operation, Steps / 2>(x, given);
    advance<Operation, Steps - Steps / 2>(x, given);
  } else {
#pragma unroll
    for (unsigned step = 0; step < Steps; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < Chains; ++chain) {
        x[chain] = separate_step<Operation>(x[chain], given);
      }
    }
  }
}

constexpr unsigned warm_up_rounds = 1;

// `rounds` times the body, after a warm-up that fetches its instructions. Both go through the same
// code, so that the compiler can move nothing from before the first into the timed one.
template <typename Operation, unsigned Chains>
__global__ void __launch_bounds__(largest_block)
    chains_kernel(const typename Operation::Bits* starts, typename Operation::Bits* ends,
                  WaveTime* times, unsigned rounds, Operands given) {
  using Value = typename Operation::Value;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  Value x[Chains];
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    x[chain] = same_bits<Value>(starts[(thread * Chains + chain) % start_values]);
  }
  load_operands<Operation>(given, x[0]);
  CycleClock<> clock;
  unsigned repeats = warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    __syncthreads();
    clock.start();
#pragma unroll 1
    for (unsigned round = 0; round < repeats; ++round) {
      advance<Operation, body_instructions / Chains>(x, given);
      clock.lap();
    }
    clock.stop();
    repeats = rounds;
  }
#pragma unroll
  for (unsigned chain = 0; chain < Chains; ++chain) {
    ends[thread * Chains + chain] = same_bits<typename Operation::Bits>(x[chain]);
  }
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(),
                                .end = clock.ended(),
                                .compute_unit = hipscope::compute_unit_id()};
  }
}

template <typename Operation>
using Kernel = void (*)(const typename Operation::Bits*, typename Operation::Bits*, WaveTime*,
                        unsigned, Operands);

template <typename Operation, unsigned... Indices>
Kernel<Operation> kernel_of(unsigned chains,
                            std::integer_sequence<unsigned, Indices...> /*chains*/) {
  const std::array<Kernel<Operation>, sizeof...(Indices)> kernels = {
      chains_kernel<Operation, Indices + 1>...};
  return kernels[chains - 1];
}

template <typename Operation>
Kernel<Operation> kernel_of(unsigned chains) {
  return kernel_of<Operation>(chains, std::make_integer_sequence<unsigned, most_chains>{});
}

std::uint64_t steps_of(unsigned chains, std::uint64_t rounds) {
  return rounds * (body_instructions / chains);
}

// --- Reference --------------------------------------------------------------------------------

// The ends of the chains from all start values after so many steps, as the device must give them.
template <typename Operation>
class Reference {
 public:
  using Value = typename Operation::Value;
  using Bits = typename Operation::Bits;

  Reference() {
    std::vector<Bits> starts(start_values);
    for (unsigned i = 0; i < start_values; ++i) {
      starts[i] = same_bits<Bits>(Operation::start(i));
    }
    ends_.emplace(0, std::move(starts));
  }

  const std::vector<Bits>& after(std::uint64_t steps) {
    const auto known = --ends_.upper_bound(steps);
    std::vector<Bits> ends = known->second;
    for (Bits& bits : ends) {
      auto x = same_bits<Value>(bits);
      for (std::uint64_t step = known->first; step < steps; ++step) {
        if constexpr (std::is_same_v<Operation, PackedHalfFma>) {
          x = Operation::reference(x, operands);
        } else {
          x = Operation::step(x, operands);
        }
      }
      bits = same_bits<Bits>(x);
    }
    return ends_.insert_or_assign(steps, std::move(ends)).first->second;
  }

 private:
  std::map<std::uint64_t, std::vector<Bits>> ends_;
};

// --- Launches ---------------------------------------------------------------------------------

// So many waves on one CU: one block if they fit into it, else several on every CU, since only a
// full GPU puts more than one on each.
struct Shape {
  unsigned blocks = 1;
  unsigned threads = 0;
  unsigned blocks_per_unit = 1;
};

Shape shape_of(const Sweep& sweep, unsigned waves) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  constexpr unsigned waves_on_host = 2;
  const unsigned waves_per_block = sweep.is_hardware() ? largest_block / wave_size : waves_on_host;
  unsigned per_unit = 1;
  while (waves % per_unit != 0 || waves / per_unit > waves_per_block) {
    ++per_unit;
  }
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  return {.blocks = per_unit == 1 ? 1 : per_unit * units,
          .threads = waves / per_unit * wave_size,
          .blocks_per_unit = per_unit};
}

// From the first wave's start to the last one's end on each CU that was given `waves` of them: the
// median over CUs. NaN where there is none. Their blocks fit at once, by the occupancy calculator,
// but need not run side by side: an H200 lets the older block issue as long as it can, so that the
// younger one's waves pass the barrier only when those of the older have ended. So where the
// counter begins again all the time, a CU tells nothing if one of its blocks took half of what that
// counts.
double cycles_of(std::span<const WaveTime> times, unsigned waves, unsigned blocks,
                 unsigned counter_bits) {
  std::map<unsigned, std::vector<WaveTime>> by_unit;
  for (const WaveTime& time : times) {
    by_unit[time.compute_unit].push_back(time);
  }
  std::vector<double> cycles;
  for (const auto& [unit, mine] : by_unit) {
    const bool starts_are_known =
        blocks == 1 || std::all_of(mine.begin(), mine.end(), [=](const WaveTime& time) {
          return hipscope::is_within_half_round(time.end - time.start, counter_bits);
        });
    if (mine.size() == waves && starts_are_known) {
      cycles.push_back(static_cast<double>(
          hipscope::cycles_of_all(std::span<const WaveTime>(mine), counter_bits)));
    }
  }
  return cycles.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : hipscope::summarize(cycles).median;
}

// A kernel with its buffers and one launch shape; keeps the times of its last launches.
template <typename Operation>
class Launcher {
 public:
  using Bits = typename Operation::Bits;

  Launcher(Kernel<Operation> kernel, unsigned chains, const Shape& shape, unsigned wave_size)
      : kernel_(kernel),
        chains_(chains),
        shape_(shape),
        waves_(shape.blocks * shape.threads / wave_size),
        ends_(std::size_t{shape.blocks} * shape.threads * chains),
        times_(std::size_t{waves_} * kept_launches) {}

  void run(std::uint64_t rounds) {
    WaveTime* const times = times_.data() + std::size_t{waves_} * (launches_++ % kept_launches);
    launch(kernel_, {.grid = dim3(shape_.blocks), .block = dim3(shape_.threads)}, starts_.data(),
           ends_.data(), times, static_cast<unsigned>(rounds), operands);
  }

  // The warm-up alone is checked too: a chain of halves remembers no more than its length.
  void verify(hipscope::Point& point, std::uint64_t rounds, Reference<Operation>& reference) {
    point.verify("end of every chain after the warm-up", count_wrong(0, reference), ends_.size());
    point.verify("end of every chain", count_wrong(rounds, reference), ends_.size());
  }

  // The median cycles of the launches since the last call, of `waves` waves on a CU.
  double take_cycles(unsigned waves, unsigned counter_bits) {
    const std::vector<WaveTime> times = times_.to_host();
    std::vector<double> cycles;
    for (unsigned i = 0; i < std::min(launches_, kept_launches); ++i) {
      const auto launch = std::span(times).subspan(std::size_t{i} * waves_, waves_);
      cycles.push_back(cycles_of(launch, waves, shape_.blocks_per_unit, counter_bits));
    }
    launches_ = 0;
    const bool all_known =
        std::none_of(cycles.begin(), cycles.end(), [](double value) { return std::isnan(value); });
    return all_known ? hipscope::summarize(cycles).median
                     : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr unsigned kept_launches = 8;

 private:
  std::uint64_t count_wrong(std::uint64_t rounds, Reference<Operation>& reference) {
    const std::vector<Bits>& expected = reference.after(steps_of(chains_, warm_up_rounds + rounds));
    ends_.poison();
    run(rounds);
    launches_ = 0;
    const std::vector<Bits> results = ends_.to_host();
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      wrong += results[i] == expected[i % start_values] ? 0 : 1;
    }
    return wrong;
  }

  Kernel<Operation> kernel_;
  unsigned chains_;
  Shape shape_;
  unsigned waves_;
  unsigned launches_ = 0;
  DeviceBuffer<Bits> starts_{std::span<const Bits>(Reference<Operation>().after(0))};
  DeviceBuffer<Bits> ends_;
  DeviceBuffer<WaveTime> times_;
};

template <typename Operation>
unsigned occupancy(Kernel<Operation> kernel, unsigned threads) {
  int blocks = 0;
  hipscope::check(
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  return static_cast<unsigned>(blocks);
}

// What one wave counts for a loop of no rounds: the counter's own cost. That many waves come apart
// at the barrier is no part of it, since one works while the other still waits.
template <typename Operation>
double empty_cycles(Kernel<Operation> kernel, unsigned chains, unsigned wave_size,
                    unsigned counter_bits) {
  Launcher<Operation> launcher(kernel, chains, {.threads = wave_size}, wave_size);
  for (unsigned i = 0; i < launcher.kept_launches; ++i) {
    launcher.run(0);
  }
  return launcher.take_cycles(1, counter_bits);
}

// --- Sweeps -----------------------------------------------------------------------------------

// Up to 4 waves each has a SIMD (NVIDIA: SM sub-partition) of its own; more are multiples of 4, so
// that all SIMDs have equally many.
std::vector<unsigned> wave_counts(const Sweep& sweep) {
  if (!sweep.is_hardware()) {
    return {1, 4};
  }
  const auto most = static_cast<unsigned>(sweep.device().maximum_threads_per_compute_unit /
                                          sweep.device().wave_size);
  std::vector<unsigned> counts = {1, 2, 3, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64};
  std::erase_if(counts, [=](unsigned waves) { return waves > most; });
  return counts;
}

template <typename Operation>
void measure(Sweep& sweep, const std::string& label, double x, unsigned chains, unsigned waves,
             std::uint64_t rounds, Reference<Operation>& reference) {
  const Kernel<Operation> kernel = kernel_of<Operation>(chains);
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  const Shape shape = shape_of(sweep, waves);
  if (sweep.is_hardware() && occupancy<Operation>(kernel, shape.threads) < shape.blocks_per_unit) {
    sweep.note(label + ": too many registers for so many waves");
    return;
  }
  auto point = sweep.point(label, x);
  Launcher<Operation> launcher(kernel, chains, shape, wave_size);
  launcher.verify(point, rounds, reference);
  point.measure([&] { launcher.run(rounds); }, {.batch = 1});
  const unsigned counter_bits = sweep.device().cycle_counter_bits;
  const double cycles = sweep.counted(launcher.take_cycles(waves, counter_bits));
  const double empty =
      sweep.counted(empty_cycles<Operation>(kernel, chains, wave_size, counter_bits));
  const double per_step = (cycles - empty) / static_cast<double>(steps_of(chains, rounds));
  point.value("cycles", cycles, "cycles");
  point.value("of an empty loop", empty, "cycles");
  point.value("round", per_step, "cycles");
  point.value("cycles per instruction", per_step / chains, "cycles");
  point.value("rate", waves * chains / per_step, "instructions/cycle/CU");
}

constexpr const char* round_note =
    "round: the time in which every chain of every wave advances by one instruction; more waves "
    "than a block of 1024 threads has are several blocks, of which the older may run first";

template <typename Operation>
void measure_chains(Sweep& sweep, std::uint64_t rounds, Reference<Operation>& reference) {
  sweep.axis({.name = "chains"});
  sweep.headline("round");
  sweep.note(round_note);
  for (unsigned chains = 1; chains <= most_chains; ++chains) {
    measure(sweep, std::to_string(chains), chains, chains, 1, rounds, reference);
  }
}

template <typename Operation>
void measure_waves(Sweep& sweep, std::uint64_t rounds, Reference<Operation>& reference) {
  sweep.axis({.name = "waves"});
  sweep.headline("round");
  sweep.note(round_note);
  for (const unsigned waves : wave_counts(sweep)) {
    measure(sweep, std::to_string(waves), waves, 1, waves, rounds, reference);
  }
}

template <typename Operation>
void measure_grid(Sweep& sweep, std::uint64_t rounds, Reference<Operation>& reference) {
  sweep.axis({.name = "chains x waves", .scale = hipscope::Scale::logarithmic});
  sweep.headline("rate");
  sweep.note(round_note);
  for (unsigned chains = 1; chains <= most_chains; ++chains) {
    for (const unsigned waves : wave_counts(sweep)) {
      measure(sweep, std::to_string(chains) + " x " + std::to_string(waves), chains * waves, chains,
              waves, rounds, reference);
    }
  }
}

// Operations per cycle and CU that the vendors document (CUDA C++ programming guide, throughput of
// native arithmetic instructions; AMD's white papers on Vega, CDNA and RDNA 2). 0: none found.
struct DocumentedRate {
  const char* architecture;
  double fp32;
  double fp32_pairs;
  double fp64;
  double fp16;
  double int32;
};
constexpr std::array<DocumentedRate, 6> documented_rates = {{{"sm_90", 128, 128, 64, 256, 64},
                                                             {"gfx900", 64, 64, 4, 128, 0},
                                                             {"gfx906", 64, 64, 32, 128, 0},
                                                             {"gfx908", 64, 64, 32, 128, 0},
                                                             {"gfx90a", 64, 128, 64, 128, 0},
                                                             {"gfx1030", 64, 64, 4, 128, 0}}};

template <typename Operation>
double documented_rate(const std::string& architecture) {
  const std::string family = architecture.substr(0, architecture.find(':'));
  for (const DocumentedRate& rates : documented_rates) {
    if (family == rates.architecture) {
      return std::is_same_v<Operation, DoubleFma>       ? rates.fp64
             : std::is_same_v<Operation, PackedHalfFma> ? rates.fp16
             : std::is_same_v<Operation, IntegerMad>    ? rates.int32
             : std::is_same_v<Operation, FloatPairFma>  ? rates.fp32_pairs
                                                        : rates.fp32;
    }
  }
  return 0;
}

// As many waves as there is room for, on every CU.
template <typename Operation, unsigned Chains = 4>
void measure_peak(Sweep& sweep, const std::string& label, double x, std::uint64_t rounds,
                  Reference<Operation>& reference) {
  constexpr unsigned threads_on_host = 64;
  const unsigned threads = sweep.is_hardware() ? largest_block : threads_on_host;
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const Kernel<Operation> kernel = chains_kernel<Operation, Chains>;
  const unsigned per_unit = sweep.is_hardware() ? occupancy<Operation>(kernel, threads) : 1;
  const unsigned blocks = units * per_unit;
  auto point = sweep.point(label, x);
  Launcher<Operation> launcher(kernel, Chains, {.blocks = blocks, .threads = threads},
                               static_cast<unsigned>(sweep.device().wave_size));
  launcher.verify(point, rounds, reference);
  const auto time = point.measure([&] { launcher.run(rounds); }, {.batch = 1});
  const double steps =
      static_cast<double>(steps_of(Chains, warm_up_rounds + rounds)) * Chains * blocks * threads;
  const double rate = steps * Operation::per_lane / time.cycles() / units;
  const double documented = documented_rate<Operation>(sweep.device().architecture);
  point.value("operation rate", rate, "operations/cycle/CU");
  point.value("share of documented",
              documented > 0 ? 100 * rate / documented : std::numeric_limits<double>::quiet_NaN(),
              "%");
  point.value("peak", steps * Operation::flops * 1e-12 / time.seconds().median, "TFLOP/s or TOP/s");
}

std::string sweep_name(const std::string& operation, const std::string& what) {
  return operation + "-" + what;
}

template <typename Operation>
void add_sweeps(hipscope::Experiment& experiment, const hipscope::Size& rounds,
                Reference<Operation>& reference) {
  const std::string title = Operation::title;
  experiment.sweep(sweep_name(Operation::name, "chains"),
                   title + ", one wave with more and more chains",
                   [=, &reference](Sweep& sweep) { measure_chains(sweep, rounds, reference); });
  experiment.sweep(sweep_name(Operation::name, "waves"),
                   title + ", one chain in each of more and more waves",
                   [=, &reference](Sweep& sweep) { measure_waves(sweep, rounds, reference); });
  experiment.sweep(sweep_name(Operation::name, "grid"), title + ", chains and waves together",
                   [=, &reference](Sweep& sweep) { measure_grid(sweep, rounds, reference); });
}

// --- What the curves show ---------------------------------------------------------------------

std::string fit_text(const std::string& what, const hipscope::IssueFit& fit,
                     const std::string& per) {
  const std::string text = what + ": latency " + number(fit.latency, 4) + " cycles, ";
  return fit.interval
             ? text + "then one instruction per " + number(*fit.interval, 4) + " cycles " + per
             : text + "which nothing else limits";
}

// The latency, which both sweeps must tell alike.
void infer_latency(hipscope::Results& results, const std::string& name, const std::string& title) {
  const auto chains = hipscope::fit_issue(results.curve(sweep_name(name, "chains"), "round"));
  const auto waves = hipscope::fit_issue(results.curve(sweep_name(name, "waves"), "round"));
  if (results.curve(sweep_name(name, "chains"), "round").empty() ||
      results.curve(sweep_name(name, "waves"), "round").empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = title + " latency",
      .unit = "cycles",
      .statement = "max(latency, n x interval) does not describe the curves"};
  if (chains && waves) {
    const double mean = (chains->latency + waves->latency) / 2;
    const double disagreement = std::abs(chains->latency - waves->latency) / mean;
    const double misfit =
        std::max(chains->largest_relative_residual, waves->largest_relative_residual);
    inference.evidence = {fit_text("one wave, 1 ... 8 chains", *chains, "in one wave"),
                          fit_text("one chain, 1 ... all waves", *waves, "on one CU"),
                          "the two latencies are " + number(100 * disagreement, 2) +
                              " % apart; the model is at most " + number(100 * misfit, 2) +
                              " % off"};
    constexpr double largest_disagreement = 0.05;
    if (disagreement <= largest_disagreement) {
      inference.value = mean;
      inference.confidence = std::max(0.0, 1 - disagreement - misfit);
      inference.statement = "chains in one wave and waves of one chain tell the same latency";
    } else {
      inference.statement = "chains in one wave and waves of one chain tell different latencies";
    }
  }
  results.infer(inference);
}

// The highest rate of one CU, and how many instructions in flight it takes.
void infer_rate(hipscope::Results& results, const std::string& name, const std::string& title) {
  const auto grid = results.curve(sweep_name(name, "grid"), "rate");
  if (grid.empty()) {
    return;
  }
  const auto best = std::max_element(grid.begin(), grid.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  constexpr double nearly_full = 0.95;
  double fewest = best->x;
  for (const auto& point : grid) {
    if (point.y >= nearly_full * best->y) {
      fewest = std::min(fewest, point.x);
    }
  }
  results.infer(
      {.name = title + " rate",
       .value = best->y,
       .unit = "instructions/cycle/CU",
       .confidence = 1 - std::min(1.0, best->relative_spread),
       .statement = "the most that any number of waves and chains reach; at the best split " +
                    number(fewest, 4) + " instructions in flight (waves x chains) reach 95 % of it",
       .evidence = {number(best->y * results.device().wave_size, 4) +
                    " lanes per cycle and CU with " + number(best->x, 4) + " in flight"}});
}

// What the whole GPU reaches, from row `x` of sweep peak.
void infer_peak(hipscope::Results& results, const std::string& title, double x) {
  const auto row_of = [&](const std::string& value) {
    const auto curve = results.curve("peak", value);
    const auto row =
        std::find_if(curve.begin(), curve.end(), [=](const auto& point) { return point.x == x; });
    return row == curve.end() ? std::nullopt : std::optional(*row);
  };
  const auto peak = row_of("peak");
  const auto rate = row_of("operation rate");
  const auto share = row_of("share of documented");
  if (!peak || !rate || !share) {
    return;
  }
  std::vector<std::string> evidence = {number(rate->y, 4) + " operations per cycle and CU"};
  if (!std::isnan(share->y)) {
    evidence.push_back(number(share->y, 4) + " % of what the vendor documents");
  }
  results.infer({.name = title + " peak",
                 .value = peak->y,
                 .unit = "TFLOP/s or TOP/s",
                 .confidence = 1 - std::min(1.0, peak->relative_spread),
                 .statement = "with every CU full of waves of 4 chains",
                 .evidence = evidence});
}

template <typename Operation>
void infer(hipscope::Results& results, double peak_row, const Reference<Operation>& /*reference*/) {
  infer_latency(results, Operation::name, Operation::title);
  infer_rate(results, Operation::name, Operation::title);
  infer_peak(results, Operation::title, peak_row);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "ilp_tlp",
      {.question = "How many independent instructions keep a compute unit busy, from one wave or "
                   "from many?",
       .sources = {"hipscope's own; the table is that of RRZE-HPC/gpu-benches' incore benchmark"}});
  constexpr std::uint64_t most_rounds = 1U << 16;
  const auto rounds =
      experiment.size("--rounds", "rounds of about 1024 instructions per wave",
                      {.gpu = 64, .quick = 4, .host = 1, .minimum = 1, .maximum = most_rounds});
  const auto peak_rounds =
      experiment.size("--peak-rounds", "rounds of 1024 instructions per wave in sweep peak",
                      {.gpu = 600, .quick = 100, .host = 1, .minimum = 1, .maximum = most_rounds});
  std::tuple<Reference<FloatFma>, Reference<FloatAdd>, Reference<FloatMul>, Reference<DoubleFma>,
             Reference<PackedHalfFma>, Reference<IntegerMad>>
      references;
  Reference<FloatFmaOfRegisters> register_reference;
  Reference<FloatPairFma> pair_reference;

  std::apply([&](auto&... reference) { (add_sweeps(experiment, rounds, reference), ...); },
             references);
  experiment.sweep(
      "peak", "every CU full of waves, with 4 chains each where nothing else is said",
      [&](Sweep& sweep) {
        sweep.axis({.name = "operation"});
        sweep.headline("operation rate");
        double row = 0;
        std::apply(
            [&]<typename... Operation>(Reference<Operation>&... reference) {
              (measure_peak(sweep, Operation::title, ++row, peak_rounds, reference), ...);
            },
            references);
        measure_peak(sweep, "FP32 FMA, 3 registers", ++row, peak_rounds, register_reference);
        measure_peak<FloatFmaOfRegisters, 1>(sweep, "FP32 FMA, 3 registers, 1 chain", ++row,
                                             peak_rounds, register_reference);
        measure_peak(sweep, "FP32 FMA in pairs", ++row, peak_rounds, pair_reference);
      });
  experiment.conclude([&](hipscope::Results& results) {
    double row = 0;
    std::apply([&](auto&... reference) { (infer(results, ++row, reference), ...); }, references);
  });
  return experiment.run(argc, argv);
}
