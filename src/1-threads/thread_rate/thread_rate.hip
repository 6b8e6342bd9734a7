// How fast does a GPU start threads?
//
// A kernel that does nothing still costs time: the dispatcher hands out blocks, and each block's
// waves (NVIDIA: warps) are set up on a compute unit (CU; NVIDIA: SM). Launch 2^30 threads, cut
// into blocks of 1, 2, 4 ... 1024. With small blocks the time halves whenever the block doubles: a
// fixed rate of blocks per cycle, however empty they are. With large blocks it may go flat: a fixed
// rate of threads per cycle, however they are grouped. To tell the two limits apart, findings.cpp
// fits t = max(blocks / block rate, threads / thread rate).
//
// The sweeps, the first three with blocks in a line (-1d), in squares (-2d) and in cubes (-3d):
//   null        the empty kernel
//   store       one dword stored per thread, which proves that every thread ran
//   registers   many registers reserved
//   block-size  the empty kernel in blocks that grow by 8 threads: its steps show the wave size
//   merge       what to do when a block must be small: more work per thread
//
// The question is that of fsword73 (HIP-Performance-Optmization-on-VEGA64, 2.1) and of matrixji
// (hip-performance-optimization-on-gfx1032), called the sources below.
#include <hipscope/elements.h>
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "findings.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Sweep;

namespace {

// The largest block on every GPU that HIP runs on.
constexpr unsigned largest_block = 1024;

// --- Kernels ----------------------------------------------------------------------------------

// (fsword73's has an argument, a pointer, that it does not use.)
__global__ void __launch_bounds__(largest_block) null_kernel() {}

__device__ unsigned thread_number() {
  const unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return blockIdx.x * (blockDim.x * blockDim.y * blockDim.z) + in_block;
}

// What thread `number` stores: differs per thread and seed, and is never the poison (0xFFFFFFFF)
// that a buffer holds before.
__host__ __device__ unsigned token(unsigned number, unsigned seed) {
  return (number ^ seed) & 0x7fffffffU;
}

__global__ void __launch_bounds__(largest_block) store_kernel(unsigned* output, unsigned seed) {
  const unsigned number = thread_number();
  output[number] = token(number, seed);
}

// What each element must be then.
struct Tokens {
  unsigned seed;
  __host__ __device__ unsigned operator()(std::uint64_t i) const {
    return token(static_cast<unsigned>(i), seed);
  }
};

// A block of 1024 threads leaves 64 registers per thread on gfx900 and on NVIDIA. This many live
// values need most of them.
constexpr int live_values = 48;

// Every value is used twice, in two passes, so all must stay in registers between them. The timed
// launches pass no input and leave at once: what they pay for is the reservation.
__global__ void __launch_bounds__(largest_block)
    many_registers_kernel(const float* input, float* output) {
  if (input == nullptr) {
    return;
  }
  float value[live_values];
#pragma unroll
  for (int i = 0; i < live_values; ++i) {
    value[i] = input[i * blockDim.x + threadIdx.x];
  }
  float sum = 0;
#pragma unroll
  for (int pass = 0; pass < 2; ++pass) {
#pragma unroll
    for (int i = 0; i < live_values; ++i) {
      sum = fmaf(sum, value[i], value[live_values - 1 - i]);
    }
  }
  output[threadIdx.x] = sum;
}

// Where the values of one thread are: side by side, or a block's row apart, so that each store of a
// wave covers neighbouring addresses.
enum class Layout { neighbours, rows };

// One thread stores `PerThread` values, up to four with one instruction.
template <int PerThread, Layout layout>
__global__ void __launch_bounds__(512) merged_store_kernel(unsigned* output, unsigned seed) {
  if constexpr (PerThread == 1) {
    const unsigned number = thread_number();
    output[number] = token(number, seed);
  } else if constexpr (PerThread == 2) {
    const unsigned number = thread_number() * 2;
    *reinterpret_cast<uint2*>(output + number) =
        make_uint2(token(number, seed), token(number + 1, seed));
  } else {
    const unsigned block_threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned in_block = thread_number() - blockIdx.x * block_threads;
    const unsigned block_start = blockIdx.x * block_threads * PerThread;
#pragma unroll
    for (unsigned i = 0; i < PerThread / 4; ++i) {
      const unsigned quad = layout == Layout::neighbours ? in_block * (PerThread / 4) + i
                                                         : i * block_threads + in_block;
      const unsigned number = block_start + 4 * quad;
      *reinterpret_cast<uint4*>(output + number) =
          make_uint4(token(number, seed), token(number + 1, seed), token(number + 2, seed),
                     token(number + 3, seed));
    }
  }
}

// --- Shapes -----------------------------------------------------------------------------------

unsigned volume(const dim3& block) { return block.x * block.y * block.z; }

std::string label(const dim3& block) {
  return std::to_string(block.x) + "x" + std::to_string(block.y) + "x" + std::to_string(block.z);
}

// As many blocks as hold at least `threads` threads. (Both sources round down. Where the block's
// size does not divide 2^30, they launch one block less, of more than a million.)
unsigned blocks_that_hold(std::uint64_t threads, const dim3& block) {
  return static_cast<unsigned>((threads + volume(block) - 1) / volume(block));
}

// The blocks of a sweep, a row for each: 1, 2, 4 ... threads in a line, or squares and cubes of 1,
// 2, 3 ... a side. In rising order, as findings need them.
std::vector<dim3> block_shapes(unsigned dimensions) {
  std::vector<dim3> blocks;
  for (unsigned n = 1;; n = dimensions == 1 ? 2 * n : n + 1) {
    const dim3 block(n, dimensions > 1 ? n : 1, dimensions > 2 ? n : 1);
    if (volume(block) > largest_block) {
      return blocks;
    }
    blocks.push_back(block);
  }
}

// --- Sweeps -----------------------------------------------------------------------------------

// The columns that every sweep over blocks has.
void add_rates(hipscope::Point& point, const hipscope::Measurement& time, double blocks,
               double threads) {
  point.value("launched", threads, "threads");
  point.value("block rate", blocks / time.cycles(), "blocks/cycle");
  point.value("thread rate", threads / time.cycles(), "threads/cycle");
}

void set_axis(Sweep& sweep) {
  sweep.axis({.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("thread rate");
}

void measure_null(Sweep& sweep, const std::vector<dim3>& blocks, std::uint64_t threads,
                  const std::string& published_series) {
  set_axis(sweep);
  sweep.compare(published_series);
  for (const dim3& block : blocks) {
    auto point = sweep.point(label(block), volume(block));
    const unsigned grid = blocks_that_hold(threads, block);
    const auto time =
        point.measure([&] { launch(null_kernel, {.grid = dim3(grid), .block = block}); });
    add_rates(point, time, grid, double(grid) * volume(block));
  }
}

void measure_store(Sweep& sweep, const std::vector<dim3>& blocks, std::uint64_t threads) {
  set_axis(sweep);
  sweep.require_memory((threads + largest_block) * sizeof(unsigned), "--work-threads");
  DeviceBuffer<unsigned> output(threads + largest_block);
  const auto seed = static_cast<unsigned>(sweep.seed());
  for (const dim3& block : blocks) {
    auto point = sweep.point(label(block), volume(block));
    const unsigned grid = blocks_that_hold(threads, block);
    const auto run = [&] {
      launch(store_kernel, {.grid = dim3(grid), .block = block}, output.data(), seed);
    };
    const std::uint64_t launched = std::uint64_t{grid} * volume(block);
    output.poison();
    run();
    hipscope::verify_elements(sweep, point, "every thread stored its token", output, launched,
                              Tokens{seed});
    const auto time = point.measure(run);
    add_rates(point, time, grid, static_cast<double>(launched));
    point.value("stores",
                static_cast<double>(launched * sizeof(unsigned)) * 1e-9 / time.seconds().median,
                "GB/s");
  }
}

// One launch that does not leave early must compute what the host computes, to the last bit: both
// round an fma once.
void verify_many_registers(hipscope::Point& point, unsigned threads, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform(0.5F, 1.0F);
  std::vector<float> input(std::size_t{live_values} * threads);
  std::generate(input.begin(), input.end(), [&] { return uniform(random); });
  const DeviceBuffer<float> device_input{std::span<const float>(input)};
  const DeviceBuffer<float> output(threads);
  launch(many_registers_kernel, {.grid = dim3(1), .block = dim3(threads)}, device_input.data(),
         output.data());
  point.check("sums of the values held in registers", output.to_host(), [&](std::uint64_t thread) {
    float sum = 0;
    for (int step = 0; step < 2 * live_values; ++step) {
      const int i = step % live_values;
      sum = std::fma(sum, input[std::size_t(i) * threads + thread],
                     input[std::size_t(live_values - 1 - i) * threads + thread]);
    }
    return sum;
  });
}

void measure_many_registers(Sweep& sweep, const std::vector<dim3>& blocks, std::uint64_t threads) {
  set_axis(sweep);
  hipFuncAttributes attributes{};
  hipscope::check(
      hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&many_registers_kernel)));
  sweep.note("the runtime reports " + std::to_string(attributes.numRegs) +
             " registers per thread for this kernel");
  for (const dim3& block : blocks) {
    auto point = sweep.point(label(block), volume(block));
    const unsigned grid = blocks_that_hold(threads, block);
    verify_many_registers(point, volume(block), sweep.seed());
    const auto time = point.measure([&] {
      launch(many_registers_kernel, {.grid = dim3(grid), .block = block}, nullptr, nullptr);
    });
    add_rates(point, time, grid, double(grid) * volume(block));
  }
}

// A fixed number of blocks that grow in steps of 8 threads: where the time depends on waves it is a
// staircase, one step per wave.
void measure_block_size(Sweep& sweep, std::uint64_t blocks) {
  constexpr unsigned step = 8;
  sweep.axis({.name = "block", .unit = "threads"});
  sweep.headline("cycles per block");
  for (unsigned threads = step; threads <= largest_block; threads += step) {
    auto point = sweep.point(std::to_string(threads), threads);
    const auto time = point.measure([&] {
      launch(null_kernel, {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(threads)});
    });
    point.value("cycles per block", time.cycles() / static_cast<double>(blocks), "cycles");
    point.value("resident", hipscope::resident_blocks(null_kernel, threads), "blocks/CU");
  }
}

template <int PerThread, Layout layout = Layout::neighbours>
void measure_merged(Sweep& sweep, const dim3& block, const DeviceBuffer<unsigned>& output,
                    std::uint64_t values) {
  const std::string suffix = layout == Layout::rows ? " in rows" : "";
  auto point = sweep.point(std::to_string(PerThread) + suffix, PerThread);
  const unsigned grid = blocks_that_hold((values + PerThread - 1) / PerThread, block);
  const auto seed = static_cast<unsigned>(sweep.seed());
  const auto run = [&] {
    launch(merged_store_kernel<PerThread, layout>, {.grid = dim3(grid), .block = block},
           output.data(), seed);
  };
  const std::uint64_t stored = std::uint64_t{grid} * volume(block) * PerThread;
  hipscope::check(hipMemset(output.data(), hipscope::poison_byte, stored * sizeof(unsigned)));
  run();
  hipscope::verify_elements(sweep, point, "every value stored", output, stored, Tokens{seed});
  const auto time = point.measure(run);
  point.value("blocks", grid, "blocks");
  point.value("value rate", static_cast<double>(stored) / time.cycles(), "values/cycle");
  point.value("stores",
              static_cast<double>(stored * sizeof(unsigned)) * 1e-9 / time.seconds().median,
              "GB/s");
}

// The advice of fsword73's 2.1.2 for a block that must be small: one thread does the work of four;
// here of 1 to 16. `values` is what the store sweeps call threads, as each stores one.
void measure_merge(Sweep& sweep, const dim3& block, std::uint64_t values) {
  sweep.axis({.name = "values per thread", .scale = hipscope::Scale::logarithmic});
  sweep.note(
      "a thread's values are side by side, or in rows: a quad of values, then the next "
      "quad after all the block's first quads");
  sweep.headline("value rate");
  constexpr unsigned most_per_thread = 16;
  const std::uint64_t most_values = values + std::uint64_t{volume(block)} * most_per_thread;
  sweep.require_memory(most_values * sizeof(unsigned), "--work-threads");
  const DeviceBuffer<unsigned> output(most_values);
  measure_merged<1>(sweep, block, output, values);
  measure_merged<2>(sweep, block, output, values);
  measure_merged<4>(sweep, block, output, values);
  measure_merged<8>(sweep, block, output, values);
  measure_merged<16>(sweep, block, output, values);
  measure_merged<8, Layout::rows>(sweep, block, output, values);
  measure_merged<16, Layout::rows>(sweep, block, output, values);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "thread_rate",
      {.question = "How fast does the GPU start threads: is the limit the rate of threads or of "
                   "blocks?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.1 (examples 1a to 1d)",
                   "matrixji/hip-performance-optimization-on-gfx1032"}});
  constexpr std::uint64_t most_threads = (1ULL << 31) - largest_block;
  const auto threads = experiment.size("--threads", "threads per launch of the empty kernel",
                                       {.gpu = 1ULL << 30,
                                        .quick = 1ULL << 24,
                                        .host = 1ULL << 12,
                                        .tiny = 4095,
                                        .minimum = 1,
                                        .maximum = most_threads});
  const auto work_threads = experiment.size(
      "--work-threads",
      "threads per launch of sweeps store and registers; values of 4 bytes in sweep merge",
      {.gpu = 1ULL << 28,
       .quick = 1ULL << 22,
       .host = 1ULL << 12,
       .tiny = 4095,
       .minimum = 1,
       .maximum = most_threads});
  const auto blocks = experiment.size("--blocks", "blocks per launch of sweep block-size",
                                      {.gpu = 1ULL << 20,
                                       .quick = 1ULL << 16,
                                       .host = 4,
                                       .minimum = 1,
                                       .maximum = most_threads / largest_block});

  const auto add = [&](const std::string& kernel, const std::string& title, auto measure) {
    constexpr std::array<const char*, 3> shapes = {"1-D", "n x n", "n x n x n"};
    for (unsigned dimensions = 1; dimensions <= shapes.size(); ++dimensions) {
      // The published series have the same names.
      const std::string series = std::to_string(dimensions) + "d";
      experiment.sweep(kernel + "-" + series, title + ", " + shapes[dimensions - 1] + " blocks",
                       [=](Sweep& sweep) { measure(sweep, block_shapes(dimensions), series); });
    }
  };
  using Blocks = std::vector<dim3>;
  add("null", "empty kernel",
      [=](Sweep& sweep, const Blocks& shapes, const std::string& published_series) {
        measure_null(sweep, shapes, threads, published_series);
      });
  add("store", "one dword stored per thread",
      [=](Sweep& sweep, const Blocks& shapes, const std::string& /*series*/) {
        measure_store(sweep, shapes, work_threads);
      });
  add("registers", "many registers reserved",
      [=](Sweep& sweep, const Blocks& shapes, const std::string& /*series*/) {
        measure_many_registers(sweep, shapes, work_threads);
      });
  experiment.sweep("block-size", "empty kernel, a fixed number of blocks of 8 ... 1024 threads",
                   [&](Sweep& sweep) { measure_block_size(sweep, blocks); });
  experiment.sweep("merge-64", "stores by blocks of 64x1x1, more and more values per thread",
                   [&](Sweep& sweep) { measure_merge(sweep, dim3(64), work_threads); });
  experiment.sweep("merge-512", "stores by blocks of 32x16x1, more and more values per thread",
                   [&](Sweep& sweep) { measure_merge(sweep, dim3(32, 16), work_threads); });

  experiment.conclude(thread_rate::conclude);
  return experiment.run(argc, argv);
}
