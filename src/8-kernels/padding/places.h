// Where the outputs of a thread that stores vectors come from, and loads and stores of four.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/cache_hint.h>

#include "read_ahead.h"
#include "shapes.h"
#include "stage.h"

namespace hipscope::padding {

// Where a pixel of a padded plane comes from, and the next ones. Rows and columns count from the
// interior's corner; before it they wrap around, and are thereby as much outside as after it.
template <typename Shape>
struct Place {
  unsigned row;
  unsigned column;
  unsigned from;  // in the input, if it is inside

  __device__ Place(const Shape& shape, unsigned plane, unsigned pixel) {
    const unsigned padded_row = shape.row_of(pixel);
    row = padded_row - shape.pad;
    column = pixel - padded_row * shape.padded_width - shape.pad;
    from = plane * shape.plane + row * shape.width + column;
  }

  __device__ bool is_inside(const Shape& shape) const {
    return row < shape.height && column < shape.width;
  }

  __device__ void advance(const Shape& shape) {
    ++column;
    const bool is_next_row = column == shape.width + shape.pad;
    column = is_next_row ? 0 - shape.pad : column;
    row += is_next_row ? 1 : 0;
    const bool is_next_plane = row == shape.height + shape.pad;
    row = is_next_plane ? 0 - shape.pad : row;
    from +=
        1 - (is_next_row ? 2 * shape.pad : 0) - (is_next_plane ? 2 * shape.pad * shape.width : 0);
  }
};

// The output as a whole: element i is the first of four that are together, of which the last may be
// missing.
template <Hint hint = Hint::none>
__device__ void store_four(float* output, unsigned i, unsigned count, const float* values) {
  if (i + 4 <= count) {
    store<hint>(reinterpret_cast<float4*>(output + i),
                make_float4(values[0], values[1], values[2], values[3]));
  } else {
#pragma unroll
    for (unsigned e = 0; e < 3; ++e) {
      if (i + e < count) {
        output[i + e] = values[e];
      }
    }
  }
}

// Four padded planes are as many stores of 16 bytes as a plane has pixels, and four planes as many
// loads, wherever they begin. As many threads of a block as make up whole groups of four planes
// store; `Rounds` times, each time as many groups further on. An even number of groups keeps every
// round's stores aligned to the 32 bytes of an NVIDIA sector: 338 of 352 threads, or 1014 of 1024.
template <unsigned Threads, unsigned Rounds>
struct Tile {
  static constexpr unsigned groups = Threads / FixedShape::padded_plane;
  static constexpr unsigned storing_threads = groups * FixedShape::padded_plane;
  static constexpr unsigned planes = 4 * groups * Rounds;
  static constexpr unsigned loads = groups * Rounds * FixedShape::plane;
  // In elements, of one round.
  static constexpr unsigned loaded = 4 * groups * FixedShape::plane;
  static constexpr unsigned stored = 4 * storing_threads;
};

// Where a thread's four outputs come from, in every group of four planes alike.
struct FourPlaces {
  bool is_inside[4];
  unsigned from[4];

  __device__ explicit FourPlaces(unsigned thread) {
    constexpr FixedShape shape;
    const unsigned first = 4 * (thread % shape.padded_plane);
    Place<FixedShape> place(shape, first / shape.padded_plane, first % shape.padded_plane);
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      is_inside[e] = place.is_inside(shape);
      from[e] = is_inside[e] ? place.from : 0;
      place.advance(shape);
    }
  }
};

// A kernel whose blocks store whole groups of four planes.
template <unsigned Threads, unsigned Rounds>
Stage tile_stage(const std::string& name, void (*kernel)(const float*, float*, unsigned, ReadAhead),
                 std::uint64_t clump_bytes) {
  return {.name = name,
          .is_of_fixed_shape = true,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            constexpr unsigned planes = Tile<Threads, Rounds>::planes;
            const std::uint64_t tiles = (arrays.sizes.planes + planes - 1) / planes;
            launch(kernel, launch_shape(tiles * Threads, Threads), arrays.input.data(),
                   arrays.output.data(), arrays.sizes.planes, ahead_of(arrays, clump_bytes, tiles));
          }};
}

// Of the `count` elements four from `i` on; zeros beyond.
__device__ inline float4 load_four(const float* input, unsigned i, unsigned count) {
  if (i + 4 <= count) {
    return reinterpret_cast<const float4*>(input)[i / 4];
  }
  const auto element = [&](unsigned e) { return i + e < count ? input[i + e] : 0; };
  return make_float4(element(0), element(1), element(2), 0);
}

}  // namespace hipscope::padding
