// How the source's kernel is launched and verified: blocks of 256, which end with their own sums,
// and store those that are over 9999.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "01-source.h"

namespace hipscope::reduction {

struct SourceRow {
  std::string name;
  std::string published;  // the series with the source's figure
  int values_per_step;
  unsigned barriers;  // of a block
};

inline std::vector<SourceRow> source_rows() {
  return {{.name = "12a 2 values per step",
           .published = "2 elements a step",
           .values_per_step = 2,
           .barriers = 9},
          {.name = "12a 4 values per step",
           .published = "4 elements a step",
           .values_per_step = 4,
           .barriers = 5}};
}

// The source counts values in an int.
constexpr std::uint64_t most_source_values = std::uint64_t{1} << 31;

// Random values of 0 to `most` for the source's kernel, and what is right for them.
class SourceValues {
 public:
  // Of 256 values up to 38 no sum is over 9999; up to 78 about half of them are.
  static constexpr unsigned unstored = 38;
  static constexpr unsigned half_stored = 78;

  SourceValues(const Sweep& sweep, std::uint64_t count)
      : key_(key_of(sweep.seed())),
        blocks_(static_cast<unsigned>(std::min(count, most_source_values) / source_threads)),
        values_(std::size_t{blocks_} * source_threads),
        sums_(blocks_) {}

  [[nodiscard]] std::uint64_t count() const { return values_.size(); }

  void fill(unsigned most);

  void run(const SourceRow& row) const {
    launch(source_kernel, {.grid = dim3(blocks_), .block = dim3(source_threads)}, values_.data(),
           sums_.data(), row.values_per_step);
  }

  // Every block's sum, where it is to be stored; nothing where it is not.
  void verify(Point& point, const SourceRow& row);

 private:
  [[nodiscard]] std::vector<int> expected() const;

  unsigned key_;
  unsigned blocks_;
  unsigned most_ = 0;
  DeviceBuffer<int> values_;
  DeviceBuffer<int> sums_;
};

__host__ __device__ inline int source_value(unsigned i, unsigned most, unsigned key) {
  return static_cast<int>(hipscope::random_bits(i + key) % (most + 1));
}

static __global__ void __launch_bounds__(source_threads)
    source_fill_kernel(int* values, unsigned most, unsigned key) {
  const unsigned i = blockIdx.x * source_threads + threadIdx.x;
  values[i] = source_value(i, most, key);
}

// One thread for each of the source's blocks, by one loop.
static __global__ void __launch_bounds__(source_threads)
    source_expected_kernel(int* sums, unsigned blocks, unsigned most, unsigned key) {
  const unsigned block = blockIdx.x * source_threads + threadIdx.x;
  if (block >= blocks) {
    return;
  }
  int sum = 0;
  for (unsigned i = 0; i < source_threads; ++i) {
    sum += source_value(block * source_threads + i, most, key);
  }
  sums[block] = sum;
}

inline void SourceValues::fill(unsigned most) {
  most_ = most;
  launch(source_fill_kernel, {.grid = dim3(blocks_), .block = dim3(source_threads)}, values_.data(),
         most, key_);
}

inline std::vector<int> SourceValues::expected() const {
  DeviceBuffer<int> sums(blocks_);
  launch(source_expected_kernel,
         {.grid = dim3((blocks_ + source_threads - 1) / source_threads),
          .block = dim3(source_threads)},
         sums.data(), blocks_, most_, key_);
  return sums.to_host();
}

inline void SourceValues::verify(Point& point, const SourceRow& row) {
  const std::vector<int> expected = this->expected();
  // By the host as well: the device's reference might be as wrong as its results.
  Comparison comparison;
  const unsigned checked = std::min(blocks_, 128U);
  for (unsigned i = 0; i < checked * source_threads; i += source_threads) {
    const unsigned block = blocks_ - checked + i / source_threads;
    int sum = 0;
    for (unsigned at = 0; at < source_threads; ++at) {
      sum += source_value(block * source_threads + at, most_, key_);
    }
    comparison.compare(block, sum, expected[block]);
  }
  constexpr int untouched = -1;  // all bits of the poison
  sums_.poison();
  run(row);
  const std::vector<int> made = sums_.to_host();
  for (unsigned block = 0; block < blocks_; ++block) {
    const int right = expected[block] > least_stored ? expected[block] : untouched;
    comparison.compare(block, right, made[block]);
  }
  point.verify("sums of values up to " + std::to_string(most_) + ", stored if over 9999",
               comparison);
}

}  // namespace hipscope::reduction
