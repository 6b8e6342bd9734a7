// What does a GPU do after minutes of the same work?
//
// A benchmark of milliseconds sees a cool chip at its highest clock. Under load the clock follows
// power, in milliseconds, and then temperature, in minutes. Two kinds of work, matrix instructions
// with random operands and a stream through memory, run without a pause. Each row is a second (in
// the first second a tenth): the rate, the cycles of a launch by the GPU's own counter, and the
// clock, their quotient. When only the shader clock drops, the cycles stay the same; when memory or
// its clock slows down, they rise.
//
// Every row's results are compared with those of the first launch, which is verified: that finds a
// device that computes wrongly when it is hot.
#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "findings.h"
#include "hipscope/matrix/kernels.h"
#include "rows.h"

namespace soak {
namespace {

using hipscope::WaveTime;
using matrix_rate::Instruction;

// --- Kernels ----------------------------------------------------------------------------------

constexpr unsigned stream_block = 1024;
constexpr unsigned stream_loads = 4;  // of 16 bytes, by each thread, in flight at once

// Every thread adds up what it reads; all together read the data once in each round.
__global__ void __launch_bounds__(stream_block, 1)
    stream_kernel(const uint4* data, std::size_t quads, unsigned* sums, WaveTime* times,
                  unsigned rounds) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
  hipscope::CycleClock clock;
  clock.start();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll 1
    for (std::size_t i = thread; i < quads; i += stream_loads * threads) {
      uint4 loaded[stream_loads];
#pragma unroll
      for (unsigned load = 0; load < stream_loads; ++load) {
        loaded[load] = hipscope::load<hipscope::Hint::past_l1>(data + i + load * threads);
      }
#pragma unroll
      for (const uint4& one : loaded) {
        sum += one.x + one.y;
        sum += one.z + one.w;
      }
      clock.lap();
    }
  }
  clock.stop();
  sums[thread] = sum;
  if (threadIdx.x % warpSize == 0) {
    times[thread / warpSize] = {.start = clock.started(), .end = clock.ended()};
  }
}

// --- The two kinds of work --------------------------------------------------------------------

// Halves with sums in single precision, where there is such an instruction, else FMAs.
template <typename Code>
void add_if_wanted(std::vector<Instruction>& list) {
  constexpr std::string_view format = Code::format;
  if constexpr (format == "FP16" || format == "FP32 vector") {
    list.push_back(matrix_rate::with_multiply_kernel<Code, true>());
  }
}

Instruction instruction_of(const hipscope::DeviceDescription& device) {
  std::vector<Instruction> list;
  matrix_rate::visit_instructions(
      device, [&]<typename Code>(const Code* /*type*/) { add_if_wanted<Code>(list); });
  return *std::max_element(
      list.begin(), list.end(),
      [](const Instruction& a, const Instruction& b) { return a.fmas() <= b.fmas(); });
}

void measure_multiply(Sweep& sweep, std::uint64_t milliseconds, double launch_seconds) {
  const Instruction instruction = instruction_of(sweep.device());
  sweep.note(instruction.title() + ", random operands, on every CU");
  auto launcher = matrix_rate::full_launcher(sweep, instruction, matrix_rate::Data::random);
  const unsigned rounds = hipscope::rounds_for(sweep.is_hardware() ? launch_seconds : 0,
                                               [&](unsigned wanted) { launcher.run(wanted); });
  std::optional<FirstResult> first;
  const double flops = 2 * matrix_rate::fmas_of_launch(instruction, launcher, rounds);
  run_for(sweep,
          {.begin =
               [&](Point& point) {
                 launcher.verify(point);
                 launcher.run(rounds);
                 first.emplace(launcher.sums().data(), launcher.sums().size());
               },
           .run = [&] { launcher.run(rounds); },
           .cycles = [&](Point& point) { return launcher.cycles_of_launch(point); },
           .verify_last = [&](Point& point) { first->verify(point); },
           .per_launch = flops,
           .rate_scale = 1e12,
           .rate_unit = "TFLOP/s"},
          milliseconds);
}

void measure_stream(Sweep& sweep, std::uint64_t milliseconds, double launch_seconds,
                    std::uint64_t footprint) {
  sweep.note("all CUs together read the data again and again, past L1");
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const unsigned block = sweep.is_hardware() ? stream_block : 64;
  const std::uint64_t step = std::uint64_t{units} * block * stream_loads * sizeof(uint4);
  const std::uint64_t bytes = std::max(step, footprint / step * step);
  sweep.require_memory(bytes, "--footprint");
  // Random words that repeat: the host adds up one piece of them.
  std::vector<unsigned> piece(step / sizeof(unsigned));
  const unsigned key = hipscope::key_of(sweep.seed());
  for (std::size_t i = 0; i < piece.size(); ++i) {
    piece[i] = hipscope::random_bits(static_cast<unsigned>(i) + key);
  }
  DeviceBuffer<unsigned> data(bytes / sizeof(unsigned));
  for (std::uint64_t at = 0; at < bytes; at += step) {
    hipscope::check(
        hipMemcpy(data.data() + at / sizeof(unsigned), piece.data(), step, hipMemcpyHostToDevice));
  }
  DeviceBuffer<unsigned> sums(std::size_t{units} * block);
  hipscope::WaveTimes times(units * block / static_cast<unsigned>(sweep.device().wave_size));
  const auto run = [&](unsigned rounds) {
    launch(stream_kernel, {.grid = dim3(units), .block = dim3(block)},
           static_cast<const uint4*>(static_cast<const void*>(data.data())), bytes / sizeof(uint4),
           sums.data(), times.next(), rounds);
  };
  const unsigned rounds = hipscope::rounds_for(sweep.is_hardware() ? launch_seconds : 0, run);
  const unsigned of_piece = std::accumulate(piece.begin(), piece.end(), 0U);
  run_for(sweep,
          {.begin = [](Point& /*point*/) {},
           .run = [&] { run(rounds); },
           .cycles = [&](Point& point) { return times.take_of_each(point); },
           .verify_last =
               [&](Point& point) {
                 const std::vector<unsigned> made = sums.to_host();
                 const unsigned total = std::accumulate(made.begin(), made.end(), 0U);
                 const auto pieces = static_cast<unsigned>(bytes / step);
                 point.check_value("sum of all bytes", total, rounds * pieces * of_piece);
               },
           .per_launch = static_cast<double>(bytes) * rounds,
           .rate_scale = 1e9,
           .rate_unit = "GB/s"},
          milliseconds);
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment("soak",
                                  {.question = "What does a GPU do after minutes of the same work?",
                                   .sources = {"hipscope's own"}});
  const auto milliseconds = experiment.size(
      "--milliseconds", "milliseconds of each kind of work",
      {.gpu = 60'000, .quick = 5'000, .host = 1, .minimum = 1, .maximum = 86'400'000});
  const auto launch_time = experiment.size(
      "--launch", "microseconds of one launch (approximate)",
      {.gpu = 10'000, .quick = 10'000, .host = 1, .minimum = 1, .maximum = 1'000'000});
  const auto footprint = experiment.size("--footprint", "bytes read by the stream",
                                         {.gpu = std::uint64_t{1} << 30,
                                          .quick = std::uint64_t{1} << 30,
                                          .host = std::uint64_t{1} << 14,
                                          .minimum = sizeof(uint4),
                                          .maximum = std::uint64_t{1} << 36,
                                          .share_of_memory = 0.25});
  constexpr double micro = 1e-6;
  experiment.sweep("multiply", "matrix instructions, for minutes", [=](Sweep& sweep) {
    measure_multiply(sweep, milliseconds, micro * static_cast<double>(launch_time));
  });
  experiment.sweep("stream", "a stream through memory, for minutes", [=](Sweep& sweep) {
    measure_stream(sweep, milliseconds, micro * static_cast<double>(launch_time), footprint);
  });
  experiment.conclude([](hipscope::Results& results) { conclude(results); });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace soak

int main(int argc, char** argv) { return soak::run(argc, argv); }
