// The check of the padding kernels: tensors whose every element follows from its index.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace hipscope::padding {

/// Planes of height x width, padded by `pad` zeros on each side.
struct Sizes {
  std::uint64_t planes;
  std::uint64_t height;
  std::uint64_t width;
  std::uint64_t pad;

  __host__ __device__ std::uint64_t plane() const { return height * width; }
  __host__ __device__ std::uint64_t padded_height() const { return height + 2 * pad; }
  __host__ __device__ std::uint64_t padded_width() const { return width + 2 * pad; }
  __host__ __device__ std::uint64_t padded_plane() const {
    return padded_height() * padded_width();
  }
  [[nodiscard]] std::uint64_t inputs() const { return planes * plane(); }
  [[nodiscard]] std::uint64_t outputs() const { return planes * padded_plane(); }
  /// What must move: the input is read once, the output written once.
  [[nodiscard]] std::uint64_t bytes() const { return (inputs() + outputs()) * sizeof(float); }
};

// --- Known values -----------------------------------------------------------------------------

/// Element `i` of a random input: never 0, so that a border in the wrong place shows.
__host__ __device__ inline float value_of(std::uint64_t i, unsigned key) {
  const unsigned bits = random_bits(static_cast<unsigned>(i) + key);
  return static_cast<float>((bits >> 8) + 1);  // of 24 bits, which FP32 holds exactly
}

/// The input.
struct InputValue {
  unsigned key;
  __host__ __device__ float operator()(std::uint64_t i) const { return value_of(i, key); }
};

/// What padding makes of the input: element `i` of the output, by the definition.
struct PaddedValue {
  Sizes sizes;
  unsigned key;

  __host__ __device__ float operator()(std::uint64_t i) const {
    const std::uint64_t plane = i / sizes.padded_plane();
    const std::uint64_t pixel = i % sizes.padded_plane();
    const std::uint64_t row = pixel / sizes.padded_width();
    const std::uint64_t column = pixel % sizes.padded_width();
    if (row < sizes.pad || row >= sizes.pad + sizes.height || column < sizes.pad ||
        column >= sizes.pad + sizes.width) {
      return 0;
    }
    return value_of((plane * sizes.height + (row - sizes.pad)) * sizes.width + column - sizes.pad,
                    key);
  }
};

/// A random input, and room for the output.
struct Arrays {
  Arrays(const Sweep& sweep, const Sizes& tensor)
      : sizes(tensor),
        units(static_cast<unsigned>(sweep.device().compute_units)),
        key(static_cast<unsigned>(value_of(sweep.seed(), 0))),
        input(sizes.inputs()),
        output(sizes.outputs() + guard) {
    fill_elements(sweep, input, InputValue{key});
  }

  /// Poisoned elements after the output, which no kernel may touch.
  static constexpr std::uint64_t guard = 64;

  Sizes sizes;
  unsigned units;  // CUs
  unsigned key;
  DeviceBuffer<float> input;
  DeviceBuffer<float> output;
};

/// What the host expects of the last plane: zeros, into which it puts the interior.
inline std::vector<float> last_plane(const Arrays& arrays) {
  const Sizes& sizes = arrays.sizes;
  std::vector<float> plane(sizes.padded_plane());
  std::uint64_t i = (sizes.planes - 1) * sizes.plane();
  for (std::uint64_t row = 0; row < sizes.height; ++row) {
    for (std::uint64_t column = 0; column < sizes.width; ++column) {
      plane[(row + sizes.pad) * sizes.padded_width() + sizes.pad + column] =
          value_of(i++, arrays.key);
    }
  }
  return plane;
}

constexpr unsigned poison = 0xFFFFFFFF;  // of an element that nobody has written

/// Calls `run`, which must pad the whole input, and checks what came out.
template <typename Run>
void verify(const Sweep& sweep, Point& point, Arrays& arrays, const std::string& name,
            const Run& run) {
  arrays.output.poison();
  run();
  const std::uint64_t count = arrays.sizes.outputs();
  verify_elements(sweep, point, name + "every element, border and interior", arrays.output, count,
                  PaddedValue{.sizes = arrays.sizes, .key = arrays.key});
  // By the host as well: the device's reference might be as wrong as its results.
  const std::vector<float> expected = last_plane(arrays);
  std::vector<float> made(expected.size() + Arrays::guard);
  check(hipMemcpy(made.data(), arrays.output.data() + (count - expected.size()),
                  made.size() * sizeof(float), hipMemcpyDeviceToHost));
  Comparison comparison;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (i < expected.size()) {
      comparison.compare(i, expected[i], made[i]);
    } else {
      comparison.compare(i, poison, std::bit_cast<unsigned>(made[i]));
    }
  }
  point.verify(name + "the last plane by the host, and nothing behind it", comparison);
}

}  // namespace hipscope::padding
