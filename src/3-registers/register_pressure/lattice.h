// The grid in device memory: a periodic field made of copies of one small box, the fold of its
// halo, and the check of a step's results.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model.h"
#include "reference.h"

namespace hipscope::register_pressure {

/// Arrays of a grid: what a cell has, and a second half of g1 to g18.
constexpr int moving_populations = flow_populations - 1;
constexpr int array_count = cell_values + moving_populations;

/// Where number `what` of a cell is: its array, of which there are two halves when it moves.
__host__ __device__ constexpr bool moves(int what) { return what > first_g; }
__host__ __device__ constexpr int array_of(int what, int half) {
  return moves(what) ? first_g + 1 + 2 * (what - first_g - 1) + half : what;
}

/// How the arrays are laid out in memory, in elements.
struct Layout {
  int nx, ny, nz;
  int row = 0;
  int layer = 0;
  int lead = 0;                ///< before cell (0, 0, 0) of each array
  std::int64_t per_array = 0;  ///< from an array to the next

  /// Rows begin on a line of 128 bytes; the halo is between them.
  static Layout of(const Extents& extents) {
    constexpr int line = 128 / sizeof(double);
    const auto to_lines = [](int elements) { return (elements + line - 1) / line * line; };
    Layout layout{.nx = extents.x, .ny = extents.y, .nz = extents.z};
    layout.row = to_lines(extents.x + 2);
    layout.layer = layout.row * (extents.y + 2);
    layout.lead = to_lines(1 + layout.row + layout.layer);
    layout.per_array = layout.lead + std::int64_t{layout.layer} * (extents.z + 1);
    return layout;
  }
  [[nodiscard]] std::int64_t elements() const { return array_count * per_array; }
  [[nodiscard]] std::uint64_t cells() const { return Extents{.x = nx, .y = ny, .z = nz}.cells(); }
  __host__ __device__ std::int64_t first_cell(int array) const { return array * per_array + lead; }
  __host__ __device__ int offset(int x, int y, int z) const { return x + row * y + layer * z; }
};

constexpr unsigned lattice_block = elements_block;

// --- Kernels around the step -----------------------------------------------------------------

/// Of a grid-stride walk over `count` things, this thread's.
template <typename Visit>
__device__ void for_each_of_mine(std::int64_t count, const Visit& visit) {
  const std::int64_t threads = std::int64_t{gridDim.x} * lattice_block;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lattice_block + threadIdx.x; i < count;
       i += threads) {
    visit(i);
  }
}

struct Place {
  int x, y, z;
};

__device__ inline Place place_of(std::int64_t cell, int nx, int ny) {
  return {.x = static_cast<int>(cell % nx),
          .y = static_cast<int>(cell / nx % ny),
          .z = static_cast<int>(cell / nx / ny)};
}

/// What an element holds that belongs to no cell, or is yet to be written. Not a NaN, which some
/// arithmetic hands on as it is.
constexpr double untouched_value = -3.25e30;

static __global__ void __launch_bounds__(lattice_block)
    mark_kernel(double* arrays, std::int64_t count) {
  for_each_of_mine(count, [&](std::int64_t i) { arrays[i] = untouched_value; });
}

/// Cell (x, y, z) gets what cell (x % box.x, ...) of the box has.
static __global__ void __launch_bounds__(lattice_block)
    fill_kernel(double* arrays, Layout layout, int half, const double* values, Extents box) {
  const std::int64_t box_cells = std::int64_t{box.x} * box.y * box.z;
  for_each_of_mine(std::int64_t{layout.nx} * layout.ny * layout.nz, [&](std::int64_t cell) {
    const Place at = place_of(cell, layout.nx, layout.ny);
    const std::int64_t from = at.x % box.x + box.x * (at.y % box.y + box.y * (at.z % box.z));
    for (int what = 0; what < cell_values; ++what) {
      arrays[layout.first_cell(array_of(what, half)) + layout.offset(at.x, at.y, at.z)] =
          values[what * box_cells + from];
    }
  });
}

/// The first box of the grid.
static __global__ void __launch_bounds__(lattice_block)
    take_kernel(const double* arrays, Layout layout, int half, double* values, Extents box) {
  const std::int64_t box_cells = std::int64_t{box.x} * box.y * box.z;
  for_each_of_mine(cell_values * box_cells, [&](std::int64_t i) {
    const Place at = place_of(i % box_cells, box.x, box.y);
    const int what = static_cast<int>(i / box_cells);
    values[i] = arrays[layout.first_cell(array_of(what, half)) + layout.offset(at.x, at.y, at.z)];
  });
}

/// Adds to `alike` how many numbers of all cells have the bits of the first box's.
static __global__ void __launch_bounds__(lattice_block)
    count_alike_kernel(const double* arrays, Layout layout, int half, Extents box,
                       unsigned long long* alike) {
  unsigned long long mine = 0;
  for_each_of_mine(std::int64_t{layout.nx} * layout.ny * layout.nz, [&](std::int64_t cell) {
    const Place at = place_of(cell, layout.nx, layout.ny);
    for (int what = 0; what < cell_values; ++what) {
      const double* first = arrays + layout.first_cell(array_of(what, half));
      const double value = first[layout.offset(at.x, at.y, at.z)];
      const double model = first[layout.offset(at.x % box.x, at.y % box.y, at.z % box.z)];
      mine += __double_as_longlong(value) == __double_as_longlong(model) ? 1 : 0;
    }
  });
  atomicAdd(alike, mine);
}

/// Adds to `untouched` how many elements outside the cells and, of what moves, outside their halo
/// are as they were marked.
static __global__ void __launch_bounds__(lattice_block)
    count_untouched_kernel(const double* arrays, Layout layout, unsigned long long* untouched) {
  unsigned long long mine = 0;
  for_each_of_mine(array_count * layout.per_array, [&](std::int64_t i) {
    const auto array = static_cast<int>(i / layout.per_array);
    // From the halo's corner on all coordinates are positive.
    const std::int64_t at = i % layout.per_array - layout.lead + layout.offset(1, 1, 1);
    const Place place = place_of(at < 0 ? 0 : at, layout.row, layout.ny + 2);
    const int halo = array > first_g ? 1 : 0;
    const auto inside = [&](int coordinate, int extent) {
      return coordinate >= 1 - halo && coordinate <= extent + halo;
    };
    const bool may_be_written = at >= 0 && inside(place.x, layout.nx) &&
                                inside(place.y, layout.ny) && inside(place.z, layout.nz);
    mine += !may_be_written && arrays[i] == untouched_value ? 1 : 0;
  });
  atomicAdd(untouched, mine);
}

/// Brings what was pushed over an edge of the grid in again on the other side: each cell fetches
/// what its periodic neighbours have pushed into the halo.
static __global__ void __launch_bounds__(lattice_block)
    fold_kernel(double* arrays, Layout layout, int half) {
  for_each_of_mine(std::int64_t{layout.nx} * layout.ny * layout.nz, [&](std::int64_t cell) {
    const Place at = place_of(cell, layout.nx, layout.ny);
    const auto is_edge = [](int coordinate, int extent) {
      return coordinate == 0 || coordinate == extent - 1;
    };
    if (!is_edge(at.x, layout.nx) && !is_edge(at.y, layout.ny) && !is_edge(at.z, layout.nz)) {
      return;
    }
    // Where a push along c came from, and with it over the edge, or not.
    const auto pushed_to = [](int coordinate, int c, int extent) {
      const int from = coordinate - c;
      return from < 0 ? extent : from >= extent ? -1 : coordinate;
    };
    for (int i = 1; i < flow_populations; ++i) {
      const int* c = direction_of(i);
      double* population = arrays + layout.first_cell(array_of(first_g + i, half));
      const int home = layout.offset(at.x, at.y, at.z);
      const int halo =
          layout.offset(pushed_to(at.x, c[0], layout.nx), pushed_to(at.y, c[1], layout.ny),
                        pushed_to(at.z, c[2], layout.nz));
      if (halo != home) {
        population[home] = population[halo];
      }
    }
  });
}

// --- The grid --------------------------------------------------------------------------------

/// A grid of `extents` cells, filled with copies of `box`, whose extents divide the grid's.
class Lattice {
 public:
  Lattice(const Sweep& sweep, const Extents& extents, const Extents& box, const Model& model)
      : layout_(Layout::of(extents)),
        box_(box),
        model_(model),
        shape_(elements_shape(sweep)),
        first_(random_box(box, model, sweep.seed())),
        box_values_(first_.values().size()),
        arrays_(static_cast<std::size_t>(layout_.elements())) {}

  /// Device memory for a grid of these extents.
  static std::uint64_t bytes(const Extents& extents) {
    return static_cast<std::uint64_t>(Layout::of(extents).elements()) * sizeof(double);
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Model& model() const { return model_; }

  /// The pointers of all arrays, in the order of a step's arguments.
  [[nodiscard]] std::array<double*, cell_values> pointers() const {
    std::array<double*, cell_values> all{};
    for (int what = 0; what < cell_values; ++what) {
      all[static_cast<std::size_t>(what)] = arrays_.data() + layout_.first_cell(array_of(what, 0));
    }
    return all;
  }
  [[nodiscard]] Grid grid() const {
    const auto half = static_cast<int>(layout_.per_array);
    return {.nx = layout_.nx,
            .ny = layout_.ny,
            .nz = layout_.nz,
            .row = layout_.row,
            .layer = layout_.layer,
            .current = half_ * half,
            .next = (1 - half_) * half};
  }

  /// The first state, and marks around it.
  void start() {
    launch(mark_kernel, shape_, arrays_.data(), layout_.elements());
    half_ = 0;
    const DeviceBuffer<double> values{std::span<const double>(first_.values())};
    launch(fill_kernel, shape_, arrays_.data(), layout_, half_, values.data(), box_);
    check(hipDeviceSynchronize());
  }

  /// What was written is read from now on.
  void swap_halves() { half_ = 1 - half_; }

  /// Completes what a step has written.
  void fold() const { launch(fold_kernel, shape_, arrays_.data(), layout_, 1 - half_); }

  /// The first box as it is now.
  [[nodiscard]] Box<double> take() const {
    launch(take_kernel, shape_, arrays_.data(), layout_, half_, box_values_.data(), box_);
    Box<double> box(box_);
    box.values() = box_values_.to_host();
    return box;
  }

  /// How many numbers of the cells differ from those of the first box.
  [[nodiscard]] std::uint64_t count_unlike() const {
    return cell_values * layout_.cells() - counted([&](unsigned long long* alike) {
             launch(count_alike_kernel, shape_, arrays_.data(), layout_, half_, box_, alike);
           });
  }

  /// The same on the host: number `what` of cell `cell` is at [what, cell].
  void compare_unlike(Comparison& comparison) const {
    const std::vector<double> arrays = arrays_.to_host();
    for (int what = 0; what < cell_values; ++what) {
      const double* const values = arrays.data() + layout_.first_cell(array_of(what, half_));
      for_each_cell({.x = layout_.nx, .y = layout_.ny, .z = layout_.nz}, [&](int x, int y, int z) {
        comparison.compare(comparison.checked(),
                           values[layout_.offset(x % box_.x, y % box_.y, z % box_.z)],
                           values[layout_.offset(x, y, z)]);
      });
    }
  }

  /// Elements that nothing may write to: all but the cells and, of what moves, the halo.
  [[nodiscard]] std::uint64_t forbidden() const {
    const Extents halo = {.x = layout_.nx + 2, .y = layout_.ny + 2, .z = layout_.nz + 2};
    return static_cast<std::uint64_t>(layout_.elements()) - (first_g + 1) * layout_.cells() -
           2 * moving_populations * halo.cells();
  }
  /// How many of them were written to.
  [[nodiscard]] std::uint64_t count_touched() const {
    return forbidden() - counted([&](unsigned long long* untouched) {
             launch(count_untouched_kernel, shape_, arrays_.data(), layout_, untouched);
           });
  }

 private:
  template <typename Count>
  [[nodiscard]] static std::uint64_t counted(const Count& count) {
    DeviceBuffer<unsigned long long> number(1);
    number.clear();
    count(number.data());
    return number.to_host()[0];
  }

  Layout layout_;
  Extents box_;
  Model model_;
  LaunchShape shape_;
  Box<double> first_;
  DeviceBuffer<double> box_values_;
  DeviceBuffer<double> arrays_;
  int half_ = 0;
};

// --- The check --------------------------------------------------------------------------------

/// What a kernel makes of a grid: a step of the model, or the same reads and writes without one.
enum class Work { model, streams };

inline Box<Rounded> expected_after(Work work, const Box<double>& before, const Model& model) {
  return work == Work::model ? reference_step(before, model) : reference_streams(before);
}

/// Calls `step`, which must advance the grid but for the fold, several times from the first state,
/// and checks each: what the first box has become by the host, the whole grid against that box, bit
/// by bit, and the sums that a step of the model must keep.
template <typename Step>
void verify(Point& point, Lattice& lattice, Work work, unsigned steps, const std::string& name,
            const Step& step) {
  lattice.start();
  Box<double> before = lattice.take();
  const std::uint64_t box_cells = before.extents().cells();
  Comparison values(box_cells);
  Comparison phase;
  std::uint64_t unlike = 0;
  for (unsigned i = 0; i < steps; ++i) {
    step();
    lattice.fold();
    lattice.swap_halves();
    const Box<Rounded> expected = expected_after(work, before, lattice.model());
    const Box<double> after = lattice.take();
    compare_values(values, after, expected);
    compare_phase(phase, after, expected);
    unlike += lattice.count_unlike();
    before = after;
  }
  const std::uint64_t cells = lattice.layout().cells();
  point.verify(name + "each step of a box by the host", values);
  point.verify(name + "all cells, against that box", unlike, steps * cell_values * cells,
               [&](Comparison& comparison) {
                 comparison = Comparison(cells);
                 lattice.compare_unlike(comparison);  // as the last step left them
               });
  if (work == Work::model) {
    point.verify(name + "sum of f is phi, after each step", phase);
  }
  point.verify(name + "nothing written beside the grid", lattice.count_touched(),
               lattice.forbidden());
}

}  // namespace hipscope::register_pressure
