// AMD's MIOpen, part of ROCm. (Debian 12 does not have it; written after the library's reference.)
#pragma once

#include <miopen/miopen.h>

#include <memory>
#include <string>
#include <type_traits>

#include "hipscope/device.h"
#include "hipscope/libraries/batch_norm.h"

namespace hipscope::vendor::library {

// It keeps the kernels that it compiles, and what it learns of them.
constexpr const char* needs =
    " (MIOpen writes to ~/.config/miopen and ~/.cache/miopen; where it may not, other folders go "
    "into "
    "MIOPEN_USER_DB_PATH and MIOPEN_CUSTOM_CACHE_DIR)";

inline void check(miopenStatus_t status) {
  if (status != miopenStatusSuccess) {
    throw DeviceError(std::string("MIOpen: ") + miopenGetErrorString(status));
  }
}

struct Destroy {
  void operator()(miopenHandle_t handle) const { miopenDestroy(handle); }
  void operator()(miopenTensorDescriptor_t tensor) const { miopenDestroyTensorDescriptor(tensor); }
};

using Handle = std::unique_ptr<std::remove_pointer_t<miopenHandle_t>, Destroy>;
using Tensor = std::unique_ptr<std::remove_pointer_t<miopenTensorDescriptor_t>, Destroy>;
using Mode = miopenBatchNormMode_t;

inline Handle create_handle() {
  miopenHandle_t handle = nullptr;
  check(miopenCreate(&handle));
  return Handle(handle);
}

inline Tensor create_tensor() {
  miopenTensorDescriptor_t tensor = nullptr;
  check(miopenCreateTensorDescriptor(&tensor));
  return Tensor(tensor);
}

inline Mode mode_of(BatchNormMode mode) {
  return mode == BatchNormMode::per_activation ? miopenBNPerActivation : miopenBNSpatial;
}

inline void set(const Tensor& tensor, const BatchNormShape& shape) {
  check(miopenSet4dTensorDescriptor(tensor.get(), miopenFloat, shape.images, shape.channels,
                                    shape.height, shape.width));
}

inline void derive_parameters(const Tensor& parameters, const Tensor& tensor, Mode mode) {
  check(miopenDeriveBNTensorDescriptor(parameters.get(), tensor.get(), mode));
}

inline void forward_training(const Handle& handle, Mode mode, const Tensor& tensor,
                             const float* input, float* output, const Tensor& parameters,
                             const float* gamma, const float* beta, double epsilon) {
  // output = one * result + zero * output. Running and saved means are optional, and left out.
  float one = 1;
  float zero = 0;
  // The library reads gamma and beta only, though it does not take them as const.
  check(miopenBatchNormalizationForwardTraining(handle.get(), mode, &one, &zero, tensor.get(),
                                                input, tensor.get(), output, parameters.get(),
                                                const_cast<float*>(gamma), const_cast<float*>(beta),
                                                1, nullptr, nullptr, epsilon, nullptr, nullptr));
}

inline std::string name() {
  std::size_t major = 0;
  std::size_t minor = 0;
  std::size_t patch = 0;
  check(miopenGetVersion(&major, &minor, &patch));
  return "MIOpen " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

}  // namespace hipscope::vendor::library
