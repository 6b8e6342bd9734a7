// What is moved: zeros, small integers or random bits, and what they add up to.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "findings.h"

namespace energy {

/// `count` words of such data. Of zeros one in 1024 is 1, so that a sum tells what was read.
inline std::vector<unsigned> words_of(Data data, std::size_t count, std::uint64_t seed) {
  constexpr unsigned small = 5;
  constexpr std::size_t distance_of_ones = 1024;
  const unsigned key = hipscope::key_of(seed);
  std::vector<unsigned> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned random = hipscope::random_bits(static_cast<unsigned>(i) + key);
    words[i] = data == Data::zeros      ? unsigned{i % distance_of_ones == 0}
               : data == Data::integers ? random % small
                                        : random;
  }
  return words;
}

/// Bytes on the device that repeat a piece that the host knows.
class RepeatedData {
 public:
  static constexpr std::uint64_t largest_piece = std::uint64_t{1} << 20;

  /// `bytes`: whole words.
  RepeatedData(Data data, std::uint64_t bytes, std::uint64_t seed)
      : piece_(words_of(data, std::min(bytes, largest_piece) / sizeof(unsigned), seed)),
        words_(bytes / sizeof(unsigned)) {
    const std::uint64_t piece_bytes = piece_.size() * sizeof(unsigned);
    hipscope::check(hipMemcpy(words_.data(), piece_.data(), piece_bytes, hipMemcpyHostToDevice));
    for (std::uint64_t filled = piece_bytes; filled < bytes;) {
      const std::uint64_t copied = std::min(filled, bytes - filled);
      hipscope::check(hipMemcpy(words_.data() + filled / sizeof(unsigned), words_.data(), copied,
                                hipMemcpyDeviceToDevice));
      filled += copied;
    }
  }

  [[nodiscard]] const uint4* quads() const {
    return static_cast<const uint4*>(static_cast<const void*>(words_.data()));
  }

  /// Word `i` of them, as the host knows it.
  [[nodiscard]] unsigned word(std::size_t i) const { return piece_[i % piece_.size()]; }

  /// Of the first `count` words, modulo 2^32.
  [[nodiscard]] unsigned sum(std::uint64_t count) const {
    const unsigned of_piece = std::accumulate(piece_.begin(), piece_.end(), 0U);
    const auto rest = static_cast<std::ptrdiff_t>(count % piece_.size());
    return static_cast<unsigned>(count / piece_.size()) * of_piece +
           std::accumulate(piece_.begin(), piece_.begin() + rest, 0U);
  }

 private:
  std::vector<unsigned> piece_;
  hipscope::DeviceBuffer<unsigned> words_;
};

}  // namespace energy
