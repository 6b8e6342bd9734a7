// Vector stores: the output as one row of numbers, of which a thread stores four that lie together:
// 16 bytes. Blocks of 256.
//
// Against rungs 6 and 7, whose shapes it takes both: only the first of four needs a search for its
// place; the next ones take a step, and may lie in the next row, or plane.
//
// On the H200 244 us by the shape of rung 6, 237 by that of rung 7: 88.6 and 91.2 % of a copy.
#pragma once

#include "places.h"
#include "read_ahead.h"
#include "stage.h"

namespace hipscope::padding {

// (The second launch bound, one block per CU: without it CUDA 13's compiler keeps to 32 registers
// and loads fewer values at once than the source says.)
template <typename Shape>
__global__ void __launch_bounds__(vector_block, 1)
    vector_stores_kernel(const float* input, float* output, Shape shape, unsigned count,
                         ReadAhead ahead) {
  read_ahead(input, ahead);
  const unsigned i = (blockIdx.x * vector_block + threadIdx.x) * 4;
  float values[4];
  const unsigned plane = shape.plane_of(i);
  Place<Shape> place(shape, plane, i - plane * shape.padded_plane);
#pragma unroll
  for (unsigned e = 0; e < 4; ++e) {
    values[e] = place.is_inside(shape) && i + e < count ? input[place.from] : 0;
    place.advance(shape);
  }
  store_four(output, i, count, values);
}

template <typename Shape>
Stage vector_stores_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  const auto kernel = vector_stores_kernel<Shape>;
  return {.name = name,
          .is_of_fixed_shape = std::is_same_v<Shape, FixedShape>,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            constexpr unsigned block_elements = 4 * vector_block;
            const std::uint64_t count = arrays.sizes.outputs();
            const std::uint64_t blocks = (count + block_elements - 1) / block_elements;
            launch(kernel, launch_shape(blocks * vector_block, vector_block), arrays.input.data(),
                   arrays.output.data(), shape_of<Shape>(arrays.sizes), count,
                   ahead_of(arrays, clump_bytes, blocks));
          }};
}

}  // namespace hipscope::padding
