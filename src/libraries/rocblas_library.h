// AMD's rocBLAS, part of ROCm. (Debian 12 does not have it; written after the library's reference.)
#pragma once

#include <rocblas/rocblas.h>

#include <memory>
#include <string>
#include <type_traits>

#include "hipscope/device.h"
#include "hipscope/libraries/gemm.h"

namespace hipscope::vendor::library {

constexpr bool may_end_the_process = true;

inline void check(rocblas_status status) {
  if (status != rocblas_status_success) {
    throw DeviceError(std::string("rocBLAS: ") + rocblas_status_to_string(status));
  }
}

struct Destroy {
  void operator()(rocblas_handle handle) const {
    static_cast<void>(rocblas_destroy_handle(handle));
  }
};

using Handle = std::unique_ptr<std::remove_pointer_t<rocblas_handle>, Destroy>;

// By default rocBLAS computes FP32 products in FP32.
inline Handle create_handle(GemmMath) {
  rocblas_handle handle = nullptr;
  check(rocblas_create_handle(&handle));
  return Handle(handle);
}

inline void set_stream(const Handle& handle, void* stream, void* workspace, std::size_t bytes) {
  check(rocblas_set_stream(handle.get(), static_cast<hipStream_t>(stream)));
  check(rocblas_set_workspace(handle.get(), workspace, bytes));
}

inline void multiply(const Handle& handle, const GemmArguments<float>& a) {
  check(rocblas_sgemm(handle.get(), rocblas_operation_none, rocblas_operation_none, a.n, a.m, a.k,
                      &a.alpha, a.b, a.ldb, a.a, a.lda, &a.beta, a.c, a.ldc));
}

inline void multiply(const Handle& handle, const GemmArguments<double>& a) {
  check(rocblas_dgemm(handle.get(), rocblas_operation_none, rocblas_operation_none, a.n, a.m, a.k,
                      &a.alpha, a.b, a.ldb, a.a, a.lda, &a.beta, a.c, a.ldc));
}

inline void multiply(const Handle& handle, const GemmArguments<Half>& a) {
  check(rocblas_gemm_ex(handle.get(), rocblas_operation_none, rocblas_operation_none, a.n, a.m, a.k,
                        &a.alpha, a.b, rocblas_datatype_f16_r, a.ldb, a.a, rocblas_datatype_f16_r,
                        a.lda, &a.beta, a.c, rocblas_datatype_f16_r, a.ldc, a.c,
                        rocblas_datatype_f16_r, a.ldc, rocblas_datatype_f32_r,
                        rocblas_gemm_algo_standard, 0, 0));
}

inline std::string name() {
  constexpr std::size_t longest = 64;
  char version[longest] = "";
  check(rocblas_get_version_string(version, longest));
  return std::string("rocBLAS ") + version;
}

}  // namespace hipscope::vendor::library
