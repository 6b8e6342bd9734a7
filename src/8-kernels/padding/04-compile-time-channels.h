// Compile-time channels: the compiler knows how many channels a thread has. Blocks of any size.
//
// Against 03: the values are in registers, and all loads are in flight before the first value is
// stored. Then what finds a thread's plane and row, by the shape:
//   DividingShape     two divisions, as in 03
//   MultiplyingShape  multiply-high: both quotients are upper halves of products by what the host
//                     has prepared
//   FixedShape        planes whose shape the compiler knows: it prepares the multiplications
//                     itself, and all sizes are constants
#pragma once

#include "stage.h"

namespace hipscope::padding {

template <typename Shape, unsigned Channels>
__global__ void __launch_bounds__(scalar_block, 1)
    compile_time_channels_kernel(const float* input, float* output, Shape shape, unsigned planes) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned group = shape.plane_of(i);
  const unsigned first = group * Channels;
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
  const unsigned count = planes - first;
  float values[Channels];
#pragma unroll
  for (unsigned c = 0; c < Channels; ++c) {
    values[c] = is_inside && c < count ? from[c * shape.plane] : 0;
  }
#pragma unroll
  for (unsigned c = 0; c < Channels; ++c) {
    if (c < count) {
      to[c * shape.padded_plane] = values[c];
    }
  }
}

template <typename Shape, unsigned Channels>
Stage compile_time_stage(const std::string& name) {
  const auto kernel = compile_time_channels_kernel<Shape, Channels>;
  return {.name = name,
          .is_of_fixed_shape = std::is_same_v<Shape, FixedShape>,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned block) {
            launch(kernel, pixels_shape(arrays.sizes, Channels, block), arrays.input.data(),
                   arrays.output.data(), shape_of<Shape>(arrays.sizes), arrays.sizes.planes);
          }};
}

}  // namespace hipscope::padding
