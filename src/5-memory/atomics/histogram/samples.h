// What the stages of the histogram ladder count: bytes, of three kinds; and how they reach them.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace atomics::histogram {

inline constexpr unsigned bins = 256;
inline constexpr unsigned block_threads = 1024;

enum class Data {
  uniform,  // every bin as often
  skewed,   // few bins have most: products of three random numbers
  one_bin,  // all samples are alike
};

inline const char* name_of(Data data) {
  constexpr std::array names = {"uniform", "skewed", "one bin"};
  return names.at(static_cast<std::size_t>(data));
}

struct SampleOf {
  Data data;
  unsigned key;

  __host__ __device__ unsigned char operator()(std::uint64_t i) const {
    constexpr unsigned the_one_bin = 137;
    const unsigned random = hipscope::random_bits(static_cast<unsigned>(i) + key);
    const unsigned skewed = ((random >> 24) * (random >> 16 & 255) >> 8) * (random >> 8 & 255) >> 8;
    return static_cast<unsigned char>(data == Data::uniform  ? random >> 24
                                      : data == Data::skewed ? skewed
                                                             : the_one_bin);
  }
};

/// `count` samples that begin anywhere.
struct Samples {
  const unsigned char* first;
  unsigned count;
};

/// The whole vectors of 16 samples among them, at addresses that are multiples of 16.
struct Vectors {
  const uint4* first;
  unsigned count;
};

__device__ inline unsigned before_vectors(const Samples& samples) {
  const auto address = reinterpret_cast<std::uintptr_t>(samples.first);
  const auto before = static_cast<unsigned>((0 - address) % sizeof(uint4));
  return before < samples.count ? before : samples.count;
}

__device__ inline Vectors vectors_of(const Samples& samples) {
  const unsigned before = before_vectors(samples);
  return {.first = reinterpret_cast<const uint4*>(samples.first + before),
          .count = static_cast<unsigned>((samples.count - before) / sizeof(uint4))};
}

/// Calls `count` with each sample of the vector.
template <typename Count>
__device__ void for_each_sample(const uint4& vector, Count count) {
  const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (const unsigned word : words) {
    count(word & 255);
    count(word >> 8 & 255);
    count(word >> 16 & 255);
    count(word >> 24);
  }
}

/// Calls `count` with the samples before and after the vectors, in threads of the first block.
template <typename Count>
__device__ void for_each_sample_outside(const Samples& samples, Count count) {
  const unsigned before = before_vectors(samples);
  const unsigned after = before + vectors_of(samples).count * static_cast<unsigned>(sizeof(uint4));
  if (blockIdx.x == 0 && threadIdx.x < before) {
    count(samples.first[threadIdx.x]);
  }
  if (blockIdx.x == 0 && threadIdx.x < samples.count - after) {
    count(samples.first[after + threadIdx.x]);
  }
}

using Counts = std::array<std::uint64_t, bins>;

inline Counts counts_of(const SampleOf& sample_of, unsigned first, unsigned count) {
  Counts counts{};
  for (unsigned i = first; i < first + count; ++i) {
    ++counts[sample_of(i)];
  }
  return counts;
}

}  // namespace atomics::histogram
