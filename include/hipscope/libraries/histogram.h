// The histogram of an array of bytes by the GPU vendor's own library, as a reference in the same
// run: CUB on NVIDIA, rocPRIM on AMD, where the build has found it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace hipscope::vendor {

/// The library's name and version, "CUB 3.0.1"; empty when this build has none.
std::string histogram_library();

/// What the build looked for, for a sentence that says that it is not there.
inline constexpr const char* histogram_libraries = "CUB, rocPRIM";

/// Counts how often each of the 256 bytes is among `count` samples.
class Histogram {
 public:
  /// Asks the library for its workspace. Throws DeviceError, also when the build has no library.
  explicit Histogram(std::size_t count);
  ~Histogram();
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;

  /// Enqueues the histogram of samples[0 ... count) on `launch_stream`; it is stored to
  /// counts[0 ... 256), both in device memory. Throws DeviceError.
  void enqueue(const unsigned char* samples, unsigned* counts);

 private:
  struct Workspace;
  std::size_t count_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace hipscope::vendor
