// An array on the stack. Against 14: what the first loop reads is kept in an array for the last
// one, indexed at run time, so that it is in scratch.
// On the H200 0.829 times the rate of 14: 144 bytes of scratch, 40 waves per SM as before.
#pragma once

#include <hip/hip_runtime.h>

#include "loop_step.h"
#include "shape.h"

namespace hipscope::register_pressure::array_on_the_stack {

template <bool records>
__global__ void __launch_bounds__(block_threads)
    kernel(double* phi, double* laplacian, double* gradient_x, double* gradient_y,
           double* gradient_z, double* f, int f_stride, double* g0, double* g, int g_stride,
           Grid grid, Model model, WaveSpan* spans) {
  loop_step<records, 1, true>(phi, laplacian, gradient_x, gradient_y, gradient_z, f, f_stride, g0,
                              g, g_stride, grid, model, spans);
}

}  // namespace hipscope::register_pressure::array_on_the_stack
