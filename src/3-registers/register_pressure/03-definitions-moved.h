// The second step of AMD's lab note. Against 02: f0, which needs no u, is updated before u is
// computed. The store may have changed what g1 to g18 point to, so the compiler loads them again,
// and none of them has to wait in a register from the sum to the velocity: fewer registers, 18 more
// loads.
//
// The lab note, gfx90a: 96 VGPRs, 94 SGPRs, 5 waves per SIMD.
// On the H200 1.105 times the rate of 02, 100 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::definitions_moved {

template <bool records>
__global__ void kernel(double* phi, double* laplacian, double* gradient_x, double* gradient_y,
                       double* gradient_z, double* f0, double* f1, double* f2, double* f3,
                       double* f4, double* f5, double* f6, double* g0, double* g1, double* g2,
                       double* g3, double* g4, double* g5, double* g6, double* g7, double* g8,
                       double* g9, double* g10, double* g11, double* g12, double* g13, double* g14,
                       double* g15, double* g16, double* g17, double* g18, int nx, int ny, int nz,
                       int row, int rows, int current, int next, double kappa, double alpha,
                       double phi0_squared, double gamma, double phase_rate, double phase_kept,
                       double eta, double flow_kept, double, double axis_weight, double edge_weight,
                       double rest_weight, double rest_forcing, double axis_forcing,
                       double edge_forcing, WaveSpan* spans) {
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

}  // namespace hipscope::register_pressure::definitions_moved
