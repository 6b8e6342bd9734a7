// The sum of an array by the GPU vendor's own library, as a reference in the same run: CUB on
// NVIDIA, rocPRIM on AMD, where the build has found it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace hipscope::vendor {

/// The library's name and version, "CUB 3.0.1"; empty when this build has none.
std::string sum_library();

/// What the build looked for, for a sentence that says that it is not there.
inline constexpr const char* sum_libraries = "CUB, rocPRIM";

/// Sums arrays of `count` values. `Value` is float or int.
template <typename Value>
class Sum {
 public:
  /// Asks the library for its workspace. Throws DeviceError, also when the build has no library.
  explicit Sum(std::size_t count);
  ~Sum();
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;

  /// Enqueues the sum of values[0 ... count) on `launch_stream`; it is stored to *total, both in
  /// device memory. Throws DeviceError.
  void enqueue(const Value* values, Value* total);

 private:
  struct Workspace;
  std::size_t count_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace hipscope::vendor
