// The values that reduction.hip sums, which host and device compute from their index, and the
// checks of a total: exact where arithmetic is exact, else within the error of the additions made.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace hipscope::reduction {

enum class Data {
  positive,        // FP32, uniform in [0, 1), multiples of 2^-24
  centred,         // FP32, uniform in [-1, 1), multiples of 2^-23
  small_integers,  // FP32, -8 ... -1 and 1 ... 8: every value counts, and sums are exact, since
                   // they stay below 2^24 (six standard deviations of 2^34 values are 2^22)
  all_bits,        // 32-bit integers, whose sums wrap: exact in any order
};

constexpr const char* name_of(Data data) {
  switch (data) {
    case Data::positive:
      return "in [0, 1)";
    case Data::centred:
      return "in [-1, 1)";
    case Data::small_integers:
      return "small integers";
    case Data::all_bits:
      break;
  }
  return "integers that wrap";
}

// The random bits that value `i` is made of.
__host__ __device__ inline unsigned random_bits(std::uint64_t i, unsigned key) {
  return hipscope::random_bits(static_cast<unsigned>(i) + key +
                               static_cast<unsigned>(i >> 32) * 0x9e3779b9U);
}

// Value `i`.
template <typename Value>
__host__ __device__ Value value_at(Data data, std::uint64_t i, unsigned key) {
  const unsigned bits = random_bits(i, key);
  if constexpr (std::is_same_v<Value, float>) {
    constexpr float unit = 1.0F / (1U << 24);
    const float positive = static_cast<float>(bits >> 8) * unit;
    const int integer = static_cast<int>(bits % 16) - 8;
    return data == Data::positive  ? positive
           : data == Data::centred ? 2 * positive - 1
                                   : static_cast<float>(integer < 0 ? integer : integer + 1);
  } else {
    return bits;
  }
}

constexpr unsigned checking_block = 256;

template <typename Value>
__global__ void __launch_bounds__(checking_block)
    fill_kernel(Value* values, std::uint64_t count, Data data, unsigned key) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < count;
       i += threads) {
    values[i] = value_at<Value>(data, i, key);
  }
}

// What a total is compared with. Up to 2^29 values both FP64 sums are exact: they are multiples of
// 2^-24 below 2^29.
struct Reference {
  double sum = 0;
  double magnitude = 0;  // the sum of absolute values
  unsigned words = 0;    // the sum of the values' bits as integers, which wraps
};

// Stores a reference for each thread, of the values that it reads.
template <typename Value>
__global__ void __launch_bounds__(checking_block)
    reference_kernel(const Value* values, std::uint64_t count, Reference* references) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x;
  Reference reference;
  for (std::uint64_t i = thread; i < count; i += threads) {
    const auto value = static_cast<double>(values[i]);
    reference.sum += value;
    reference.magnitude += value < 0 ? -value : value;
    if constexpr (std::is_same_v<Value, float>) {
      reference.words += __float_as_uint(values[i]);
    } else {
      reference.words += values[i];
    }
  }
  references[thread] = reference;
}

// `count` random values in device memory, up to the end of their buffer; `skipped` others before
// them, so that the first is not aligned.
template <typename Value>
class Array {
 public:
  Array(const Sweep& sweep, Data data, std::uint64_t count, unsigned skipped = 0)
      : data_(data),
        key_(random_bits(sweep.seed(), static_cast<unsigned>(sweep.seed() >> 32))),
        skipped_(skipped),
        blocks_(sweep.is_hardware() ? 8 * static_cast<unsigned>(sweep.device().compute_units) : 1),
        buffer_(count + skipped) {
    fill();
  }

  void fill() {
    launch(fill_kernel<Value>, {.grid = dim3(blocks_), .block = dim3(checking_block)},
           buffer_.data() + skipped_, count(), data_, key_);
  }

  void zero() { buffer_.clear(); }

  [[nodiscard]] const Value* values() const { return buffer_.data() + skipped_; }
  [[nodiscard]] std::uint64_t count() const { return buffer_.size() - skipped_; }
  [[nodiscard]] Data data() const { return data_; }
  [[nodiscard]] Value value(std::uint64_t i) const { return value_at<Value>(data_, i, key_); }

  // Of values [begin, end), by the device.
  [[nodiscard]] Reference reference(std::uint64_t begin, std::uint64_t end) const {
    DeviceBuffer<Reference> references(std::size_t{blocks_} * checking_block);
    launch(reference_kernel<Value>, {.grid = dim3(blocks_), .block = dim3(checking_block)},
           values() + begin, end - begin, references.data());
    Reference all;
    for (const Reference& one : references.to_host()) {
      all.sum += one.sum;
      all.magnitude += one.magnitude;
      all.words += one.words;
    }
    return all;
  }

  // The device's values and its reference might be wrong together: the host repeats the first and
  // the last of both.
  void verify_reference(Point& point) const {
    const auto part = std::min<std::uint64_t>(count(), 1U << 15);
    Comparison comparison;
    for (const std::uint64_t begin : {std::uint64_t{0}, count() - part}) {
      std::vector<Value> copy(part);
      check(hipMemcpy(copy.data(), values() + begin, part * sizeof(Value), hipMemcpyDeviceToHost));
      Reference expected;
      for (std::uint64_t i = 0; i < part; ++i) {
        const Value exact = value(begin + i);
        comparison.compare(begin + i, exact, copy[i]);
        expected.sum += static_cast<double>(exact);
        expected.magnitude += std::abs(static_cast<double>(exact));
        expected.words += std::bit_cast<unsigned>(exact);
      }
      const Reference device = reference(begin, begin + part);
      comparison.compare(begin, expected.sum, device.sum);
      comparison.compare(begin, expected.magnitude, device.magnitude);
      comparison.compare(begin, expected.words, device.words);
    }
    point.verify(std::string("reference of values ") + name_of(data_) + ", by the host",
                 comparison);
  }

 private:
  Data data_;
  unsigned key_;
  unsigned skipped_;
  unsigned blocks_;
  DeviceBuffer<Value> buffer_;
};

// The most by which a sum may be wrong when no value goes through more than `depth` additions, each
// of which rounds to nearest (Higham, "Accuracy and stability of numerical algorithms", 4.2).
inline double error_bound(double depth, double magnitude) {
  constexpr double unit_roundoff = 1.0 / (1U << 24);
  const double growth = depth * unit_roundoff;
  return growth < 1 ? growth / (1 - growth) * magnitude : INFINITY;
}

template <typename Value>
void compare(Comparison& comparison, Data data, const Reference& reference, Value total,
             double depth) {
  const std::uint64_t index = comparison.checked();
  if constexpr (std::is_same_v<Value, float>) {
    comparison.compare(index, reference.sum, double{total},
                       data == Data::small_integers ? 0 : error_bound(depth, reference.magnitude));
  } else {
    comparison.compare(index, reference.words, total);
  }
}

}  // namespace hipscope::reduction
