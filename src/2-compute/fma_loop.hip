// How fast does one block run a loop of dependent FMAs, and what does the loop itself cost?
//
// One block, one FMA after the other, a million per thread, on one compute unit (CU; NVIDIA: SM).
// The loop's own instructions (count, compare, branch) take issue slots and, at its end, a pause in
// the supply of instructions. Unrolling makes them rarer, so the rate rises with the unroll factor,
// until the loop no longer fits into the instruction cache. The source of this experiment found
// that 100 FMAs per iteration ran at 48 or at 59 FMAs per cycle, depending on how they were
// written, and guessed at the alignment of the code. So three sweeps vary the length of the loop
// and two where it begins.
//
// Times are by events around a launch of 10^6 FMAs per thread, which takes milliseconds: the
// launch's 3 us are a tenth of a percent and are not taken off.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;

// The source's count, known to the compiler, which cuts the loop as it likes.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned source_fmas = 1000;  // scaled down
#else
constexpr unsigned source_fmas = 1'000'000;
#endif

// x -> addend - factor * x jumps about its fixed point, addend / 2, and nears it so slowly that a
// chain keeps its memory: another start or another length ends elsewhere.
constexpr float factor = 1.0F - 0x1p-20F;
constexpr float addend = 1.0F;

// Threads start from so many different values, at this distance from each other; a prime, so that
// neighbouring waves differ.
constexpr unsigned start_values = 61;
constexpr float start_distance = 0x1p-6F;

// What kernels get as an argument. As a literal the factor would make the instruction longer on
// RDNA (12 bytes for 8). The distance is used before the loop, so that the wait for arguments is
// there too and not in the loop.
struct Numbers {
  float negative_factor;
  float start_distance;
};
constexpr Numbers numbers = {.negative_factor = -factor, .start_distance = start_distance};

__host__ __device__ float start_value(unsigned thread, Numbers given) {
  return static_cast<float>(thread % start_values + 1) * given.start_distance;
}

// --- Kernels ----------------------------------------------------------------------------------

// `Fmas` dependent FMAs in a row. Compilers unroll loops up to some length: longer ones by halves.
template <unsigned Fmas>
__device__ float fma_chain(float x, float negative_factor) {
  constexpr unsigned longest_unrolled = 1024;
  if constexpr (Fmas > longest_unrolled) {
    x = fma_chain<Fmas / 2>(x, negative_factor);
    return fma_chain<Fmas - Fmas / 2>(x, negative_factor);
  } else {
#pragma unroll
    for (unsigned i = 0; i < Fmas; ++i) {
      x = fmaf(x, negative_factor, addend);
    }
    return x;
  }
}

// The plain loop, as the compiler likes to cut it.
__global__ void __launch_bounds__(largest_block) simple_kernel(float* output, Numbers given) {
  float x = start_value(threadIdx.x, given);
  for (unsigned i = 0; i < source_fmas; ++i) {
    x = fmaf(x, given.negative_factor, addend);
  }
  output[threadIdx.x] = x;
}

__global__ void __launch_bounds__(largest_block) unroll_100_kernel(float* output, Numbers given) {
  float x = start_value(threadIdx.x, given);
#pragma unroll 100
  for (unsigned i = 0; i < source_fmas; ++i) {
    x = fmaf(x, given.negative_factor, addend);
  }
  output[threadIdx.x] = x;
}

// `Fmas` FMAs per iteration, and iterations counted at run time, so that this is the loop that is
// compiled. With 1 it is the plain loop as it is written.
template <unsigned Fmas>
__global__ void __launch_bounds__(largest_block)
    nested_kernel(float* output, Numbers given, unsigned rounds) {
  float x = start_value(threadIdx.x, given);
#pragma unroll 1
  for (unsigned i = 0; i < rounds; ++i) {
    x = fma_chain<Fmas>(x, given.negative_factor);
  }
  output[threadIdx.x] = x;
}

// The alignment kernels differ by so many bytes of padding: two s_nop, or one instruction of
// NVIDIA's. Sixteen of them are two lines of the instruction cache (64 and 128 bytes).
#if defined(HIPSCOPE_BACKEND_AMD)
constexpr unsigned padding_bytes = 8;
#else
constexpr unsigned padding_bytes = 16;
#endif

// The nested loop behind `Padding` times padding_bytes that run once.
template <int Padding, unsigned Fmas>
__global__ void __launch_bounds__(largest_block)
    padded_kernel(float* output, Numbers given, unsigned rounds) {
  float x = start_value(threadIdx.x, given);
#if defined(__CUDA_ARCH__)
  // PTX has no nop. This counts an event for a profiler, and is one instruction.
#pragma unroll
  for (int i = 0; i < Padding; ++i) {
    asm volatile("pmevent 0;");
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile(".rept %0\n\ts_nop 0\n\ts_nop 0\n\t.endr" ::"n"(Padding));
#endif
#pragma unroll 1
  for (unsigned i = 0; i < rounds; ++i) {
    x = fma_chain<Fmas>(x, given.negative_factor);
  }
  output[threadIdx.x] = x;
}

// What a loop of nested_kernel is made of in memory: FMAs, and count, compare and branch. On AMD
// tests/isa/fma_loop.check holds the compiler to it; NVIDIA's instructions have 16 bytes since
// Volta, and nvcc 13 makes the same three for sm_90.
constexpr unsigned loop_instructions = 3;
#if defined(HIPSCOPE_BACKEND_AMD)
constexpr unsigned bytes_per_fma = 8;
constexpr unsigned bytes_per_loop_instruction = 4;
#else
constexpr unsigned bytes_per_fma = 16;
constexpr unsigned bytes_per_loop_instruction = 16;
#endif
constexpr unsigned loop_overhead_bytes = loop_instructions * bytes_per_loop_instruction;

// --- Reference --------------------------------------------------------------------------------

// The ends of the chains from all start values. Host and device round an fma once, so they must
// agree to the last bit.
class Reference {
 public:
  const std::vector<float>& after(std::uint64_t fmas) {
    auto known = --ends_.upper_bound(fmas);
    if (known->first == fmas) {
      return known->second;
    }
    std::vector<float> ends = known->second;
    for (float& x : ends) {
      for (std::uint64_t step = known->first; step < fmas; ++step) {
        x = std::fma(x, -factor, addend);
      }
    }
    return ends_.emplace(fmas, std::move(ends)).first->second;
  }

 private:
  static std::vector<float> starts() {
    std::vector<float> starts(start_values);
    for (unsigned i = 0; i < start_values; ++i) {
      starts[i] = start_value(i, numbers);
    }
    return starts;
  }

  std::map<std::uint64_t, std::vector<float>> ends_ = {{0, starts()}};
};

// --- Sweeps -----------------------------------------------------------------------------------

// A loop to time: its FMAs per thread, and how to launch it.
struct Loop {
  std::uint64_t fmas;
  std::function<void(unsigned threads, float* output)> run;
};

Loop source_loop(void (*kernel)(float*, Numbers)) {
  return {.fmas = source_fmas, .run = [=](unsigned threads, float* output) {
            launch(kernel, {.grid = dim3(1), .block = dim3(threads)}, output, numbers);
          }};
}

// As many rounds as hold at least `fmas` FMAs.
Loop counted_loop(void (*kernel)(float*, Numbers, unsigned), std::uint64_t fmas,
                  unsigned fmas_per_round) {
  const std::uint64_t rounds = (fmas + fmas_per_round - 1) / fmas_per_round;
  return {.fmas = rounds * fmas_per_round, .run = [=](unsigned threads, float* output) {
            launch(kernel, {.grid = dim3(1), .block = dim3(threads)}, output, numbers,
                   static_cast<unsigned>(rounds));
          }};
}

void measure(hipscope::Point& point, const Loop& loop, unsigned threads, Reference& reference) {
  DeviceBuffer<float> output(threads);
  loop.run(threads, output.data());
  const std::vector<float>& ends = reference.after(loop.fmas);
  const std::vector<float> results = output.to_host();
  std::uint64_t wrong = 0;
  for (unsigned thread = 0; thread < threads; ++thread) {
    wrong += results[thread] == ends[thread % start_values] ? 0 : 1;
  }
  point.verify("end of every thread's FMA chain", wrong, threads);
  const auto time = point.measure([&] { loop.run(threads, output.data()); });
  const auto fmas = static_cast<double>(loop.fmas);
  point.value("FMA rate", threads * fmas / time.cycles(), "FMA/cycle");
  point.value("cycles per FMA", time.cycles() / fmas, "cycles");
}

constexpr std::array<unsigned, 4> source_threads = {256, 512, 768, 1024};
constexpr std::array<unsigned, 11> more_threads = {32,  64,  128, 256, 384, 512,
                                                   640, 768, 832, 896, 1024};

template <std::size_t Count>
void measure_threads(Sweep& sweep, const std::string& published_series, const Loop& loop,
                     const std::array<unsigned, Count>& blocks, Reference& reference) {
  sweep.axis({.name = "block", .unit = "threads"});
  sweep.headline("FMA rate");
  sweep.compare(published_series);
  for (const unsigned threads : blocks) {
    auto point = sweep.point("1x" + std::to_string(threads), threads);
    measure(point, loop, threads, reference);
  }
}

template <unsigned Fmas>
void measure_unroll(Sweep& sweep, unsigned threads, std::uint64_t fmas, Reference& reference) {
  constexpr unsigned longest_on_host = 256;
  if (!sweep.is_hardware() && Fmas > longest_on_host) {
    return;
  }
  constexpr unsigned bytes = Fmas * bytes_per_fma + loop_overhead_bytes;
  auto point = sweep.point(std::to_string(bytes), bytes);
  point.value("FMAs in the loop", Fmas, "FMAs");
  point.value("FMA share", 100.0 * Fmas / (Fmas + loop_instructions), "%");
  measure(point, counted_loop(nested_kernel<Fmas>, fmas, Fmas), threads, reference);
}

template <unsigned... Fmas>
void measure_unrolls(Sweep& sweep, unsigned threads, std::uint64_t fmas, Reference& reference,
                     std::integer_sequence<unsigned, Fmas...> /*factors*/) {
  sweep.axis({.name = "loop", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  sweep.note(
      "bytes and FMA share are of 16-byte instructions, three of them the loop's own: so it is "
      "in nvcc 13's code for sm_90");
#endif
  sweep.headline("FMA rate");
  (measure_unroll<Fmas>(sweep, threads, fmas, reference), ...);
}

// Up to 256 KiB on NVIDIA and 128 KiB on AMD: more than any known instruction cache next to a CU.
using UnrollFactors =
    std::integer_sequence<unsigned, 1, 2, 4, 8, 16, 32, 64, 100, 128, 192, 256, 384, 512, 768, 1024,
                          1536, 2048, 3072, 4096, 6144, 8192, 16384>;

template <unsigned Fmas, int... Paddings>
void measure_alignment(Sweep& sweep, std::uint64_t fmas, Reference& reference,
                       std::integer_sequence<int, Paddings...> /*paddings*/) {
  constexpr unsigned threads = 256;
  sweep.axis({.name = "padding", .unit = "bytes"});
  sweep.headline("FMA rate");
  if (!sweep.is_hardware()) {
    sweep.note("the host backend has no padding: all rows run the same code");
  }
  const auto measure_padding = [&](void (*kernel)(float*, Numbers, unsigned), unsigned padding) {
    const unsigned bytes = padding * padding_bytes;
    auto point = sweep.point(std::to_string(bytes), bytes);
    measure(point, counted_loop(kernel, fmas, Fmas), threads, reference);
  };
  (measure_padding(padded_kernel<Paddings, Fmas>, Paddings), ...);
}

using Paddings = std::make_integer_sequence<int, 16>;

std::string unroll_name(unsigned threads) { return "unroll-" + std::to_string(threads); }

// --- What the curves show ---------------------------------------------------------------------

// The best rate of any loop of one block.
void infer_best_rate(hipscope::Results& results, const std::vector<std::string>& sweeps) {
  hipscope::CurvePoint best;
  std::string best_sweep;
  for (const std::string& sweep : sweeps) {
    for (const auto& point : results.curve(sweep, "FMA rate")) {
      if (point.y > best.y) {
        best = point;
        best_sweep = sweep;
      }
    }
  }
  if (best_sweep.empty()) {
    return;
  }
  results.infer({.name = "best FMA rate of one block",
                 .value = best.y,
                 .unit = "FMA/cycle",
                 .confidence = 1 - std::min(1.0, best.relative_spread),
                 .statement = "one CU runs " + number(best.y, 4) +
                              " FMAs per cycle (lanes, not instructions) with one block",
                 .evidence = {"sweep " + best_sweep + " at " + number(best.x, 6)}});
}

// Where the loop has outgrown an instruction cache.
void infer_instruction_cache(hipscope::Results& results, unsigned threads) {
  const auto curve = results.curve(unroll_name(threads), "cycles per FMA");
  if (curve.empty()) {
    return;
  }
  constexpr double smallest_step = 1.05;
  hipscope::Inference inference{
      .name = "largest loop at full speed, " + std::to_string(threads) + " threads",
      .unit = "bytes",
      .statement = "no loop length up to " + number(curve.back().x, 6) +
                   " bytes slows down: the instruction supply keeps up, or the cache is larger"};
  if (const auto end = hipscope::find_plateau_end(curve, smallest_step)) {
    inference.value = end->last_flat_x;
    inference.confidence = end->confidence;
    inference.statement = "an instruction cache holds " + number(end->last_flat_x, 6) +
                          " bytes and not " + number(end->next_x, 6) +
                          ": from there on an FMA takes " + number(end->ratio) + " times as long";
  }
  results.infer(inference);
}

// Time per iteration over FMAs per iteration: a straight line, whose slope is the latency of an FMA
// and whose start is what the end of an iteration costs.
void infer_loop_cost(hipscope::Results& results, unsigned wave_threads) {
  std::vector<double> fmas;
  std::vector<double> cycles;
  constexpr double shortest = 16;
  constexpr double longest = 512;
  for (const auto& point : results.curve(unroll_name(wave_threads), "cycles per FMA")) {
    const double count = (point.x - loop_overhead_bytes) / bytes_per_fma;
    if (count >= shortest && count <= longest) {
      fmas.push_back(count);
      cycles.push_back(count * point.y);
    }
  }
  if (fmas.size() < 3) {
    return;
  }
  const auto line = hipscope::fit_line(fmas, cycles);
  const double confidence = std::max(0.0, 1 - 10 * line.largest_relative_residual);
  const std::string evidence = "straight line through the cycles per iteration of " +
                               number(fmas.front()) + " ... " + number(fmas.back()) +
                               " FMAs, largest error " +
                               number(100 * line.largest_relative_residual, 2) + " %";
  results.infer({.name = "FMA latency",
                 .value = line.slope,
                 .unit = "cycles",
                 .confidence = confidence,
                 .statement = "each further dependent FMA in the loop adds this much",
                 .evidence = {evidence}});
  results.infer({.name = "cost of an iteration's end",
                 .value = line.intercept,
                 .unit = "cycles",
                 .confidence = confidence,
                 .statement =
                     "what one wave pays for count, compare and branch, in iterations of 16 "
                     "FMAs and more",
                 .evidence = {evidence}});
}

// How much the rate changes with where the loop begins, in percent.
void infer_alignment(hipscope::Results& results, const std::string& sweep) {
  const auto curve = results.curve(sweep, "FMA rate");
  if (curve.empty()) {
    return;
  }
  const auto [slowest, fastest] = std::minmax_element(
      curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
  const double effect = 100 * (fastest->y / slowest->y - 1);
  const double noise = std::max(fastest->relative_spread, slowest->relative_spread);
  results.infer({.name = "effect of the loop's place, " + sweep,
                 .value = effect,
                 .unit = "%",
                 .confidence = effect > 0 ? std::max(0.0, 1 - 100 * noise / effect) : 1,
                 .statement = "the best place of the loop is this much faster than the worst",
                 .evidence = {number(slowest->y, 4) + " FMA/cycle behind " + number(slowest->x) +
                                  " bytes of padding",
                              number(fastest->y, 4) + " FMA/cycle behind " + number(fastest->x)}});
}

// The source's puzzle: the same instructions, written as unroll 100 and as nested loops.
void infer_form(hipscope::Results& results) {
  const auto unrolled = results.curve("unroll-pragma-100", "FMA rate");
  const auto nested = results.curve("nested", "FMA rate");
  if (unrolled.empty() || nested.empty()) {
    return;
  }
  std::vector<std::string> evidence;
  const auto published_unrolled = results.published("unroll 100", "FMA rate");
  const auto published_nested = results.published("nested 100x10000", "FMA rate");
  for (std::size_t i = 0; i < std::min(published_unrolled.size(), published_nested.size()); ++i) {
    const double ratio =
        published_nested[i].points[0].second / published_unrolled[i].points[0].second;
    evidence.push_back("published for " + published_nested[i].gpu + ": " + number(ratio));
  }
  const double ratio = nested[0].y / unrolled[0].y;
  results.infer({.name = "nested 100 x 10000 over unroll 100",
                 .value = ratio,
                 .unit = "x",
                 .confidence = 1 - std::min(1.0, std::max(nested[0].relative_spread,
                                                          unrolled[0].relative_spread)),
                 .statement = "the same 100 FMAs per iteration, written in two ways, one block of "
                              "256 threads",
                 .evidence = evidence});
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "fma_loop",
      {.question = "How fast does one block run a loop of dependent FMAs, and what does the loop "
                   "itself cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.2.1 to 2.2.4 (examples 2a to "
                   "2d)"}});
  const auto fmas = experiment.size(
      "--fmas",
      "dependent FMAs per thread, but for simple and "
      "unroll-pragma-100, whose count is compiled in",
      {.gpu = 1'000'000, .quick = 100'000, .host = 512, .minimum = 1, .maximum = 1U << 28});
  Reference reference;
  const auto add_stage = [&](const std::string& name, const std::string& title,
                             const std::string& series, const std::function<Loop()>& loop) {
    experiment.sweep(name, title, [=, &reference](Sweep& sweep) {
      measure_threads(sweep, series, loop(), source_threads, reference);
    });
  };
  add_stage("simple", "plain loop, cut by the compiler as it likes", "simple",
            [] { return source_loop(simple_kernel); });
  add_stage("rolled", "plain loop, not unrolled", "",
            [=] { return counted_loop(nested_kernel<1>, fmas, 1); });
  add_stage("unroll-pragma-100", "plain loop, unrolled by 100", "unroll 100",
            [] { return source_loop(unroll_100_kernel); });
  const auto nested = [=] { return counted_loop(nested_kernel<100>, fmas, 100); };
  add_stage("nested", "outer loop around 100 FMAs", "nested 100x10000", nested);
  experiment.sweep("more-threads", "outer loop around 100 FMAs, more and more threads",
                   [&, nested](Sweep& sweep) {
                     measure_threads(sweep, "more threads", nested(), more_threads, reference);
                   });
  constexpr std::array<unsigned, 3> unroll_threads = {64, 256, 1024};
  for (const unsigned threads : unroll_threads) {
    experiment.sweep(unroll_name(threads),
                     "longer and longer loop, " + std::to_string(threads) + " threads",
                     [=, &reference](Sweep& sweep) {
                       measure_unrolls(sweep, threads, fmas, reference, UnrollFactors{});
                     });
  }
  experiment.sweep(
      "alignment-16", "where a loop of 16 FMAs begins, 256 threads",
      [&, fmas](Sweep& sweep) { measure_alignment<16>(sweep, fmas, reference, Paddings{}); });
  experiment.sweep(
      "alignment-100", "where a loop of 100 FMAs begins, 256 threads",
      [&, fmas](Sweep& sweep) { measure_alignment<100>(sweep, fmas, reference, Paddings{}); });
  experiment.conclude([=](hipscope::Results& results) {
    infer_best_rate(results, {"simple", "unroll-pragma-100", "nested", "more-threads", "unroll-64",
                              "unroll-256", "unroll-1024"});
    infer_loop_cost(results, unroll_threads.front());
    for (const unsigned threads : unroll_threads) {
      // Many waves fetch for each other, so that the rate of a full block falls slowly.
      if (threads < largest_block) {
        infer_instruction_cache(results, threads);
      }
    }
    infer_form(results);
    infer_alignment(results, "alignment-16");
    infer_alignment(results, "alignment-100");
  });
  return experiment.run(argc, argv);
}
