// Vector stores: the output as one array, of which a thread stores four consecutive values: 16
// bytes, `Stores` times. Blocks of 256.
//
// Against 04, for both of its shapes: only the first of four needs a search for its place; the next
// ones take a step, and may be in the next row, or plane. With two stores, all loads of a thread
// come before its first store, twice as many as with one.
#pragma once

#include "places.h"

namespace hipscope::padding {

template <typename Shape, unsigned Stores>
__global__ void __launch_bounds__(vector_block, 1)
    vector_stores_kernel(const float* input, float* output, Shape shape, unsigned count,
                         ReadAhead ahead) {
  read_ahead(input, ahead);
  const unsigned first = (blockIdx.x * vector_block * Stores + threadIdx.x) * 4;
  constexpr unsigned step = vector_block * 4;
  float values[Stores][4];
#pragma unroll
  for (unsigned store = 0; store < Stores; ++store) {
    const unsigned i = first + store * step;
    const unsigned plane = shape.plane_of(i);
    Place<Shape> place(shape, plane, i - plane * shape.padded_plane);
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      values[store][e] = place.is_inside(shape) && i + e < count ? input[place.from] : 0;
      place.advance(shape);
    }
  }
#pragma unroll
  for (unsigned store = 0; store < Stores; ++store) {
    store_four(output, first + store * step, count, values[store]);
  }
}

template <typename Shape, unsigned Stores>
Stage vector_stores_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  const auto kernel = vector_stores_kernel<Shape, Stores>;
  return {.name = name,
          .is_of_fixed_shape = std::is_same_v<Shape, FixedShape>,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            constexpr unsigned block_elements = 4 * Stores * vector_block;
            const std::uint64_t count = arrays.sizes.outputs();
            const std::uint64_t blocks = (count + block_elements - 1) / block_elements;
            launch(kernel, launch_shape(blocks * vector_block, vector_block), arrays.input.data(),
                   arrays.output.data(), shape_of<Shape>(arrays.sizes), count,
                   ahead_of(arrays, clump_bytes, blocks));
          }};
}

}  // namespace hipscope::padding
