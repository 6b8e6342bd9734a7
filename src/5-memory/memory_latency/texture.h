// How long does a fetch of a texel take, from which level? The texture is linear, of words in
// device memory, and fetched by their numbers: no filter, no coordinates that are fractions. On
// AMD's GPUs HIP makes a load of a formatted buffer of it (buffer_load_format).
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "chaser.h"
#include "footprints.h"
#include "visiting_order.h"

namespace memory_latency {

inline constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

// Word `number` of `texture`. It must be less than 2^32, of which a node's number is far.
__device__ inline std::uint64_t texel([[maybe_unused]] unsigned long long texture,
                                      std::uint64_t number) {
#if defined(HIPSCOPE_BACKEND_HOST)
  return reinterpret_cast<const std::uint64_t*>(texture)[number];
#elif defined(__HIP_NO_IMAGE_SUPPORT)
  return number;  // never launched on such a device
#elif defined(HIPSCOPE_BACKEND_AMD)
  const auto object = reinterpret_cast<hipTextureObject_t>(texture);
  return tex1Dfetch<uint2>(object, static_cast<int>(number)).x;
#else
  return tex1Dfetch<uint2>(texture, static_cast<int>(number)).x;
#endif
}

// CDNA 3, for one, has no instructions for images, nor has HIP the functions there.
inline bool has_textures([[maybe_unused]] const Sweep& sweep) {
#if defined(HIPSCOPE_BACKEND_AMD)
  int has = 0;
  hipscope::check(
      hipDeviceGetAttribute(&has, hipDeviceAttributeImageSupport, sweep.device().index));
  return has != 0;
#else
  return true;
#endif
}

// Words of device memory as a texture of one dimension.
class Texture {
 public:
  explicit Texture(const DeviceBuffer<std::uint64_t>& words) {
#if defined(HIPSCOPE_BACKEND_HOST)
    object_ = address_of(words);
#else
    hipResourceDesc memory{};
    memory.resType = hipResourceTypeLinear;
    memory.res.linear.devPtr = words.data();
    constexpr int bits = 32;
    memory.res.linear.desc = {
        .x = bits, .y = bits, .z = 0, .w = 0, .f = hipChannelFormatKindUnsigned};
    memory.res.linear.sizeInBytes = words.size() * word_bytes;
    hipTextureDesc description{};
    description.readMode = hipReadModeElementType;
    hipscope::check(hipCreateTextureObject(&object_, &memory, &description, nullptr));
#endif
  }
  ~Texture() {
#if !defined(HIPSCOPE_BACKEND_HOST)
    static_cast<void>(hipDestroyTextureObject(object_));
#endif
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  [[nodiscard]] unsigned long long object() const {
    return (unsigned long long)(object_);  // NOLINT: a number on some backends, a pointer on others
  }

 private:
#if defined(HIPSCOPE_BACKEND_HOST)
  std::uint64_t object_ = 0;
#else
  hipTextureObject_t object_{};
#endif
};

// Every node gets the number of the word that is visited after it. `nodes` counts words from 0.
static __global__ void __launch_bounds__(largest_block)
    link_texels_kernel(std::uint64_t* words, Nodes nodes) {
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < nodes.count; k += threads) {
    words[visited_address(nodes, k)] = visited_address(nodes, std::uint64_t{k} + 1);
  }
}

// `kernel` fetches texels.
inline void measure_texture(Sweep& sweep, const Sizes& sizes, Kernel kernel) {
  if (!has_textures(sweep)) {
    sweep.note("not on this device: it has no image instructions");
    return;
  }
  set_footprint_axis(sweep, line_bytes);
  const auto largest = std::min<std::uint64_t>(sizes.footprint, largest_of_a_kind);
  sweep.require_memory(largest, "--footprint");
  const DeviceBuffer<std::uint64_t> words(largest / word_bytes);
  const Texture texture(words);
  Chaser chaser(sweep, kernel, false, sizes.steps, dim3(1), texture.object());
  for (const std::uint64_t bytes :
       footprints(smallest_footprint, largest, sizes.points, line_bytes)) {
    const Nodes nodes = dense_nodes(0, bytes / line_bytes, line_bytes / word_bytes, sweep.seed());
    const unsigned blocks = sweep.is_hardware() ? 2 * sweep.device().compute_units : 1;
    hipscope::launch(link_texels_kernel,
                     {.grid = dim3(blocks), .block = dim3(block_threads(sweep))}, words.data(),
                     nodes);
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    measure_row(chaser, point, nodes);
  }
}

}  // namespace memory_latency
