// What a board is held against: waves that only count, and launches of nothing.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <cstdint>

namespace energy {

inline constexpr unsigned largest_spinning_block = 256;

/// One step of the count: two dependent instructions of integers, whose result shows how many steps
/// were made.
__host__ __device__ inline unsigned spun(unsigned x, unsigned step) {
  return (x << 1U | x >> 31U) ^ step;
}

inline constexpr unsigned first_counts = 8;  // that threads begin with

/// The least that a wave does when it runs: an addition, a branch, and a step.
static __global__ void __launch_bounds__(largest_spinning_block)
    spin_kernel(unsigned* output, unsigned rounds) {
  unsigned x = threadIdx.x % first_counts;
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    x = spun(x, round);
  }
  output[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static __global__ void __launch_bounds__(1) empty_kernel(unsigned* output, unsigned value) {
  output[0] = value;
}

/// A block on each CU.
class SpinningBlocks {
 public:
  SpinningBlocks(unsigned units, unsigned waves)
      : units_(units), threads_(waves * wave_lanes), output_(std::size_t{units} * threads_) {}

  void run(unsigned rounds) {
    hipscope::launch(spin_kernel, {.grid = dim3(units_), .block = dim3(threads_)}, output_.data(),
                     rounds);
  }

  /// After a launch of `rounds` rounds.
  void verify(hipscope::Point& point, unsigned rounds) {
    output_.poison();
    run(rounds);
    std::array<unsigned, first_counts> expected{};
    for (unsigned first = 0; first < first_counts; ++first) {
      expected[first] = first;
      for (unsigned round = 0; round < rounds; ++round) {
        expected[first] = spun(expected[first], round);
      }
    }
    point.check("every count", output_.to_host(),
                [&](std::uint64_t i) { return expected[i % threads_ % first_counts]; });
  }

 private:
  static constexpr unsigned wave_lanes = 64;

  unsigned units_;
  unsigned threads_;
  hipscope::DeviceBuffer<unsigned> output_;
};

}  // namespace energy
