// The second step of AMD's lab notes (L). Against 02: f0, which needs no u, is updated before u is
// computed. The store may have changed what g1 to g18 point to, so the compiler loads them again,
// and none of them has to wait in a register from the sum to the velocity: fewer registers, 18 more
// loads.
//
// L, gfx90a: 96 VGPRs, 94 SGPRs, 5 waves per SIMD.
// On the H200 1.107 times the rate of 02, 100 registers, 16 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "recorder.h"

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
                       double edge_forcing, [[maybe_unused]] WaveSpan* spans) {
  WaveSpan* const span = record_start<records>(spans);
  const int x = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  const int y = static_cast<int>(threadIdx.y + blockIdx.y * blockDim.y);
  const int z = static_cast<int>(threadIdx.z + blockIdx.z * blockDim.z);
  if (x > nx || y > ny || z > nz) {
    return;
  }
  const int layer = row * rows;
  const int cell = x + row * (y + rows * z);
  const int at = cell + current;
  const int to = cell + next;
  const double phi_here = phi[cell];
  const double phi_squared = phi_here * phi_here;
  const double rho = g0[cell] + g1[at] + g2[at] + g3[at] + g4[at] + g5[at] + g6[at] + g7[at] +
                     g8[at] + g9[at] + g10[at] + g11[at] + g12[at] + g13[at] + g14[at] + g15[at] +
                     g16[at] + g17[at] + g18[at];
  const double mu = alpha * phi_here * (phi_squared - phi0_squared) - kappa * laplacian[cell];
  f0[cell] = phase_kept * f0[cell] - 3.0 * gamma * mu * phase_rate + phase_rate * phi_here;
  const double force_x = mu * gradient_x[cell];
  const double force_y = mu * gradient_y[cell];
  const double force_z = mu * gradient_z[cell];
  const double u_x = (g1[at] - g2[at] + g7[at] - g8[at] + g9[at] - g10[at] + g11[at] - g12[at] +
                      g13[at] - g14[at] + 0.5 * force_x) /
                     rho;
  const double u_y = (g3[at] - g4[at] + g7[at] - g8[at] - g9[at] + g10[at] + g15[at] - g16[at] +
                      g17[at] - g18[at] + 0.5 * force_y) /
                     rho;
  const double u_z = (g5[at] - g6[at] + g11[at] - g12[at] - g13[at] + g14[at] + g15[at] - g16[at] -
                      g17[at] + g18[at] + 0.5 * force_z) /
                     rho;
  const double f_even = 0.5 * gamma * mu * phase_rate;
  const double f_odd = phase_rate * eta * phi_here;
  f1[at] = phase_kept * f1[at] + f_even + f_odd * u_x;
  f2[at] = phase_kept * f2[at] + f_even - f_odd * u_x;
  f3[at] = phase_kept * f3[at] + f_even + f_odd * u_y;
  f4[at] = phase_kept * f4[at] + f_even - f_odd * u_y;
  f5[at] = phase_kept * f5[at] + f_even + f_odd * u_z;
  f6[at] = phase_kept * f6[at] + f_even - f_odd * u_z;

  const double share = 3.0 * phi_here * mu + rho;
  const double axis_share = axis_weight * share;
  const double edge_share = edge_weight * share;
  const double axis_rho = axis_weight * rho;
  const double edge_rho = edge_weight * rho;
  const double v = 1.5 * (u_x * u_x + u_y * u_y + u_z * u_z);
  const double s = u_x * force_x + u_y * force_y + u_z * force_z;
  g0[cell] =
      flow_kept * g0[cell] + rest_weight * (rho - 6.0 * phi_here * mu - rho * v) - rest_forcing * s;
  double even = 0;
  double odd = 0;
  even = axis_share + axis_rho * (0.5 * u_x * u_x - v) + axis_forcing * (u_x * force_x - s);
  odd = axis_rho * u_x + axis_forcing * force_x;
  g1[to + 1] = flow_kept * g1[at] + even + odd;
  g2[to - 1] = flow_kept * g2[at] + even - odd;
  even = axis_share + axis_rho * (0.5 * u_y * u_y - v) + axis_forcing * (u_y * force_y - s);
  odd = axis_rho * u_y + axis_forcing * force_y;
  g3[to + row] = flow_kept * g3[at] + even + odd;
  g4[to - row] = flow_kept * g4[at] + even - odd;
  even = axis_share + axis_rho * (0.5 * u_z * u_z - v) + axis_forcing * (u_z * force_z - s);
  odd = axis_rho * u_z + axis_forcing * force_z;
  g5[to + layer] = flow_kept * g5[at] + even + odd;
  g6[to - layer] = flow_kept * g6[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x + u_y) * (u_x + u_y) - v) +
         edge_forcing * ((u_x + u_y) * (force_x + force_y) - s);
  odd = edge_rho * (u_x + u_y) + edge_forcing * (force_x + force_y);
  g7[to + 1 + row] = flow_kept * g7[at] + even + odd;
  g8[to - 1 - row] = flow_kept * g8[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x - u_y) * (u_x - u_y) - v) +
         edge_forcing * ((u_x - u_y) * (force_x - force_y) - s);
  odd = edge_rho * (u_x - u_y) + edge_forcing * (force_x - force_y);
  g9[to + 1 - row] = flow_kept * g9[at] + even + odd;
  g10[to - 1 + row] = flow_kept * g10[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x + u_z) * (u_x + u_z) - v) +
         edge_forcing * ((u_x + u_z) * (force_x + force_z) - s);
  odd = edge_rho * (u_x + u_z) + edge_forcing * (force_x + force_z);
  g11[to + 1 + layer] = flow_kept * g11[at] + even + odd;
  g12[to - 1 - layer] = flow_kept * g12[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x - u_z) * (u_x - u_z) - v) +
         edge_forcing * ((u_x - u_z) * (force_x - force_z) - s);
  odd = edge_rho * (u_x - u_z) + edge_forcing * (force_x - force_z);
  g13[to + 1 - layer] = flow_kept * g13[at] + even + odd;
  g14[to - 1 + layer] = flow_kept * g14[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_y + u_z) * (u_y + u_z) - v) +
         edge_forcing * ((u_y + u_z) * (force_y + force_z) - s);
  odd = edge_rho * (u_y + u_z) + edge_forcing * (force_y + force_z);
  g15[to + row + layer] = flow_kept * g15[at] + even + odd;
  g16[to - row - layer] = flow_kept * g16[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_y - u_z) * (u_y - u_z) - v) +
         edge_forcing * ((u_y - u_z) * (force_y - force_z) - s);
  odd = edge_rho * (u_y - u_z) + edge_forcing * (force_y - force_z);
  g17[to + row - layer] = flow_kept * g17[at] + even + odd;
  g18[to - row + layer] = flow_kept * g18[at] + even - odd;
  record_end<records>(span);
}

}  // namespace hipscope::register_pressure::definitions_moved
