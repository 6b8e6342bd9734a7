// Streams and events with an owner, and how many hardware queues the runtime was asked for.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace streams {

using hipscope::check;

// A stream that waits for the default stream, and the default stream for it: the gate and the
// events of a measurement, which are in that one, hold for this one too.
class Stream {
 public:
  Stream() { check(hipStreamCreate(&stream_)); }
  // One that waits for none; of a priority, where the device has several.
  explicit Stream(int priority) {
    check(hipStreamCreateWithPriority(&stream_, hipStreamNonBlocking, priority));
  }
  ~Stream() {
    if (stream_ != nullptr) {
      static_cast<void>(hipStreamDestroy(stream_));
    }
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;

  [[nodiscard]] hipStream_t get() const { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

// From least to greatest; numbers fall.
struct Priorities {
  int least = 0;
  int greatest = 0;

  [[nodiscard]] bool differ() const { return least != greatest; }
};

inline Priorities priorities() {
  Priorities range;
  check(hipDeviceGetStreamPriorityRange(&range.least, &range.greatest));
  return range;
}

// An event; with hipEventDisableTiming one that only orders.
class Event {
 public:
  explicit Event(unsigned flags) { check(hipEventCreateWithFlags(&event_, flags)); }
  ~Event() {
    if (event_ != nullptr) {
      static_cast<void>(hipEventDestroy(event_));
    }
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event& operator=(Event&&) = delete;

  void record(const Stream& stream) const { check(hipEventRecord(event_, stream.get())); }
  // What `stream` is given from now on waits for it.
  void hold_up(const Stream& stream) const { check(hipStreamWaitEvent(stream.get(), event_, 0)); }

 private:
  hipEvent_t event_ = nullptr;
};

// How many hardware queues the runtime uses for streams, by its environment variable.
struct AskedQueues {
  unsigned count = 0;  // 0: nobody says
  std::string text{};
};

inline AskedQueues asked_queues([[maybe_unused]] bool is_hardware) {
#if defined(HIPSCOPE_BACKEND_HOST)
  return {.text = "the host backend's streams are in order: nothing runs beside anything"};
#else
#if defined(HIPSCOPE_BACKEND_AMD)
  // ROCm's documentation of HIP's environment variables.
  const std::string variable = "GPU_MAX_HW_QUEUES";
  constexpr unsigned by_default = 4;
#else
  // CUDA C++ Programming Guide, CUDA environment variables: 1 to 32.
  const std::string variable = "CUDA_DEVICE_MAX_CONNECTIONS";
  constexpr unsigned by_default = 8;
#endif
  const char* const value = std::getenv(variable.c_str());
  const auto count =
      value == nullptr ? by_default : static_cast<unsigned>(std::strtoul(value, nullptr, 10));
  return {.count = count,
          .text = value == nullptr
                      ? variable + " is not set: " + std::to_string(by_default) + " by default"
                      : variable + " is " + value};
#endif
}

}  // namespace streams
