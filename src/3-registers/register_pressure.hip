// Which way of writing a kernel saves registers, and what is that worth?
//
// A step of a two-phase lattice-Boltzmann model (register_pressure_model.h) takes 31 pointers and
// 21 scalars, reads 31 numbers per cell and writes 26: it keeps so much alive that registers decide
// how many waves fit on a CU (NVIDIA: SM). The same step in many forms, each of which changes one
// thing:
//   baseline: phi squared by pow, f updated after u, no restrict, no launch bound
//   no pow: phi * phi
//   definitions moved: f0, which needs no u, is updated before u is computed
//   restrict on g14, g7: so the compiler may keep what it has read of them
//   launch bound of 256: without one the compiler plans for blocks of 1024 threads
//   bound, restrict on all: of all 31 pointers
//   bound, more waves: the bound asks for more waves than fit by themselves, so values are spilled
//   bound, more waves, LDS: three forces and three velocities wait in LDS, by hand
//   bound, LDS: the same where nothing would be spilled
//   arguments in one object: passed by value
//   arguments in constant memory: the same object, which the kernel finds there
//   loops, unrolled: over populations that are numbers of one array
//   loops: the same, not unrolled
//   loops, array on the stack: what was read is kept in an array that is indexed at run time
// The step is bound by memory: it is held against a copy of as many bytes, and against a kernel
// that makes the same reads and writes. register_pressure_kernels.h has the kernels,
// register_pressure_stages.h their launches, register_pressure_lattice.h the grid and the check of
// every cell, register_pressure_reference.h the host's step, register_pressure_inference.h what the
// curves show.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "register_pressure_copy.h"
#include "register_pressure_inference.h"
#include "register_pressure_lattice.h"
#include "register_pressure_stages.h"

using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::register_pressure::block_threads;
using hipscope::register_pressure::Blocks;
using hipscope::register_pressure::blocks_of;
using hipscope::register_pressure::bounded_stage;
using hipscope::register_pressure::copy_x;
using hipscope::register_pressure::Extents;
using hipscope::register_pressure::infer_best;
using hipscope::register_pressure::infer_changes;
using hipscope::register_pressure::infer_waves;
using hipscope::register_pressure::ladder;
using hipscope::register_pressure::Lattice;
using hipscope::register_pressure::make_model;
using hipscope::register_pressure::measure_copy;
using hipscope::register_pressure::moved_bytes;
using hipscope::register_pressure::restrict_all_stage;
using hipscope::register_pressure::rolled_stage;
using hipscope::register_pressure::set_constant_arguments;
using hipscope::register_pressure::share_of_copy;
using hipscope::register_pressure::Stage;
using hipscope::register_pressure::stages_sweep;
using hipscope::register_pressure::streams_stage;
using hipscope::register_pressure::streams_x;
using hipscope::register_pressure::unbounded_stage;
using hipscope::register_pressure::updates;
using hipscope::register_pressure::updates_unit;
using hipscope::register_pressure::verify;
using hipscope::register_pressure::Work;

namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// --- Measuring --------------------------------------------------------------------------------

// The box of which a measured grid consists: its cells are the ones that the host computes.
constexpr Extents measured_box = {.x = 8, .y = 8, .z = 8};

struct Sizes {
  Extents extents;
  unsigned steps;  // that are verified

  [[nodiscard]] std::uint64_t bytes() const { return extents.cells() * moved_bytes; }
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

void note_sizes(Sweep& sweep, const Sizes& sizes) {
  const Extents& n = sizes.extents;
  sweep.note(std::to_string(n.x) + " x " + std::to_string(n.y) + " x " + std::to_string(n.z) +
             " cells: " + number(static_cast<double>(sizes.bytes()) * 1e-6, 4) +
             " MB must move in a step, " + std::to_string(moved_bytes) + " bytes per cell");
}

void require_memory(const Sweep& sweep, const Sizes& sizes) {
  sweep.require_memory(std::max(Lattice::bytes(sizes.extents), sizes.bytes()), "--nz");
}

// On the host backend a fiber is a thread, and a small grid must still have several blocks.
Blocks blocks_on(const Sweep& sweep, unsigned threads = block_threads) {
  return sweep.is_hardware() ? blocks_of(threads) : Blocks{.threads = dim3(16, 2, 2)};
}

int resident_blocks(const Stage& stage, const Blocks& blocks) {
  int resident = 0;
  const auto threads = static_cast<int>(blocks.threads.x * blocks.threads.y * blocks.threads.z);
  hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, stage.kernel, threads,
                                                               blocks.lds_bytes));
  return resident;
}

double resident_waves(const Sweep& sweep, const Stage& stage, const Blocks& blocks) {
  const unsigned threads = blocks.threads.x * blocks.threads.y * blocks.threads.z;
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  return double(resident_blocks(stage, blocks)) * ((threads + lanes - 1) / lanes);
}

// What the compiler made of a kernel, as the runtime reports it.
void add_resources(const Sweep& sweep, Point& point, const Stage& stage, const Blocks& blocks) {
  hipFuncAttributes attributes{};
  hipscope::check(hipFuncGetAttributes(&attributes, stage.kernel));
  const auto reported = [&](auto value) {
    return sweep.is_hardware() ? static_cast<double>(value) : not_measured;
  };
  point.value("registers", reported(attributes.numRegs), "per thread");
  point.value("scratch", reported(attributes.localSizeBytes), "bytes/thread");
  point.value("LDS", reported(attributes.sharedSizeBytes), "bytes/block");
  point.value("resident", reported(resident_waves(sweep, stage, blocks)), "waves/CU");
}

// Verifies a stage; returns how much of the mass its steps lose or gain.
double verify_stage(Point& point, Lattice& lattice, const Stage& stage, const Blocks& blocks,
                    Work work, unsigned steps, const std::string& name = "") {
  return verify(point, lattice, work, steps, name, [&] { stage.run(lattice, blocks); });
}

// Measures a step, without the fold; returns million cells per second.
double measure_rate(Point& point, Lattice& lattice, const Stage& stage, const Blocks& blocks) {
  // After two steps both halves hold numbers.
  const auto time = point.measure([&] {
    stage.run(lattice, blocks);
    lattice.swap_halves();
  });
  return static_cast<double>(lattice.layout().cells()) * 1e-6 / time.seconds().median;
}

double bandwidth_of(double million_updates) { return million_updates * 1e-3 * moved_bytes; }

// --- Sweeps -----------------------------------------------------------------------------------

void measure_stages(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "stage"});
  sweep.headline(updates);
  note_sizes(sweep, sizes);
  require_memory(sweep, sizes);
  auto copy_point = sweep.point("copy of as many bytes", copy_x);
  const double copy = measure_copy(sweep, copy_point, sizes.bytes());
  // A copy updates nothing; its row has the value so that the headline's column comes first.
  copy_point.value(updates, not_measured, updates_unit);
  copy_point.value("bandwidth", copy, "GB/s");
  // The host backend's times tell nothing of a GPU's memory.
  const auto add_share = [&](Point& point, double bandwidth) {
    point.value(share_of_copy, sweep.is_hardware() ? 100 * bandwidth / copy : not_measured, "%");
  };
  add_share(copy_point, copy);

  Lattice lattice(sweep, sizes.extents, measured_box, make_model());
  set_constant_arguments(lattice);
  const Blocks blocks = blocks_on(sweep);
  const auto measure = [&](const Stage& stage, double x, Work work) {
    auto point = sweep.point(stage.name, x);
    const double change = verify_stage(point, lattice, stage, blocks, work, sizes.steps);
    const double rate = measure_rate(point, lattice, stage, blocks);
    point.value(updates, rate, updates_unit);
    point.value("bandwidth", bandwidth_of(rate), "GB/s");
    add_share(point, bandwidth_of(rate));
    add_resources(sweep, point, stage, blocks);
    if (work == Work::model) {
      point.value("change of mass", change, "of the mass");
    }
  };
  measure(streams_stage(), streams_x, Work::streams);
  double x = 0;
  for (const Stage& stage : ladder()) {
    measure(stage, ++x, Work::model);
  }
  auto fold_point = sweep.point("fold of the halo", ++x);
  verify_stage(fold_point, lattice, unbounded_stage(), blocks, Work::model, 2);
  fold_point.measure([&] { lattice.fold(); });
}

// The most LDS that a block of the kernel may take. On NVIDIA it has to be asked for, and takes
// from L1, which is to be of the same size for all.
std::uint32_t allow_all_lds(const Sweep& sweep, [[maybe_unused]] const void* kernel) {
  const auto bytes = static_cast<std::uint32_t>(sweep.device().largest_lds_bytes_per_block);
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  hipscope::check(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bytes)));
  hipscope::check(hipFuncSetAttribute(kernel, hipFuncAttributePreferredSharedMemoryCarveout, 100));
#endif
  return bytes;
}

// LDS that a block must take, out of `most`, so that no more than `wanted` are in place.
std::uint32_t lds_for(const Stage& stage, Blocks blocks, int wanted, std::uint32_t most) {
  constexpr std::uint32_t step = 512;
  while (resident_blocks(stage, blocks) > wanted && blocks.lds_bytes + step <= most) {
    blocks.lds_bytes += step;
  }
  return blocks.lds_bytes;
}

// The same kernel with fewer waves on each CU: small blocks, which take LDS that they do not use.
void measure_waves(Sweep& sweep, const Sizes& sizes, const Stage& stage) {
  sweep.axis({.name = "waves", .unit = "per CU"});
  sweep.headline(updates);
  note_sizes(sweep, sizes);
  sweep.note("blocks of 64 threads, which take LDS so that fewer are in place");
  require_memory(sweep, sizes);
  const std::uint32_t most_lds = allow_all_lds(sweep, stage.kernel);
  Lattice lattice(sweep, sizes.extents, measured_box, make_model());
  constexpr unsigned threads = 64;
  const int most_blocks = resident_blocks(stage, blocks_on(sweep, threads));
  for (int wanted = 1; wanted <= most_blocks; ++wanted) {
    Blocks blocks = blocks_on(sweep, threads);
    blocks.lds_bytes = lds_for(stage, blocks, wanted, most_lds);
    if (resident_blocks(stage, blocks) != wanted) {
      continue;
    }
    const double waves = resident_waves(sweep, stage, blocks);
    auto point = sweep.point(number(waves, 4), waves);
    verify_stage(point, lattice, stage, blocks, Work::model, sizes.steps);
    const double rate = measure_rate(point, lattice, stage, blocks);
    point.value(updates, rate, updates_unit);
    point.value("bandwidth", bandwidth_of(rate), "GB/s");
    point.value("LDS taken", blocks.lds_bytes, "bytes/block");
  }
}

struct WavesSweep {
  std::string sweep;
  Stage stage;
};

// A form that reads most numbers again, one that reads none again, and one of few registers.
std::vector<WavesSweep> waves_sweeps() {
  return {{"waves", bounded_stage()},
          {"waves-restrict", restrict_all_stage()},
          {"waves-loops", rolled_stage()}};
}

void measure_blocks(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline(updates);
  note_sizes(sweep, sizes);
  sweep.note("the stage with moved definitions and no launch bound");
  require_memory(sweep, sizes);
  const Stage stage = unbounded_stage();
  Lattice lattice(sweep, sizes.extents, measured_box, make_model());
  for (unsigned threads = 32; threads <= 1024; threads *= 2) {
    const Blocks blocks = blocks_of(threads);
    if (resident_blocks(stage, blocks) == 0) {
      sweep.note("no block of " + std::to_string(threads) + " threads has enough registers");
      break;
    }
    auto point = sweep.point(std::to_string(threads), threads);
    verify_stage(point, lattice, stage, blocks, Work::model, sizes.steps);
    const double rate = measure_rate(point, lattice, stage, blocks);
    point.value(updates, rate, updates_unit);
    point.value("bandwidth", bandwidth_of(rate), "GB/s");
    point.value("resident", resident_waves(sweep, stage, blocks), "waves/CU");
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
    return static_cast<std::uint64_t>(grid.x) * grid.y * grid.z > most_cells;
  });
  double x = 0;
  for (const Extents& extents : all) {
    auto point = sweep.point(std::to_string(extents.x) + " x " + std::to_string(extents.y) + " x " +
                                 std::to_string(extents.z),
                             ++x);
    Lattice lattice(sweep, extents, extents, make_model());
    set_constant_arguments(lattice);
    const Blocks blocks = blocks_on(sweep);
    const std::vector<Stage> stages = ladder();
    for (const Stage& stage : stages) {
      verify_stage(point, lattice, stage, blocks, Work::model, steps, stage.name + ": ");
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
  const double layer_bytes =
      258.0 * 272 * hipscope::register_pressure::array_count * sizeof(double);
  const auto nz = experiment.size("--nz", "cells in z, a multiple of 8",
                                  {.gpu = 256,
                                   .quick = 128,
                                   .host = 8,
                                   .minimum = 8,
                                   .maximum = most,
                                   .share_of_memory = 0.5 / layer_bytes});
  const auto steps =
      experiment.size("--steps", "steps that are verified",
                      {.gpu = 4, .quick = 3, .host = 3, .minimum = 2, .maximum = 1000});
  const auto most_awkward = experiment.size(
      "--largest-awkward", "most cells of sweep awkward",
      {.gpu = 1U << 16, .quick = 4096, .host = 600, .minimum = 1, .maximum = 1U << 20});
  const auto sizes = [&] { return sizes_of(nx, ny, nz, steps); };
  experiment.sweep(stages_sweep, "the same step in many forms",
                   [&](Sweep& sweep) { measure_stages(sweep, sizes()); });
  for (const WavesSweep& of : waves_sweeps()) {
    experiment.sweep(of.sweep, of.stage.name + ", with fewer waves on each CU",
                     [&sizes, of](Sweep& sweep) { measure_waves(sweep, sizes(), of.stage); });
  }
  experiment.sweep("blocks", "blocks of other sizes, no launch bound",
                   [&](Sweep& sweep) { measure_blocks(sweep, sizes()); });
  experiment.sweep("awkward", "grids at which a kernel may go wrong", [&](Sweep& sweep) {
    measure_awkward(sweep, static_cast<unsigned>(std::uint64_t{steps}), most_awkward);
  });
  experiment.conclude([](hipscope::Results& results) {
    std::vector<std::string> stages;
    for (const Stage& stage : ladder()) {
      stages.push_back(stage.name);
    }
    infer_changes(results, stages);
    infer_best(results, stages);
    for (const WavesSweep& of : waves_sweeps()) {
      infer_waves(results, of.sweep, of.stage.name);
    }
  });
  return experiment.run(argc, argv);
}
