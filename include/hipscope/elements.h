// Arrays whose elements follow from their index: filled and checked on the device. `value_of(i)` is
// element i, by an object whose operator() is __host__ __device__.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hipscope/buffer.h"
#include "hipscope/check.h"
#include "hipscope/experiment.h"
#include "hipscope/launch.h"
#include "hipscope/random_bits.h"

namespace hipscope {

inline constexpr unsigned elements_block = 256;

/// Words that are random from the first bit to the last.
struct RandomWords {
  unsigned key;
  __host__ __device__ unsigned operator()(std::uint64_t i) const {
    return random_bits(static_cast<unsigned>(i) + key);
  }
};

template <typename Value, typename ValueOf>
__global__ void __launch_bounds__(elements_block)
    fill_elements_kernel(Value* values, std::uint64_t count, ValueOf value_of) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * elements_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * elements_block + threadIdx.x; i < count;
       i += threads) {
    values[i] = value_of(i);
  }
}

/// Counts right elements, not wrong ones: if it does not run, nothing is right.
template <typename Value, typename ValueOf>
__global__ void __launch_bounds__(elements_block)
    count_right_kernel(const Value* values, std::uint64_t count, ValueOf value_of,
                       unsigned long long* right) {
  unsigned long long mine = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * elements_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * elements_block + threadIdx.x; i < count;
       i += threads) {
    mine += values[i] == value_of(i) ? 1 : 0;
  }
  atomicAdd(right, mine);
}

/// A grid for any number of elements.
inline LaunchShape elements_shape(const Sweep& sweep) {
  constexpr unsigned blocks_per_unit = 32;
  const unsigned blocks =
      sweep.is_hardware() ? blocks_per_unit * static_cast<unsigned>(sweep.device().compute_units)
                          : 1;
  return {.grid = dim3(blocks), .block = dim3(elements_block)};
}

template <typename Value, typename ValueOf>
void fill_elements(const Sweep& sweep, const DeviceBuffer<Value>& values, const ValueOf& value_of) {
  launch(fill_elements_kernel<Value, ValueOf>, elements_shape(sweep), values.data(), values.size(),
         value_of);
}

/// How many of the first `count` elements are wrong.
template <typename Value, typename ValueOf>
std::uint64_t count_wrong(const Sweep& sweep, const Value* values, std::uint64_t count,
                          const ValueOf& value_of) {
  DeviceBuffer<unsigned long long> right(1);
  right.clear();
  launch(count_right_kernel<Value, ValueOf>, elements_shape(sweep), values, count, value_of,
         right.data());
  return count - right.to_host()[0];
}

/// Compares the first `count` elements on the host.
template <typename Value, typename ValueOf>
void compare_on_host(Comparison& comparison, const Value* values, std::uint64_t count,
                     const ValueOf& value_of) {
  std::vector<Value> got(count);
  check(hipMemcpy(got.data(), values, count * sizeof(Value), hipMemcpyDeviceToHost));
  comparison.compare_all(got, value_of);
}

/// Checks the first `count` elements on the device; if some are wrong, the host finds which.
template <typename Value, typename ValueOf>
void verify_elements(const Sweep& sweep, Point& point, const std::string& what,
                     const DeviceBuffer<Value>& values, std::uint64_t count,
                     const ValueOf& value_of) {
  point.verify(
      what, count_wrong(sweep, values.data(), count, value_of), count,
      [&](Comparison& comparison) { compare_on_host(comparison, values.data(), count, value_of); });
}

}  // namespace hipscope
