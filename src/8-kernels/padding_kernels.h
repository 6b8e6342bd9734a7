// The padding kernels, one technique each, and the shapes of planes that they are made for.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/cache_hint.h>
#include <hipscope/divisor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "padding_reference.h"

namespace hipscope::padding {

// A GPU starts so many blocks per cycle and no more (thread_rate): on an H200 threads that store 4
// bytes each must come in large blocks to store as fast as memory takes it.
constexpr unsigned scalar_block = 1024;
constexpr unsigned vector_block = 256;

// --- Shapes of planes -------------------------------------------------------------------------

// All kernels divide in the same two places: an output's number by a padded plane's size, a pixel's
// by its width. A shape says how.
struct RunTimeShape {
  unsigned height;
  unsigned width;
  unsigned pad;
  unsigned plane;  // height * width
  unsigned padded_width;
  unsigned padded_plane;
};

struct DividingShape : RunTimeShape {
  __device__ unsigned plane_of(unsigned i) const { return i / padded_plane; }
  __device__ unsigned row_of(unsigned pixel) const { return pixel / padded_width; }
};

struct MultiplyingShape : RunTimeShape {
  Divisor by_padded_plane;
  Divisor by_padded_width;
  __device__ unsigned plane_of(unsigned i) const { return divide(i, by_padded_plane); }
  __device__ unsigned row_of(unsigned pixel) const { return divide(pixel, by_padded_width); }
};

// The source's. What the compiler knows it divides by with multiplications.
struct FixedShape {
  static constexpr unsigned height = 7;
  static constexpr unsigned width = 7;
  static constexpr unsigned pad = 3;
  static constexpr unsigned plane = height * width;
  static constexpr unsigned padded_height = height + 2 * pad;
  static constexpr unsigned padded_width = width + 2 * pad;
  static constexpr unsigned padded_plane = padded_height * padded_width;
  __device__ static unsigned plane_of(unsigned i) { return i / padded_plane; }
  __device__ static unsigned row_of(unsigned pixel) { return pixel / padded_width; }
};

inline bool is_fixed_shape(const Sizes& sizes) {
  return sizes.height == FixedShape::height && sizes.width == FixedShape::width &&
         sizes.pad == FixedShape::pad;
}

template <typename Shape>
Shape shape_of(const Sizes& sizes) {
  if constexpr (std::is_same_v<Shape, FixedShape>) {
    return {};
  } else {
    Shape shape{};
    shape.height = static_cast<unsigned>(sizes.height);
    shape.width = static_cast<unsigned>(sizes.width);
    shape.pad = static_cast<unsigned>(sizes.pad);
    shape.plane = static_cast<unsigned>(sizes.plane());
    shape.padded_width = static_cast<unsigned>(sizes.padded_width());
    shape.padded_plane = static_cast<unsigned>(sizes.padded_plane());
    if constexpr (std::is_same_v<Shape, MultiplyingShape>) {
      shape.by_padded_plane = divisor_of(shape.padded_plane);
      shape.by_padded_width = divisor_of(shape.padded_width);
    }
    return shape;
  }
}

// Where a pixel of a padded plane comes from, and the next ones. Rows and columns count from the
// interior's corner; before it they wrap around, and are thereby as much outside as behind it.
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

// --- Kernels: a pixel of several planes -------------------------------------------------------

// The second launch bound, one block per CU: without it CUDA 13's compiler keeps to 32 registers
// and loads fewer values at once than the source says.

// `Room` is how many channels the kernel is prepared for.
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
  const Place<DividingShape> place(shape, first, pixel);
  const bool is_inside = place.is_inside(shape);
  const float* from = input + (is_inside ? place.from : 0);
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

template <typename Shape, unsigned Channels>
__global__ void __launch_bounds__(scalar_block, 1)
    channels_kernel(const float* input, float* output, Shape shape, unsigned planes) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned group = shape.plane_of(i);
  const unsigned first = group * Channels;
  if (first >= planes) {
    return;
  }
  const unsigned pixel = i - group * shape.padded_plane;
  const Place<Shape> place(shape, first, pixel);
  const bool is_inside = place.is_inside(shape);
  const float* from = input + (is_inside ? place.from : 0);
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

// --- Kernels: 16 bytes of the output ----------------------------------------------------------

// The output as a whole: element i is the first of four that lie together, of which the last may be
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

// Four neighbours need only one search for a place; each may lie in the next row, or plane. A
// thread stores `Stores` times, a block's threads next to each other.
template <typename Shape, unsigned Stores>
__global__ void __launch_bounds__(vector_block, 1)
    vector_kernel(const float* input, float* output, Shape shape, unsigned count, ReadAhead ahead) {
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

template <unsigned Threads, unsigned Rounds>
__global__ void __launch_bounds__(Threads, 1)
    kept_places_kernel(const float* input, float* output, unsigned planes, ReadAhead ahead) {
  using Block = Tile<Threads, Rounds>;
  read_ahead(input, ahead);
  const unsigned count = planes * FixedShape::padded_plane;
  const unsigned first = 4 * (blockIdx.x * Block::storing_threads * Rounds + threadIdx.x);
  if (threadIdx.x >= Block::storing_threads || first >= count) {
    return;
  }
  const FourPlaces places(threadIdx.x);
  const float* from = input + std::size_t{blockIdx.x} * (4 * Block::loads) +
                      threadIdx.x / FixedShape::padded_plane * (4 * FixedShape::plane);
  const unsigned rest = count - first;
  float values[Rounds][4];
#pragma unroll
  for (unsigned round = 0; round < Rounds; ++round) {
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      const bool is_there = places.is_inside[e] && round * Block::stored + e < rest;
      values[round][e] = is_there ? (from + places.from[e])[round * Block::loaded] : 0;
    }
  }
#pragma unroll
  for (unsigned round = 0; round < Rounds; ++round) {
    store_four(output + first, round * Block::stored, rest, values[round]);
  }
}

// Of the `count` elements four from `i` on; zeros beyond.
__device__ inline float4 load_four(const float* input, unsigned i, unsigned count) {
  if (i + 4 <= count) {
    return reinterpret_cast<const float4*>(input)[i / 4];
  }
  const auto element = [&](unsigned e) { return i + e < count ? input[i + e] : 0; };
  return make_float4(element(0), element(1), element(2), 0);
}

template <unsigned Threads, unsigned Rounds, Hint store_hint>
__global__ void __launch_bounds__(Threads, 1)
    lds_kernel(const float* input, float* output, unsigned planes, ReadAhead ahead) {
  using Block = Tile<Threads, Rounds>;
  __shared__ float4 tile[Block::loads];
  read_ahead(input, ahead);
#pragma unroll
  for (unsigned first = 0; first < Block::loads; first += Threads) {
    const unsigned at = first + threadIdx.x;
    if (at < Block::loads) {
      tile[at] = load_four(input, 4 * (blockIdx.x * Block::loads + at), planes * FixedShape::plane);
    }
  }
  const FourPlaces places(threadIdx.x);
  __syncthreads();
  const unsigned count = planes * FixedShape::padded_plane;
  const unsigned first = 4 * (blockIdx.x * Block::storing_threads * Rounds + threadIdx.x);
  if (threadIdx.x >= Block::storing_threads || first >= count) {
    return;
  }
  const float* from = reinterpret_cast<const float*>(tile) +
                      threadIdx.x / FixedShape::padded_plane * (4 * FixedShape::plane);
#pragma unroll
  for (unsigned round = 0; round < Rounds; ++round) {
    float values[4];
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      values[e] = places.is_inside[e] ? (from + places.from[e])[round * Block::loaded] : 0;
    }
    store_four<store_hint>(output + first, round * Block::stored, count - first, values);
  }
}

}  // namespace hipscope::padding
