// NVIDIA's cuDNN.
#pragma once

#include <cudnn.h>

#include <memory>
#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/batch_norm.h"

namespace hipscope::vendor::library {

constexpr const char* needs = "";

inline void check(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) {
    throw DeviceError(std::string("cuDNN: ") + cudnnGetErrorString(status));
  }
}

struct Destroy {
  void operator()(cudnnHandle_t handle) const { cudnnDestroy(handle); }
  void operator()(cudnnTensorDescriptor_t tensor) const { cudnnDestroyTensorDescriptor(tensor); }
};

using Handle = std::unique_ptr<cudnnContext, Destroy>;
using Tensor = std::unique_ptr<cudnnTensorStruct, Destroy>;
using Mode = cudnnBatchNormMode_t;

inline Handle create_handle() {
  cudnnHandle_t handle = nullptr;
  check(cudnnCreate(&handle));
  return Handle(handle);
}

inline Tensor create_tensor() {
  cudnnTensorDescriptor_t tensor = nullptr;
  check(cudnnCreateTensorDescriptor(&tensor));
  return Tensor(tensor);
}

inline Mode mode_of(BatchNormMode mode) {
  switch (mode) {
    case BatchNormMode::per_activation:
      return CUDNN_BATCHNORM_PER_ACTIVATION;
    case BatchNormMode::spatial:
      return CUDNN_BATCHNORM_SPATIAL;
    case BatchNormMode::spatial_persistent:
      return CUDNN_BATCHNORM_SPATIAL_PERSISTENT;
  }
  throw DeviceError("no such mode of batch normalization");
}

inline void set(const Tensor& tensor, const BatchNormShape& shape) {
  check(cudnnSetTensor4dDescriptor(tensor.get(), CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, shape.images,
                                   shape.channels, shape.height, shape.width));
}

inline void derive_parameters(const Tensor& parameters, const Tensor& tensor, Mode mode) {
  check(cudnnDeriveBNTensorDescriptor(parameters.get(), tensor.get(), mode));
}

inline void forward_training(const Handle& handle, Mode mode, const Tensor& tensor,
                             const float* input, float* output, const Tensor& parameters,
                             const float* gamma, const float* beta, double epsilon) {
  // output = one * result + zero * output. Running and saved means are optional, and left out.
  constexpr float one = 1;
  constexpr float zero = 0;
  check(cudnnBatchNormalizationForwardTraining(handle.get(), mode, &one, &zero, tensor.get(), input,
                                               tensor.get(), output, parameters.get(), gamma, beta,
                                               1, nullptr, nullptr, epsilon, nullptr, nullptr));
}

inline std::string name() {
  const std::size_t version = cudnnGetVersion();  // 91900 is 9.19.0
  return "cuDNN " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

}  // namespace hipscope::vendor::library
