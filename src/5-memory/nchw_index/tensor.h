// The tensor of nchw_index, and the check of every index by arithmetic of another kind.
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace nchw_index {

/// All that a kernel is told. `count` indices are stored, one for each pixel of each image.
struct Tensor {
  unsigned count;
  unsigned images;
  unsigned rows;  // the second dimension of a two-dimensional grid
  unsigned channels;
  unsigned height;
  unsigned width;
  unsigned image;  // height * width
  unsigned skip;   // (channels - 1) * image: what lies between an image's channel 0 and the next's
  hipscope::Divisor by_image;
};

/// Where the second dimension of a grid ends.
constexpr std::uint64_t most_rows = 65535;

struct Extents {
  std::uint64_t images;
  std::uint64_t channels;
  std::uint64_t height;
  std::uint64_t width;
};

/// Throws UsageError when the last index does not fit into 32 bits.
inline Tensor tensor_of(const hipscope::Sweep& sweep, const Extents& extents) {
  // On the host backend fewer, so that a kernel's further rounds are tested.
  const std::uint64_t rows = sweep.is_hardware() ? most_rows : 3;
  constexpr std::uint64_t limit = std::uint64_t{1} << 32;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent :
       {extents.images, extents.channels, extents.height, extents.width}) {
    elements *= extent;  // each is below 2^32
    if (elements >= limit) {
      throw hipscope::UsageError(
          "--images, --channels, --height and --width give a tensor of 2^32 elements or more, "
          "whose indices do not fit into 32 bits");
    }
  }
  const auto image = static_cast<unsigned>(extents.height * extents.width);
  return {.count = static_cast<unsigned>(extents.images) * image,
          .images = static_cast<unsigned>(extents.images),
          .rows = static_cast<unsigned>(std::min(extents.images, rows)),
          .channels = static_cast<unsigned>(extents.channels),
          .height = static_cast<unsigned>(extents.height),
          .width = static_cast<unsigned>(extents.width),
          .image = image,
          .skip = static_cast<unsigned>(extents.channels - 1) * image,
          .by_image = hipscope::divisor_of(image)};
}

inline std::uint64_t bytes_of(const Tensor& tensor) {
  return (std::uint64_t{tensor.count} + 3) / 4 * sizeof(uint4);
}

inline std::string label_of(const Tensor& tensor) {
  return "N=" + std::to_string(tensor.images) + " H=" + std::to_string(tensor.height) +
         " W=" + std::to_string(tensor.width);
}

// --- Checks -----------------------------------------------------------------------------------

/// Element i, with 64-bit arithmetic of the definition.
struct Indices {
  Tensor tensor;
  bool is_fill;
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t n = i / tensor.image;
    const std::uint64_t index = n * tensor.channels * tensor.image + (i - n * tensor.image);
    return is_fill ? i : index;
  }
};

/// What the definition says of element `i`, by counting pixels and images.
inline std::uint64_t expected(const Tensor& tensor, bool is_fill, std::uint64_t i) {
  const std::uint64_t n = i / tensor.image;
  const std::uint64_t h = i % tensor.image / tensor.width;
  const std::uint64_t w = i % tensor.width;
  const std::uint64_t row = n * tensor.channels * tensor.height + h;
  return is_fill ? i : row * tensor.width + w;
}

/// Every element by a kernel of other arithmetic, and a sample of them by the host.
inline void verify(const hipscope::Sweep& sweep, hipscope::Point& point, const std::string& what,
                   const hipscope::DeviceBuffer<unsigned>& output, const Tensor& tensor,
                   bool is_fill) {
  const Indices indices{tensor, is_fill};
  std::uint64_t wrong = hipscope::count_wrong(sweep, output.data(), tensor.count, indices);
  constexpr std::uint64_t looks = 16;
  for (std::uint64_t look = 0; look < looks; ++look) {
    const std::uint64_t i = look * (tensor.count - 1) / (looks - 1);
    unsigned index = 0;
    hipscope::check(hipMemcpy(&index, output.data() + i, sizeof(index), hipMemcpyDeviceToHost));
    wrong += index == expected(tensor, is_fill, i) ? 0 : 1;
  }
  point.verify(what, std::min<std::uint64_t>(wrong, tensor.count), tensor.count,
               [&](hipscope::Comparison& comparison) {
                 hipscope::compare_on_host(
                     comparison, output.data(), tensor.count,
                     [&](std::uint64_t i) { return expected(tensor, is_fill, i); });
               });
}

}  // namespace nchw_index
