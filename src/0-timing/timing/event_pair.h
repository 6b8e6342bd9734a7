// Two events, and the time between them.
#pragma once

#include <hip/hip_runtime.h>

#include "hipscope/check.h"

namespace timing {

/// A pair of events of the default stream.
class EventPair {
 public:
  /// Throws hipscope::DeviceError, as all of it.
  EventPair() {
    hipscope::check(hipEventCreate(&start_));
    hipscope::check(hipEventCreate(&stop_));
  }
  ~EventPair() {
    static_cast<void>(hipEventDestroy(start_));
    static_cast<void>(hipEventDestroy(stop_));
  }
  EventPair(const EventPair&) = delete;
  EventPair& operator=(const EventPair&) = delete;

  /// The device's time of what `enqueue` enqueues, in seconds. Waits for it.
  template <typename Enqueue>
  double time(Enqueue enqueue) const {
    hipscope::check(hipEventRecord(start_, nullptr));
    enqueue();
    hipscope::check(hipEventRecord(stop_, nullptr));
    hipscope::check(hipEventSynchronize(stop_));
    float milliseconds = 0;
    hipscope::check(hipEventElapsedTime(&milliseconds, start_, stop_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  hipEvent_t start_ = nullptr;
  hipEvent_t stop_ = nullptr;
};

}  // namespace timing
