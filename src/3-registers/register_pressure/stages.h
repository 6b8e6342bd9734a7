// The stages: each one's name, its kernel and how it is launched.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels.h"
#include "lattice.h"
#include "loops.h"

namespace hipscope::register_pressure {

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
  Work work = Work::model;
};

/// Launches `kernel` with the arguments that `make` makes of the lattice, and the spans.
template <typename Kernel, typename Make>
Step step_of(Kernel* kernel, const Make& make) {
  return {.kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks, WaveSpan* spans) {
            std::apply(
                [&](const auto&... arguments) {
                  launch(kernel, shape_of(lattice.grid(), blocks), arguments..., spans);
                },
                make(lattice));
          }};
}

/// The arguments of a step, with the scalar that none uses, or without. Its f1 to f6 are found in
/// the half that is read; here they have one.
template <typename... Unused>
auto arguments_of(const Lattice& lattice, Unused... unused) {
  auto pointers = lattice.pointers();
  const Grid g = lattice.grid();
  for (int i = 1; i < phase_populations; ++i) {
    pointers[static_cast<std::size_t>(first_f + i)] -= g.current;
  }
  const Model& m = lattice.model();
  return std::tuple_cat(
      pointers,
      std::make_tuple(g.nx - 1, g.ny - 1, g.nz - 1, g.row, g.layer / g.row, g.current, g.next,
                      m.kappa, m.alpha, m.phi0_squared, m.gamma, m.phase_rate, m.phase_kept, m.eta,
                      m.flow_kept, unused..., m.axis_weight, m.edge_weight, m.rest_weight,
                      m.rest_forcing, m.axis_forcing, m.edge_forcing));
}

inline auto one_by_one(const Lattice& lattice) { return arguments_of(lattice, 0.0); }

inline auto in_one_object(const Lattice& lattice) {
  return std::make_tuple(
      std::apply([](auto... all) { return Arguments{all...}; }, arguments_of(lattice)));
}

/// Copies the lattice's arguments for both halves to constant memory.
inline void set_constant_arguments(Lattice& lattice) {
  Arguments of_half[2] = {};
  for (Arguments& arguments : of_half) {
    arguments = std::get<0>(in_one_object(lattice));
    lattice.swap_halves();
  }
  check(hipMemcpyToSymbol(HIP_SYMBOL(constant_memory::of_half), of_half, sizeof of_half));
}

/// Which of them.
inline auto in_constant_memory(const Lattice& lattice) {
  return std::make_tuple(lattice.grid().current == 0 ? 0 : 1);
}

/// Of a kernel that goes over populations by numbers: all of f are in one array, and all that move.
inline auto in_arrays(const Lattice& lattice) {
  const auto of = lattice.pointers();
  const auto per_array = static_cast<int>(lattice.layout().per_array);
  return std::make_tuple(of[phi_field], of[laplacian_field], of[gradient_field],
                         of[gradient_field + 1], of[gradient_field + 2], of[first_f], per_array,
                         of[first_g], of[first_moving], 2 * per_array, lattice.grid(),
                         lattice.model());
}

// A stage of the kernels of `form`, the one that is timed and the one that records.
#define STAGE_OF(name, form, arguments) \
  { name, step_of(form::kernel<false>, arguments), step_of(form::kernel<true>, arguments) }

// The stages that further sweeps have.
inline Stage unbounded_stage() {
  return STAGE_OF("definitions moved", definitions_moved, one_by_one);
}
inline Stage bounded_stage() { return STAGE_OF("launch bound of 256", launch_bound, one_by_one); }
inline Stage restrict_all_stage() {
  return STAGE_OF("bound, restrict on all", restrict_on_all, one_by_one);
}
inline Stage rolled_stage() { return STAGE_OF("loops", loops, in_arrays); }

/// All stages. Set the constant arguments before the first runs.
inline std::vector<Stage> ladder() {
  return {
      STAGE_OF("baseline", baseline, one_by_one),
      STAGE_OF("no pow", no_pow, one_by_one),
      unbounded_stage(),
      STAGE_OF("restrict on g14", restrict_on_g14, one_by_one),
      STAGE_OF("restrict on g14 and g7", restrict_on_g14_and_g7, one_by_one),
      bounded_stage(),
      restrict_all_stage(),
      STAGE_OF("bound, more waves", more_waves, one_by_one),
      STAGE_OF("bound, more waves, LDS", more_waves_lds, one_by_one),
      STAGE_OF("bound, LDS", parked_in_lds, one_by_one),
      STAGE_OF("arguments in one object", one_object, in_one_object),
      STAGE_OF("arguments in constant memory", constant_memory, in_constant_memory),
      STAGE_OF("loops, unrolled", loops_unrolled, in_arrays),
      rolled_stage(),
      STAGE_OF("loops, array on the stack", array_on_the_stack, in_arrays),
  };
}

inline Stage streams_stage() {
  Stage stage = STAGE_OF("the same reads and writes", streams, one_by_one);
  stage.work = Work::streams;
  return stage;
}

#undef STAGE_OF

}  // namespace hipscope::register_pressure
