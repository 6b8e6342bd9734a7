// One step of the model in the forms whose registers are compared, one thread per cell.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/lds.h>

#include <cstdint>

#include "register_pressure_model.h"

namespace hipscope::register_pressure {

/// Threads of a block in the stages that state a bound.
constexpr unsigned block_threads = 256;

/// All that a step reads and writes: each points to cell (0, 0, 0), and g1 to g18 to two halves.
struct Fields {
  double* phi;
  double* laplacian;
  double *gradient_x, *gradient_y, *gradient_z;
  double *f0, *f1, *f2, *f3, *f4, *f5, *f6;
  double *g0, *g1, *g2, *g3, *g4, *g5, *g6, *g7, *g8, *g9;
  double *g10, *g11, *g12, *g13, *g14, *g15, *g16, *g17, *g18;
};

// --- What the forms differ in -----------------------------------------------------------------

// How phi is squared, whether f0, which needs no velocity, is updated before it is computed, and
// whether forces and velocities wait in LDS.
struct WithPow {
  static constexpr bool squares_by_pow = true;
  static constexpr bool updates_rest_early = false;
  static constexpr bool parks_in_lds = false;
};
struct WithoutPow : WithPow {
  static constexpr bool squares_by_pow = false;
};
struct Moved : WithoutPow {
  static constexpr bool updates_rest_early = true;
};
struct Parked : Moved {
  static constexpr bool parks_in_lds = true;
};

/// Values that a form may park, of each thread.
constexpr unsigned parked_values = 6;

__device__ inline unsigned thread_of_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// A place in LDS that is read and written whenever the source says so. Clang must be told that it
// is LDS: volatile accesses it would leave to instructions for any memory.
#if defined(__HIP_DEVICE_COMPILE__)
using LdsPlace = LdsPointer<volatile double>;
#else
using LdsPlace = volatile double*;
#endif

/// A value of each thread: in a register, or put away in LDS, from where it comes back whenever it
/// is used.
template <bool InLds>
class Value {
 public:
  __device__ Value(double value, double* lds, unsigned slot)
      : place_((LdsPlace)(lds + slot * block_threads + thread_of_block())) {
    *place_ = value;
  }
  __device__ operator double() const { return *place_; }

 private:
  LdsPlace place_;
};
template <>
class Value<false> {
 public:
  __device__ Value(double value, double*, unsigned) : value_(value) {}
  __device__ operator double() const { return value_; }

 private:
  double value_;
};

// --- The step ---------------------------------------------------------------------------------

/// What a thread computes. `lds` is for the values that a form parks.
template <typename Form>
__device__ __forceinline__ void step_cell(const Fields& of, const Grid& grid, const Model& model,
                                          [[maybe_unused]] double* lds) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x >= grid.nx || y >= grid.ny || z >= grid.nz) {
    return;
  }
  const int cell = x + grid.row * y + grid.layer * z;
  const int at = cell + grid.current;
  const int to = cell + grid.next;
  const double phi = of.phi[cell];
  const double phi_squared = Form::squares_by_pow ? pow(phi, 2.0) : phi * phi;
  const double rho = of.g0[cell] + of.g1[at] + of.g2[at] + of.g3[at] + of.g4[at] + of.g5[at] +
                     of.g6[at] + of.g7[at] + of.g8[at] + of.g9[at] + of.g10[at] + of.g11[at] +
                     of.g12[at] + of.g13[at] + of.g14[at] + of.g15[at] + of.g16[at] + of.g17[at] +
                     of.g18[at];
  const double mu =
      model.alpha * phi * (phi_squared - model.phi0_squared) - model.kappa * of.laplacian[cell];
  const auto update_rest = [&] {
    of.f0[cell] = model.phase_kept * of.f0[cell] - 3 * model.gamma * mu * model.phase_rate +
                  model.phase_rate * phi;
  };
  if constexpr (Form::updates_rest_early) {
    update_rest();
  }
  using Kept = Value<Form::parks_in_lds>;
  const Kept force_x(mu * of.gradient_x[cell], lds, 0);
  const Kept force_y(mu * of.gradient_y[cell], lds, 1);
  const Kept force_z(mu * of.gradient_z[cell], lds, 2);
  const Kept u_x((of.g1[at] - of.g2[at] + of.g7[at] - of.g8[at] + of.g9[at] - of.g10[at] +
                  of.g11[at] - of.g12[at] + of.g13[at] - of.g14[at] + 0.5 * force_x) /
                     rho,
                 lds, 3);
  const Kept u_y((of.g3[at] - of.g4[at] + of.g7[at] - of.g8[at] - of.g9[at] + of.g10[at] +
                  of.g15[at] - of.g16[at] + of.g17[at] - of.g18[at] + 0.5 * force_y) /
                     rho,
                 lds, 4);
  const Kept u_z((of.g5[at] - of.g6[at] + of.g11[at] - of.g12[at] - of.g13[at] + of.g14[at] +
                  of.g15[at] - of.g16[at] - of.g17[at] + of.g18[at] + 0.5 * force_z) /
                     rho,
                 lds, 5);
  if constexpr (!Form::updates_rest_early) {
    update_rest();
  }
  const double f_even = 0.5 * model.gamma * mu * model.phase_rate;
  const double f_odd = model.phase_rate * model.eta * phi;
  of.f1[cell] = model.phase_kept * of.f1[cell] + f_even + f_odd * u_x;
  of.f2[cell] = model.phase_kept * of.f2[cell] + f_even - f_odd * u_x;
  of.f3[cell] = model.phase_kept * of.f3[cell] + f_even + f_odd * u_y;
  of.f4[cell] = model.phase_kept * of.f4[cell] + f_even - f_odd * u_y;
  of.f5[cell] = model.phase_kept * of.f5[cell] + f_even + f_odd * u_z;
  of.f6[cell] = model.phase_kept * of.f6[cell] + f_even - f_odd * u_z;

  const double share = 3 * phi * mu + rho;
  const double v = 1.5 * (u_x * u_x + u_y * u_y + u_z * u_z);
  const double s = u_x * force_x + u_y * force_y + u_z * force_z;
  of.g0[cell] = model.flow_kept * of.g0[cell] + model.rest_weight * (rho - 6 * phi * mu - rho * v) -
                model.rest_forcing * s;
  const double axis_share = model.axis_weight * share;
  const double edge_share = model.edge_weight * share;
  const double axis_rho = model.axis_weight * rho;
  const double edge_rho = model.edge_weight * rho;
  const auto push = [&](double* plus, double* minus, int away, double part, double weight,
                        double forcing, double p, double b) {
    const double even = part + weight * (4.5 * p * p - v) + forcing * (3 * p * b - s);
    const double odd = 3 * weight * p + forcing * b;
    plus[to + away] = model.flow_kept * plus[at] + even + odd;
    minus[to - away] = model.flow_kept * minus[at] + even - odd;
  };
  const auto push_axis = [&](double* plus, double* minus, int away, double p, double b) {
    push(plus, minus, away, axis_share, axis_rho, model.axis_forcing, p, b);
  };
  const auto push_edge = [&](double* plus, double* minus, int away, double p, double b) {
    push(plus, minus, away, edge_share, edge_rho, model.edge_forcing, p, b);
  };
  const int row = grid.row;
  const int layer = grid.layer;
  push_axis(of.g1, of.g2, 1, u_x, force_x);
  push_axis(of.g3, of.g4, row, u_y, force_y);
  push_axis(of.g5, of.g6, layer, u_z, force_z);
  push_edge(of.g7, of.g8, 1 + row, u_x + u_y, force_x + force_y);
  push_edge(of.g9, of.g10, 1 - row, u_x - u_y, force_x - force_y);
  push_edge(of.g11, of.g12, 1 + layer, u_x + u_z, force_x + force_z);
  push_edge(of.g13, of.g14, 1 - layer, u_x - u_z, force_x - force_z);
  push_edge(of.g15, of.g16, row + layer, u_y + u_z, force_y + force_z);
  push_edge(of.g17, of.g18, row - layer, u_y - u_z, force_y - force_z);
}

// --- Kernels with 31 pointers and 21 scalars as arguments --------------------------------------

/// The source's: no launch bound, so that the compiler must plan for blocks of 1024 threads. G7 and
/// G14 are double*, with or without __restrict__.
template <typename Form, typename G7 = double*, typename G14 = double*>
__global__ void step_kernel(double* phi, double* laplacian, double* gradient_x, double* gradient_y,
                            double* gradient_z, double* f0, double* f1, double* f2, double* f3,
                            double* f4, double* f5, double* f6, double* g0, double* g1, double* g2,
                            double* g3, double* g4, double* g5, double* g6, G7 g7, double* g8,
                            double* g9, double* g10, double* g11, double* g12, double* g13, G14 g14,
                            double* g15, double* g16, double* g17, double* g18, int nx, int ny,
                            int nz, int row, int layer, int current, int next, double kappa,
                            double alpha, double phi0_squared, double gamma, double phase_rate,
                            double phase_kept, double eta, double flow_kept, double rest_weight,
                            double axis_weight, double edge_weight, double rest_forcing,
                            double axis_forcing, double edge_forcing) {
  step_cell<Form>({phi, laplacian, gradient_x, gradient_y, gradient_z, f0,  f1,  f2,  f3, f4, f5,
                   f6,  g0,        g1,         g2,         g3,         g4,  g5,  g6,  g7, g8, g9,
                   g10, g11,       g12,        g13,        g14,        g15, g16, g17, g18},
                  {nx, ny, nz, row, layer, current, next},
                  {kappa, alpha, phi0_squared, gamma, phase_rate, phase_kept, eta, flow_kept,
                   rest_weight, axis_weight, edge_weight, rest_forcing, axis_forcing, edge_forcing},
                  nullptr);
}

/// With a launch bound. LeastWaves is how many waves the compiler must leave room for on each SIMD
/// (NVIDIA: how many blocks on each SM), whatever it takes. Pointer is double*, with or without
/// __restrict__.
template <typename Form, unsigned LeastWaves = 1, typename Pointer = double*>
__global__ void __launch_bounds__(block_threads, LeastWaves)
    bounded_kernel(Pointer phi, Pointer laplacian, Pointer gradient_x, Pointer gradient_y,
                   Pointer gradient_z, Pointer f0, Pointer f1, Pointer f2, Pointer f3, Pointer f4,
                   Pointer f5, Pointer f6, Pointer g0, Pointer g1, Pointer g2, Pointer g3,
                   Pointer g4, Pointer g5, Pointer g6, Pointer g7, Pointer g8, Pointer g9,
                   Pointer g10, Pointer g11, Pointer g12, Pointer g13, Pointer g14, Pointer g15,
                   Pointer g16, Pointer g17, Pointer g18, int nx, int ny, int nz, int row,
                   int layer, int current, int next, double kappa, double alpha,
                   double phi0_squared, double gamma, double phase_rate, double phase_kept,
                   double eta, double flow_kept, double rest_weight, double axis_weight,
                   double edge_weight, double rest_forcing, double axis_forcing,
                   double edge_forcing) {
  __shared__ double lds[Form::parks_in_lds ? parked_values * block_threads : 1];
  step_cell<Form>({phi, laplacian, gradient_x, gradient_y, gradient_z, f0,  f1,  f2,  f3, f4, f5,
                   f6,  g0,        g1,         g2,         g3,         g4,  g5,  g6,  g7, g8, g9,
                   g10, g11,       g12,        g13,        g14,        g15, g16, g17, g18},
                  {nx, ny, nz, row, layer, current, next},
                  {kappa, alpha, phi0_squared, gamma, phase_rate, phase_kept, eta, flow_kept,
                   rest_weight, axis_weight, edge_weight, rest_forcing, axis_forcing, edge_forcing},
                  lds);
}

// --- The same reads and writes ------------------------------------------------------------------

/// What a step reads it reads, and what it writes it writes, at the same places: the floor of the
/// step's time. g0 goes through a sign, so that it must be read.
template <typename Pointer>
__global__ void __launch_bounds__(block_threads)
    streams_kernel(Pointer phi, Pointer laplacian, Pointer gradient_x, Pointer gradient_y,
                   Pointer gradient_z, Pointer f0, Pointer f1, Pointer f2, Pointer f3, Pointer f4,
                   Pointer f5, Pointer f6, Pointer g0, Pointer g1, Pointer g2, Pointer g3,
                   Pointer g4, Pointer g5, Pointer g6, Pointer g7, Pointer g8, Pointer g9,
                   Pointer g10, Pointer g11, Pointer g12, Pointer g13, Pointer g14, Pointer g15,
                   Pointer g16, Pointer g17, Pointer g18, int nx, int ny, int nz, int row,
                   int layer, int current, int next, double, double, double, double, double, double,
                   double, double, double, double, double, double, double, double) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x >= nx || y >= ny || z >= nz) {
    return;
  }
  const int cell = x + row * y + layer * z;
  const int at = cell + current;
  const int to = cell + next;
  f0[cell] = phi[cell] - f0[cell];
  f1[cell] = laplacian[cell] - f1[cell];
  f2[cell] = gradient_x[cell] - f2[cell];
  f3[cell] = gradient_y[cell] - f3[cell];
  f4[cell] = gradient_z[cell] - f4[cell];
  f5[cell] = phi[cell] - f5[cell];
  f6[cell] = laplacian[cell] - f6[cell];
  g0[cell] = -g0[cell];
  const auto push = [&](double* plus, double* minus, int away) {
    plus[to + away] = plus[at];
    minus[to - away] = minus[at];
  };
  push(g1, g2, 1);
  push(g3, g4, row);
  push(g5, g6, layer);
  push(g7, g8, 1 + row);
  push(g9, g10, 1 - row);
  push(g11, g12, 1 + layer);
  push(g13, g14, 1 - layer);
  push(g15, g16, row + layer);
  push(g17, g18, row - layer);
}

// --- The arguments in one object ---------------------------------------------------------------

struct Arguments {
  Fields fields;
  Grid grid;
  Model model;
};

template <typename Form>
__global__ void __launch_bounds__(block_threads) object_kernel(Arguments arguments) {
  step_cell<Form>(arguments.fields, arguments.grid, arguments.model, nullptr);
}

static __constant__ Arguments constant_arguments;

/// The object lies in constant memory; only which half is read and which written comes with each
/// launch.
template <typename Form>
__global__ void __launch_bounds__(block_threads) constant_kernel(int current, int next) {
  Grid grid = constant_arguments.grid;
  grid.current = current;
  grid.next = next;
  step_cell<Form>(constant_arguments.fields, grid, constant_arguments.model, nullptr);
}

// --- Loops over the populations ----------------------------------------------------------------

static __constant__ const int direction_table[flow_populations][3] = {
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};

/// No lambda may name the table: clang takes it for one that the host may change then, and would
/// load in unrolled loops what it knows.
__device__ inline const int* direction_of(int i) { return direction_table[i]; }

/// The populations as numbers of one array: f of f0 on, g of g1 on, `f_stride` and `g_stride`
/// elements apart.
template <int Unroll, bool OnStack>
__global__ void __launch_bounds__(block_threads)
    loop_kernel(double* phi_field, double* laplacian, double* gradient_x, double* gradient_y,
                double* gradient_z, double* f, int f_stride, double* g0, double* g, int g_stride,
                Grid grid, Model model) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x >= grid.nx || y >= grid.ny || z >= grid.nz) {
    return;
  }
  const int cell = x + grid.row * y + grid.layer * z;
  const double phi = phi_field[cell];
  double* const from = g + grid.current + cell;
  double* const into = g + grid.next + cell;
  double rho = g0[cell];
  double momentum[3] = {};
  [[maybe_unused]] double stack[flow_populations - 1];
#pragma unroll Unroll
  for (int i = 1; i < flow_populations; ++i) {
    const double value = from[std::int64_t{g_stride} * (i - 1)];
    if constexpr (OnStack) {
      stack[i - 1] = value;
    }
    rho += value;
    for (int axis = 0; axis < 3; ++axis) {
      momentum[axis] += direction_of(i)[axis] * value;
    }
  }
  const double mu =
      model.alpha * phi * (phi * phi - model.phi0_squared) - model.kappa * laplacian[cell];
  const double force[3] = {mu * gradient_x[cell], mu * gradient_y[cell], mu * gradient_z[cell]};
  const double u[3] = {(momentum[0] + 0.5 * force[0]) / rho, (momentum[1] + 0.5 * force[1]) / rho,
                       (momentum[2] + 0.5 * force[2]) / rho};
  f[cell] =
      model.phase_kept * f[cell] - 3 * model.gamma * mu * model.phase_rate + model.phase_rate * phi;
#pragma unroll Unroll
  for (int i = 1; i < phase_populations; ++i) {
    const int* c = direction_of(i);
    double* const mine = f + std::int64_t{f_stride} * i + cell;
    *mine = model.phase_kept * *mine + 0.5 * model.gamma * mu * model.phase_rate +
            model.phase_rate * model.eta * phi * (c[0] * u[0] + c[1] * u[1] + c[2] * u[2]);
  }
  const double share = 3 * phi * mu + rho;
  const double v = 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const double s = u[0] * force[0] + u[1] * force[1] + u[2] * force[2];
  g0[cell] = model.flow_kept * g0[cell] + model.rest_weight * (rho - 6 * phi * mu - rho * v) -
             model.rest_forcing * s;
#pragma unroll Unroll
  for (int i = 1; i < flow_populations; ++i) {
    const int* c = direction_of(i);
    const double weight = i < phase_populations ? model.axis_weight : model.edge_weight;
    const double forcing = i < phase_populations ? model.axis_forcing : model.edge_forcing;
    const double p = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    const double b = c[0] * force[0] + c[1] * force[1] + c[2] * force[2];
    const std::int64_t population = std::int64_t{g_stride} * (i - 1);
    const double value = OnStack ? stack[i - 1] : from[population];
    into[population + c[0] + grid.row * c[1] + grid.layer * c[2]] =
        model.flow_kept * value + weight * share + weight * rho * (4.5 * p * p - v) +
        forcing * (3 * p * b - s) + 3 * weight * rho * p + forcing * b;
  }
}

}  // namespace hipscope::register_pressure
