// AMD's hipBLASLt, part of ROCm. (Compiled and linked with Debian's 7.2.4, and never run; CMake
// takes only a version that this compiles with.)
#pragma once

#include <hip/hip_runtime_api.h>
#include <hipblaslt/hipblaslt.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "hipscope/device.h"
#include "hipscope/launch_stream.h"
#include "hipscope/libraries/matrix.h"

namespace hipscope::vendor::matrix_library_of_build {

constexpr bool may_end_the_process = true;

inline void check(hipblasStatus_t status) {
  if (status != HIPBLAS_STATUS_SUCCESS) {
    throw DeviceError("hipBLASLt: status " + std::to_string(static_cast<int>(status)));
  }
}

/// FP16 and BF16: the others have names that changed between versions.
inline bool multiplies_rows_of(MatrixFormat format) {
  return format == MatrixFormat::fp16 || format == MatrixFormat::bf16;
}
inline hipDataType type_of(MatrixFormat format) {
  if (!multiplies_rows_of(format)) {
    throw DeviceError("hipBLASLt is asked for products of FP16 and BF16 alone");
  }
  return format == MatrixFormat::fp16 ? HIP_R_16F : HIP_R_16BF;
}

struct DestroyHandle {
  void operator()(void* handle) const { static_cast<void>(hipblasLtDestroy(handle)); }
};
using Handle = std::unique_ptr<void, DestroyHandle>;

struct Destroy {
  void operator()(hipblasLtMatmulDesc_t product) const {
    static_cast<void>(hipblasLtMatmulDescDestroy(product));
  }
  void operator()(hipblasLtMatrixLayout_t layout) const {
    static_cast<void>(hipblasLtMatrixLayoutDestroy(layout));
  }
  void operator()(hipblasLtMatmulPreference_t wish) const {
    static_cast<void>(hipblasLtMatmulPreferenceDestroy(wish));
  }
};
template <typename Pointer>
using Owner = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

inline Handle create_handle() {
  hipblasLtHandle_t handle = nullptr;
  check(hipblasLtCreate(&handle));
  return Handle(handle);
}

/// A matrix column by column.
inline Owner<hipblasLtMatrixLayout_t> layout_of(hipDataType type, int rows, int columns,
                                                int pitch) {
  hipblasLtMatrixLayout_t layout = nullptr;
  check(hipblasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                    static_cast<std::uint64_t>(columns), pitch));
  return Owner<hipblasLtMatrixLayout_t>(layout);
}

/// Products D = alpha A B + beta D of one type, with sums in FP32.
class Multiplier {
 public:
  void prepare(hipblasOperation_t of_a) {
    handle_ = create_handle();
    hipblasLtMatmulDesc_t product = nullptr;
    check(hipblasLtMatmulDescCreate(&product, HIPBLAS_COMPUTE_32F, HIP_R_32F));
    product_.reset(product);
    check(hipblasLtMatmulDescSetAttribute(product, HIPBLASLT_MATMUL_DESC_TRANSA, &of_a,
                                          sizeof(of_a)));
  }

  /// Looks for ways to multiply these matrices; returns how many there are.
  int find_ways(Owner<hipblasLtMatrixLayout_t> a, Owner<hipblasLtMatrixLayout_t> b,
                Owner<hipblasLtMatrixLayout_t> d) {
    a_ = std::move(a);
    b_ = std::move(b);
    d_ = std::move(d);
    way_ = 0;
    hipblasLtMatmulPreference_t wish = nullptr;
    check(hipblasLtMatmulPreferenceCreate(&wish));
    const Owner<hipblasLtMatmulPreference_t> owner(wish);
    const std::uint64_t bytes = matrix_workspace_bytes;
    check(hipblasLtMatmulPreferenceSetAttribute(wish, HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                &bytes, sizeof(bytes)));
    int found = 0;
    check(hipblasLtMatmulAlgoGetHeuristic(handle_.get(), product_.get(), a_.get(), b_.get(),
                                          d_.get(), d_.get(), wish, most_matrix_ways, ways_.data(),
                                          &found));
    return found;
  }

  void choose(int way) { way_ = static_cast<std::size_t>(way); }

  void enqueue(float alpha, const void* a, const void* b, float beta, void* d, void* workspace) {
    check(hipblasLtMatmul(handle_.get(), product_.get(), &alpha, a, a_.get(), b, b_.get(), &beta, d,
                          d_.get(), d, d_.get(), &ways_[way_].algo, workspace,
                          matrix_workspace_bytes, static_cast<hipStream_t>(launch_stream)));
  }

 private:
  Handle handle_;
  Owner<hipblasLtMatmulDesc_t> product_;
  Owner<hipblasLtMatrixLayout_t> a_;
  Owner<hipblasLtMatrixLayout_t> b_;
  Owner<hipblasLtMatrixLayout_t> d_;
  std::array<hipblasLtMatmulHeuristicResult_t, most_matrix_ways> ways_{};
  std::size_t way_ = 0;
};

class Product {
 public:
  void prepare(MatrixFormat format, MatrixSums, int side) {
    const hipDataType type = type_of(format);
    multiplier_.prepare(HIPBLAS_OP_T);
    if (multiplier_.find_ways(layout_of(type, side, side, side), layout_of(type, side, side, side),
                              layout_of(type, side, side, side)) == 0) {
      throw DeviceError("hipBLASLt has no way to compute this product");
    }
  }
  void enqueue(const void* a, const void* b, void* d, void* workspace) {
    multiplier_.enqueue(1, a, b, 0, d, workspace);
  }

 private:
  Multiplier multiplier_;
};

class AnyProduct {
 public:
  void prepare(const RowProductKind& kind) {
    type_ = type_of(kind.format);
    result_type_ = kind.result_is_fp32 ? HIP_R_32F : type_;
    b_is_by_columns_ = kind.b_is_by_columns;
    multiplier_.prepare(b_is_by_columns_ ? HIPBLAS_OP_T : HIPBLAS_OP_N);
  }
  int ways(const RowProductArguments& p) {
    return multiplier_.find_ways(
        b_is_by_columns_ ? layout_of(type_, p.k, p.n, p.ldb) : layout_of(type_, p.n, p.k, p.ldb),
        layout_of(type_, p.k, p.m, p.lda), layout_of(result_type_, p.n, p.m, p.ldc));
  }
  void choose(int way) { multiplier_.choose(way); }
  void enqueue(const RowProductArguments& p, void* workspace) {
    multiplier_.enqueue(static_cast<float>(p.alpha), p.b, p.a, static_cast<float>(p.beta), p.c,
                        workspace);
  }

 private:
  hipDataType type_{};
  hipDataType result_type_{};
  bool b_is_by_columns_ = false;
  Multiplier multiplier_;
};

inline std::string name() {
  constexpr int of_major = 100000;
  constexpr int of_minor = 100;
  int version = 0;
  check(hipblasLtGetVersion(create_handle().get(), &version));
  return "hipBLASLt " + std::to_string(version / of_major) + "." +
         std::to_string(version % of_major / of_minor) + "." + std::to_string(version % of_minor);
}

}  // namespace hipscope::vendor::matrix_library_of_build
