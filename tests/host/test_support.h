// What the tests of the host backend share: a buffer that frees itself and a checked launch.
#pragma once

#include <gtest/gtest.h>
#include <hip/hip_runtime.h>
#include <stdlib.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// A device buffer of `count` elements, as hipMalloc gives it.
template <typename Element>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    EXPECT_EQ(hipMalloc(&data_, count * sizeof(Element)), hipSuccess);
  }
  ~DeviceBuffer() { EXPECT_EQ(hipFree(data_), hipSuccess); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  Element* data() { return data_; }

  /// Returns a copy of the elements.
  std::vector<Element> to_host() const {
    std::vector<Element> elements(count_);
    EXPECT_EQ(hipMemcpy(elements.data(), data_, count_ * sizeof(Element), hipMemcpyDeviceToHost),
              hipSuccess);
    return elements;
  }

 private:
  std::size_t count_;
  Element* data_ = nullptr;
};

/// Launches without dynamic LDS on the default stream and returns the error.
template <typename... Parameters, typename... Arguments>
hipError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments&&... arguments) {
  hipLaunchKernelGGL(kernel, grid, block, 0, nullptr, std::forward<Arguments>(arguments)...);
  return hipGetLastError();
}

/// Launches a kernel that is meant to fail. Returns the sentence on stderr, and clears the device.
template <typename... Parameters, typename... Arguments>
std::string failure_of(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                       Arguments&&... arguments) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(kernel, grid, block, std::forward<Arguments>(arguments)...),
            hipErrorLaunchFailure);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  return testing::internal::GetCapturedStderr();
}

/// Sets an environment variable for the rest of the scope.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~ScopedEnvironment() { unsetenv(name_); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  const char* name_;
};
