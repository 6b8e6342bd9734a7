// The stopwatch on a device: event times with the shader clock over each sample.
#pragma once

#include <hip/hip_runtime.h>

#include <functional>

#include "hipscope/measure.h"

namespace hipscope::detail {

/// Both counters of one compute unit at one moment.
struct ClockReading {
  long long ticks;       ///< of the constant-rate timer
  long long cycles;      ///< of the shader's cycle counter
  long long held_ticks;  ///< both again, after the time for which the reading holds its CU
  long long held_cycles;
  unsigned compute_unit;    ///< which one was read
  unsigned gate_timed_out;  ///< 1 when the gate was still shut after its time limit
};

/// Times work on the current device's default stream.
class Stopwatch {
 public:
  /// `is_hardware` is false on the host backend. Throws DeviceError, as all of it.
  /// `counter_bits`: the width of the shader's cycle counter.
  Stopwatch(bool is_hardware, unsigned counter_bits);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Runs `body` `batch` times; returns the time of one execution in seconds and the shader clock
  /// over the sample. A `synchronous` body waits for the device itself and is not gated.
  Sample time(const std::function<void()>& body, unsigned batch, bool synchronous);

  /// False where the shader's cycle counter was seen to stand still.
  [[nodiscard]] bool counts_cycles() const { return counts_cycles_; }

 private:
  struct Shared {
    ClockReading first;
    ClockReading second;
    unsigned gate;
  };

  void enqueue_reading(ClockReading* reading, unsigned* gate, double hold_seconds);
  double calibrate_timer();

  bool is_hardware_;
  unsigned counter_bits_;
  bool counts_cycles_ = true;
  bool gate_works_ = true;
  double timer_hz_ = 0;
  hipEvent_t start_ = nullptr;
  hipEvent_t stop_ = nullptr;
  Shared* shared_ = nullptr;  ///< in host memory that the device sees
  Shared* shared_on_device_ = nullptr;
};

}  // namespace hipscope::detail
