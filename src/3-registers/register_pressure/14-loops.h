// Loops. Against 13: not unrolled.
// On the H200 0.957 times the rate of 13, with 47 registers and 40 waves per SM in place of 16.
#pragma once

#include <hip/hip_runtime.h>

#include "loop_step.h"
#include "shape.h"

namespace hipscope::register_pressure::loops {

template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(double* phi, double* laplacian, double* gradient_x, double* gradient_y,
           double* gradient_z, double* f, int f_stride, double* g0, double* g, int g_stride,
           Grid grid, Model model, WaveSpan* spans) {
  loop_step<records, 1>(phi, laplacian, gradient_x, gradient_y, gradient_z, f, f_stride, g0, g,
                        g_stride, grid, model, spans);
}

}  // namespace hipscope::register_pressure::loops
