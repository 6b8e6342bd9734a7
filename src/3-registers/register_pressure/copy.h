// The copy that a step is held against, and the check of its every element.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>

#include "lattice.h"

namespace hipscope::register_pressure {

constexpr unsigned copy_block = 256;

/// Number `i` of the copy's input.
__host__ __device__ inline double copied_value(unsigned i) { return random_bits(i); }

static __global__ void __launch_bounds__(lattice_block)
    make_copied_kernel(double* values, std::int64_t count) {
  for_each_of_mine(count,
                   [&](std::int64_t i) { values[i] = copied_value(static_cast<unsigned>(i)); });
}

/// Values of 16 bytes.
static __global__ void __launch_bounds__(copy_block)
    copy_kernel(const double* from, double* to, unsigned pairs) {
  const unsigned i = blockIdx.x * copy_block + threadIdx.x;
  if (i < pairs) {
    reinterpret_cast<double2*>(to)[i] = reinterpret_cast<const double2*>(from)[i];
  }
}

static __global__ void __launch_bounds__(lattice_block)
    count_copied_kernel(const double* values, std::int64_t count, unsigned long long* right) {
  unsigned long long mine = 0;
  for_each_of_mine(count, [&](std::int64_t i) {
    mine += values[i] == copied_value(static_cast<unsigned>(i)) ? 1 : 0;
  });
  atomicAdd(right, mine);
}

/// Verifies and measures a copy of `bytes`, read and written ones together, or of as many as
/// 32 bits count; returns its GB/s.
inline double measure_copy(const Sweep& sweep, Point& point, std::uint64_t bytes) {
  constexpr std::uint64_t most_pairs = 1U << 30;
  const auto pairs = static_cast<unsigned>(std::min(bytes / (2 * sizeof(double2)), most_pairs));
  const unsigned count = 2 * pairs;
  DeviceBuffer<double> from(count);
  DeviceBuffer<double> to(count);
  launch(make_copied_kernel, walking_shape(sweep), from.data(), count);
  const LaunchShape shape = {.grid = dim3((pairs + copy_block - 1) / copy_block),
                             .block = dim3(copy_block)};
  const auto run = [&] { launch(copy_kernel, shape, from.data(), to.data(), pairs); };
  run();
  DeviceBuffer<unsigned long long> right(1);
  right.clear();
  launch(count_copied_kernel, walking_shape(sweep), to.data(), count, right.data());
  point.verify("every element of the copy", count - right.to_host()[0], count);
  const auto time = point.measure(run);
  return 2.0 * count * sizeof(double) * 1e-9 / time.seconds().median;
}

}  // namespace hipscope::register_pressure
