// How many compute units does the GPU have, and how many blocks fit on one at once?
//
// Launch 1, 2, 3 ... blocks of the same work. Each goes to a compute unit (CU; NVIDIA: streaming
// multiprocessor, SM) of its own while there are any left, so the time stays flat; one block more
// than there are CUs must share, and if one block keeps a CU's FMA units busy the time doubles.
// Where it doubles is the number of CUs. A block too small to fill a CU shares it for free, so with
// small blocks the step comes later: that is what the four block sizes show.
//
// How many blocks fit at once is another question, asked with blocks that hold their place for a
// fixed time and do not compete for anything else: one thread watches the clock, the others wait at
// a barrier. Their time is flat until every place of the GPU is taken.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;

// x -> addend - factor * x jumps about its fixed point, addend / 2, and nears it so slowly that a
// chain keeps its memory: another start or another length ends elsewhere. Both are literals in the
// instruction: as registers they can cost half the rate (an H200 ran FFMA R0, R0, R2, R3 at 59 per
// cycle and SM, with a literal at 104).
constexpr float factor = 1.0F - 0x1p-20F;
constexpr float addend = 1.0F;

// Threads start from so many different values. A prime, so that blocks differ from each other, and
// a block that ran for another shows.
constexpr unsigned start_values = 61;

__host__ __device__ float start_value(unsigned number) {
  return static_cast<float>(number % start_values) / start_values;
}

// --- Kernels ----------------------------------------------------------------------------------

// `fmas` dependent FMAs.
__device__ float fma_chain(float x, unsigned fmas) {
#pragma unroll 16
  for (unsigned i = 0; i < fmas; ++i) {
    x = fmaf(x, -factor, addend);
  }
  return x;
}

// Every thread computes.
__global__ void __launch_bounds__(largest_block) busy_kernel(float* output, unsigned fmas) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  output[number] = fma_chain(start_value(number), fmas);
}

// Gives the issue slots to others for a while. Without it the clock-watching loops of 24 waves on
// one SM of an H200 delay the blocks that come after them by half the hold time.
__device__ void pause() {
#if defined(__CUDA_ARCH__)
  __nanosleep(200);
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_sleep(4);  // 4 x 64 cycles
#endif
}

// Holds its place for `hold` cycles of its own CU's counter, whatever else runs there, and stores
// how long it was; the other threads wait at the barrier. A turn of the loop takes more than one
// cycle, so its count ends a wait by a counter that stands still.
__global__ void __launch_bounds__(largest_block) waiting_kernel(long long* held, long long hold) {
  if (threadIdx.x == 0) {
    CycleClock<> clock;
    clock.start();
    for (long long turn = 0; turn < hold && clock.elapsed() < hold; ++turn) {
      pause();
      clock.stop();
    }
    held[blockIdx.x] = clock.elapsed();
  }
  __syncthreads();
}

// --- Reference --------------------------------------------------------------------------------

// The chain's end for each start value. Host and device round an fma once, so they must agree to
// the last bit.
std::vector<float> reference(std::uint64_t fmas) {
  std::vector<float> ends(start_values);
  for (unsigned i = 0; i < start_values; ++i) {
    float x = start_value(i);
    for (std::uint64_t step = 0; step < fmas; ++step) {
      x = std::fma(x, -factor, addend);
    }
    ends[i] = x;
  }
  return ends;
}

std::uint64_t count_wrong(const DeviceBuffer<float>& output, std::size_t count,
                          const std::vector<float>& ends) {
  const std::vector<float> results = output.to_host();
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong += results[i] == ends[i % start_values] ? 0 : 1;
  }
  return wrong;
}

// --- Sweeps -----------------------------------------------------------------------------------

void measure_staircase(Sweep& sweep, unsigned threads, std::uint64_t fmas) {
  sweep.axis({.name = "blocks"});
  sweep.headline("FMA rate");
  sweep.compare(std::to_string(threads) + " threads per block");
  const unsigned most_blocks = 2 * static_cast<unsigned>(sweep.device().compute_units) + 2;
  const std::vector<float> ends = reference(fmas);
  DeviceBuffer<float> output(std::size_t{most_blocks} * threads);
  for (unsigned blocks = 1; blocks <= most_blocks; ++blocks) {
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto run = [&] {
      launch(busy_kernel, {.grid = dim3(blocks), .block = dim3(threads)}, output.data(), fmas);
    };
    output.poison();
    run();
    const std::uint64_t results = std::uint64_t{blocks} * threads;
    point.verify("end of every thread's FMA chain", count_wrong(output, results, ends), results);
    const auto time = point.measure(run);
    point.value("FMA rate", static_cast<double>(results * fmas) / time.cycles(), "FMA/cycle");
    point.value("cycles", time.cycles(), "cycles");
  }
}

constexpr std::array<unsigned, 4> staircase_blocks = {256, 512, 768, 1024};
constexpr std::array<unsigned, 7> residency_blocks = {32, 64, 128, 256, 512, 768, 1024};

// More blocks than this share no CU of any GPU so far.
constexpr unsigned most_resident_blocks = 64;

int occupancy(unsigned threads) {
  int blocks = 0;
  hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, waiting_kernel,
                                                               static_cast<int>(threads), 0));
  return blocks;
}

void measure_residency(Sweep& sweep, unsigned threads, std::uint64_t hold) {
  sweep.axis({.name = "blocks"});
  sweep.headline("cycles");
  // Quarters of the driver's number of CUs are close enough to tell whole blocks per CU apart.
  const auto compute_units = static_cast<unsigned>(sweep.device().compute_units);
  constexpr unsigned points_per_block = 4;
  const unsigned most_points = sweep.is_hardware() ? most_resident_blocks * points_per_block : 4;
  const unsigned most_blocks = (most_resident_blocks + 1) * compute_units;
  DeviceBuffer<long long> held(most_blocks);
  sweep.note("the runtime's occupancy calculator says " + std::to_string(occupancy(threads)) +
             " blocks per CU");
  const bool counts_cycles = sweep.device().cycle_counter_bits > 0;
  std::optional<double> shortest;
  for (unsigned i = 1; i <= most_points; ++i) {
    const unsigned blocks =
        std::max(i, (i * compute_units + points_per_block - 1) / points_per_block);
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto run = [&] {
      launch(waiting_kernel, {.grid = dim3(blocks), .block = dim3(threads)}, held.data(),
             static_cast<long long>(hold));
    };
    held.poison();
    run();
    const std::vector<long long> cycles = held.to_host();
    const auto least = static_cast<long long>(counts_cycles ? hold : 0);
    const auto wrong = std::count_if(cycles.begin(), cycles.begin() + blocks,
                                     [&](long long c) { return c < least; });
    point.verify("every block held its place long enough", static_cast<std::uint64_t>(wrong),
                 blocks);
    const auto time = point.measure(run);
    point.value("cycles", time.cycles(), "cycles");
    const double seconds = time.seconds().median;
    shortest = shortest ? std::min(*shortest, seconds) : seconds;
    constexpr double doubled = 1.7;
    if (sweep.is_hardware() && seconds > doubled * *shortest) {
      break;
    }
  }
}

std::string staircase_name(unsigned threads) { return "staircase-" + std::to_string(threads); }
std::string residency_name(unsigned threads) { return "resident-" + std::to_string(threads); }

// --- What the curves show ---------------------------------------------------------------------

constexpr double smallest_step = 1.5;

// The published staircase of the same block size, for the evidence.
std::vector<std::string> published_evidence(const hipscope::Results& results, unsigned threads) {
  std::vector<std::string> evidence;
  for (const auto& curve :
       results.published(std::to_string(threads) + " threads per block", "time")) {
    std::vector<hipscope::CurvePoint> points;
    for (const auto& [blocks, time] : curve.points) {
      points.push_back({.x = std::stod(blocks), .y = time});
    }
    if (const auto step = hipscope::find_first_step(points, smallest_step)) {
      evidence.push_back("published for " + curve.gpu + ": flat up to " +
                         number(step->last_flat_x) + " blocks, then " + number(step->ratio) +
                         " times as long");
    }
  }
  return evidence;
}

// The number of CUs, by the largest blocks: smaller ones may share a CU without a loss.
void infer_compute_units(hipscope::Results& results) {
  const auto curve = results.curve(staircase_name(largest_block), "cycles");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{.name = "compute units",
                                .unit = "CUs",
                                .statement = "the staircase does not show where CUs must be shared",
                                .driver = results.device().compute_units};
  if (const auto step = hipscope::find_first_step(curve, smallest_step)) {
    inference.value = step->last_flat_x;
    inference.confidence = step->confidence;
    inference.statement =
        "one block of 1024 threads more than " + number(step->last_flat_x, 5) + " must share a CU";
  }
  for (const unsigned threads : staircase_blocks) {
    const auto step =
        hipscope::find_first_step(results.curve(staircase_name(threads), "cycles"), smallest_step);
    if (step) {
      inference.evidence.push_back("blocks of " + std::to_string(threads) + ": no step up to " +
                                   number(step->last_flat_x, 5) + " blocks, " +
                                   number(step->next_x, 5) + " take " + number(step->ratio) +
                                   " times as long");
    }
  }
  for (const std::string& line : published_evidence(results, largest_block)) {
    inference.evidence.push_back(line);
  }
  results.infer(inference);
}

// Blocks that fit on one CU: those that fit on the GPU over its CUs, as the staircase tells their
// number, or else the driver.
void infer_residency(hipscope::Results& results, unsigned threads) {
  const auto curve = results.curve(residency_name(threads), "cycles");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "resident blocks of " + std::to_string(threads) + " threads",
      .unit = "blocks/CU",
      .statement = "the curve does not show where blocks must wait for a place",
      .driver = occupancy(threads)};
  if (const auto step = hipscope::find_first_step(curve, smallest_step)) {
    const auto staircase = hipscope::find_first_step(
        results.curve(staircase_name(largest_block), "cycles"), smallest_step);
    const double compute_units =
        staircase ? staircase->last_flat_x : results.device().compute_units;
    inference.value = std::floor(step->last_flat_x / compute_units);
    inference.confidence = step->confidence;
    inference.statement =
        number(*inference.value * threads, 5) + " threads are in place on one CU at once";
    inference.evidence = {
        "flat up to " + number(step->last_flat_x, 6) + " blocks, " + number(step->next_x, 6) +
            " take " + number(step->ratio) + " times as long",
        "on " + number(compute_units, 5) + " CUs, by " +
            (staircase ? "the staircase of blocks of 1024 threads" : "the driver")};
  }
  results.infer(inference);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "cu_staircase",
      {.question = "How many compute units does the GPU have, and how many blocks fit on one?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.2.5 (example 2e)"}});
  const auto fmas =
      experiment.size("--fmas", "dependent FMAs per thread",
                      {.gpu = 16384, .quick = 2048, .host = 64, .minimum = 1, .maximum = 1U << 20});
  const auto hold = experiment.size(
      "--hold", "cycles for which a waiting block holds its place",
      {.gpu = 65536, .quick = 8192, .host = 1000, .minimum = 1, .maximum = 1U << 30});
  for (const unsigned threads : staircase_blocks) {
    experiment.sweep(staircase_name(threads),
                     "busy blocks of " + std::to_string(threads) + " threads",
                     [=](Sweep& sweep) { measure_staircase(sweep, threads, fmas); });
  }
  for (const unsigned threads : residency_blocks) {
    experiment.sweep(residency_name(threads),
                     "waiting blocks of " + std::to_string(threads) + " threads",
                     [=](Sweep& sweep) { measure_residency(sweep, threads, hold); });
  }
  experiment.conclude([](hipscope::Results& results) {
    infer_compute_units(results);
    for (const unsigned threads : residency_blocks) {
      infer_residency(results, threads);
    }
  });
  return experiment.run(argc, argv);
}
