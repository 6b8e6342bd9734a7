// Against 06: __restrict__ on all 31 pointers. Nothing is loaded twice: 31 loads, not 68.
// On the H200 1.239 times the rate of 06, the largest gain: 80 registers in place of 100, 24 waves
// per SM; 99.8 % of the same reads and writes with no model.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::restrict_on_all {

template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(double* __restrict__ phi, double* __restrict__ laplacian,
           double* __restrict__ gradient_x, double* __restrict__ gradient_y,
           double* __restrict__ gradient_z, double* __restrict__ f0, double* __restrict__ f1,
           double* __restrict__ f2, double* __restrict__ f3, double* __restrict__ f4,
           double* __restrict__ f5, double* __restrict__ f6, double* __restrict__ g0,
           double* __restrict__ g1, double* __restrict__ g2, double* __restrict__ g3,
           double* __restrict__ g4, double* __restrict__ g5, double* __restrict__ g6,
           double* __restrict__ g7, double* __restrict__ g8, double* __restrict__ g9,
           double* __restrict__ g10, double* __restrict__ g11, double* __restrict__ g12,
           double* __restrict__ g13, double* __restrict__ g14, double* __restrict__ g15,
           double* __restrict__ g16, double* __restrict__ g17, double* __restrict__ g18, int nx,
           int ny, int nz, int row, int rows, int current, int next, double kappa, double alpha,
           double phi0_squared, double gamma, double phase_rate, double phase_kept, double eta,
           double flow_kept, double, double axis_weight, double edge_weight, double rest_weight,
           double rest_forcing, double axis_forcing, double edge_forcing, WaveSpan* spans) {
  step<records>(
      {phi,          laplacian,    gradient_x,  gradient_y, gradient_z,  f0,           f1,
       f2,           f3,           f4,          f5,         f6,          g0,           g1,
       g2,           g3,           g4,          g5,         g6,          g7,           g8,
       g9,           g10,          g11,         g12,        g13,         g14,          g15,
       g16,          g17,          g18,         nx,         ny,          nz,           row,
       rows,         current,      next,        kappa,      alpha,       phi0_squared, gamma,
       phase_rate,   phase_kept,   eta,         flow_kept,  axis_weight, edge_weight,  rest_weight,
       rest_forcing, axis_forcing, edge_forcing},
      spans);
}

}  // namespace hipscope::register_pressure::restrict_on_all
