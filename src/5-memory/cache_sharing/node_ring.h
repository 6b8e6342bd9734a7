// Rings of nodes in memory, each of which holds the place of the next: what a chase walks. The host
// links them, in random order.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "5-memory/loads.h"
#include "findings.h"

namespace cache_sharing {

using hipscope::DeviceBuffer;
using hipscope::Sweep;

inline constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);

// A ring as a kernel walks it. A place is an address; of a texture it is the number of a word.
struct Ring {
  Path path;
  unsigned nodes;
  std::uint64_t first;
  unsigned long long texture;
};

// What a backend has. AMD's GPUs have one path for all vector loads; image loads, where there are
// any (CDNA 3 has none), take it too. The host backend has the first three, which are all alike.
constexpr bool has(Path path) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return path <= Path::texture;
#elif defined(HIPSCOPE_BACKEND_AMD)
  return path == Path::vector || path == Path::constant;
#else
  return path != Path::texture;
#endif
}

// NVIDIA loads constants from 64 KiB of their own; AMD's scalar loads take any memory.
inline constexpr std::uint64_t constant_bytes = 64 * 1024;
#if defined(HIPSCOPE_BACKEND_NVIDIA)
static __constant__ std::uint64_t constant_words[constant_bytes / word_bytes];

static __global__ void __launch_bounds__(1) constant_address_kernel(std::uint64_t* address) {
#if defined(__CUDA_ARCH__)
  *address = __cvta_generic_to_constant(constant_words);
#endif
}
#endif

class NodeRing {
 public:
  // Through the words at `offsets` (bytes, in the order of the walk), from the last to the first.
  // Of NVIDIA's constants the offsets are in all 64 KiB; else in `memory`, or if there is none in
  // memory of the ring's own, which begins with the first of them.
  NodeRing(Path path, const std::vector<std::uint64_t>& offsets,
           const std::shared_ptr<DeviceBuffer<std::uint64_t>>& memory = nullptr)
      : offsets_(offsets),
        begin_(*std::min_element(offsets.begin(), offsets.end()) / line_bytes * line_bytes),
        words_((*std::max_element(offsets.begin(), offsets.end()) - begin_) / word_bytes + 1),
        memory_(memory ? memory : std::make_shared<DeviceBuffer<std::uint64_t>>(words_)),
        data_(memory_->data() + (memory ? begin_ / word_bytes : 0)) {
    auto base = reinterpret_cast<std::uint64_t>(data_);
    std::uint64_t unit = 1;  // bytes that a place counts
    unsigned long long texture = 0;
#if defined(HIPSCOPE_BACKEND_NVIDIA)
    if (path == Path::constant) {
      const DeviceBuffer<std::uint64_t> address(1);
      hipscope::launch(constant_address_kernel, {.grid = dim3(1), .block = dim3(1)},
                       address.data());
      base = address.to_host()[0] + begin_;
    } else if (path == Path::texture) {
      texture_ = std::make_unique<memory::Texture>(*memory_);
      texture = texture_->object();
      base = 0;
      unit = word_bytes;
    }
#endif
    for (const std::uint64_t offset : offsets_) {
      places_.push_back(base + (offset - begin_) / unit);
    }
    ring_ = {.path = path,
             .nodes = static_cast<unsigned>(places_.size()),
             .first = places_.front(),
             .texture = texture};
    write();
  }

  // (Again) to the device, whose caches of constants then hold none of it.
  void write() const {
    // What no walk comes to leads nowhere.
    std::vector<std::uint64_t> words(words_, places_.back());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      words[(offsets_[i] - begin_) / word_bytes] = places_[(i + 1) % places_.size()];
    }
#if defined(HIPSCOPE_BACKEND_NVIDIA)
    if (ring_.path == Path::constant) {
      // Without HIP_SYMBOL: no AMD code has this symbol.
      hipscope::check(
          hipMemcpyToSymbol(constant_words, words.data(), words.size() * word_bytes, begin_));
      return;
    }
#endif
    hipscope::check(
        hipMemcpy(data_, words.data(), words.size() * word_bytes, hipMemcpyHostToDevice));
  }

  [[nodiscard]] const Ring& ring() const { return ring_; }

  // Where these steps lead.
  [[nodiscard]] std::uint64_t place_after(std::uint64_t steps) const {
    return places_[steps % places_.size()];
  }

 private:
  static constexpr std::uint64_t line_bytes = 256;  // as far as memory is aligned

  std::vector<std::uint64_t> offsets_;
  std::uint64_t begin_;
  std::uint64_t words_;
  std::shared_ptr<DeviceBuffer<std::uint64_t>> memory_;
  std::uint64_t* data_;
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  std::unique_ptr<memory::Texture> texture_;
#endif
  std::vector<std::uint64_t> places_;
  Ring ring_{};
};

// `nodes` of them, `spacing` bytes apart from `begin` on, in random order.
inline std::vector<std::uint64_t> scattered(std::uint64_t begin, std::uint64_t nodes,
                                            std::uint64_t spacing, std::uint64_t seed) {
  std::vector<std::uint64_t> offsets(nodes);
  for (std::uint64_t i = 0; i < nodes; ++i) {
    offsets[i] = begin + i * spacing;
  }
  std::mt19937_64 random(seed);
  std::shuffle(offsets.begin(), offsets.end(), random);
  return offsets;
}

}  // namespace cache_sharing
