// Which way of writing a kernel saves registers, and what is that worth?
//
// A step of a two-phase lattice-Boltzmann model (model.h) takes 31 pointers and 22 scalars, reads
// 31 numbers per cell and writes 26: it keeps so much alive that registers decide how many waves
// fit on a CU (NVIDIA: SM). The step comes from AMD's lab note "Register pressure in AMD CDNA2
// GPUs". Each stage changes one thing (kernels.h; loops.h for 13):
//   01 to 05  the lab note's own: phi squared by pow; phi * phi; f0, which needs no velocity u,
//             updated before u is computed; __restrict__ on g14, and on g7 too
//   06, 07    a launch bound of 256: without one the compiler plans for blocks of 1024 threads; and
//             __restrict__ on all 31 pointers
//   08 to 10  ask for more waves than fit, so that the compiler spills; keep three forces and
//             three velocities in LDS, by hand; the same with nothing to spill
//   11, 12    the arguments in one object, passed by value; or in constant memory
//   13        all populations in one array: loops, unrolled, and not; an array of the values read,
//             indexed at run time, on the stack
// Memory bounds the step, so it is compared with a copy of as many bytes, and with a kernel that
// makes the same reads and writes. step.h has the step, stages.h the launches, lattice.h the grid
// and the check of every cell, reference.h the host's step. How full the CUs were is measured too
// (occupancy.h): each stage's kernel<true> records when and where each wave ran (recorder.h).
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lattice.h"
#include "occupancy.h"
#include "stages.h"

using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using namespace hipscope::register_pressure;  // NOLINT(google-build-using-namespace): this
                                              // experiment

namespace {

// --- The copy that a step is held against -----------------------------------------------------

constexpr unsigned copy_block = 256;

// The copy's input.
struct CopiedValue {
  __host__ __device__ double operator()(std::uint64_t i) const {
    return hipscope::random_bits(static_cast<unsigned>(i));
  }
};

// Values of 16 bytes.
__global__ void __launch_bounds__(copy_block)
    copy_kernel(const double* from, double* to, unsigned pairs) {
  const unsigned i = blockIdx.x * copy_block + threadIdx.x;
  if (i < pairs) {
    reinterpret_cast<double2*>(to)[i] = reinterpret_cast<const double2*>(from)[i];
  }
}

// Verifies and measures a copy of `bytes`, read and written ones together, or of as many as
// 32 bits count; returns its GB/s.
double measure_copy(const Sweep& sweep, Point& point, std::uint64_t bytes) {
  constexpr std::uint64_t most_pairs = 1U << 30;
  const auto pairs = static_cast<unsigned>(std::min(bytes / (2 * sizeof(double2)), most_pairs));
  const unsigned count = 2 * pairs;
  hipscope::DeviceBuffer<double> from(count);
  hipscope::DeviceBuffer<double> to(count);
  hipscope::fill_elements(sweep, from, CopiedValue{});
  const hipscope::LaunchShape shape = {.grid = dim3((pairs + copy_block - 1) / copy_block),
                                       .block = dim3(copy_block)};
  const auto run = [&] { hipscope::launch(copy_kernel, shape, from.data(), to.data(), pairs); };
  run();
  hipscope::verify_elements(sweep, point, "every element of the copy", to, count, CopiedValue{});
  const auto time = point.measure(run);
  return 2.0 * count * sizeof(double) * 1e-9 / time.seconds().median;
}

// --- Measuring --------------------------------------------------------------------------------

// The box of which a measured grid consists: its cells are the ones that the host computes.
constexpr Extents measured_box = {.x = 8, .y = 8, .z = 8};

struct Sizes {
  Extents extents;
  unsigned steps;  // that are verified

  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(extents.cells()) * moved_bytes;
  }
};

// Kernels find an element of two halves by 32 bits, of which one is the sign.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 31;

// Throws UsageError when the grid is not one of whole boxes, or too large.
Sizes sizes_of(std::uint64_t nx, std::uint64_t ny, std::uint64_t nz, std::uint64_t steps) {
  if (nx % measured_box.x != 0 || ny % measured_box.y != 0 || nz % measured_box.z != 0) {
    throw hipscope::UsageError("--nx, --ny and --nz must be multiples of 8");
  }
  const Extents extents = {
      .x = static_cast<int>(nx), .y = static_cast<int>(ny), .z = static_cast<int>(nz)};
  // Each is at most 2^15, so that this is exact, and an over-estimate of what a grid takes.
  const double padded =
      static_cast<double>(nx + 18) * static_cast<double>(ny + 2) * static_cast<double>(nz + 3);
  if (2 * padded > static_cast<double>(most_elements)) {
    throw hipscope::UsageError(
        "--nx, --ny and --nz give a grid of more elements than 31 bits count");
  }
  return {.extents = extents, .steps = static_cast<unsigned>(steps)};
}

// On the host backend a fiber is a thread, and a small grid must still have several blocks.
Blocks blocks_on(const Sweep& sweep, unsigned threads = block_threads) {
  return sweep.is_hardware() ? blocks_of(threads) : Blocks{.threads = dim3(16, 2, 2)};
}

void verify_stage(Point& point, Lattice& lattice, const Stage& stage, const Blocks& blocks,
                  unsigned steps, const std::string& name = "") {
  verify(point, lattice, stage.work, steps, name,
         [&] { stage.step.run(lattice, blocks, nullptr); });
}

// Measures a step, without the fold; returns million cells per second.
double measure_rate(Point& point, Lattice& lattice, const Stage& stage, const Blocks& blocks,
                    const std::string& name = "time") {
  // After two steps both halves hold numbers.
  const auto time = point.measure(
      [&] {
        stage.step.run(lattice, blocks, nullptr);
        lattice.swap_halves();
      },
      {.name = name});
  return static_cast<double>(lattice.cells()) * 1e-6 / time.seconds().median;
}

double bandwidth_of(double million_updates) { return million_updates * 1e-3 * moved_bytes; }

void add_rate(Point& point, double million_updates) {
  point.value("updates", million_updates, "million/s");
  point.value("bandwidth", bandwidth_of(million_updates), "GB/s");
}

// --- Sweeps -----------------------------------------------------------------------------------

// What every sweep of a large grid begins with.
void begin(Sweep& sweep, const hipscope::Axis& axis, const Sizes& sizes,
           const std::string& note = "") {
  sweep.axis(axis);
  sweep.headline("updates");
  const Extents& n = sizes.extents;
  sweep.note(std::to_string(n.x) + " x " + std::to_string(n.y) + " x " + std::to_string(n.z) +
             " cells: " + number(static_cast<double>(sizes.bytes()) * 1e-6, 4) +
             " MB must move in a step, " + std::to_string(moved_bytes) + " bytes per cell");
  if (!note.empty()) {
    sweep.note(note);
  }
  sweep.require_memory(std::max(Lattice::bytes(n), sizes.bytes()), "--nz");
}

void measure_stages(Sweep& sweep, const Sizes& sizes) {
  begin(sweep, {.name = "stage"}, sizes);
  // The copy and the reads and writes alone come before the stages, of which the first is 1.
  double x = -1;
  auto copy_point = sweep.point("copy of as many bytes", x++);
  const double copy = measure_copy(sweep, copy_point, sizes.bytes());
  // A copy updates nothing; its row has the value so that the headline's column comes first.
  copy_point.value("updates", not_measured, "million/s");
  copy_point.value("bandwidth", copy, "GB/s");
  // The host backend's times tell nothing of a GPU's memory.
  const auto add_share = [&](Point& point, double bandwidth) {
    point.value("share of copy", sweep.is_hardware() ? 100 * bandwidth / copy : not_measured, "%");
  };
  add_share(copy_point, copy);

  Lattice lattice(sweep, sizes.extents, measured_box);
  set_constant_arguments(lattice);
  const Blocks blocks = blocks_on(sweep);
  std::vector<Stage> stages = ladder();
  stages.insert(stages.begin(), streams_stage());
  for (const Stage& stage : stages) {
    auto point = sweep.point(stage.name, x++);
    verify_stage(point, lattice, stage, blocks, sizes.steps);
    const double rate = measure_rate(point, lattice, stage, blocks);
    add_rate(point, rate);
    add_share(point, bandwidth_of(rate));
    add_resources(sweep, point, stage, blocks);
    add_achieved_occupancy(sweep, point, lattice, stage, blocks);
  }
  auto fold_point = sweep.point("fold of the halo", x);
  verify_stage(fold_point, lattice, unbounded_stage(), blocks, 2);
  fold_point.measure([&] { lattice.fold(); });
}

// The same kernel with fewer waves on each CU: small blocks, which take LDS that they do not use.
void measure_waves(Sweep& sweep, const Sizes& sizes, const Stage& stage) {
  begin(sweep, {.name = "waves", .unit = "per CU"}, sizes,
        "blocks of 64 threads, which take LDS so that fewer are in place");
  const std::uint32_t most_lds = allow_all_lds(sweep, stage.step.kernel);
  Lattice lattice(sweep, sizes.extents, measured_box);
  const Blocks without_lds = blocks_on(sweep, 64);
  const int most_blocks = resident_blocks(stage.step, without_lds);
  for (int wanted = 1; wanted <= most_blocks; ++wanted) {
    Blocks blocks = without_lds;
    blocks.lds_bytes = lds_for(stage, blocks, wanted, most_lds);
    if (resident_blocks(stage.step, blocks) != wanted) {
      continue;
    }
    const double waves = resident_waves(sweep, stage.step, blocks);
    auto point = sweep.point(number(waves, 4), waves);
    verify_stage(point, lattice, stage, blocks, sizes.steps);
    add_rate(point, measure_rate(point, lattice, stage, blocks));
    point.value("LDS taken", blocks.lds_bytes, "bytes/block");
  }
  give_back_lds(stage.step.kernel);
}

void measure_blocks(Sweep& sweep, const Sizes& sizes) {
  begin(sweep, {.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic}, sizes,
        "the stage with moved definitions and no launch bound");
  const Stage stage = unbounded_stage();
  const unsigned most = footprint_of(sweep, stage.step.kernel).largest_block;
  Lattice lattice(sweep, sizes.extents, measured_box);
  for (unsigned threads = 32; threads <= 1024; threads *= 2) {
    const Blocks blocks = blocks_of(threads);
    if (threads > most) {
      sweep.note("no block of " + std::to_string(threads) +
                 " threads: the kernel runs in blocks of " + std::to_string(most) + " at most");
      break;
    }
    auto point = sweep.point(std::to_string(threads), threads);
    verify_stage(point, lattice, stage, blocks, sizes.steps);
    add_rate(point, measure_rate(point, lattice, stage, blocks));
    point.value("resident", resident_waves(sweep, stage.step, blocks), "waves/CU");
  }
}

// The best step and its reads and writes alone, in blocks of other shapes: how much of a row of
// each array a block asks for, and how many rows.
void measure_block_shapes(Sweep& sweep, const Sizes& sizes) {
  begin(sweep, {.name = "block"}, sizes,
        "the stage with a bound and restrict on all, and the same reads and writes alone");
  const Stage step = restrict_all_stage();
  const Stage streams = streams_stage();
  Lattice lattice(sweep, sizes.extents, measured_box);
  double x = 0;
  for (const dim3 threads : {dim3(32, 1), dim3(64, 1), dim3(128, 1), dim3(256, 1), dim3(128, 2),
                             dim3(64, 4), dim3(32, 8)}) {
    const Blocks blocks = {.threads = threads};
    auto point = sweep.point(std::to_string(threads.x) + " x " + std::to_string(threads.y), ++x);
    verify_stage(point, lattice, step, blocks, 1);
    const double rate = measure_rate(point, lattice, step, blocks);
    verify_stage(point, lattice, streams, blocks, 1, "streams: ");
    const double alone = measure_rate(point, lattice, streams, blocks, "streams time");
    add_rate(point, rate);
    point.value("the same reads and writes", bandwidth_of(alone), "GB/s");
    point.value("resident", resident_waves(sweep, step.step, blocks), "waves/CU");
  }
}

// Grids that fill no block, and that are their own neighbours: every stage is verified, each cell
// by the host.
void measure_awkward(Sweep& sweep, unsigned steps, std::uint64_t most_cells) {
  sweep.axis({.name = "cells"});
  sweep.note("every stage is verified; the time is that of the last");
  std::vector<Extents> all = {{1, 1, 1},  {2, 3, 5},    {17, 5, 3}, {64, 4, 1},
                              {33, 2, 9}, {65, 31, 17}, {257, 3, 3}};
  std::erase_if(all, [&](const Extents& grid) {
    return static_cast<std::uint64_t>(grid.cells()) > most_cells;
  });
  const Blocks blocks = blocks_on(sweep);
  const std::vector<Stage> stages = ladder();
  double x = 0;
  for (const Extents& extents : all) {
    auto point = sweep.point(std::to_string(extents.x) + " x " + std::to_string(extents.y) + " x " +
                                 std::to_string(extents.z),
                             ++x);
    Lattice lattice(sweep, extents, extents);
    set_constant_arguments(lattice);
    for (const Stage& stage : stages) {
      verify_stage(point, lattice, stage, blocks, steps, stage.name + ": ");
    }
    measure_rate(point, lattice, stages.back(), blocks);
    point.value("stages", static_cast<double>(stages.size()), "verified");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "register_pressure",
      {.question = "Which way of writing a kernel saves registers, and what is that worth?",
       .sources = {"AMD lab notes, Register pressure in AMD CDNA2 GPUs"}});
  // A grid has no more than 65535 blocks in y and z on NVIDIA.
  constexpr std::uint64_t most = 1U << 15;
  const auto nx =
      experiment.size("--nx", "cells in x, a multiple of 8",
                      {.gpu = 256, .quick = 128, .host = 16, .minimum = 8, .maximum = most});
  const auto ny =
      experiment.size("--ny", "cells in y, a multiple of 8",
                      {.gpu = 256, .quick = 128, .host = 8, .minimum = 8, .maximum = most});
  // Half of the memory, in layers of 256 x 256 cells.
  const double layer_bytes = 258.0 * 272 * array_count * sizeof(double);
  const auto nz = experiment.size("--nz", "cells in z, a multiple of 8",
                                  {.gpu = 256,
                                   .quick = 128,
                                   .host = 8,
                                   .minimum = 8,
                                   .maximum = most,
                                   .share_of_memory = 0.5 / layer_bytes});
  const auto steps =
      experiment.size("--steps", "verified steps",
                      {.gpu = 4, .quick = 3, .host = 3, .minimum = 2, .maximum = 1000});
  const auto most_awkward = experiment.size(
      "--largest-awkward", "most cells of sweep awkward",
      {.gpu = 1U << 16, .quick = 4096, .host = 600, .minimum = 1, .maximum = 1U << 20});
  const auto sizes = [=] { return sizes_of(nx, ny, nz, steps); };
  experiment.sweep("stages", "the same step in many forms",
                   [&](Sweep& sweep) { measure_stages(sweep, sizes()); });
  // A form that reads most numbers again, one that reads none again, and one of few registers.
  const auto waves_sweep = [&](const std::string& name, const Stage& stage) {
    experiment.sweep(name, stage.name + ", with fewer waves on each CU",
                     [=](Sweep& sweep) { measure_waves(sweep, sizes(), stage); });
  };
  waves_sweep("waves", bounded_stage());
  waves_sweep("waves-restrict", restrict_all_stage());
  waves_sweep("waves-loops", rolled_stage());
  experiment.sweep("blocks", "blocks of other sizes, no launch bound",
                   [&](Sweep& sweep) { measure_blocks(sweep, sizes()); });
  experiment.sweep("block-shapes", "the best step, in blocks of other shapes",
                   [&](Sweep& sweep) { measure_block_shapes(sweep, sizes()); });
  experiment.sweep("awkward", "grids at which a kernel may go wrong", [&](Sweep& sweep) {
    measure_awkward(sweep, static_cast<unsigned>(std::uint64_t{steps}), most_awkward);
  });
  return experiment.run(argc, argv);
}
