// The same reads and writes without the model: besides a copy, the reference for a step.
#pragma once

#include <hip/hip_runtime.h>

#include "step.h"

namespace hipscope::register_pressure::streams {

/// What a step reads it reads, and what it writes it writes, at the same places: the floor of the
/// step's time. g0 goes through a sign, so that it must be read.
template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(POINTERS_ONE_BY_ONE(__restrict__, __restrict__, __restrict__), int nx, int ny, int nz,
           int row, int rows, int current, int next, double, double, double, double, double, double,
           double, double, double, double, double, double, double, double, double,
           [[maybe_unused]] WaveSpan* spans) {
  WaveSpan* const span = record_start<records>(spans);
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x > nx || y > ny || z > nz) {
    return;
  }
  const int layer = row * rows;
  const int cell = x + row * (y + rows * z);
  const int at = cell + current;
  const int to = cell + next;
  f0[cell] = phi[cell] - f0[cell];
  f1[at] = laplacian[cell] - f1[at];
  f2[at] = gradient_x[cell] - f2[at];
  f3[at] = gradient_y[cell] - f3[at];
  f4[at] = gradient_z[cell] - f4[at];
  f5[at] = phi[cell] - f5[at];
  f6[at] = laplacian[cell] - f6[at];
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
  record_end<records>(span);
}

}  // namespace hipscope::register_pressure::streams
