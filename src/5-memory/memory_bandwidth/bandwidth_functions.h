// The functions whose bandwidth is measured, their arrays in device memory, and the check of what
// they made, by an expected value for every element.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "findings.h"

namespace hipscope::bandwidth {

using memory_bandwidth::Function;
using memory_bandwidth::name_of;

__host__ __device__ constexpr unsigned inputs_of(Function function) {
  return function == Function::write ? 0 : function < Function::add ? 1 : 2;
}
// What does not store makes a sum.
__host__ __device__ constexpr bool stores(Function function) {
  return function != Function::read && function != Function::dot;
}
// What its bandwidth counts.
constexpr unsigned arrays_moved(Function function) {
  return inputs_of(function) + (stores(function) ? 1 : 0);
}

// Of elements of the two inputs; write has numbers that count up in place of the first.
template <Function function>
__host__ __device__ unsigned apply(unsigned a, unsigned b) {
  constexpr unsigned scalar = 2654435761U;
  if constexpr (function == Function::scale) {
    return scalar * a;
  } else if constexpr (function == Function::add) {
    return a + b;
  } else if constexpr (function == Function::triad) {
    return a + scalar * b;
  } else if constexpr (function == Function::dot) {
    return a * b;
  }
  return a;
}

// Element `i` of a random array.
__host__ __device__ inline unsigned random_value(unsigned i, unsigned key) {
  return random_bits(i + key);
}

inline unsigned key_of(std::uint64_t seed) {
  return random_value(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
}

// What `function` makes of elements `i` of arrays with keys `key` and ~`key`.
template <Function function>
__host__ __device__ unsigned expected_value(unsigned i, unsigned key) {
  constexpr unsigned inputs = inputs_of(function);
  const unsigned a = inputs == 0 ? key + i : random_value(i, key);
  return apply<function>(a, inputs == 2 ? random_value(i, ~key) : 0);
}

constexpr unsigned checking_block = elements_block;

// Of elements [begin, end), adds the sum of what `function` makes of them to totals[0], and how
// many of them `array` has, if the function stores, to totals[1]. (Right ones, not wrong ones:
// where it does not run, nothing is right.)
template <Function function>
__global__ void __launch_bounds__(checking_block)
    reference_kernel(const unsigned* array, std::uint64_t begin, std::uint64_t end, unsigned key,
                     unsigned long long* totals) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  unsigned long long sum = 0;
  unsigned long long right = 0;
  for (std::uint64_t i = begin + std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < end;
       i += threads) {
    const unsigned expected = expected_value<function>(static_cast<unsigned>(i), key);
    sum += expected;
    if constexpr (stores(function)) {
      right += array[i] == expected ? 1 : 0;
    }
  }
  atomicAdd(&totals[0], sum);
  atomicAdd(&totals[1], right);
}

// Arrays of a size: random ones to read, one to store to.
struct Arrays {
  Arrays(const Sweep& sweep, std::uint64_t bytes, unsigned inputs, bool stores)
      : units(static_cast<unsigned>(sweep.device().compute_units)),
        checking_shape(elements_shape(sweep)),
        key(key_of(sweep.seed())),
        first(bytes / sizeof(unsigned)),
        second(inputs == 2 ? first.size() : 1),
        output(stores ? first.size() : 1) {
    fill_elements(sweep, first, RandomWords{key});
    fill_elements(sweep, second, RandomWords{~key});
  }

  [[nodiscard]] std::uint64_t bytes() const { return first.size() * sizeof(unsigned); }

  unsigned units;  // CUs
  LaunchShape checking_shape;
  unsigned key;
  DeviceBuffer<unsigned> first;
  DeviceBuffer<unsigned> second;
  DeviceBuffer<unsigned> output;
};

template <typename Access>
Access* as(const DeviceBuffer<unsigned>& array) {
  return static_cast<Access*>(static_cast<void*>(array.data()));
}

struct Reference {
  unsigned sum;
  std::uint64_t right;
};

template <Function function>
Reference reference(const Arrays& arrays, std::uint64_t begin, std::uint64_t end) {
  DeviceBuffer<unsigned long long> totals(2);
  totals.clear();
  launch(reference_kernel<function>, arrays.checking_shape, arrays.output.data(), begin, end,
         arrays.key, totals.data());
  const auto made = totals.to_host();
  return {.sum = static_cast<unsigned>(made[0]), .right = made[1]};
}

// Calls `run`, which must move the first `bytes`, `repeats` times if `sums` add up what was moved
// (of a stream only those of a function that does not store).
template <Function function, typename Run>
void verify(Point& point, Arrays& arrays, std::uint64_t bytes, DeviceBuffer<unsigned>* sums,
            unsigned repeats, const Run& run) {
  const std::string name = name_of(function);
  const std::uint64_t count = bytes / sizeof(unsigned);
  arrays.output.poison();
  if (sums != nullptr) {
    sums->poison();
  }
  run();
  const Reference all = reference<function>(arrays, 0, count);
  if constexpr (stores(function)) {
    point.verify(name + ", every element", count - all.right, count, [&](Comparison& comparison) {
      compare_on_host(comparison, arrays.output.data(), count, [&](std::uint64_t i) {
        return expected_value<function>(static_cast<unsigned>(i), arrays.key);
      });
    });
  }
  if (sums != nullptr) {
    const std::vector<unsigned> made = sums->to_host();
    const unsigned total = std::accumulate(made.begin(), made.end(), 0U);
    point.check_value(name + ", checksum of all elements", total, repeats * all.sum);
  }
  // The host repeats the last elements: the device's reference might be as wrong as its results.
  const auto sample = std::min<std::uint64_t>(count, 4096);
  std::vector<unsigned> stored(sample);
  unsigned sum = 0;
  Comparison comparison;
  if constexpr (stores(function)) {
    check(hipMemcpy(stored.data(), arrays.output.data() + (count - sample),
                    sample * sizeof(unsigned), hipMemcpyDeviceToHost));
  }
  for (std::uint64_t i = 0; i < sample; ++i) {
    const auto element = static_cast<unsigned>(count - sample + i);
    const unsigned expected = expected_value<function>(element, arrays.key);
    sum += expected;
    comparison.compare(element, expected, stores(function) ? stored[i] : expected);
  }
  const unsigned referred = reference<function>(arrays, count - sample, count).sum;
  point.verify(name + ", the last elements by the host",
               referred == sum ? comparison.wrong() : sample, sample, [&](Comparison& told) {
                 told = comparison;
                 told.compare(count, sum, referred);  // as one more element
               });
}

}  // namespace hipscope::bandwidth
