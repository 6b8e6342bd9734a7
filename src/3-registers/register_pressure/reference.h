// The host's step of the model, direction by direction as the equations say it, with a bound on the
// rounding errors of each result.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "hipscope/comparison.h"
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

  [[nodiscard]] std::size_t cells() const {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y) * static_cast<std::size_t>(z);
  }
  /// The number of a cell of this box, or of its periodic image.
  [[nodiscard]] std::size_t cell(int i, int j, int k) const {
    const auto wrapped = [](int at, int extent) { return (at % extent + extent) % extent; };
    return static_cast<std::size_t>(wrapped(i, x) + x * (wrapped(j, y) + y * wrapped(k, z)));
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
class Box {
 public:
  explicit Box(const Extents& extents)
      : extents_(extents), values_(cell_values * extents.cells()) {}

  [[nodiscard]] const Extents& extents() const { return extents_; }
  [[nodiscard]] T& at(int what, std::size_t cell) {
    return values_[static_cast<std::size_t>(what) * extents_.cells() + cell];
  }
  [[nodiscard]] const T& at(int what, std::size_t cell) const {
    return values_[static_cast<std::size_t>(what) * extents_.cells() + cell];
  }
  [[nodiscard]] std::vector<T>& values() { return values_; }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }

 private:
  Extents extents_;
  std::vector<T> values_;
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
  for (std::size_t cell = 0; cell < extents.cells(); ++cell) {
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
    const std::size_t cell = extents.cell(x, y, z);
    const auto phi = [&](int i, int j, int k) {
      return box.at(phi_field, extents.cell(x + i, y + j, z + k));
    };
    box.at(laplacian_field, cell) = phi(1, 0, 0) + phi(-1, 0, 0) + phi(0, 1, 0) + phi(0, -1, 0) +
                                    phi(0, 0, 1) + phi(0, 0, -1) - 6 * phi(0, 0, 0);
    box.at(gradient_field, cell) = 0.5 * (phi(1, 0, 0) - phi(-1, 0, 0));
    box.at(gradient_field + 1, cell) = 0.5 * (phi(0, 1, 0) - phi(0, -1, 0));
    box.at(gradient_field + 2, cell) = 0.5 * (phi(0, 0, 1) - phi(0, 0, -1));
  });
  return box;
}

// --- One step -----------------------------------------------------------------------------------

/// The sum of c_a v_a over the axes.
template <typename Vector>
Rounded along(int direction, const Vector& v) {
  Rounded sum;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int c = directions[direction][axis];
    if (c != 0) {
      sum = sum + Rounded(c) * v[axis];
    }
  }
  return sum;
}

/// What a cell's populations become, f and then g, before g moves.
inline std::array<Rounded, phase_populations + flow_populations> collide(const Box<double>& box,
                                                                         std::size_t cell,
                                                                         const Model& model) {
  const auto given = [&](int what) { return Rounded(box.at(what, cell)); };
  const auto f = [&](int i) { return given(first_f + i); };
  const auto g = [&](int i) { return given(first_g + i); };
  Rounded rho;
  std::array<Rounded, 3> momentum;
  for (int i = 0; i < flow_populations; ++i) {
    rho = rho + g(i);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int c = directions[i][axis];
      momentum[axis] = momentum[axis] + Rounded(c) * g(i);
    }
  }
  const Rounded phi = given(phi_field);
  const Rounded mu =
      model.alpha * phi * (phi * phi - model.phi0_squared) - model.kappa * given(laplacian_field);
  std::array<Rounded, 3> force;
  std::array<Rounded, 3> u;
  Rounded u_u;
  Rounded u_force;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    force[axis] = mu * given(gradient_field + static_cast<int>(axis));
    u[axis] = (momentum[axis] + 0.5 * force[axis]) / rho;
    u_u = u_u + u[axis] * u[axis];
    u_force = u_force + u[axis] * force[axis];
  }
  std::array<Rounded, phase_populations + flow_populations> made;
  const Rounded target = model.phase_rate * phi;
  const Rounded source = model.gamma * mu * model.phase_rate;
  made[0] = model.phase_kept * f(0) - 3.0 * source + target;
  for (int i = 1; i < phase_populations; ++i) {
    made[static_cast<std::size_t>(i)] =
        model.phase_kept * f(i) + 0.5 * source + model.eta * target * along(i, u);
  }
  made[phase_populations] = model.flow_kept * g(0) +
                            model.rest_weight * (rho - 6.0 * phi * mu - 1.5 * rho * u_u) -
                            model.rest_forcing * u_force;
  for (int i = 1; i < flow_populations; ++i) {
    const Rounded p = along(i, u);
    const Rounded b = along(i, force);
    const Rounded equilibrium = 3.0 * phi * mu + rho + rho * (0.5 * p * p - 1.5 * u_u) + rho * p;
    made[static_cast<std::size_t>(phase_populations + i)] =
        model.flow_kept * g(i) + weight_of(model, i) * equilibrium +
        forcing_of(model, i) * (p * b - u_force + b);
  }
  return made;
}

/// The box after a step: its given fields stay.
inline Box<Rounded> reference_step(const Box<double>& before, const Model& model) {
  const Extents& extents = before.extents();
  Box<Rounded> after(extents);
  for_each_cell(extents, [&](int x, int y, int z) {
    const std::size_t cell = extents.cell(x, y, z);
    for (int what = 0; what < given_fields; ++what) {
      after.at(what, cell) = before.at(what, cell);
    }
    const auto made = collide(before, cell, model);
    for (int i = 0; i < phase_populations; ++i) {
      after.at(first_f + i, cell) = made[static_cast<std::size_t>(i)];
    }
    for (int i = 0; i < flow_populations; ++i) {
      const auto& c = directions[i];
      after.at(first_g + i, extents.cell(x + c[0], y + c[1], z + c[2])) =
          made[static_cast<std::size_t>(phase_populations + i)];
    }
  });
  return after;
}

/// What streams_kernel makes of a box: each f is taken from a given field, g0
/// changes its sign, and the others move as they are.
inline Box<Rounded> reference_streams(const Box<double>& before) {
  const Extents& extents = before.extents();
  Box<Rounded> after(extents);
  const auto exact = [](double value) { return Rounded(value, std::abs(value), 0); };
  for_each_cell(extents, [&](int x, int y, int z) {
    const std::size_t cell = extents.cell(x, y, z);
    for (int what = 0; what < given_fields; ++what) {
      after.at(what, cell) = exact(before.at(what, cell));
    }
    for (int i = 0; i < phase_populations; ++i) {
      after.at(first_f + i, cell) =
          exact(before.at(i % given_fields, cell) - before.at(first_f + i, cell));
    }
    for (int i = 0; i < flow_populations; ++i) {
      const auto& c = directions[i];
      after.at(first_g + i, extents.cell(x + c[0], y + c[1], z + c[2])) =
          exact(i == 0 ? -before.at(first_g, cell) : before.at(first_g + i, cell));
    }
  });
  return after;
}

// --- Comparing ----------------------------------------------------------------------------------

/// Every value of `after`: field by field, and in each cell by cell.
inline void compare_values(Comparison& values, const Box<double>& after,
                           const Box<Rounded>& expected) {
  for (std::size_t i = 0; i < after.values().size(); ++i) {
    const Rounded& right = expected.values()[i];
    values.compare(i, right.value, after.values()[i], right.tolerance());
  }
}

/// In every cell what is left of the sum of all f without phi, after a step that should have made
/// `expected`.
inline void compare_phase(Comparison& cells, const Box<double>& after,
                          const Box<Rounded>& expected) {
  for (std::size_t cell = 0; cell < after.extents().cells(); ++cell) {
    double left = -after.at(phi_field, cell);
    double tolerance = 0;
    for (int what = first_f; what < first_g; ++what) {
      left += after.at(what, cell);
      tolerance += expected.at(what, cell).tolerance();
    }
    cells.compare(cell, 0.0, left, tolerance);
  }
}

}  // namespace hipscope::register_pressure
