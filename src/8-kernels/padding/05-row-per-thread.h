// A row per thread: 13 consecutive outputs. Blocks of 256.
//
// Against 04 of the fixed shape: the fewest indices of all, but neighbouring lanes store 52 bytes
// apart.
#pragma once

#include "stage.h"

namespace hipscope::padding {

static __global__ void __launch_bounds__(vector_block, 1)
    row_kernel(const float* input, float* output, FixedShape shape, unsigned planes) {
  const unsigned i = blockIdx.x * vector_block + threadIdx.x;
  const unsigned plane = i / shape.padded_height;
  if (plane >= planes) {
    return;
  }
  const unsigned row = i - plane * shape.padded_height - shape.pad;
  const bool is_inside = row < shape.height;
  const float* from = input + (is_inside ? plane * shape.plane + row * shape.width : 0);
  float* to = output + std::size_t{i} * shape.padded_width;
  float values[FixedShape::padded_width] = {};
#pragma unroll
  for (unsigned column = 0; column < shape.width; ++column) {
    values[shape.pad + column] = is_inside ? from[column] : 0;
  }
#pragma unroll
  for (unsigned column = 0; column < shape.padded_width; ++column) {
    to[column] = values[column];
  }
}

inline Stage row_stage() {
  return {.name = "a row per thread",
          .is_of_fixed_shape = true,
          .kernel = reinterpret_cast<const void*>(row_kernel),
          .run = [](const Arrays& arrays, unsigned) {
            const Sizes& sizes = arrays.sizes;
            launch(row_kernel, launch_shape(sizes.planes * sizes.padded_height(), vector_block),
                   arrays.input.data(), arrays.output.data(), FixedShape(), sizes.planes);
          }};
}

}  // namespace hipscope::padding
