// How the source's kernel is launched and verified: blocks of 256, which end with their own sums,
// and store those that are over 9999.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <span>
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

struct SourceValue {
  unsigned most;
  unsigned key;

  __host__ __device__ int operator()(std::uint64_t i) const {
    return static_cast<int>(hipscope::random_bits(static_cast<unsigned>(i) + key) % (most + 1));
  }
};

// What a block leaves: its sum where that is to be stored, the poison where it is not.
struct SourceSum {
  SourceValue value;

  __host__ __device__ int operator()(std::uint64_t block) const {
    constexpr int untouched = -1;  // all bits of the poison
    int sum = 0;
    for (unsigned i = 0; i < source_threads; ++i) {
      sum += value(block * source_threads + i);
    }
    return sum > least_stored ? sum : untouched;
  }
};

// Random values of 0 to `most` for the source's kernel, and what is right for them.
class SourceValues {
 public:
  // Of 256 values up to 38 no sum is over 9999; up to 78 about half of them are.
  static constexpr unsigned unstored = 38;
  static constexpr unsigned half_stored = 78;

  SourceValues(const Sweep& sweep, std::uint64_t count)
      : sweep_(sweep),
        value_{.most = 0, .key = key_of(sweep.seed())},
        blocks_(static_cast<unsigned>(std::min(count, most_source_values) / source_threads)),
        values_(std::size_t{blocks_} * source_threads),
        sums_(blocks_) {}

  [[nodiscard]] std::uint64_t count() const { return values_.size(); }

  void fill(unsigned most) {
    value_.most = most;
    fill_elements(sweep_, values_, value_);
  }

  void run(const SourceRow& row) const {
    launch(source_kernel, {.grid = dim3(blocks_), .block = dim3(source_threads)}, values_.data(),
           sums_.data(), row.values_per_step);
  }

  void verify(Point& point, const SourceRow& row) {
    sums_.poison();
    run(row);
    const SourceSum expected = {.value = value_};
    const std::string what =
        "sums of values up to " + std::to_string(value_.most) + ", stored if over 9999";
    verify_elements(sweep_, point, what, sums_, blocks_, expected);
    // By the host as well: the device's reference might be as wrong as its results.
    const std::vector<int> made = sums_.to_host();
    const unsigned checked = std::min(blocks_, 128U);
    point.check(what + ", the last by the host", std::span(made).last(checked),
                [&](std::uint64_t i) { return expected(blocks_ - checked + i); });
  }

 private:
  const Sweep& sweep_;
  SourceValue value_;
  unsigned blocks_;
  DeviceBuffer<int> values_;
  DeviceBuffer<int> sums_;
};

}  // namespace hipscope::reduction
