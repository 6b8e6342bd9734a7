// The host's step of the model, direction by direction as the equations say it, with a bound on the
// rounding errors of each result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "model.h"

namespace hipscope::register_pressure {

// --- Numbers that know how wrong they may be ---------------------------------------------------

/// A computed number. With every difference taken as a sum of magnitudes, `depth` roundings are on
/// the longest way to it: so it is at most depth * eps / 2 * magnitude off, to first order
/// (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
struct Rounded {
  double value = 0;
  double magnitude = 0;
  unsigned depth = 0;

  Rounded() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a number is one that is exact.
  Rounded(double exact) : value(exact), magnitude(std::abs(exact)) {}
  Rounded(double v, double m, unsigned d) : value(v), magnitude(m), depth(d) {}

  /// How far two evaluations of it may be apart. Twice the bound for each, since a kernel may
  /// compute it in another order and so with other roundings.
  [[nodiscard]] double tolerance() const {
    return 2 * depth * std::numeric_limits<double>::epsilon() * magnitude;
  }
};

inline Rounded operator+(const Rounded& a, const Rounded& b) {
  return {a.value + b.value, a.magnitude + b.magnitude, std::max(a.depth, b.depth) + 1};
}
inline Rounded operator-(const Rounded& a, const Rounded& b) {
  return {a.value - b.value, a.magnitude + b.magnitude, std::max(a.depth, b.depth) + 1};
}
inline Rounded operator*(const Rounded& a, const Rounded& b) {
  return {a.value * b.value, a.magnitude * b.magnitude, a.depth + b.depth + 1};
}
/// Only for a divisor whose terms all have one sign.
inline Rounded operator/(const Rounded& a, const Rounded& b) {
  return {a.value / b.value, a.magnitude / std::abs(b.value), a.depth + b.depth + 1};
}

// --- Fields of a small periodic box -------------------------------------------------------------

struct Extents {
  int x, y, z;

  [[nodiscard]] __host__ __device__ std::int64_t cells() const { return std::int64_t{x} * y * z; }
  /// The number of a cell of this box, or of its periodic image.
  [[nodiscard]] __host__ __device__ int cell(int i, int j, int k) const {
    return (i + x) % x + x * ((j + y) % y + y * ((k + z) % z));
  }
};

/// What a cell has: first the given fields, then f, then g.
constexpr int phi_field = 0;
constexpr int laplacian_field = 1;
constexpr int gradient_field = 2;
constexpr int first_f = given_fields;
constexpr int first_g = first_f + phase_populations;
constexpr int cell_values = first_g + flow_populations;

/// Values of all cells of a box: number `what` of cell `cell` is at [what * cells + cell].
template <typename T>
struct Box {
  explicit Box(const Extents& of_box)
      : extents(of_box), values(static_cast<std::size_t>(cell_values * of_box.cells())) {}

  [[nodiscard]] T& at(int what, int cell) {
    return values[static_cast<std::size_t>(what * extents.cells() + cell)];
  }
  [[nodiscard]] const T& at(int what, int cell) const {
    return values[static_cast<std::size_t>(what * extents.cells() + cell)];
  }

  Extents extents;
  std::vector<T> values;
};

/// Calls visit(x, y, z) for every cell.
template <typename Visit>
void for_each_cell(const Extents& extents, const Visit& visit) {
  for (int z = 0; z < extents.z; ++z) {
    for (int y = 0; y < extents.y; ++y) {
      for (int x = 0; x < extents.x; ++x) {
        visit(x, y, z);
      }
    }
  }
}

inline double weight_of(const Model& model, int direction) {
  return direction == 0                  ? model.rest_weight
         : direction < phase_populations ? model.axis_weight
                                         : model.edge_weight;
}

inline double forcing_of(const Model& model, int direction) {
  return direction == 0                  ? model.rest_forcing
         : direction < phase_populations ? model.axis_forcing
                                         : model.edge_forcing;
}

/// A random phase field with its differences, f of which the sum is phi, and g not far from rest.
inline Box<double> random_box(const Extents& extents, const Model& model, std::uint64_t seed) {
  Box<double> box(extents);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-0.8, 0.8);
  for (int cell = 0; cell < extents.cells(); ++cell) {
    const double phi = uniform(random);
    box.at(phi_field, cell) = phi;
    box.at(first_f, cell) = phi;
    for (int i = 1; i < phase_populations; ++i) {
      box.at(first_f + i, cell) = 0.1 * uniform(random);
      box.at(first_f, cell) -= box.at(first_f + i, cell);
    }
    for (int i = 0; i < flow_populations; ++i) {
      const double equal_share = weight_of(model, i) / (1 - model.flow_kept);
      box.at(first_g + i, cell) = equal_share * (1 + 0.2 * uniform(random));
    }
  }
  for_each_cell(extents, [&](int x, int y, int z) {
    const int cell = extents.cell(x, y, z);
    box.at(laplacian_field, cell) = -6 * box.at(phi_field, cell);
    for (int axis = 0; axis < 3; ++axis) {
      const int* c = directions[1 + 2 * axis];
      const double after = box.at(phi_field, extents.cell(x + c[0], y + c[1], z + c[2]));
      const double before = box.at(phi_field, extents.cell(x - c[0], y - c[1], z - c[2]));
      box.at(laplacian_field, cell) += after + before;
      box.at(gradient_field + axis, cell) = 0.5 * (after - before);
    }
  });
  return box;
}

// --- One step -----------------------------------------------------------------------------------

/// The sum of c_a v_a over the axes.
inline Rounded along(int direction, const Rounded (&v)[3]) {
  Rounded sum;
  for (int axis = 0; axis < 3; ++axis) {
    const int c = directions[direction][axis];
    if (c != 0) {
      sum = sum + Rounded(c) * v[axis];
    }
  }
  return sum;
}

/// Calls make(i, value) with what a cell's populations become, f and then g, before g moves.
template <typename Make>
void collide(const Box<double>& box, int cell, const Model& model, const Make& make) {
  const auto given = [&](int what) { return Rounded(box.at(what, cell)); };
  const auto f = [&](int i) { return given(first_f + i); };
  const auto g = [&](int i) { return given(first_g + i); };
  Rounded rho;
  Rounded momentum[3];
  for (int i = 0; i < flow_populations; ++i) {
    rho = rho + g(i);
    for (int axis = 0; axis < 3; ++axis) {
      momentum[axis] = momentum[axis] + Rounded(directions[i][axis]) * g(i);
    }
  }
  const Rounded phi = given(phi_field);
  const Rounded mu =
      model.alpha * phi * (phi * phi - model.phi0_squared) - model.kappa * given(laplacian_field);
  Rounded force[3];
  Rounded u[3];
  Rounded u_u;
  Rounded u_force;
  for (int axis = 0; axis < 3; ++axis) {
    force[axis] = mu * given(gradient_field + axis);
    u[axis] = (momentum[axis] + 0.5 * force[axis]) / rho;
    u_u = u_u + u[axis] * u[axis];
    u_force = u_force + u[axis] * force[axis];
  }
  const Rounded target = model.phase_rate * phi;
  const Rounded source = model.gamma * mu * model.phase_rate;
  make(0, model.phase_kept * f(0) - 3.0 * source + target);
  for (int i = 1; i < phase_populations; ++i) {
    make(i, model.phase_kept * f(i) + 0.5 * source + model.eta * target * along(i, u));
  }
  make(phase_populations, model.flow_kept * g(0) +
                              model.rest_weight * (rho - 6.0 * phi * mu - 1.5 * rho * u_u) -
                              model.rest_forcing * u_force);
  for (int i = 1; i < flow_populations; ++i) {
    const Rounded p = along(i, u);
    const Rounded b = along(i, force);
    const Rounded equilibrium = 3.0 * phi * mu + rho + rho * (0.5 * p * p - 1.5 * u_u) + rho * p;
    make(phase_populations + i, model.flow_kept * g(i) + weight_of(model, i) * equilibrium +
                                    forcing_of(model, i) * (p * b - u_force + b));
  }
}

/// The same for the kernel that only reads and writes: each f is taken from a given field, g0
/// changes its sign, and the others are as they were.
template <typename Make>
void stream(const Box<double>& box, int cell, const Make& make) {
  for (int i = 0; i < phase_populations; ++i) {
    make(i, box.at(i % given_fields, cell) - box.at(first_f + i, cell));
  }
  make(phase_populations, -box.at(first_g, cell));
  for (int i = 1; i < flow_populations; ++i) {
    make(phase_populations + i, box.at(first_g + i, cell));
  }
}

/// What a kernel makes of a grid: a step of the model, or the same reads and writes without one.
enum class Work { model, streams };

/// The box after a step: its given fields stay, f and g0 stay where they are.
inline Box<Rounded> expected_after(Work work, const Box<double>& before, const Model& model) {
  const Extents& extents = before.extents;
  Box<Rounded> after(extents);
  for_each_cell(extents, [&](int x, int y, int z) {
    const int cell = extents.cell(x, y, z);
    for (int what = 0; what < given_fields; ++what) {
      after.at(what, cell) = before.at(what, cell);
    }
    const auto make = [&](int i, const Rounded& value) {
      const int* c = directions[std::max(i - phase_populations, 0)];
      after.at(first_f + i, extents.cell(x + c[0], y + c[1], z + c[2])) = value;
    };
    if (work == Work::model) {
      collide(before, cell, model, make);
    } else {
      stream(before, cell, make);
    }
  });
  return after;
}

}  // namespace hipscope::register_pressure
