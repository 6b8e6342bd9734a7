// Arguments in constant memory. Against 11: the object is there, once for each half that is read;
// only which of the two comes with each launch.
// On the H200 no difference: 0.998 times the rate of 11, 100 registers as before.
#pragma once

#include <hip/hip_runtime.h>

#include "arguments.h"
#include "recorder.h"
#include "shape.h"

namespace hipscope::register_pressure::constant_memory {

static __constant__ Arguments of_half[2];

template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(int half, [[maybe_unused]] WaveSpan* spans) {
  const Arguments& all = of_half[half];
  WaveSpan* const span = record_start<records>(spans);
  const int x = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  const int y = static_cast<int>(threadIdx.y + blockIdx.y * blockDim.y);
  const int z = static_cast<int>(threadIdx.z + blockIdx.z * blockDim.z);
  if (x > all.nx || y > all.ny || z > all.nz) {
    return;
  }
  const int layer = all.row * all.rows;
  const int cell = x + all.row * (y + all.rows * z);
  const int at = cell + all.current;
  const int to = cell + all.next;
  const double phi_here = all.phi[cell];
  const double phi_squared = phi_here * phi_here;
  const double rho = all.g0[cell] + all.g1[at] + all.g2[at] + all.g3[at] + all.g4[at] + all.g5[at] +
                     all.g6[at] + all.g7[at] + all.g8[at] + all.g9[at] + all.g10[at] + all.g11[at] +
                     all.g12[at] + all.g13[at] + all.g14[at] + all.g15[at] + all.g16[at] +
                     all.g17[at] + all.g18[at];
  const double mu =
      all.alpha * phi_here * (phi_squared - all.phi0_squared) - all.kappa * all.laplacian[cell];
  all.f0[cell] = all.phase_kept * all.f0[cell] - 3.0 * all.gamma * mu * all.phase_rate +
                 all.phase_rate * phi_here;
  const double force_x = mu * all.gradient_x[cell];
  const double force_y = mu * all.gradient_y[cell];
  const double force_z = mu * all.gradient_z[cell];
  const double u_x = (all.g1[at] - all.g2[at] + all.g7[at] - all.g8[at] + all.g9[at] - all.g10[at] +
                      all.g11[at] - all.g12[at] + all.g13[at] - all.g14[at] + 0.5 * force_x) /
                     rho;
  const double u_y = (all.g3[at] - all.g4[at] + all.g7[at] - all.g8[at] - all.g9[at] + all.g10[at] +
                      all.g15[at] - all.g16[at] + all.g17[at] - all.g18[at] + 0.5 * force_y) /
                     rho;
  const double u_z =
      (all.g5[at] - all.g6[at] + all.g11[at] - all.g12[at] - all.g13[at] + all.g14[at] +
       all.g15[at] - all.g16[at] - all.g17[at] + all.g18[at] + 0.5 * force_z) /
      rho;
  const double f_even = 0.5 * all.gamma * mu * all.phase_rate;
  const double f_odd = all.phase_rate * all.eta * phi_here;
  all.f1[at] = all.phase_kept * all.f1[at] + f_even + f_odd * u_x;
  all.f2[at] = all.phase_kept * all.f2[at] + f_even - f_odd * u_x;
  all.f3[at] = all.phase_kept * all.f3[at] + f_even + f_odd * u_y;
  all.f4[at] = all.phase_kept * all.f4[at] + f_even - f_odd * u_y;
  all.f5[at] = all.phase_kept * all.f5[at] + f_even + f_odd * u_z;
  all.f6[at] = all.phase_kept * all.f6[at] + f_even - f_odd * u_z;

  const double share = 3.0 * phi_here * mu + rho;
  const double axis_share = all.axis_weight * share;
  const double edge_share = all.edge_weight * share;
  const double axis_rho = all.axis_weight * rho;
  const double edge_rho = all.edge_weight * rho;
  const double v = 1.5 * (u_x * u_x + u_y * u_y + u_z * u_z);
  const double s = u_x * force_x + u_y * force_y + u_z * force_z;
  all.g0[cell] = all.flow_kept * all.g0[cell] +
                 all.rest_weight * (rho - 6.0 * phi_here * mu - rho * v) - all.rest_forcing * s;
  double even = 0;
  double odd = 0;
  even = axis_share + axis_rho * (0.5 * u_x * u_x - v) + all.axis_forcing * (u_x * force_x - s);
  odd = axis_rho * u_x + all.axis_forcing * force_x;
  all.g1[to + 1] = all.flow_kept * all.g1[at] + even + odd;
  all.g2[to - 1] = all.flow_kept * all.g2[at] + even - odd;
  even = axis_share + axis_rho * (0.5 * u_y * u_y - v) + all.axis_forcing * (u_y * force_y - s);
  odd = axis_rho * u_y + all.axis_forcing * force_y;
  all.g3[to + all.row] = all.flow_kept * all.g3[at] + even + odd;
  all.g4[to - all.row] = all.flow_kept * all.g4[at] + even - odd;
  even = axis_share + axis_rho * (0.5 * u_z * u_z - v) + all.axis_forcing * (u_z * force_z - s);
  odd = axis_rho * u_z + all.axis_forcing * force_z;
  all.g5[to + layer] = all.flow_kept * all.g5[at] + even + odd;
  all.g6[to - layer] = all.flow_kept * all.g6[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x + u_y) * (u_x + u_y) - v) +
         all.edge_forcing * ((u_x + u_y) * (force_x + force_y) - s);
  odd = edge_rho * (u_x + u_y) + all.edge_forcing * (force_x + force_y);
  all.g7[to + 1 + all.row] = all.flow_kept * all.g7[at] + even + odd;
  all.g8[to - 1 - all.row] = all.flow_kept * all.g8[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x - u_y) * (u_x - u_y) - v) +
         all.edge_forcing * ((u_x - u_y) * (force_x - force_y) - s);
  odd = edge_rho * (u_x - u_y) + all.edge_forcing * (force_x - force_y);
  all.g9[to + 1 - all.row] = all.flow_kept * all.g9[at] + even + odd;
  all.g10[to - 1 + all.row] = all.flow_kept * all.g10[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x + u_z) * (u_x + u_z) - v) +
         all.edge_forcing * ((u_x + u_z) * (force_x + force_z) - s);
  odd = edge_rho * (u_x + u_z) + all.edge_forcing * (force_x + force_z);
  all.g11[to + 1 + layer] = all.flow_kept * all.g11[at] + even + odd;
  all.g12[to - 1 - layer] = all.flow_kept * all.g12[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_x - u_z) * (u_x - u_z) - v) +
         all.edge_forcing * ((u_x - u_z) * (force_x - force_z) - s);
  odd = edge_rho * (u_x - u_z) + all.edge_forcing * (force_x - force_z);
  all.g13[to + 1 - layer] = all.flow_kept * all.g13[at] + even + odd;
  all.g14[to - 1 + layer] = all.flow_kept * all.g14[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_y + u_z) * (u_y + u_z) - v) +
         all.edge_forcing * ((u_y + u_z) * (force_y + force_z) - s);
  odd = edge_rho * (u_y + u_z) + all.edge_forcing * (force_y + force_z);
  all.g15[to + all.row + layer] = all.flow_kept * all.g15[at] + even + odd;
  all.g16[to - all.row - layer] = all.flow_kept * all.g16[at] + even - odd;
  even = edge_share + edge_rho * (0.5 * (u_y - u_z) * (u_y - u_z) - v) +
         all.edge_forcing * ((u_y - u_z) * (force_y - force_z) - s);
  odd = edge_rho * (u_y - u_z) + all.edge_forcing * (force_y - force_z);
  all.g17[to + all.row - layer] = all.flow_kept * all.g17[at] + even + odd;
  all.g18[to - all.row + layer] = all.flow_kept * all.g18[at] + even - odd;
  record_end<records>(span);
}

}  // namespace hipscope::register_pressure::constant_memory
