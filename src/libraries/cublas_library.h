// NVIDIA's cuBLAS, part of the CUDA toolkit.
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "hipscope/device.h"
#include "hipscope/libraries/gemm.h"

namespace hipscope::vendor::library {

constexpr bool may_end_the_process = false;

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceError(std::string("cuBLAS: ") + cublasGetStatusString(status));
  }
}

struct Destroy {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};

using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, Destroy>;

inline Handle create_handle(GemmMath math) {
  cublasHandle_t raw = nullptr;
  check(cublasCreate(&raw));
  Handle handle(raw);
  // By default partial sums of a product of halves may be halves, too.
  constexpr auto default_math = static_cast<cublasMath_t>(
      CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  check(cublasSetMathMode(raw, math == GemmMath::pedantic ? CUBLAS_PEDANTIC_MATH : default_math));
  return handle;
}

/// A stream brings a workspace of the library's own with it.
inline void set_stream(const Handle& handle, void* stream, void* workspace, std::size_t bytes) {
  check(cublasSetStream(handle.get(), static_cast<cudaStream_t>(stream)));
  if (workspace != nullptr) {
    check(cublasSetWorkspace(handle.get(), workspace, bytes));
  }
}

inline void multiply(const Handle& handle, const GemmArguments<float>& a) {
  check(cublasSgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, a.n, a.m, a.k, &a.alpha, a.b, a.ldb,
                    a.a, a.lda, &a.beta, a.c, a.ldc));
}

inline void multiply(const Handle& handle, const GemmArguments<double>& a) {
  check(cublasDgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, a.n, a.m, a.k, &a.alpha, a.b, a.ldb,
                    a.a, a.lda, &a.beta, a.c, a.ldc));
}

inline void multiply(const Handle& handle, const GemmArguments<Half>& a) {
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  check(cublasGetMathMode(handle.get(), &math));
  check(
      cublasGemmEx(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, a.n, a.m, a.k, &a.alpha, a.b, CUDA_R_16F,
                   a.ldb, a.a, CUDA_R_16F, a.lda, &a.beta, a.c, CUDA_R_16F, a.ldc,
                   math == CUBLAS_PEDANTIC_MATH ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F,
                   CUBLAS_GEMM_DEFAULT));
}

inline std::string name() {
  std::string name = "cuBLAS";
  for (const auto& [property, separator] :
       {std::pair(MAJOR_VERSION, ' '), std::pair(MINOR_VERSION, '.'),
        std::pair(PATCH_LEVEL, '.')}) {
    int value = 0;
    check(cublasGetProperty(property, &value));
    name += separator + std::to_string(value);
  }
  return name;
}

}  // namespace hipscope::vendor::library
