// The words that async_copies copies to LDS, each of which follows from its place, and their check
// there.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>

#include "ways.h"

namespace async_copies {

using hipscope::DeviceBuffer;
using hipscope::Sweep;

inline constexpr unsigned block_threads = 256;

/// Word i of an array; no two of one are the same.
__host__ __device__ inline unsigned word_at(unsigned i, unsigned key) {
  constexpr unsigned odd = 0x9E3779B1U;  // 2^32 over the golden ratio
  return i * odd + key;
}

static __global__ void __launch_bounds__(block_threads)
    fill_kernel(unsigned* words, unsigned count, unsigned key) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    words[i] = word_at(i, key);
  }
}

/// Whether a word of a piece in LDS is right.
template <typename Way>
__device__ bool is_right(const Slots& slots, unsigned slot, unsigned piece, unsigned word,
                         unsigned key) {
  const unsigned address = slots.address(slot * Way::pitch + word * sizeof(unsigned));
  return hipscope::lds_load<4>(slots.lds, address).word[0] ==
         word_at(piece * Way::words + word, key);
}

/// How many words of a lane's share of a piece are right: of all, or of the first for each lane.
template <typename Way>
__device__ unsigned right_words(const Slots& slots, unsigned slot, unsigned piece, bool all,
                                unsigned key) {
  unsigned right = 0;
  if (slots.lane < Way::words) {
    right += is_right<Way>(slots, slot, piece, slots.lane, key) ? 1 : 0;
  }
  if (all) {
#pragma unroll 1
    for (unsigned word = slots.lane + lanes(); word < Way::words; word += lanes()) {
      right += is_right<Way>(slots, slot, piece, word, key) ? 1 : 0;
    }
  }
  return right;
}

/// An array, of a power of two of bytes.
class Words {
 public:
  Words(Sweep& sweep, std::uint64_t bytes)
      : bytes_(bytes), key_(hipscope::key_of(sweep.seed())), words_(allocate(sweep, bytes)) {
    const unsigned blocks = sweep.is_hardware() ? 1024 : 1;
    hipscope::launch(fill_kernel, {.grid = dim3(blocks), .block = dim3(block_threads)},
                     words_.data(), words_.size(), key_);
  }

  [[nodiscard]] const unsigned* data() const { return words_.data(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] unsigned key() const { return key_; }

 private:
  static DeviceBuffer<unsigned> allocate(Sweep& sweep, std::uint64_t bytes) {
    sweep.require_memory(bytes, "--footprint");
    return DeviceBuffer<unsigned>(bytes / sizeof(unsigned));
  }

  std::uint64_t bytes_;
  unsigned key_;
  DeviceBuffer<unsigned> words_;
};

/// Bytes of an array in L2: 1 / share of it, since other things are there, too, and at most `most`.
inline std::uint64_t l2_share(const Sweep& sweep, std::uint64_t most, unsigned share) {
  constexpr std::uint64_t least = 1U << 16;
  const std::uint64_t l2_bytes = sweep.is_hardware() ? sweep.device().l2_bytes : 0;
  return std::min(most, std::max(least, std::bit_floor(l2_bytes / share)));
}

/// How many of a piece's `looked_at` words a lane looks at, and so counts where they are right.
inline unsigned words_of_lane(std::uint64_t lane, unsigned lanes, unsigned looked_at) {
  return static_cast<unsigned>((looked_at + lanes - 1 - lane) / lanes);
}

/// How many of the `looked_at` words were wrong; `right` are the lanes' counts of right ones.
inline std::uint64_t wrong_words(std::span<const unsigned> right, std::uint64_t looked_at) {
  const auto sum = std::accumulate(right.begin(), right.end(), std::uint64_t{0});
  return sum > looked_at ? looked_at : looked_at - sum;
}

}  // namespace async_copies
