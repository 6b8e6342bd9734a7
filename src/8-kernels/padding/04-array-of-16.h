// An array of 16, indexed at run time. Blocks of 1024.
//
// Against rung 3: the same with half the room, which clang 15 finds in registers: it has
// instructions that take a register's number from another.
//
// On the H200 435 us with 16 channels: nvcc puts this array into local memory as well.
#pragma once

#include "stage.h"

namespace hipscope::padding {

// (The second launch bound, one block per CU: without it CUDA 13's compiler keeps to 32 registers
// and loads fewer values at once than the source says.)
static __global__ void __launch_bounds__(scalar_block, 1)
    array_of_16_kernel(const float* input, float* output, DividingShape shape, unsigned planes,
                       unsigned channels) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned group = shape.plane_of(i);
  const unsigned first = group * channels;
  if (first >= planes) {
    return;
  }
  const unsigned pixel = i - group * shape.padded_plane;
  const unsigned padded_row = shape.row_of(pixel);
  const unsigned row = padded_row - shape.pad;
  const unsigned column = pixel - padded_row * shape.padded_width - shape.pad;
  const unsigned at = first * shape.plane + row * shape.width + column;
  const bool is_inside = row < shape.height && column < shape.width;
  const float* from = input + (is_inside ? at : 0);
  float* to = output + std::size_t{first} * shape.padded_plane + pixel;
  const unsigned count = min(channels, planes - first);
  float values[16];
  for (unsigned c = 0; c < count; ++c) {
    values[c] = is_inside ? from[c * shape.plane] : 0;
  }
  for (unsigned c = 0; c < count; ++c) {
    to[c * shape.padded_plane] = values[c];
  }
}

inline Stage array_of_16_stage(unsigned channels) {
  return {.name = "array of 16, run-time channels " + std::to_string(channels),
          .is_of_fixed_shape = false,
          .kernel = reinterpret_cast<const void*>(array_of_16_kernel),
          .run = [=](const Arrays& arrays, unsigned block) {
            launch(array_of_16_kernel, pixels_shape(arrays.sizes, channels, block),
                   arrays.input.data(), arrays.output.data(), shape_of<DividingShape>(arrays.sizes),
                   arrays.sizes.planes, channels);
          }};
}

}  // namespace hipscope::padding
