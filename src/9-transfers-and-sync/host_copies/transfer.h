// One direction of copies between host and device: how it is enqueued, and what must arrive.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace host_copies {

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;

inline constexpr unsigned block_threads = 256;

inline constexpr double gigabyte = 1e9;

inline double rate(std::uint64_t bytes, const hipscope::Measurement& time) {
  return static_cast<double>(bytes) / gigabyte / time.seconds().median;
}

// Enough blocks to use the link to the full, as sweep `kernel` shows.
inline unsigned all_blocks(const Sweep& sweep) {
  return sweep.is_hardware() ? 2 * static_cast<unsigned>(sweep.device().compute_units) : 1;
}

inline hipscope::LaunchShape shape(unsigned blocks) {
  return {.grid = dim3(blocks), .block = dim3(block_threads)};
}

enum class Direction { to_device, to_host };

// Device memory of a sweep, and what the copies must have brought.
class Transfer {
 public:
  Transfer(const Sweep& sweep, Direction direction, std::uint64_t bytes)
      : sweep_(sweep),
        direction_(direction),
        word_of_{hipscope::key_of(sweep.seed()) + static_cast<unsigned>(direction)},
        device_(bytes / sizeof(unsigned)) {}

  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] unsigned* device() const { return device_.data(); }

  // Runs `copy` once between `host` and the device; every word must have arrived.
  template <typename Copy>
  void verify(Point& point, const std::string& how, unsigned* host, std::uint64_t bytes,
              Copy copy) {
    const std::uint64_t words = bytes / sizeof(unsigned);
    if (direction_ == Direction::to_device) {
      for (std::uint64_t i = 0; i < words; ++i) {
        host[i] = word_of_(i);
      }
      check(hipMemset(device_.data(), hipscope::poison_byte, bytes));
      copy();
      hipscope::verify_elements(sweep_, point, how, device_, words, word_of_);
    } else {
      hipscope::fill_elements(sweep_, device_, word_of_);
      std::fill_n(host, words, ~0U);
      copy();
      check(hipDeviceSynchronize());
      point.check(how, std::span(host, words), word_of_);
    }
  }

  // The direction's copy by an engine; does not wait where the host's memory is pinned.
  void enqueue(unsigned* host, std::uint64_t bytes, hipStream_t stream = nullptr) const {
    if (direction_ == Direction::to_device) {
      check(hipMemcpyAsync(device_.data(), host, bytes, hipMemcpyHostToDevice, stream));
    } else {
      check(hipMemcpyAsync(host, device_.data(), bytes, hipMemcpyDeviceToHost, stream));
    }
  }

 private:
  const Sweep& sweep_;
  Direction direction_;
  hipscope::RandomWords word_of_;
  DeviceBuffer<unsigned> device_;
};

// A stream that waits for the default stream, and the default stream for it.
class Stream {
 public:
  Stream() { check(hipStreamCreate(&stream_)); }
  ~Stream() { static_cast<void>(hipStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] hipStream_t get() const { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

}  // namespace host_copies
