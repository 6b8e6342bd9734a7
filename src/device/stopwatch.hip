// The stopwatch: device time by events, with the shader clock over each sample.
//
// A sample is enqueued as: first clock reading and gate | event | body, batch times | event |
// second clock reading. The gate is a kernel of one thread that waits for a flag in host memory,
// which the host sets once everything is enqueued, so that the host's own speed is no part of the
// time (the idea is nvbench's blocking kernel). Each reading takes the shader's cycle counter and
// the constant-rate timer on one compute unit; the difference of two readings gives the average
// shader clock from the gate to the end of the sample. The gate takes long enough for that to be
// exact however short the sample is.
#include <algorithm>
#include <optional>

#include "hipscope/check.h"
#include "hipscope/compute_unit.h"
#include "hipscope/cycle_counter.h"
#include "hipscope/launch.h"
#include "hipscope/timer.h"
#include "stopwatch.h"

namespace hipscope::detail {

namespace {

// The gate is looked at no more often than this, whatever the timer does. A look goes over the bus
// to the host's memory: this many take a little longer than the gate's time limit.
constexpr unsigned most_looks = 1U << 22;

// Reads both counters, waits for `hold_ticks`, reads them again, and waits until `gate`, if there
// is one, is open. A turn of the first loop takes more than a tick.
__global__ void __launch_bounds__(1) read_clock(ClockReading* reading, volatile unsigned* gate,
                                                long long hold_ticks, long long timeout_ticks) {
  const long long start = timer_ticks();
  reading->compute_unit = compute_unit_id();
  reading->ticks = start;
  reading->cycles = cycle_count();
  reading->gate_timed_out = 0;
  for (long long turn = 0; turn < hold_ticks && timer_ticks() - start < hold_ticks; ++turn) {
  }
  reading->held_ticks = timer_ticks();
  reading->held_cycles = cycle_count();
  for (unsigned look = 0; gate != nullptr && *gate == 0; ++look) {
    if (look == most_looks || timer_ticks() - start > timeout_ticks) {
      reading->gate_timed_out = 1;
      break;
    }
  }
}

constexpr double gate_timeout_seconds = 0.2;

// The timer's granularity (32 ns on an H200) is less than a thousandth of this.
constexpr double hold_seconds = 50e-6;

// The cycles between two readings of one compute unit's counter. Where that has begun again in
// between, the time tells how often, by the clock that the first reading saw while it held the CU;
// after some milliseconds that is not exact enough.
std::optional<double> cycles_of(const ClockReading& first, const ClockReading& second,
                                unsigned counter_bits) {
  constexpr double tolerance = 0.05;  // the clock may change
  const auto cycles_held =
      static_cast<double>(cycles_between(first.cycles, first.held_cycles, counter_bits));
  const auto ticks_held = static_cast<double>(std::max(1LL, first.held_ticks - first.ticks));
  const double expected =
      cycles_held / ticks_held * static_cast<double>(second.ticks - first.ticks);
  return cycles_near(expected, tolerance, first.cycles, second.cycles, counter_bits);
}

// What MHz a difference of readings gives, 0 where it cannot be told.
double shader_mhz(const ClockReading& first, const ClockReading& second, double timer_hz,
                  unsigned counter_bits) {
  const double seconds = static_cast<double>(second.ticks - first.ticks) / timer_hz;
  if (first.compute_unit != second.compute_unit || seconds < hold_seconds) {
    return 0;
  }
  const double counter_hz = cycles_of(first, second, counter_bits).value_or(0) / seconds;
  // Where the "cycle" counter ticks with the timer it is no shader clock (some RDNA parts).
  constexpr double tolerance = 0.01;
  const bool is_the_timer = counter_hz > (1 - tolerance) * timer_hz &&
                            counter_hz < (1 + tolerance) * timer_hz && timer_hz < 200e6;
  return is_the_timer || counter_hz <= 0 ? 0 : counter_hz * 1e-6;
}

}  // namespace

Stopwatch::Stopwatch(bool is_hardware, unsigned counter_bits)
    : is_hardware_(is_hardware), counter_bits_(counter_bits) {
  check(hipEventCreate(&start_));
  check(hipEventCreate(&stop_));
  check(hipHostMalloc(reinterpret_cast<void**>(&shared_), sizeof(Shared), hipHostMallocMapped));
  void* device_pointer = nullptr;
  check(hipHostGetDevicePointer(&device_pointer, shared_, 0));
  shared_on_device_ = static_cast<Shared*>(device_pointer);
  timer_hz_ = calibrate_timer();
}

Stopwatch::~Stopwatch() {
  static_cast<void>(hipHostFree(shared_));
  static_cast<void>(hipEventDestroy(start_));
  static_cast<void>(hipEventDestroy(stop_));
}

void Stopwatch::enqueue_reading(ClockReading* reading, unsigned* gate, double seconds) {
  launch(read_clock, {.grid = dim3(1), .block = dim3(1)}, reading, gate,
         static_cast<long long>(seconds * timer_hz_),
         static_cast<long long>(gate_timeout_seconds * timer_hz_));
}

double Stopwatch::calibrate_timer() {
  timer_hz_ = 1e9;
  const double hz = measured_timer_hz([&] {
    shared_->first = shared_->second;
    enqueue_reading(&shared_on_device_->second, nullptr, 0);
    check(hipDeviceSynchronize());
    return shared_->second.ticks;
  });
  // The last two readings, between which a counter that counts has gone on.
  const ClockReading& first = shared_->first;
  const ClockReading& second = shared_->second;
  counts_cycles_ = first.cycles != first.held_cycles || second.cycles != second.held_cycles ||
                   first.cycles != second.cycles;
  return hz;
}

Sample Stopwatch::time(const std::function<void()>& body, unsigned batch, bool synchronous) {
  // The host backend runs a launch at once: its gate would wait for ever.
  const bool use_gate = is_hardware_ && gate_works_ && !synchronous;
  volatile unsigned* const gate = &shared_->gate;
  *gate = 0;
  enqueue_reading(&shared_on_device_->first, use_gate ? &shared_on_device_->gate : nullptr,
                  is_hardware_ ? hold_seconds : 0);
  check(hipEventRecord(start_, nullptr));
  try {
    for (unsigned i = 0; i < batch; ++i) {
      body();
    }
    check(hipEventRecord(stop_, nullptr));
    enqueue_reading(&shared_on_device_->second, nullptr, 0);
  } catch (...) {
    *gate = 1;
    throw;
  }
  *gate = 1;
  check(hipDeviceSynchronize());
  if (use_gate && shared_->first.gate_timed_out != 0) {
    // A profiler or a checker that runs kernels one by one keeps the gate shut. Go on without it.
    gate_works_ = false;
    return time(body, batch, synchronous);
  }
  float milliseconds = 0;
  check(hipEventElapsedTime(&milliseconds, start_, stop_));
  return {.seconds = static_cast<double>(milliseconds) * 1e-3 / batch,
          .shader_mhz = is_hardware_
                            ? shader_mhz(shared_->first, shared_->second, timer_hz_, counter_bits_)
                            : 0.0,
          .gated = use_gate || !is_hardware_};
}

}  // namespace hipscope::detail
