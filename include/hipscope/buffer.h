// Device memory with an owner.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hipscope/check.h"

namespace hipscope {

/// The byte that poisons fresh buffers: all ones are NaN in FP32 and FP64 and -1 in integers, so an
/// output that no thread wrote shows.
inline constexpr int poison_byte = 0xFF;

/// Whether fresh buffers are poisoned: always, unless HIPSCOPE_POISON is "no" in the environment. A
/// checker that notices reads of what was never written (compute-sanitizer's initcheck) would take
/// the poison for a write.
inline bool fresh_buffers_are_poisoned() {
  const char* const wish = std::getenv("HIPSCOPE_POISON");
  return wish == nullptr || std::string_view(wish) != "no";
}

/// An array of `T` in device memory, poisoned when fresh, freed with its owner.
template <typename T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Allocates `count` elements. Throws DeviceError (out of memory).
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    if (count > SIZE_MAX / sizeof(T)) {
      throw DeviceError("a device buffer of more bytes than an address can count was asked for");
    }
    check(hipMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
    if (fresh_buffers_are_poisoned()) {
      poison();
    }
  }

  /// Allocates and fills with a copy of `values`.
  explicit DeviceBuffer(std::span<const T> values) : DeviceBuffer(values.size()) {
    check(hipMemcpy(data_, values.data(), values.size_bytes(), hipMemcpyHostToDevice));
  }

  ~DeviceBuffer() { static_cast<void>(hipFree(data_)); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }

  /// Overwrites every byte with poison_byte.
  void poison() { check(hipMemset(data_, poison_byte, count_ * sizeof(T))); }

  /// Overwrites every byte with 0.
  void clear() { check(hipMemset(data_, 0, count_ * sizeof(T))); }

  /// Waits for the device and returns a copy of the elements.
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> values(count_);
    check(hipMemcpy(values.data(), data_, count_ * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace hipscope
