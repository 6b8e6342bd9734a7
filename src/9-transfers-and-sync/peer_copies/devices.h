// All devices of a node: memory on each, work on several at once, and its time by the host's clock,
// since one device's events cannot tell it.
#pragma once

#include <hipscope/hipscope.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace peer_copies {

using hipscope::check;
using hipscope::Point;
using hipscope::Sweep;

// Makes a device current, and the one before it again at the end.
class On {
 public:
  explicit On(int device) {
    check(hipGetDevice(&before_));
    check(hipSetDevice(device));
  }
  ~On() { static_cast<void>(hipSetDevice(before_)); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  int before_ = 0;
};

// An array on one device, with a stream there.
class Place {
 public:
  // Throws DeviceError (out of memory).
  Place(int device, std::size_t words) : device_(device), words_(words) {
    const On on(device);
    check(hipMalloc(reinterpret_cast<void**>(&data_), words * sizeof(unsigned)));
    check(hipMemset(data_, hipscope::poison_byte, words * sizeof(unsigned)));
    // The stream does not wait for the default one, in which the poison may still be on its way.
    check(hipDeviceSynchronize());
    check(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking));
  }
  ~Place() {
    if (stream_ != nullptr) {  // what was moved away has none, and a launch would tell the error
      static_cast<void>(hipStreamDestroy(stream_));
      static_cast<void>(hipFree(data_));
    }
  }
  Place(Place&& other) noexcept
      : device_(other.device_),
        words_(other.words_),
        data_(std::exchange(other.data_, nullptr)),
        stream_(std::exchange(other.stream_, nullptr)) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  Place& operator=(Place&&) = delete;

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] unsigned* data() const { return data_; }
  [[nodiscard]] hipStream_t stream() const { return stream_; }

  void wait() const { check(hipStreamSynchronize(stream_)); }

 private:
  int device_;
  std::size_t words_;
  unsigned* data_ = nullptr;
  hipStream_t stream_ = nullptr;
};

inline int device_total() {
  int count = 0;
  check(hipGetDeviceCount(&count));
  return count;
}

// Lets kernels on `device` name the memory of `other`; false where the hardware cannot.
inline bool open_peer(int device, int other) {
  if (device == other) {
    return true;
  }
  int can = 0;
  check(hipDeviceCanAccessPeer(&can, device, other));
  if (can == 0) {
    return false;
  }
  static std::set<std::pair<int, int>> opened;  // to open it again is an error
  if (opened.insert({device, other}).second) {
    const On on(device);
    check(hipDeviceEnablePeerAccess(other, 0));
  }
  return true;
}

inline std::string pair_label(int from, int to) {
  return std::to_string(from) + " -> " + std::to_string(to);
}

// Pairs in the order of a matrix, row by row.
inline double pair_number(int from, int to) { return from * device_total() + to; }

}  // namespace peer_copies
