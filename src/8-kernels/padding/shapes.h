// Shapes of planes, and how a kernel divides by them.
#pragma once

#include <hip/hip_runtime.h>
#include <hipscope/divisor.h>

#include <type_traits>

#include "reference.h"

namespace hipscope::padding {

// A GPU starts a fixed number of blocks per cycle at most (thread_rate): on an H200 threads that
// store 4 bytes each must come in large blocks to store as fast as memory takes it.
constexpr unsigned scalar_block = 1024;
constexpr unsigned vector_block = 256;

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

// fsword73's. What the compiler knows it divides by with multiplications.
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

}  // namespace hipscope::padding
