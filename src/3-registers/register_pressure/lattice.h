// The grid in device memory: a periodic field made of copies of one small box, the fold of its
// halo, and the check of a step's results.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "model.h"
#include "reference.h"

namespace hipscope::register_pressure {

/// Arrays of a grid: what a cell has, and a second half of g1 to g18, which move.
constexpr int moving_populations = flow_populations - 1;
constexpr int array_count = cell_values + moving_populations;
constexpr int first_moving = first_g + 1;

/// Where number `what` of a cell is: its array, of which there are two halves when it moves.
__host__ __device__ constexpr int array_of(int what, int half) {
  return what < first_moving ? what : first_moving + 2 * (what - first_moving) + half;
}

/// How the arrays are laid out in memory, in elements.
struct Layout {
  Extents extents;
  int row = 0;
  int layer = 0;
  int lead = 0;                ///< before cell (0, 0, 0) of each array
  std::int64_t per_array = 0;  ///< from an array to the next

  /// Rows begin on a line of 128 bytes; the halo is between them.
  static Layout of(const Extents& extents) {
    constexpr int line = 128 / sizeof(double);
    const auto to_lines = [](int elements) { return (elements + line - 1) / line * line; };
    Layout layout{.extents = extents};
    layout.row = to_lines(extents.x + 2);
    layout.layer = layout.row * (extents.y + 2);
    layout.lead = to_lines(1 + layout.row + layout.layer);
    layout.per_array = layout.lead + std::int64_t{layout.layer} * (extents.z + 1);
    return layout;
  }
  [[nodiscard]] std::int64_t elements() const { return array_count * per_array; }
  __host__ __device__ std::int64_t first_cell(int array) const { return array * per_array + lead; }
  __host__ __device__ int offset(int x, int y, int z) const { return x + row * y + layer * z; }
};

// --- What each element is, for elements.h ------------------------------------------------------

/// What an element holds that belongs to no cell, or is yet to be written. Not a NaN, which some
/// arithmetic hands on as it is.
constexpr double untouched_value = -3.25e30;
constexpr auto untouched_bits = std::bit_cast<std::uint64_t>(untouched_value);

/// What an element of the arrays is to a grid of which half `half` is current.
struct Element {
  int what;  // of a cell
  int x, y, z;
  bool is_current;
  bool may_be_written;  // in the cells, or the halo of what moves
};

__device__ inline Element element_at(std::uint64_t i, const Layout& layout, int half) {
  const auto place = static_cast<std::int64_t>(i);
  const auto array = static_cast<int>(place / layout.per_array);
  // From the halo's corner on no coordinate is below -1, and before it one is.
  const std::int64_t at = place % layout.per_array - layout.lead + layout.offset(1, 1, 1);
  const auto x = static_cast<int>(at % layout.row) - 1;
  const auto y = static_cast<int>(at / layout.row % (layout.extents.y + 2)) - 1;
  const auto z = static_cast<int>(at / layout.layer) - 1;
  const auto is_within = [&](int halo) {
    const auto [nx, ny, nz] = layout.extents;
    return x >= -halo && x < nx + halo && y >= -halo && y < ny + halo && z >= -halo &&
           z < nz + halo;
  };
  const bool moves = array >= first_moving;
  const int what = moves ? first_moving + (array - first_moving) / 2 : array;
  return {.what = what,
          .x = x,
          .y = y,
          .z = z,
          .is_current = array == array_of(what, half) && is_within(0),
          .may_be_written = is_within(moves ? 1 : 0)};
}

/// At first the cells are copies of a box, whose values these are.
struct FirstState {
  Layout layout;
  Extents box;
  const double* values;
  __device__ double operator()(std::uint64_t i) const {
    const Element e = element_at(i, layout, 0);
    return e.is_current ? values[e.what * box.cells() + box.cell(e.x, e.y, e.z)] : untouched_value;
  }
};

/// Later they have the bits of the first box's; of other elements anything is right.
struct CellsAlike {
  Layout layout;
  Extents box;
  int half;
  const std::uint64_t* bits;
  __device__ std::uint64_t operator()(std::uint64_t i) const {
    const Element e = element_at(i, layout, half);
    const int from_box = layout.offset(e.x - e.x % box.x, e.y - e.y % box.y, e.z - e.z % box.z);
    return bits[e.is_current ? i - from_box : i];
  }
};

/// And what nothing may write to is untouched.
struct NothingBeside {
  Layout layout;
  const std::uint64_t* bits;
  __device__ std::uint64_t operator()(std::uint64_t i) const {
    return element_at(i, layout, 0).may_be_written ? bits[i] : untouched_bits;
  }
};

/// The first box of a grid: its values as Box has them.
struct FirstBox {
  Layout layout;
  Extents box;
  int half;
  const double* arrays;
  __device__ double operator()(std::uint64_t i) const {
    const auto number = static_cast<std::int64_t>(i);
    const auto what = static_cast<int>(number / box.cells());
    const auto cell = static_cast<int>(number % box.cells());
    return arrays[layout.first_cell(array_of(what, half)) +
                  layout.offset(cell % box.x, cell / box.x % box.y, cell / box.x / box.y)];
  }
};

// --- The fold ----------------------------------------------------------------------------------

constexpr unsigned fold_block = elements_block;

/// Brings what was pushed over an edge of the grid in again on the other side: each cell fetches
/// what its periodic neighbours have pushed into the halo.
static __global__ void __launch_bounds__(fold_block)
    fold_kernel(double* arrays, Layout layout, int half) {
  const auto [nx, ny, nz] = layout.extents;
  const std::int64_t threads = std::int64_t{gridDim.x} * fold_block;
  for (std::int64_t cell = std::int64_t{blockIdx.x} * fold_block + threadIdx.x;
       cell < layout.extents.cells(); cell += threads) {
    const auto x = static_cast<int>(cell % nx);
    const auto y = static_cast<int>(cell / nx % ny);
    const auto z = static_cast<int>(cell / nx / ny);
    const auto is_edge = [](int coordinate, int extent) {
      return coordinate == 0 || coordinate == extent - 1;
    };
    if (!is_edge(x, nx) && !is_edge(y, ny) && !is_edge(z, nz)) {
      continue;
    }
    // Where a push along c came from, and with it over the edge, or not.
    const auto pushed_to = [](int coordinate, int c, int extent) {
      const int from = coordinate - c;
      return from < 0 ? extent : from >= extent ? -1 : coordinate;
    };
    for (int i = 1; i < flow_populations; ++i) {
      const int* c = direction_of(i);
      double* population = arrays + layout.first_cell(array_of(first_g + i, half));
      const int home = layout.offset(x, y, z);
      const int halo =
          layout.offset(pushed_to(x, c[0], nx), pushed_to(y, c[1], ny), pushed_to(z, c[2], nz));
      if (halo != home) {
        population[home] = population[halo];
      }
    }
  }
}

// --- The grid --------------------------------------------------------------------------------

/// A grid of `extents` cells, filled with copies of `box`, whose extents divide the grid's.
class Lattice {
 public:
  Lattice(const Sweep& sweep, const Extents& extents, const Extents& box)
      : sweep_(sweep),
        layout_(Layout::of(extents)),
        first_(random_box(box, model_, sweep.seed())),
        box_values_(first_.values.size()),
        arrays_(static_cast<std::size_t>(layout_.elements())) {}

  /// Device memory for a grid of these extents.
  static std::uint64_t bytes(const Extents& extents) {
    return static_cast<std::uint64_t>(Layout::of(extents).elements()) * sizeof(double);
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] std::uint64_t cells() const {
    return static_cast<std::uint64_t>(layout_.extents.cells());
  }

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
    return {.nx = layout_.extents.x,
            .ny = layout_.extents.y,
            .nz = layout_.extents.z,
            .row = layout_.row,
            .layer = layout_.layer,
            .current = half_ * half,
            .next = (1 - half_) * half};
  }

  /// The first state, and marks around it.
  void start() {
    half_ = 0;
    const DeviceBuffer<double> values{std::span<const double>(first_.values)};
    fill_elements(sweep_, arrays_, FirstState{layout_, first_.extents, values.data()});
    check(hipDeviceSynchronize());
  }

  /// What was written is read from now on.
  void swap_halves() { half_ = 1 - half_; }

  /// Completes what a step has written.
  void fold() const {
    launch(fold_kernel, elements_shape(sweep_), arrays_.data(), layout_, 1 - half_);
  }

  /// The first box as it is now.
  [[nodiscard]] Box<double> take() const {
    Box<double> box(first_.extents);
    fill_elements(sweep_, box_values_, FirstBox{layout_, box.extents, half_, arrays_.data()});
    box.values = box_values_.to_host();
    return box;
  }

  /// How many numbers of the cells differ from those of the first box.
  [[nodiscard]] std::uint64_t count_unlike() const {
    return count_wrong(sweep_, bits(), arrays_.size(),
                       CellsAlike{layout_, first_.extents, half_, bits()});
  }

  /// Which they are, in the order of the arrays and in it of the cells.
  void compare_unlike(Comparison& comparison) const {
    const Extents& box = first_.extents;
    const std::vector<double> arrays = arrays_.to_host();
    for (int what = 0; what < cell_values; ++what) {
      const double* const values = arrays.data() + layout_.first_cell(array_of(what, half_));
      for_each_cell(layout_.extents, [&](int x, int y, int z) {
        comparison.compare(comparison.checked(),
                           values[layout_.offset(x % box.x, y % box.y, z % box.z)],
                           values[layout_.offset(x, y, z)]);
      });
    }
  }

  /// How many elements that nothing may write to were written to.
  [[nodiscard]] std::uint64_t count_touched() const {
    return count_wrong(sweep_, bits(), arrays_.size(), NothingBeside{layout_, bits()});
  }
  /// How many there are: all but the cells and, of what moves, the halo.
  [[nodiscard]] std::uint64_t forbidden() const {
    const auto [nx, ny, nz] = layout_.extents;
    const std::int64_t with_halo = Extents{.x = nx + 2, .y = ny + 2, .z = nz + 2}.cells();
    return arrays_.size() - first_moving * cells() -
           static_cast<std::uint64_t>(2 * moving_populations * with_halo);
  }

 private:
  [[nodiscard]] const std::uint64_t* bits() const {
    return reinterpret_cast<const std::uint64_t*>(arrays_.data());
  }

  const Sweep& sweep_;
  Layout layout_;
  Model model_ = make_model();
  Box<double> first_;
  DeviceBuffer<double> box_values_;
  DeviceBuffer<double> arrays_;
  int half_ = 0;
};

// --- The check --------------------------------------------------------------------------------

/// Calls `step`, which must advance the grid but for the fold, several times from the first state,
/// and checks each: what the first box has become by the host, the whole grid against that box, bit
/// by bit, and in every cell that the sum of f is phi, as a step of the model must leave it.
template <typename Step>
void verify(Point& point, Lattice& lattice, Work work, unsigned steps, const std::string& name,
            const Step& step) {
  lattice.start();
  Box<double> before = lattice.take();
  Comparison values(static_cast<std::uint64_t>(before.extents.cells()));
  Comparison phase;
  std::uint64_t unlike = 0;
  for (unsigned i = 0; i < steps; ++i) {
    step();
    lattice.fold();
    lattice.swap_halves();
    const Box<Rounded> expected = expected_after(work, before, lattice.model());
    const Box<double> after = lattice.take();
    for (std::size_t at = 0; at < after.values.size(); ++at) {
      const Rounded& right = expected.values[at];
      values.compare(at, right.value, after.values[at], right.tolerance());
    }
    for (int cell = 0; cell < after.extents.cells(); ++cell) {
      double left = -after.at(phi_field, cell);
      double tolerance = 0;
      for (int what = first_f; what < first_g; ++what) {
        left += after.at(what, cell);
        tolerance += expected.at(what, cell).tolerance();
      }
      phase.compare(static_cast<std::uint64_t>(cell), 0.0, left, tolerance);
    }
    unlike += lattice.count_unlike();
    before = after;
  }
  point.verify(name + "each step of a box by the host", values);
  point.verify(name + "all cells, against that box", unlike, steps * cell_values * lattice.cells(),
               [&](Comparison& comparison) {
                 comparison = Comparison(lattice.cells());
                 lattice.compare_unlike(comparison);  // as the last step left them
               });
  if (work == Work::model) {
    point.verify(name + "sum of f is phi, after each step", phase);
  }
  point.verify(name + "nothing written beside the grid", lattice.count_touched(),
               lattice.forbidden());
}

}  // namespace hipscope::register_pressure
