// How long does a load of __constant__ memory take, and a fetch of a texel? Both have ways of their
// own to memory: the nodes, linked in plain memory, go by the names that these loads know.
#pragma once

#include "chaser.h"

namespace memory_latency {

inline constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
inline constexpr std::uint64_t constant_bytes = 64 * kib;
static __constant__ std::uint64_t constant_words[constant_bytes / word_bytes];

// The address of constant_words as a scalar load takes it.
static __global__ void __launch_bounds__(1) constant_address_kernel(std::uint64_t* address) {
#if defined(__CUDA_ARCH__)
  *address = __cvta_generic_to_constant(constant_words);
#else
  *address = reinterpret_cast<std::uint64_t>(constant_words);
#endif
}

inline void measure_constant(Sweep& sweep, const Sizes& sizes) {
  constexpr std::uint64_t spacing = 64;  // the line of AMD's and NVIDIA's constant caches
  constexpr std::uint64_t first_bytes = 256;
  const auto all = footprints(first_bytes, constant_bytes, sizes.points, spacing);
  const DeviceBuffer<std::uint64_t> words(open_footprints(sweep, all, spacing) / word_bytes);
  const DeviceBuffer<std::uint64_t> address(1);
  hipscope::launch(constant_address_kernel, {.grid = dim3(1), .block = dim3(1)}, address.data());
  const std::uint64_t base = address.to_host()[0];
  Chaser<Load::scalar> chaser(sweep, sizes.steps);
  for (const std::uint64_t bytes : all) {
    const Nodes nodes = dense_nodes(base, bytes / spacing, spacing, sweep.seed());
    link(sweep, dense_nodes(address_of(words), nodes.count, spacing, sweep.seed()), nodes);
    hipscope::check(hipMemcpyToSymbol(HIP_SYMBOL(constant_words), words.data(), bytes, 0,
                                      hipMemcpyDeviceToDevice));
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    chaser.measure_row(point, nodes);
  }
}

// The texture is linear, of words in device memory, and fetched by their numbers: no filter, no
// coordinates that are fractions. On AMD's GPUs HIP makes a load of a formatted buffer of it
// (buffer_load_format).
inline void measure_texture(Sweep& sweep, const Sizes& sizes) {
  if (!memory::has_textures(sweep)) {
    sweep.note("not on this device: it has no image instructions");
    return;
  }
  const auto all =
      footprints(smallest_footprint, std::min<std::uint64_t>(sizes.footprint, largest_of_a_kind),
                 sizes.points, line_bytes);
  const DeviceBuffer<std::uint64_t> words(open_footprints(sweep, all, line_bytes) / word_bytes);
  const memory::Texture texture(words);
  Chaser<Load::texture> chaser(sweep, sizes.steps, dim3(1), texture.object());
  for (const std::uint64_t bytes : all) {
    const Nodes nodes = dense_nodes(0, bytes / line_bytes, line_bytes / word_bytes, sweep.seed());
    link(sweep, dense_nodes(address_of(words), nodes.count, line_bytes, sweep.seed()), nodes);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    chaser.measure_row(point, nodes);
  }
}

}  // namespace memory_latency
