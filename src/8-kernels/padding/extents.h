// The tensor that the options ask for.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>

#include "reference.h"

namespace hipscope::padding {

struct Extents {
  std::uint64_t images;
  std::uint64_t channels;
  std::uint64_t height;
  std::uint64_t width;
  std::uint64_t pad;
};

// Of an output: kernels count them in 32 bits, and the last block's threads on beyond the last one.
constexpr std::uint64_t most_elements = (std::uint64_t{1} << 32) - (std::uint64_t{1} << 16);

// Throws UsageError when the output has more than most_elements.
inline Sizes sizes_of(const Extents& extents) {
  Sizes sizes = {.planes = 1, .height = extents.height, .width = extents.width, .pad = extents.pad};
  std::uint64_t elements = 1;
  for (const std::uint64_t extent :
       {extents.images, extents.channels, sizes.padded_height(), sizes.padded_width()}) {
    elements *= extent;  // each is below 2^32
    if (elements > most_elements) {
      throw UsageError(
          "--images, --channels, --height, --width and --pad give an output of more than "
          "2^32 - 2^16 elements, which 32 bits do not count");
    }
  }
  sizes.planes = extents.images * extents.channels;
  return sizes;
}

inline bool is_published(const Extents& extents) {
  return extents.images == 1024 && extents.channels == 1024 && extents.height == 7 &&
         extents.width == 7 && extents.pad == 3;
}

inline std::string shape_label(const Sizes& sizes) {
  return std::to_string(sizes.height) + " x " + std::to_string(sizes.width) + " pad " +
         std::to_string(sizes.pad);
}

}  // namespace hipscope::padding
