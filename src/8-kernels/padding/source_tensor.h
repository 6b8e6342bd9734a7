// The tensors that fsword73's two kernels are for: whole groups of channels, and planes of 7 x 7
// that get a border of 3.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>

#include "reference.h"
#include "shapes.h"

namespace hipscope::padding {

constexpr unsigned source_block = 256;
constexpr int source_channels = 1024;  // fsword73's C, which example 13b's compiler knows
constexpr int few_channels = 32;       // for smaller tensors

struct SourceTensor {
  unsigned images;
  int channels;
};

// fsword73's kernels count elements in an int, and images in the grid's z.
constexpr std::uint64_t most_source_images = 65535;
constexpr std::uint64_t most_source_elements = (std::uint64_t{1} << 31) - 1;

inline SourceTensor source_tensor(const Sizes& sizes) {
  const int channels = sizes.planes % source_channels == 0 ? source_channels : few_channels;
  return {.images = static_cast<unsigned>(sizes.planes / static_cast<unsigned>(channels)),
          .channels = channels};
}

// Whether fsword73's kernels pad all of it.
inline bool is_for_source(const Sizes& sizes) {
  return is_fixed_shape(sizes) && sizes.planes % few_channels == 0 &&
         source_tensor(sizes).images <= most_source_images &&
         sizes.outputs() <= most_source_elements;
}

// The nearest number of planes that they do.
inline Sizes sizes_for_source(std::uint64_t planes) {
  constexpr std::uint64_t most_planes =
      most_source_elements / FixedShape::padded_plane / source_channels * source_channels;
  planes = std::min(planes, most_planes);
  const unsigned channels = planes < source_channels ? few_channels : source_channels;
  return {.planes = std::max<std::uint64_t>(planes / channels, 1) * channels,
          .height = FixedShape::height,
          .width = FixedShape::width,
          .pad = FixedShape::pad};
}

inline LaunchShape source_shape(const SourceTensor& tensor, int channels_once) {
  return {.grid = dim3(1, static_cast<unsigned>(tensor.channels / channels_once), tensor.images),
          .block = dim3(source_block)};
}

}  // namespace hipscope::padding
