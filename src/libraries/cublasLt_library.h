// NVIDIA's cuBLASLt, part of the CUDA toolkit.
#pragma once

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <type_traits>

#include "hipscope/device.h"
#include "hipscope/launch_stream.h"
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
    case MatrixFormat::fp32:
      return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
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

/// The matrices of a product D = A B + C as the library knows them, and the ways to compute it, of
/// which it puts the likely fastest first.
struct Problem {
  Owner<cublasLtMatrixLayout_t> a;
  Owner<cublasLtMatrixLayout_t> b;
  Owner<cublasLtMatrixLayout_t> d;
  std::array<cublasLtMatmulHeuristicResult_t, most_matrix_ways> ways{};
  int found = 0;

  void find_ways(cublasLtHandle_t handle, cublasLtMatmulDesc_t product) {
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
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, product, a.get(), b.get(), d.get(), d.get(), wish,
                                       most_matrix_ways, ways.data(), &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) {
      found = 0;
    } else {
      check(status);
    }
    const auto* const end = std::remove_if(ways.data(), ways.data() + found, [](const auto& way) {
      return way.state != CUBLAS_STATUS_SUCCESS;
    });
    found = static_cast<int>(end - ways.data());
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
    problem_.find_ways(handle_.get(), product);
    if (problem_.found == 0) {
      throw DeviceError("cuBLASLt has no way to compute this product");
    }
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
                         &problem_.ways[0].algo, workspace, matrix_workspace_bytes, nullptr));
  }

 private:
  Types types_{};
  Owner<cublasLtHandle_t> handle_;
  Owner<cublasLtMatmulDesc_t> product_;
  Problem problem_;
};

inline bool multiplies_rows_of(MatrixFormat format) {
  return format == MatrixFormat::fp64 || format == MatrixFormat::fp32 ||
         format == MatrixFormat::fp16 || format == MatrixFormat::bf16 ||
         format == MatrixFormat::e4m3;
}

class AnyProduct {
 public:
  void prepare(const RowProductKind& kind) {
    types_ = types_of(kind.format);
    b_is_by_columns_ = kind.b_is_by_columns;
    result_type_ = kind.result_is_fp32                 ? CUDA_R_32F
                   : kind.format == MatrixFormat::e4m3 ? CUDA_R_16F
                                                       : types_.d;
    handle_ = create_handle();
    cublasLtMatmulDesc_t product = nullptr;
    check(cublasLtMatmulDescCreate(&product, types_.sums, types_.scale));
    product_.reset(product);
    if (b_is_by_columns_) {
      transpose_first(product);
    }
    set_sums(product, kind.sums);
  }

  int ways(const RowProductArguments& p) {
    problem_.a = b_is_by_columns_ ? layout_of(types_.a, p.k, p.n, p.ldb)
                                  : layout_of(types_.a, p.n, p.k, p.ldb);
    problem_.b = layout_of(types_.a, p.k, p.m, p.lda);
    problem_.d = layout_of(result_type_, p.n, p.m, p.ldc);
    problem_.find_ways(handle_.get(), product_.get());
    way_ = 0;
    return problem_.found;
  }

  void choose(int way) { way_ = static_cast<std::size_t>(way); }

  void enqueue(const RowProductArguments& p, void* workspace) {
    const auto alpha = static_cast<float>(p.alpha);
    const auto beta = static_cast<float>(p.beta);
    const bool is_double = types_.scale == CUDA_R_64F;
    check(cublasLtMatmul(
        handle_.get(), product_.get(),
        is_double ? static_cast<const void*>(&p.alpha) : static_cast<const void*>(&alpha), p.b,
        problem_.a.get(), p.a, problem_.b.get(),
        is_double ? static_cast<const void*>(&p.beta) : static_cast<const void*>(&beta), p.c,
        problem_.d.get(), p.c, problem_.d.get(), &problem_.ways[way_].algo, workspace,
        matrix_workspace_bytes, static_cast<cudaStream_t>(launch_stream)));
  }

 private:
  Types types_{};
  cudaDataType result_type_{};
  bool b_is_by_columns_ = false;
  std::size_t way_ = 0;
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
