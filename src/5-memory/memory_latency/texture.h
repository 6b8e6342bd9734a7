// How long does a fetch of a texel take, from which level? The texture is linear, of words in
// device memory, and fetched by their numbers: no filter, no coordinates that are fractions. On
// AMD's GPUs HIP makes a load of a formatted buffer of it (buffer_load_format).
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "5-memory/loads.h"
#include "chaser.h"
#include "footprints.h"
#include "visiting_order.h"

namespace memory_latency {

inline constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

// `kernel` fetches texels.
inline void measure_texture(Sweep& sweep, const Sizes& sizes, Kernel kernel) {
  if (!memory::has_textures(sweep)) {
    sweep.note("not on this device: it has no image instructions");
    return;
  }
  set_footprint_axis(sweep, line_bytes);
  const auto largest = std::min<std::uint64_t>(sizes.footprint, largest_of_a_kind);
  sweep.require_memory(largest, "--footprint");
  const DeviceBuffer<std::uint64_t> words(largest / word_bytes);
  const memory::Texture texture(words);
  Chaser chaser(sweep, kernel, false, sizes.steps, dim3(1), texture.object());
  for (const std::uint64_t bytes :
       footprints(smallest_footprint, largest, sizes.points, line_bytes)) {
    const Nodes nodes = dense_nodes(0, bytes / line_bytes, line_bytes / word_bytes, sweep.seed());
    link(sweep, dense_nodes(address_of(words), nodes.count, line_bytes, sweep.seed()), nodes);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    measure_row(chaser, point, nodes);
  }
}

}  // namespace memory_latency
