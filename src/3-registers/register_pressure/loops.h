// 13. Loops. Against 06: the populations are numbers of one array each, and loops go over them:
// unrolled by the compiler, not unrolled, and with an array on the stack, in which what the first
// loop reads is kept for the last one. It is indexed at run time, so that it is in scratch.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

#include "model.h"
#include "step.h"

namespace hipscope::register_pressure {

#define LOOP_PARAMETERS                                                                       \
  double *phi, double *laplacian, double *gradient_x, double *gradient_y, double *gradient_z, \
      double *f, int f_stride, double *g0, double *g, int g_stride, Grid grid, Model model,   \
      WaveSpan *spans
#define LOOP_ARGUMENTS                                                                           \
  phi, laplacian, gradient_x, gradient_y, gradient_z, f, f_stride, g0, g, g_stride, grid, model, \
      spans

/// f holds f0 to f6 and g holds g1 to g18, `f_stride` and `g_stride` elements apart. `on_stack`:
/// what the first loop reads is kept in an array for the last one.
template <bool records, int unrolled, bool on_stack = false>
__device__ __forceinline__ void loop_step(LOOP_PARAMETERS) {
  WaveSpan* const span = record_start<records>(spans);
  const int x = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  const int y = static_cast<int>(threadIdx.y + blockIdx.y * blockDim.y);
  const int z = static_cast<int>(threadIdx.z + blockIdx.z * blockDim.z);
  if (x >= grid.nx || y >= grid.ny || z >= grid.nz) {
    return;
  }
  const int cell = x + grid.row * y + grid.layer * z;
  const double phi_here = phi[cell];
  double* const from = g + grid.current + cell;
  double* const into = g + grid.next + cell;
  double rho = g0[cell];
  double momentum[3] = {};
  [[maybe_unused]] double stack[flow_populations - 1];
#pragma unroll unrolled
  for (int i = 1; i < flow_populations; ++i) {
    const double value = from[std::int64_t{g_stride} * (i - 1)];
    if constexpr (on_stack) {
      stack[i - 1] = value;
    }
    rho += value;
    for (int axis = 0; axis < 3; ++axis) {
      momentum[axis] += direction_of(i)[axis] * value;
    }
  }
  const double mu = model.alpha * phi_here * (phi_here * phi_here - model.phi0_squared) -
                    model.kappa * laplacian[cell];
  const double force[3] = {mu * gradient_x[cell], mu * gradient_y[cell], mu * gradient_z[cell]};
  const double u[3] = {(momentum[0] + 0.5 * force[0]) / rho, (momentum[1] + 0.5 * force[1]) / rho,
                       (momentum[2] + 0.5 * force[2]) / rho};
  f[cell] = model.phase_kept * f[cell] - 3.0 * model.gamma * mu * model.phase_rate +
            model.phase_rate * phi_here;
#pragma unroll unrolled
  for (int i = 1; i < phase_populations; ++i) {
    const int* c = direction_of(i);
    double* const mine = f + std::int64_t{f_stride} * i + cell;
    *mine = model.phase_kept * *mine + 0.5 * model.gamma * mu * model.phase_rate +
            model.phase_rate * model.eta * phi_here * (c[0] * u[0] + c[1] * u[1] + c[2] * u[2]);
  }
  const double share = 3.0 * phi_here * mu + rho;
  const double v = 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const double s = u[0] * force[0] + u[1] * force[1] + u[2] * force[2];
  g0[cell] = model.flow_kept * g0[cell] +
             model.rest_weight * (rho - 6.0 * phi_here * mu - rho * v) - model.rest_forcing * s;
#pragma unroll unrolled
  for (int i = 1; i < flow_populations; ++i) {
    const int* c = direction_of(i);
    const double weight = i < phase_populations ? model.axis_weight : model.edge_weight;
    const double forcing = i < phase_populations ? model.axis_forcing : model.edge_forcing;
    const double p = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
    const double b = c[0] * force[0] + c[1] * force[1] + c[2] * force[2];
    const std::int64_t population = std::int64_t{g_stride} * (i - 1);
    const double value = on_stack ? stack[i - 1] : from[population];
    into[population + c[0] + grid.row * c[1] + grid.layer * c[2]] =
        model.flow_kept * value + weight * share + weight * rho * (0.5 * p * p - v) +
        forcing * (p * b - s) + weight * rho * p + forcing * b;
  }
  record_end<records>(span);
}

namespace loops_unrolled {
template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(LOOP_PARAMETERS) {
  loop_step<records, 18>(LOOP_ARGUMENTS);
}
}  // namespace loops_unrolled

namespace loops {
template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(LOOP_PARAMETERS) {
  loop_step<records, 1>(LOOP_ARGUMENTS);
}
}  // namespace loops

namespace array_on_the_stack {
template <bool records>
__global__ void __launch_bounds__(block_threads) kernel(LOOP_PARAMETERS) {
  loop_step<records, 1, true>(LOOP_ARGUMENTS);
}
}  // namespace array_on_the_stack

}  // namespace hipscope::register_pressure
