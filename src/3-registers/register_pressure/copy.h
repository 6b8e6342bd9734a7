// The copy that a step is held against, and the check of its every element.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>

namespace hipscope::register_pressure {

constexpr unsigned copy_block = 256;

/// The copy's input.
struct CopiedValue {
  __host__ __device__ double operator()(std::uint64_t i) const {
    return random_bits(static_cast<unsigned>(i));
  }
};

/// Values of 16 bytes.
static __global__ void __launch_bounds__(copy_block)
    copy_kernel(const double* from, double* to, unsigned pairs) {
  const unsigned i = blockIdx.x * copy_block + threadIdx.x;
  if (i < pairs) {
    reinterpret_cast<double2*>(to)[i] = reinterpret_cast<const double2*>(from)[i];
  }
}

/// Verifies and measures a copy of `bytes`, read and written ones together, or of as many as
/// 32 bits count; returns its GB/s.
inline double measure_copy(const Sweep& sweep, Point& point, std::uint64_t bytes) {
  constexpr std::uint64_t most_pairs = 1U << 30;
  const auto pairs = static_cast<unsigned>(std::min(bytes / (2 * sizeof(double2)), most_pairs));
  const unsigned count = 2 * pairs;
  DeviceBuffer<double> from(count);
  DeviceBuffer<double> to(count);
  fill_elements(sweep, from, CopiedValue{});
  const LaunchShape shape = {.grid = dim3((pairs + copy_block - 1) / copy_block),
                             .block = dim3(copy_block)};
  const auto run = [&] { launch(copy_kernel, shape, from.data(), to.data(), pairs); };
  run();
  verify_elements(sweep, point, "every element of the copy", to, count, CopiedValue{});
  const auto time = point.measure(run);
  return 2.0 * count * sizeof(double) * 1e-9 / time.seconds().median;
}

}  // namespace hipscope::register_pressure
