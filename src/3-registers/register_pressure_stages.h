// The stages: each one's name, its kernel and how it is launched.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "register_pressure_kernels.h"
#include "register_pressure_lattice.h"
#include "register_pressure_names.h"

namespace hipscope::register_pressure {

/// Blocks of threads, and LDS that they take beyond what their kernel uses itself.
struct Blocks {
  dim3 threads;
  std::uint32_t lds_bytes = 0;
};

/// Blocks of so many threads, flat enough that a wave reads whole lines.
inline Blocks blocks_of(unsigned threads) {
  const unsigned x = threads < 64 ? threads : 64;
  return {.threads = dim3(x, threads / x)};
}

struct Stage {
  std::string name;
  const void* kernel;  // as the runtime knows it
  // Enqueues a step, but for the fold.
  std::function<void(const Lattice&, const Blocks&)> run;
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

using SeparateArguments = decltype(&step_kernel<WithPow>);

/// A kernel that takes 31 pointers and 21 scalars.
inline Stage separate_stage(const std::string& name, SeparateArguments kernel) {
  return {.name = name,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks) {
            const Grid g = lattice.grid();
            const Model& m = lattice.model();
            std::apply(
                [&](auto... pointers) {
                  launch(kernel, shape_of(g, blocks), pointers..., g.nx, g.ny, g.nz, g.row, g.layer,
                         g.current, g.next, m.kappa, m.alpha, m.phi0_squared, m.gamma, m.phase_rate,
                         m.phase_kept, m.eta, m.flow_kept, m.rest_weight, m.axis_weight,
                         m.edge_weight, m.rest_forcing, m.axis_forcing, m.edge_forcing);
                },
                lattice.pointers());
          }};
}

inline Arguments arguments_of(const Lattice& lattice) {
  const auto fields =
      std::apply([](auto... pointers) { return Fields{pointers...}; }, lattice.pointers());
  return {.fields = fields, .grid = lattice.grid(), .model = lattice.model()};
}

inline Stage object_stage() {
  const auto kernel = object_kernel<Moved>;
  return {.name = object_name,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks) {
            launch(kernel, shape_of(lattice.grid(), blocks), arguments_of(lattice));
          }};
}

/// Copies the lattice's arguments to constant memory, for constant_stage.
inline void set_constant_arguments(const Lattice& lattice) {
  const Arguments arguments = arguments_of(lattice);
  check(hipMemcpyToSymbol(HIP_SYMBOL(constant_arguments), &arguments, sizeof arguments));
}

inline Stage constant_stage() {
  const auto kernel = constant_kernel<Moved>;
  return {.name = constant_name,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks) {
            const Grid grid = lattice.grid();
            launch(kernel, shape_of(grid, blocks), grid.current, grid.next);
          }};
}

template <int Unroll, bool OnStack>
Stage loop_stage(const std::string& name) {
  const auto kernel = loop_kernel<Unroll, OnStack>;
  return {.name = name,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Lattice& lattice, const Blocks& blocks) {
            const Fields of = arguments_of(lattice).fields;
            const auto per_array = static_cast<int>(lattice.layout().per_array);
            launch(kernel, shape_of(lattice.grid(), blocks), of.phi, of.laplacian, of.gradient_x,
                   of.gradient_y, of.gradient_z, of.f0, per_array, of.g0, of.g1, 2 * per_array,
                   lattice.grid(), lattice.model());
          }};
}

using Restricted = double* __restrict__;

/// One wave per SIMD more than the kernel has by itself on gfx90a; on an H200, one block per SM.
#if defined(HIPSCOPE_BACKEND_NVIDIA)
constexpr unsigned more_waves = 3;
#else
constexpr unsigned more_waves = 6;
#endif

inline Stage unbounded_stage() { return separate_stage(moved_name, step_kernel<Moved>); }
inline Stage bounded_stage() { return separate_stage(bounded_name, bounded_kernel<Moved>); }

inline Stage restrict_all_stage() {
  return separate_stage(restrict_all_name, bounded_kernel<Moved, 1, Restricted>);
}
inline Stage rolled_stage() { return loop_stage<1, false>(loop_name); }

/// All stages. Set the constant arguments before the first runs.
inline std::vector<Stage> ladder() {
  return {
      separate_stage(baseline_name, step_kernel<WithPow>),
      separate_stage(no_pow_name, step_kernel<WithoutPow>),
      unbounded_stage(),
      separate_stage(restrict_one_name, step_kernel<Moved, double*, Restricted>),
      separate_stage(restrict_two_name, step_kernel<Moved, Restricted, Restricted>),
      bounded_stage(),
      restrict_all_stage(),
      separate_stage(more_waves_name, bounded_kernel<Moved, more_waves>),
      separate_stage(parked_name, bounded_kernel<Parked, more_waves>),
      separate_stage(parked_bounded_name, bounded_kernel<Parked>),
      object_stage(),
      constant_stage(),
      loop_stage<moving_populations, false>(unrolled_name),
      rolled_stage(),
      loop_stage<1, true>(stack_name),
  };
}

inline Stage streams_stage() {
  return separate_stage("the same reads and writes", streams_kernel<Restricted>);
}

}  // namespace hipscope::register_pressure
