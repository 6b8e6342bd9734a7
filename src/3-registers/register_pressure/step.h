// A step of one cell, as all stages with 31 pointers compute it: its arguments, the arithmetic and
// indices of AMD's lab note; and the block of the stages.
#pragma once

#include <hip/hip_runtime.h>

#include "recorder.h"

namespace hipscope::register_pressure {

/// Threads of a block in the stages that state a bound.
constexpr unsigned block_threads = 256;

/// One wave per SIMD more than the kernel has by itself: 6 on gfx90a, 3 where a SIMD has 256 VGPRs
/// per lane, not 512; on an H200, one block per SM.
#if defined(HIPSCOPE_BACKEND_NVIDIA) || defined(__gfx900__) || defined(__gfx906__) || \
    defined(__gfx908__)
constexpr unsigned least_waves = 3;
#else
constexpr unsigned least_waves = 6;
#endif

/// 31 pointers, each to cell (0, 0, 0) of an array, g1 to g18 to two halves, of which `current` is
/// read and `next` written, as are f1 to f6 in `current`; the last cell's coordinates nx, ny, nz;
/// the elements of a row, the rows of a layer; and the model's scalars (model.h). The lab note's
/// kernels, and so 01 to 10, take them one by one, and one more scalar that no step uses.
struct Arguments {
  double *phi, *laplacian, *gradient_x, *gradient_y, *gradient_z, *f0, *f1, *f2, *f3, *f4, *f5, *f6,
      *g0, *g1, *g2, *g3, *g4, *g5, *g6, *g7, *g8, *g9, *g10, *g11, *g12, *g13, *g14, *g15, *g16,
      *g17, *g18;
  int nx, ny, nz, row, rows, current, next;
  double kappa, alpha, phi0_squared, gamma, phase_rate, phase_kept, eta, flow_kept, axis_weight,
      edge_weight, rest_weight, rest_forcing, axis_forcing, edge_forcing;
};

// The parameters of a kernel that takes them one by one, with what a pointer's type ends with, and
// how they are handed on.
#define POINTERS_ONE_BY_ONE(of_g7, of_g14, of_others)                                             \
  double *of_others phi, double *of_others laplacian, double *of_others gradient_x,               \
      double *of_others gradient_y, double *of_others gradient_z, double *of_others f0,           \
      double *of_others f1, double *of_others f2, double *of_others f3, double *of_others f4,     \
      double *of_others f5, double *of_others f6, double *of_others g0, double *of_others g1,     \
      double *of_others g2, double *of_others g3, double *of_others g4, double *of_others g5,     \
      double *of_others g6, double *of_g7 g7, double *of_others g8, double *of_others g9,         \
      double *of_others g10, double *of_others g11, double *of_others g12, double *of_others g13, \
      double *of_g14 g14, double *of_others g15, double *of_others g16, double *of_others g17,    \
      double *of_others g18
#define SCALARS_ONE_BY_ONE                                                                      \
  int nx, int ny, int nz, int row, int rows, int current, int next, double kappa, double alpha, \
      double phi0_squared, double gamma, double phase_rate, double phase_kept, double eta,      \
      double flow_kept, double, double axis_weight, double edge_weight, double rest_weight,     \
      double rest_forcing, double axis_forcing, double edge_forcing
#define ALL_ARGUMENTS                                                                             \
  phi, laplacian, gradient_x, gradient_y, gradient_z, f0, f1, f2, f3, f4, f5, f6, g0, g1, g2, g3, \
      g4, g5, g6, g7, g8, g9, g10, g11, g12, g13, g14, g15, g16, g17, g18, nx, ny, nz, row, rows, \
      current, next, kappa, alpha, phi0_squared, gamma, phase_rate, phase_kept, eta, flow_kept,   \
      axis_weight, edge_weight, rest_weight, rest_forcing, axis_forcing, edge_forcing

/// How phi is squared.
enum class Square { pow, product };

/// When f0 is updated, which needs no velocity. The store may have changed what g1 to g18 point to.
enum class F0 { after_velocity, before_velocity };

/// Says where a thread keeps its three forces and three velocities, values 0 to 5: where the
/// compiler chooses to.
struct CompilerChooses {
  __device__ double operator()(double value, unsigned) const { return value; }
};

/// `All` is a reference where the arguments stay in memory until they are needed.
template <bool records, F0 f0_update = F0::before_velocity, Square square = Square::product,
          typename All = Arguments, typename Keep = CompilerChooses>
__device__ __forceinline__ void step(const Arguments& from, WaveSpan* spans, Keep keep = {}) {
  All all = from;
  const auto& [ALL_ARGUMENTS] = all;
  WaveSpan* const span = record_start<records>(spans);
  const int x = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  const int y = static_cast<int>(threadIdx.y + blockIdx.y * blockDim.y);
  const int z = static_cast<int>(threadIdx.z + blockIdx.z * blockDim.z);
  if (x > nx || y > ny || z > nz) {
    return;
  }
  const int layer = row * rows;
  const int number = x + row * (y + rows * z);
  const int at = number + current;
  const int to = number + next;
  const auto cell = index_of<records>(number);
  const double phi_here = phi[cell];
  const double phi_squared = square == Square::pow ? pow(phi_here, 2.0) : phi_here * phi_here;
  const double rho = g0[cell] + g1[at] + g2[at] + g3[at] + g4[at] + g5[at] + g6[at] + g7[at] +
                     g8[at] + g9[at] + g10[at] + g11[at] + g12[at] + g13[at] + g14[at] + g15[at] +
                     g16[at] + g17[at] + g18[at];
  const double mu = alpha * phi_here * (phi_squared - phi0_squared) - kappa * laplacian[cell];
  if constexpr (f0_update == F0::before_velocity) {
    f0[cell] = phase_kept * f0[cell] - 3.0 * gamma * mu * phase_rate + phase_rate * phi_here;
  }
  const auto force_x = keep(mu * gradient_x[cell], 0);
  const auto force_y = keep(mu * gradient_y[cell], 1);
  const auto force_z = keep(mu * gradient_z[cell], 2);
  const auto u_x = keep((g1[at] - g2[at] + g7[at] - g8[at] + g9[at] - g10[at] + g11[at] - g12[at] +
                         g13[at] - g14[at] + 0.5 * force_x) /
                            rho,
                        3);
  const auto u_y = keep((g3[at] - g4[at] + g7[at] - g8[at] - g9[at] + g10[at] + g15[at] - g16[at] +
                         g17[at] - g18[at] + 0.5 * force_y) /
                            rho,
                        4);
  const auto u_z = keep((g5[at] - g6[at] + g11[at] - g12[at] - g13[at] + g14[at] + g15[at] -
                         g16[at] - g17[at] + g18[at] + 0.5 * force_z) /
                            rho,
                        5);
  const double f_even = 0.5 * gamma * mu * phase_rate;
  const double f_odd = phase_rate * eta * phi_here;
  if constexpr (f0_update == F0::after_velocity) {
    f0[cell] = phase_kept * f0[cell] - 3.0 * gamma * mu * phase_rate + phase_rate * phi_here;
  }
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

}  // namespace hipscope::register_pressure
