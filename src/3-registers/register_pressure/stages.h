// The stages: each one's name, its kernel and how it is launched.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "01-baseline.h"
#include "02-no-pow.h"
#include "03-definitions-moved.h"
#include "04-restrict-on-g14.h"
#include "05-restrict-on-g14-and-g7.h"
#include "06-launch-bound.h"
#include "07-restrict-on-all.h"
#include "08-more-waves.h"
#include "09-more-waves-lds.h"
#include "10-lds.h"
#include "11-arguments-in-one-object.h"
#include "12-arguments-in-constant-memory.h"
#include "13-loops.h"
#include "lattice.h"
#include "streams.h"

namespace hipscope::register_pressure {

// The stages that are spoken of in more than one place.
constexpr const char* moved_name = "definitions moved";
constexpr const char* bounded_name = "launch bound of 256";
constexpr const char* restrict_all_name = "bound, restrict on all";
constexpr const char* loop_name = "loops";

/// The sweep of the stages, whose x is 1 for the first one.
constexpr const char* stages_sweep = "stages";
/// Its references come before the stages.
constexpr double copy_x = -1;
constexpr double streams_x = 0;

constexpr const char* updates = "updates";
constexpr const char* updates_unit = "million/s";
constexpr const char* share_of_copy = "share of copy";

/// Blocks of threads, and LDS that they take beyond what their kernel uses itself.
struct Blocks {
  dim3 threads;
  std::uint32_t lds_bytes = 0;

  [[nodiscard]] unsigned size() const { return threads.x * threads.y * threads.z; }
};

/// Blocks of that many threads, flat enough that a wave reads whole lines.
inline Blocks blocks_of(unsigned threads) {
  const unsigned x = threads < 64 ? threads : 64;
  return {.threads = dim3(x, threads / x)};
}

/// A kernel as the runtime knows it, and what enqueues a step of it, but for the fold. The spans
/// are for a kernel that records.
struct Step {
  const void* kernel;
  std::function<void(const Lattice&, const Blocks&, WaveSpan*)> run;
};

struct Stage {
  std::string name;
  Step step;
  Step recorded;  // the same, which says when each wave was where
};

inline LaunchShape shape_of(const Grid& grid, const Blocks& blocks) {
  const auto parts = [](int extent, unsigned size) {
    return (static_cast<unsigned>(extent) + size - 1) / size;
  };
  const dim3& threads = blocks.threads;
  return {
      .grid = dim3(parts(grid.nx, threads.x), parts(grid.ny, threads.y), parts(grid.nz, threads.z)),
      .block = threads,
      .lds_bytes = blocks.lds_bytes};
}

/// How many waves of that many lanes have a cell for their first one.
inline std::uint64_t first_lanes_in(const Grid& grid, const Blocks& blocks, int lanes) {
  std::uint64_t in_blocks[3] = {};  // first lanes whose coordinate is in the grid, of all blocks
  std::uint64_t found = 0;
  for (unsigned thread = 0; thread < blocks.size(); thread += static_cast<unsigned>(lanes)) {
    const unsigned at[3] = {thread % blocks.threads.x, thread / blocks.threads.x % blocks.threads.y,
                            thread / blocks.threads.x / blocks.threads.y};
    const unsigned extents[3] = {static_cast<unsigned>(grid.nx), static_cast<unsigned>(grid.ny),
                                 static_cast<unsigned>(grid.nz)};
    const unsigned sizes[3] = {blocks.threads.x, blocks.threads.y, blocks.threads.z};
    for (int axis = 0; axis < 3; ++axis) {
      in_blocks[axis] =
          at[axis] < extents[axis] ? (extents[axis] - 1 - at[axis]) / sizes[axis] + 1 : 0;
    }
    found += in_blocks[0] * in_blocks[1] * in_blocks[2];
  }
  return found;
}

/// The pointers of a step. Its f1 to f6 are found in the half that is read; here they have one.
inline auto pointers_of(const Lattice& lattice) {
  auto pointers = lattice.pointers();
  for (int i = 1; i < phase_populations; ++i) {
    pointers[static_cast<std::size_t>(first_f + i)] -= lattice.grid().current;
  }
  return pointers;
}

using SeparateArguments = decltype(&baseline::kernel<false>);

/// A kernel that takes 31 pointers and 22 scalars.
inline Step separate_step(SeparateArguments kernel) {
  return {.kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks, WaveSpan* spans) {
            const Grid g = lattice.grid();
            const Model& m = lattice.model();
            constexpr double unused = 0;
            std::apply(
                [&](auto... pointers) {
                  launch(kernel, shape_of(g, blocks), pointers..., g.nx - 1, g.ny - 1, g.nz - 1,
                         g.row, g.layer / g.row, g.current, g.next, m.kappa, m.alpha,
                         m.phi0_squared, m.gamma, m.phase_rate, m.phase_kept, m.eta, m.flow_kept,
                         unused, m.axis_weight, m.edge_weight, m.rest_weight, m.rest_forcing,
                         m.axis_forcing, m.edge_forcing, spans);
                },
                pointers_of(lattice));
          }};
}

inline Arguments arguments_of(const Lattice& lattice) {
  const Grid g = lattice.grid();
  const Model& m = lattice.model();
  return std::apply(
      [&](auto... pointers) {
        return Arguments{pointers...,    g.nx - 1,        g.ny - 1,       g.nz - 1,
                         g.row,          g.layer / g.row, g.current,      g.next,
                         m.kappa,        m.alpha,         m.phi0_squared, m.gamma,
                         m.phase_rate,   m.phase_kept,    m.eta,          m.flow_kept,
                         m.axis_weight,  m.edge_weight,   m.rest_weight,  m.rest_forcing,
                         m.axis_forcing, m.edge_forcing};
      },
      pointers_of(lattice));
}

inline Step object_step(decltype(&one_object::kernel<false>) kernel) {
  return {.kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks, WaveSpan* spans) {
            launch(kernel, shape_of(lattice.grid(), blocks), arguments_of(lattice), spans);
          }};
}

/// Copies the lattice's arguments for both halves to constant memory.
inline void set_constant_arguments(Lattice& lattice) {
  Arguments of_half[2] = {arguments_of(lattice), {}};
  lattice.swap_halves();
  of_half[1] = arguments_of(lattice);
  lattice.swap_halves();
  check(hipMemcpyToSymbol(HIP_SYMBOL(constant_memory::of_half), of_half, sizeof of_half));
}

inline Step constant_step(decltype(&constant_memory::kernel<false>) kernel) {
  return {.kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks, WaveSpan* spans) {
            const Grid grid = lattice.grid();
            launch(kernel, shape_of(grid, blocks), grid.current == 0 ? 0 : 1, spans);
          }};
}

/// A kernel that goes over populations by numbers: all of f are in one array, and all that move.
inline Step loop_step(decltype(&loops::kernel<false>) kernel) {
  return {.kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks, WaveSpan* spans) {
            const auto of = lattice.pointers();
            const auto per_array = static_cast<int>(lattice.layout().per_array);
            launch(kernel, shape_of(lattice.grid(), blocks), of[phi_field], of[laplacian_field],
                   of[gradient_field], of[gradient_field + 1], of[gradient_field + 2], of[first_f],
                   per_array, of[first_g], of[first_g + 1], 2 * per_array, lattice.grid(),
                   lattice.model(), spans);
          }};
}

// A stage of the kernels of `form`, the one that is timed and the one that records.
#define STAGE_OF(name, step, form) \
  { name, step(form::kernel<false>), step(form::kernel<true>) }

inline Stage unbounded_stage() { return STAGE_OF(moved_name, separate_step, definitions_moved); }
inline Stage bounded_stage() { return STAGE_OF(bounded_name, separate_step, launch_bound); }
inline Stage restrict_all_stage() {
  return STAGE_OF(restrict_all_name, separate_step, restrict_on_all);
}
inline Stage rolled_stage() { return STAGE_OF(loop_name, loop_step, loops); }

/// All stages. Set the constant arguments before the first runs.
inline std::vector<Stage> ladder() {
  return {
      STAGE_OF("baseline", separate_step, baseline),
      STAGE_OF("no pow", separate_step, no_pow),
      unbounded_stage(),
      STAGE_OF("restrict on g14", separate_step, restrict_on_g14),
      STAGE_OF("restrict on g14 and g7", separate_step, restrict_on_g14_and_g7),
      bounded_stage(),
      restrict_all_stage(),
      STAGE_OF("bound, more waves", separate_step, more_waves),
      STAGE_OF("bound, more waves, LDS", separate_step, more_waves_lds),
      STAGE_OF("bound, LDS", separate_step, parked_in_lds),
      STAGE_OF("arguments in one object", object_step, one_object),
      STAGE_OF("arguments in constant memory", constant_step, constant_memory),
      STAGE_OF("loops, unrolled", loop_step, loops_unrolled),
      rolled_stage(),
      STAGE_OF("loops, array on the stack", loop_step, array_on_the_stack),
  };
}

inline Stage streams_stage() {
  return STAGE_OF("the same reads and writes", separate_step, streams);
}

#undef STAGE_OF

}  // namespace hipscope::register_pressure
