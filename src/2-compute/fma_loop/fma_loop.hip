// How fast does one block run a loop of dependent FMAs, and what does the loop itself cost?
//
// One block on one compute unit (CU; NVIDIA: SM) runs a million dependent FMAs per thread. The
// loop's own instructions (count, compare, branch) take issue slots, and the jump back pauses the
// supply of instructions. Unrolling makes both rarer, so the rate rises with the unroll factor,
// until the loop no longer fits into the instruction cache. fsword73 found that 100 FMAs per
// iteration ran at 48 or at 59 FMAs per cycle, depending on how they were written, and suspected
// the alignment of the code. His three loops come first. Ours then vary the loop's length and
// where it begins.
//
// Events time launches of 10^6 FMAs per thread, which take milliseconds: the launch's 3 us are a
// tenth of a percent and are not taken off.
#include <hipscope/hipscope.h>
#include <hipscope/powers_of_two.h>

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "2-compute/chain_reference.h"
#include "2-compute/nested_loop.h"
#include "bytes.h"
#include "chain.h"
#include "chunks.h"
#include "findings.h"

using fma_loop::chunk_fmas;
using fma_loop::chunked_kernel;
using fma_loop::ends_after;
using fma_loop::fma_chain;
using fma_loop::loop_overhead_bytes;
using fma_loop::most_chunks;
using fma_loop::Numbers;
using fma_loop::numbers;
using fma_loop::start_value;
using fma_loop::start_values;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;
using source_loop::nested_kernel;
using source_loop::Operands;
using source_loop::operands_of;

namespace {

[[maybe_unused]] constexpr unsigned largest_block = 1024;  // what no compiler for CPUs looks at

// --- The loops of fsword73's examples 2a and 2b ------------------------------------------------

// 2a: the plain loop, unrolled as the compiler likes. What is corrected, here and in 2b, is said in
// nested_loop.h, which has 2c and 2d.
__global__ void __launch_bounds__(largest_block) simple_kernel(float* sums, int first) {
  const Operands given = operands_of(first);
  float sum = 0;
  for (unsigned i = 0; i < source_loop::fmas; ++i) {
    sum = fmaf(given.factor, sum, given.addend);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// 2b: cut into 100s.
__global__ void __launch_bounds__(largest_block) unroll_100_kernel(float* sums, int first) {
  const Operands given = operands_of(first);
  float sum = 0;
#pragma unroll 100
  for (unsigned i = 0; i < source_loop::fmas; ++i) {
    sum = fmaf(given.factor, sum, given.addend);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// --- Loops of any length ----------------------------------------------------------------------

// `Fmas` FMAs per iteration, and iterations counted at run time, so that this is the loop that is
// compiled. With 1 it is the plain loop as it is written.
template <unsigned Fmas>
__global__ void __launch_bounds__(largest_block)
    counted_kernel(float* output, Numbers given, unsigned rounds) {
  float x = start_value(threadIdx.x, given);
#pragma unroll 1
  for (unsigned i = 0; i < rounds; ++i) {
    x = fma_chain<Fmas>(x, given.negative_factor);
  }
  output[threadIdx.x] = x;
}

// The alignment kernels differ by these bytes of padding: two s_nop, or one instruction of
// NVIDIA's. Sixteen of them are two lines of the instruction cache (64 and 128 bytes).
#if defined(HIPSCOPE_BACKEND_AMD)
constexpr unsigned padding_bytes = 8;
#else
constexpr unsigned padding_bytes = 16;
#endif

// The counted loop after `Padding` times padding_bytes that run once.
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

// --- Sweeps -----------------------------------------------------------------------------------

using Curve = std::vector<hipscope::CurvePoint>;

constexpr unsigned chunk_bytes = fma_loop::bytes_of_chunk(chunk_fmas);

constexpr std::array<unsigned, 4> source_threads = {256, 512, 768, 1024};
constexpr std::array<unsigned, 11> more_threads = {32,  64,  128, 256, 384, 512,
                                                   640, 768, 832, 896, 1024};

// The columns of every sweep.
void add_rates(hipscope::Point& point, const hipscope::Measurement& time, unsigned threads,
               std::uint64_t fmas) {
  point.value("FMA rate", threads * static_cast<double>(fmas) / time.cycles(), "FMA/cycle");
  point.value("cycles per FMA", time.cycles() / static_cast<double>(fmas), "cycles");
}

using SourceKernel = void (*)(float*, int);

// The sums of the first `checked` threads, counted from `first`.
void check_sums(hipscope::Point& point, const std::string& what, const DeviceBuffer<float>& sums,
                int first, unsigned checked) {
  const std::vector<float> results = sums.to_host();
  point.check(what, std::span(results).first(checked), [&](std::uint64_t thread) {
    return chain::exact_sum(first + static_cast<unsigned>(thread), source_loop::fmas);
  });
}

void measure_source(Sweep& sweep, const std::string& published_series, SourceKernel kernel,
                    std::span<const unsigned> blocks, std::uint64_t largest) {
  sweep.axis({.name = "block", .unit = "threads"});
  sweep.headline("FMA rate");
  sweep.compare(published_series);
  sweep.note("fsword73's loop; here each sum is stored, so that it can be checked");
  if (kernel == nested_kernel) {
    sweep.note("the inner loop is unrolled by a pragma, as his compiler did by itself");
  }
  for (const unsigned threads : blocks) {
    if (threads > largest) {
      break;
    }
    auto point = sweep.point("1x" + std::to_string(threads), threads);
    DeviceBuffer<float> sums(threads);
    const auto run = [&](int first, unsigned count) {
      launch(kernel, {.grid = dim3(1), .block = dim3(count)}, sums.data(), first);
    };
    run(0, threads);
    check_sums(point, "sum of every thread", sums, 0, threads);
    // These sums still grow with the last FMA.
    constexpr unsigned few = 8;
    sums.poison();
    run(source_loop::fmas, few);
    check_sums(point, "sums that tell the number of FMAs", sums, source_loop::fmas, few);
    add_rates(point, point.measure([&] { run(0, threads); }), threads, source_loop::fmas);
  }
}

using CountedKernel = void (*)(float*, Numbers, unsigned);

// As many rounds as hold at least `fmas` FMAs. `run_rounds` launches the kernel. Returns the cycles
// per FMA.
template <typename RunRounds>
double measure_rounds(hipscope::Point& point, unsigned fmas_per_round, unsigned threads,
                      std::uint64_t fmas, RunRounds run_rounds) {
  const auto rounds = static_cast<unsigned>((fmas + fmas_per_round - 1) / fmas_per_round);
  const std::uint64_t counted = std::uint64_t{rounds} * fmas_per_round;
  DeviceBuffer<float> output(threads);
  const auto run = [&] { run_rounds(output.data(), rounds); };
  run();
  const std::vector<float>& ends = ends_after(counted);
  point.check("end of every thread's FMA chain", output.to_host(),
              [&](std::uint64_t thread) { return ends[thread % start_values]; });
  const hipscope::Measurement time = point.measure(run);
  add_rates(point, time, threads, counted);
  return time.cycles() / static_cast<double>(counted);
}

double measure_counted(hipscope::Point& point, CountedKernel kernel, unsigned fmas_per_round,
                       unsigned threads, std::uint64_t fmas) {
  return measure_rounds(point, fmas_per_round, threads, fmas, [&](float* output, unsigned rounds) {
    launch(kernel, {.grid = dim3(1), .block = dim3(threads)}, output, numbers, rounds);
  });
}

template <unsigned Fmas>
void measure_threads(Sweep& sweep, std::span<const unsigned> blocks, std::uint64_t fmas) {
  sweep.axis({.name = "block", .unit = "threads"});
  sweep.headline("FMA rate");
  for (const unsigned threads : blocks) {
    auto point = sweep.point("1x" + std::to_string(threads), threads);
    measure_counted(point, counted_kernel<Fmas>, Fmas, threads, fmas);
  }
}

template <unsigned Fmas>
void measure_unroll(Sweep& sweep, unsigned threads, std::uint64_t fmas, Curve& curve) {
  constexpr unsigned longest_on_host = 256;
  if (!sweep.is_hardware() && Fmas > longest_on_host) {
    return;
  }
  constexpr unsigned bytes = Fmas * fma_loop::bytes_per_fma + loop_overhead_bytes;
  auto point = sweep.point(std::to_string(bytes), bytes);
  point.value("FMAs in the loop", Fmas, "FMAs");
  point.value("FMA share", 100.0 * Fmas / (Fmas + fma_loop::loop_instructions), "%");
  curve.push_back(
      {.x = bytes, .y = measure_counted(point, counted_kernel<Fmas>, Fmas, threads, fmas)});
}

template <unsigned... Fmas>
void measure_unrolls(Sweep& sweep, unsigned threads, std::uint64_t fmas, Curve& curve,
                     std::integer_sequence<unsigned, Fmas...> /*factors*/) {
  sweep.axis({.name = "loop", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  sweep.note(
      "bytes and FMA share are of 16-byte instructions, three of them the loop's own: so it is "
      "in nvcc 13's code for sm_90");
#endif
  sweep.headline("FMA rate");
  (measure_unroll<Fmas>(sweep, threads, fmas, curve), ...);
}

// The loop of N chunks, for each N of `lengths`.
void measure_lengths(Sweep& sweep, unsigned threads, std::uint64_t fmas,
                     std::span<const unsigned> lengths) {
  sweep.axis({.name = "loop", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("FMA rate");
  sweep.note("each " + std::to_string(chunk_fmas) +
             " FMAs are followed by a count and a branch, which the bytes hold");
  for (const unsigned chunks : lengths) {
    const unsigned bytes = chunks * chunk_bytes + loop_overhead_bytes;
    auto point = sweep.point(std::to_string(bytes), bytes);
    measure_rounds(point, chunks * chunk_fmas, threads, fmas, [&](float* output, unsigned rounds) {
      launch(chunked_kernel, {.grid = dim3(1), .block = dim3(threads)}, output, numbers, chunks,
             rounds);
    });
  }
}

// Is the loop of chunks as fast as a compiled one of its length? Under a checker, where sweeps
// edge-N find no end, only this sweep runs the loop: with few chunks more than once around, and
// with all.
void measure_chunks(Sweep& sweep, std::uint64_t fmas) {
  constexpr unsigned most_on_host = 4;
  const unsigned most = sweep.is_hardware() ? most_chunks : most_on_host;
  measure_lengths(sweep, fma_loop::edge_threads.back(), fmas, hipscope::powers_of_two_up_to(most));
}

// Looks closer at where sweep unroll-N has found the end of full speed.
void measure_edge(Sweep& sweep, unsigned threads, std::uint64_t fmas, const Curve& coarse) {
  std::vector<unsigned> lengths = fma_loop::edge_chunks(coarse, chunk_bytes, most_chunks);
  if (!sweep.is_hardware()) {
    lengths = {1, 2, 3};  // there is nothing to find
  }
  if (lengths.empty()) {
    sweep.note("sweep " + fma_loop::unroll_name(threads) +
               " was left out or shows no end that chunks reach: there is nothing to refine");
    return;
  }
  measure_lengths(sweep, threads, fmas, lengths);
}

// Up to 256 KiB on NVIDIA and 128 KiB on AMD: more than any known instruction cache next to a CU.
// Close together about 32 KiB and 64 KiB of AMD's (of 8 bytes an FMA) and 128 KiB of NVIDIA's.
using UnrollFactors = std::integer_sequence<unsigned, 1, 2, 4, 8, 16, 32, 64, 100, 128, 192, 256,
                                            384, 512, 768, 1024, 1536, 2048, 3072, 3584, 4000, 4096,
                                            4608, 6144, 7168, 8000, 8192, 9216, 12288, 16384>;

template <unsigned Fmas, int... Paddings>
void measure_alignment(Sweep& sweep, std::uint64_t fmas,
                       std::integer_sequence<int, Paddings...> /*paddings*/) {
  constexpr unsigned threads = 256;
  sweep.axis({.name = "padding", .unit = "bytes"});
  sweep.headline("FMA rate");
  if (!sweep.is_hardware()) {
    sweep.note("the host backend has no padding: all rows run the same code");
  }
  const auto measure_padding = [&](CountedKernel kernel, unsigned padding) {
    const unsigned bytes = padding * padding_bytes;
    auto point = sweep.point(std::to_string(bytes), bytes);
    measure_counted(point, kernel, Fmas, threads, fmas);
  };
  (measure_padding(padded_kernel<Paddings, Fmas>, Paddings), ...);
}

using Paddings = std::make_integer_sequence<int, 16>;

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
      "dependent FMAs per thread, but for simple, unroll-pragma-100, nested and more-threads, "
      "whose count is compiled in",
      {.gpu = 1'000'000, .quick = 100'000, .host = 512, .minimum = 1, .maximum = 1U << 28});
  // A checker would take long for millions of FMAs of every wave.
  const auto largest = experiment.size(
      "--largest-source-block", "threads of the largest block of those four",
      {.gpu = 1024, .quick = 1024, .host = 1024, .tiny = 256, .minimum = 256, .maximum = 1024});
  const auto add_source = [&](const std::string& name, const std::string& title,
                              const std::string& series, SourceKernel kernel,
                              std::span<const unsigned> blocks,
                              hipscope::InTiny in_tiny = hipscope::InTiny::measured) {
    experiment.sweep(
        name, title, [=](Sweep& sweep) { measure_source(sweep, series, kernel, blocks, largest); },
        in_tiny);
  };
  add_source("simple", "plain loop, cut by the compiler as it likes", "simple", simple_kernel,
             source_threads);
  add_source("unroll-pragma-100", "plain loop, unrolled by 100", "unroll 100", unroll_100_kernel,
             source_threads);
  add_source("nested", "outer loop around 100 FMAs", "nested 100x10000", nested_kernel,
             source_threads);
  add_source("more-threads", "outer loop around 100 FMAs, more and more threads", "more threads",
             nested_kernel, more_threads, hipscope::InTiny::left_out);
  experiment.sweep("rolled", "one FMA per iteration, of one register and two constants",
                   [=](Sweep& sweep) { measure_threads<1>(sweep, source_threads, fmas); });
  experiment.sweep("one-register",
                   "100 FMAs per iteration, of one register and two constants, more threads",
                   [=](Sweep& sweep) { measure_threads<100>(sweep, more_threads, fmas); });
  std::map<unsigned, Curve>
      coarse;  // what sweeps unroll-N have found, for edge-N to look closer at
  for (const unsigned threads : fma_loop::unroll_threads) {
    experiment.sweep(fma_loop::unroll_name(threads),
                     "longer and longer loop, " + std::to_string(threads) + " threads",
                     [=, &coarse](Sweep& sweep) {
                       measure_unrolls(sweep, threads, fmas, coarse[threads], UnrollFactors{});
                     });
  }
  experiment.sweep("chunks",
                   "the loop of sweeps edge-N at any length, " +
                       std::to_string(fma_loop::edge_threads.back()) + " threads",
                   [=](Sweep& sweep) { measure_chunks(sweep, fmas); });
  for (const unsigned threads : fma_loop::edge_threads) {
    experiment.sweep(
        fma_loop::edge_name(threads),
        "finer lengths at the end of full speed, " + std::to_string(threads) + " threads",
        [=, &coarse](Sweep& sweep) { measure_edge(sweep, threads, fmas, coarse[threads]); });
  }
  experiment.sweep("alignment-16", "where a loop of 16 FMAs begins, 256 threads",
                   [=](Sweep& sweep) { measure_alignment<16>(sweep, fmas, Paddings{}); });
  experiment.sweep("alignment-100", "where a loop of 100 FMAs begins, 256 threads",
                   [=](Sweep& sweep) { measure_alignment<100>(sweep, fmas, Paddings{}); });
  experiment.conclude(fma_loop::conclude);
  return experiment.run(argc, argv);
}
