// NVIDIA's cuBLASLt, part of the CUDA toolkit.
#pragma once

#include <cublasLt.h>

#include <array>
#include <memory>
#include <string>
#include <type_traits>

#include "hipscope/device.h"
#include "hipscope/libraries/matrix.h"

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

/// A matrix column by column.
inline Owner<cublasLtMatrixLayout_t> layout_of(cudaDataType type, int rows, int columns,
                                               int pitch) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), pitch));
  return Owner<cublasLtMatrixLayout_t>(layout);
}

inline Owner<cublasLtHandle_t> create_handle() {
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle));
  return Owner<cublasLtHandle_t>(handle);
}

/// The matrices of a product D = A B + C as the library knows them, and its first choice of a way
/// to compute it.
struct Problem {
  Owner<cublasLtMatrixLayout_t> a;
  Owner<cublasLtMatrixLayout_t> b;
  Owner<cublasLtMatrixLayout_t> d;
  cublasLtMatmulHeuristicResult_t way{};

  void choose(cublasLtHandle_t handle, cublasLtMatmulDesc_t product) {
    cublasLtMatmulPreference_t wish = nullptr;
    check(cublasLtMatmulPreferenceCreate(&wish));
    const Owner<cublasLtMatmulPreference_t> owner(wish);
    const std::size_t bytes = matrix_workspace_bytes;
    check(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &bytes, sizeof(bytes)));
    // A product in parts along k may leave its partial sums in the type of D: what is asked for is
    // one of sums in FP32, and partial sums of 16 bits are off by more than these can be.
    std::int32_t type = 0;
    check(cublasLtMatrixLayoutGetAttribute(d.get(), CUBLASLT_MATRIX_LAYOUT_TYPE, &type,
                                           sizeof(type), nullptr));
    if (type == CUDA_R_16F || type == CUDA_R_16BF) {
      const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
      check(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                 &reductions, sizeof(reductions)));
    }
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle, product, a.get(), b.get(), d.get(), d.get(), wish,
                                         1, &way, &found));
    if (found == 0) {
      throw DeviceError("cuBLASLt has no way to compute this product");
    }
  }
};

/// So that k runs along its memory.
inline void transpose_first(cublasLtMatmulDesc_t product) {
  const cublasOperation_t transposed = CUBLAS_OP_T;
  check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                       sizeof(transposed)));
}

inline void set_sums(cublasLtMatmulDesc_t product, MatrixSums sums) {
  if (sums == MatrixSums::fast) {
    const std::int8_t fast = 1;
    check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                         sizeof(fast)));
  }
}

class Product {
 public:
  void prepare(MatrixFormat format, MatrixSums sums, int side) {
    types_ = types_of(format);
    handle_ = create_handle();
    cublasLtMatmulDesc_t product = nullptr;
    check(cublasLtMatmulDescCreate(&product, types_.sums, types_.scale));
    product_.reset(product);
    transpose_first(product);
    set_sums(product, sums);
    problem_.a = layout_of(types_.a, side, side, side);
    problem_.b = layout_of(types_.b, side, side, side);
    problem_.d = layout_of(types_.d, side, side, side);
    problem_.choose(handle_.get(), product);
  }

  void enqueue(const void* a, const void* b, void* d, void* workspace) {
    const double one_double = 1;
    const float one_float = 1;
    const int one_int = 1;
    const double zero = 0;  // whatever its type: all bits are 0
    const void* const one = types_.scale == CUDA_R_64F   ? static_cast<const void*>(&one_double)
                            : types_.scale == CUDA_R_32F ? static_cast<const void*>(&one_float)
                                                         : static_cast<const void*>(&one_int);
    check(cublasLtMatmul(handle_.get(), product_.get(), one, a, problem_.a.get(), b,
                         problem_.b.get(), &zero, d, problem_.d.get(), d, problem_.d.get(),
                         &problem_.way.algo, workspace, matrix_workspace_bytes, nullptr));
  }

 private:
  Types types_{};
  Owner<cublasLtHandle_t> handle_;
  Owner<cublasLtMatmulDesc_t> product_;
  Problem problem_;
};

inline bool multiplies_rows_of(MatrixFormat format) {
  return format == MatrixFormat::fp16 || format == MatrixFormat::bf16 ||
         format == MatrixFormat::e4m3;
}

class AnyProduct {
 public:
  void prepare(MatrixFormat format, bool result_is_fp32, MatrixSums sums) {
    type_ = types_of(format).a;
    b_is_by_columns_ = format == MatrixFormat::e4m3;
    result_type_ = result_is_fp32 ? CUDA_R_32F : b_is_by_columns_ ? CUDA_R_16F : type_;
    handle_ = create_handle();
    cublasLtMatmulDesc_t product = nullptr;
    check(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    product_.reset(product);
    if (b_is_by_columns_) {
      transpose_first(product);
    }
    set_sums(product, sums);
  }

  void enqueue(const RowProductArguments& p, void* workspace) {
    const std::array extents = {p.m, p.n, p.k, p.lda, p.ldb, p.ldc};
    if (extents != extents_) {
      problem_.a =
          b_is_by_columns_ ? layout_of(type_, p.k, p.n, p.ldb) : layout_of(type_, p.n, p.k, p.ldb);
      problem_.b = layout_of(type_, p.k, p.m, p.lda);
      problem_.d = layout_of(result_type_, p.n, p.m, p.ldc);
      problem_.choose(handle_.get(), product_.get());
      extents_ = extents;
    }
    check(cublasLtMatmul(handle_.get(), product_.get(), &p.alpha, p.b, problem_.a.get(), p.a,
                         problem_.b.get(), &p.beta, p.c, problem_.d.get(), p.c, problem_.d.get(),
                         &problem_.way.algo, workspace, matrix_workspace_bytes, nullptr));
  }

 private:
  cudaDataType type_{};
  cudaDataType result_type_{};
  bool b_is_by_columns_ = false;
  std::array<int, 6> extents_{};  // that the problem is for
  Owner<cublasLtHandle_t> handle_;
  Owner<cublasLtMatmulDesc_t> product_;
  Problem problem_;
};

inline std::string name() {
  constexpr std::size_t of_major = 10000;
  constexpr std::size_t of_minor = 100;
  const std::size_t version = cublasLtGetVersion();
  return "cuBLASLt " + std::to_string(version / of_major) + "." +
         std::to_string(version % of_major / of_minor) + "." + std::to_string(version % of_minor);
}

}  // namespace hipscope::vendor::matrix_library_of_build
