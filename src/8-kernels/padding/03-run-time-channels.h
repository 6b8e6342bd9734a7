// Run-time channels, ours: the threads of all groups of planes are numbered in one row, in blocks
// of any size. An array of `Room` values, indexed at run time.
//
// Against fsword73's (01): no thread is idle, any number of planes of any shape is padded, and the
// array is not set to 0 first; for that a thread divides to find its plane as well as its row. With
// room for 32 values the array is in scratch; with room for 16 clang 15 keeps it in registers, with
// instructions that index them; nvcc puts both into local memory.
#pragma once

#include "stage.h"

namespace hipscope::padding {

template <unsigned Room>
__global__ void __launch_bounds__(scalar_block, 1)
    run_time_channels_kernel(const float* input, float* output, DividingShape shape,
                             unsigned planes, unsigned channels) {
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
  float values[Room];
  for (unsigned c = 0; c < count; ++c) {
    values[c] = is_inside ? from[c * shape.plane] : 0;
  }
  for (unsigned c = 0; c < count; ++c) {
    to[c * shape.padded_plane] = values[c];
  }
}

template <unsigned Room = 32>
Stage run_time_stage(const std::string& name, unsigned channels) {
  const auto kernel = run_time_channels_kernel<Room>;
  return {.name = name + std::to_string(channels),
          .is_of_fixed_shape = false,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned block) {
            launch(kernel, pixels_shape(arrays.sizes, channels, block), arrays.input.data(),
                   arrays.output.data(), shape_of<DividingShape>(arrays.sizes), arrays.sizes.planes,
                   channels);
          }};
}

}  // namespace hipscope::padding
