// CUs that are busy for a while, so that the blocks of the next kernel do not start together.
//
// Blocks that share a tile have equally many steps and begin together: one that forgets to wait for
// the others' sums mostly finds them anyway. After a kernel that occupies half of the CUs, half of
// the blocks start when the others have long ended.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/pause.h>
#include <hipscope/timer.h>

namespace gemm {

/// Occupies its CU for a number of ticks of the timer. A turn takes more than one tick, so that
/// their count ends a wait by a timer that stands still.
static __global__ void __launch_bounds__(32) busy_kernel(unsigned* begun, long long ticks) {
  if (threadIdx.x == 0) {
    atomicAdd(begun, 1U);
    const long long begin = hipscope::timer_ticks();
    long long now = begin;
    for (long long turn = 0; turn < ticks && now - begin < ticks; ++turn) {
      hipscope::pause();
      now = hipscope::timer_ticks();
    }
  }
}

/// Half of a device's CUs, kept from what the default stream is given.
class BusyUnits {
 public:
  explicit BusyUnits(const hipscope::DeviceDescription& device)
      : blocks_((static_cast<unsigned>(device.compute_units) + 1) / 2),
        lds_bytes_(static_cast<unsigned>(device.largest_lds_bytes_per_block)),
        begun_(1) {
    using hipscope::check;
    constexpr int normal_priority = 0;
    check(hipStreamCreateWithPriority(&stream_, hipStreamNonBlocking, normal_priority));
    // All LDS of a CU, so that no other block fits beside it.
    hipscope::allow_lds(busy_kernel, lds_bytes_);
  }
  ~BusyUnits() { static_cast<void>(hipStreamDestroy(stream_)); }
  BusyUnits(const BusyUnits&) = delete;
  BusyUnits& operator=(const BusyUnits&) = delete;

  /// Returns when they are busy, for about 300 us; before that waits for all that was enqueued.
  void begin() {
    hipscope::check(hipDeviceSynchronize());
    begun_.clear();
    hipscope::check(hipDeviceSynchronize());
    hipscope::launch(
        busy_kernel,
        {.grid = dim3(blocks_), .block = dim3(32), .lds_bytes = lds_bytes_, .stream = stream_},
        begun_.data(), ticks);
    // Copies of the default stream do not wait for the kernel, nor it for them.
    while (begun_.to_host()[0] < blocks_) {
    }
  }

 private:
#if defined(HIPSCOPE_BACKEND_AMD)
  static constexpr long long ticks = 30'000;  // of 10 ns, as most have
#else
  static constexpr long long ticks = 300'000;  // of 1 ns
#endif

  unsigned blocks_;
  unsigned lds_bytes_;
  hipscope::DeviceBuffer<unsigned> begun_;
  hipStream_t stream_ = nullptr;
};

}  // namespace gemm
