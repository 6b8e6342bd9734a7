// Batch normalization (training, forward) by the GPU vendor's own library, as a reference in the
// same run: cuDNN on NVIDIA, MIOpen on AMD, where the build has found it.
#pragma once

#include <memory>
#include <string>

namespace hipscope::vendor {

/// The library's name and version, "cuDNN 9.19.0"; empty when this build has none.
std::string batch_norm_library();

/// What the build looked for, for a sentence that says that it is not there.
inline constexpr const char* batch_norm_libraries = "cuDNN, MIOpen";

/// What the library needs besides a device, to follow a sentence that says that it failed;
/// may be empty.
std::string batch_norm_needs();

/// What has a mean of its own.
enum class BatchNormMode {
  per_activation,      ///< each (c, h, w), over n
  spatial,             ///< each c, over n, h and w
  spatial_persistent,  ///< the same; cuDNN may keep a channel on the chip (MIOpen: as `spatial`)
};

/// Tensors in NCHW order, FP32, packed.
struct BatchNormShape {
  int images = 0;
  int channels = 0;
  int height = 0;
  int width = 0;
};

/// The library's handle and its descriptors for one shape.
class BatchNorm {
 public:
  /// Throws DeviceError, also when the build has no library.
  BatchNorm(const BatchNormShape& shape, BatchNormMode mode, double epsilon);
  ~BatchNorm();
  BatchNorm(const BatchNorm&) = delete;
  BatchNorm& operator=(const BatchNorm&) = delete;

  /// Enqueues output = gamma * (input - mean) / sqrt(variance + epsilon) + beta on the default
  /// stream, with mean and (biased) variance of this input. gamma and beta have one value for each
  /// mean: C * H * W or C. All in device memory. Throws DeviceError.
  void enqueue(const float* input, const float* gamma, const float* beta, float* output);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hipscope::vendor
