// NVIDIA's cuBLASLt, part of the CUDA toolkit.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <type_traits>

#include "hipscope/device.h"
#include "hipscope/vendor/matrix.h"

namespace hipscope::vendor::matrix_library_of_build {

constexpr bool may_end_the_process = false;

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceError(std::string("cuBLASLt: ") + cublasLtGetStatusString(status));
  }
}

/// The types of the factors, the product, the sums and the scale.
struct Types {
  cudaDataType a;
  cudaDataType b;
  cudaDataType d;
  cublasComputeType_t sums;
  cudaDataType scale;
};

inline Types types_of(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::fp64:
      return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case MatrixFormat::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
    case MatrixFormat::fp16:
      return {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case MatrixFormat::bf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case MatrixFormat::e4m3:
      return {CUDA_R_8F_E4M3, CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case MatrixFormat::e5m2:
      return {CUDA_R_8F_E5M2, CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case MatrixFormat::int8:
      break;
  }
  return {CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I};
}

struct Destroy {
  void operator()(cublasLtHandle_t handle) const { cublasLtDestroy(handle); }
  void operator()(cublasLtMatmulDesc_t product) const { cublasLtMatmulDescDestroy(product); }
  void operator()(cublasLtMatrixLayout_t layout) const { cublasLtMatrixLayoutDestroy(layout); }
  void operator()(cublasLtMatmulPreference_t wish) const { cublasLtMatmulPreferenceDestroy(wish); }
};

template <typename Pointer>
using Owner = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

inline Owner<cublasLtMatrixLayout_t> square(cudaDataType type, int side) {
  const auto extent = static_cast<std::uint64_t>(side);
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, type, extent, extent, side));
  return Owner<cublasLtMatrixLayout_t>(layout);
}

class Product {
 public:
  void prepare(MatrixFormat format, MatrixSums sums, int side) {
    types_ = types_of(format);
    cublasLtHandle_t handle = nullptr;
    check(cublasLtCreate(&handle));
    handle_.reset(handle);
    cublasLtMatmulDesc_t product = nullptr;
    check(cublasLtMatmulDescCreate(&product, types_.sums, types_.scale));
    product_.reset(product);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                         sizeof(transposed)));
    if (sums == MatrixSums::fast) {
      const std::int8_t fast = 1;
      check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                           sizeof(fast)));
    }
    a_ = square(types_.a, side);
    b_ = square(types_.b, side);
    d_ = square(types_.d, side);
    choose();
  }

  void enqueue(const void* a, const void* b, void* d, void* workspace) {
    const double one_double = 1;
    const float one_float = 1;
    const int one_int = 1;
    const double zero = 0;  // whatever its type: all bits are 0
    const void* const one = types_.scale == CUDA_R_64F   ? static_cast<const void*>(&one_double)
                            : types_.scale == CUDA_R_32F ? static_cast<const void*>(&one_float)
                                                         : static_cast<const void*>(&one_int);
    check(cublasLtMatmul(handle_.get(), product_.get(), one, a, a_.get(), b, b_.get(), &zero, d,
                         d_.get(), d, d_.get(), &way_.algo, workspace, matrix_workspace_bytes,
                         nullptr));
  }

 private:
  /// The library's first choice.
  void choose() {
    cublasLtMatmulPreference_t wish = nullptr;
    check(cublasLtMatmulPreferenceCreate(&wish));
    const Owner<cublasLtMatmulPreference_t> owner(wish);
    const std::size_t bytes = matrix_workspace_bytes;
    check(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &bytes, sizeof(bytes)));
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle_.get(), product_.get(), a_.get(), b_.get(),
                                         d_.get(), d_.get(), wish, 1, &way_, &found));
    if (found == 0) {
      throw DeviceError("cuBLASLt has no way to compute this product");
    }
  }

  Types types_{};
  Owner<cublasLtHandle_t> handle_;
  Owner<cublasLtMatmulDesc_t> product_;
  Owner<cublasLtMatrixLayout_t> a_;
  Owner<cublasLtMatrixLayout_t> b_;
  Owner<cublasLtMatrixLayout_t> d_;
  cublasLtMatmulHeuristicResult_t way_{};
};

inline std::string name() {
  constexpr std::size_t of_major = 10000;
  constexpr std::size_t of_minor = 100;
  const std::size_t version = cublasLtGetVersion();
  return "cuBLASLt " + std::to_string(version / of_major) + "." +
         std::to_string(version % of_major / of_minor) + "." + std::to_string(version % of_minor);
}

}  // namespace hipscope::vendor::matrix_library_of_build
