// Matrix products by the GPU vendor's own library, as a reference in the same run: cuBLAS on
// NVIDIA, rocBLAS on AMD, where the build has found it.
#pragma once

#include <hipscope/half.h>

#include <cstddef>
#include <memory>
#include <string>

namespace hipscope::vendor {

/// The library's name and version, "cuBLAS 13.0.2"; empty when this build has none.
std::string gemm_library();

/// Whether a call may end the process instead of failing: rocBLAS does, on a GPU that it does not
/// support.
bool gemm_may_end_the_process();

/// What the build looked for, for a sentence that says that it is not there.
inline constexpr const char* gemm_libraries = "cuBLAS, rocBLAS";

/// The library's freedom to be faster. Neither mode rounds FP32 products (TF32), nor lets cuBLAS
/// round the partial sums of products of halves.
enum class GemmMath {
  standard,  ///< the library's default, matrix instructions included
  pedantic,  ///< cuBLAS: arithmetic as prescribed, without matrix instructions (rocBLAS: standard)
};

/// What one product computes.
template <typename Value>
struct GemmArguments {
  int m = 0;  ///< rows of A and C
  int n = 0;  ///< columns of B and C
  int k = 0;  ///< columns of A, rows of B
  Factor<Value> alpha = 1;
  const Value* a = nullptr;  ///< m x k, row by row, rows `lda` apart
  int lda = 0;
  const Value* b = nullptr;  ///< k x n, rows `ldb` apart
  int ldb = 0;
  Factor<Value> beta = 0;
  Value* c = nullptr;  ///< m x n, rows `ldc` apart
  int ldc = 0;
};

/// The library's handle.
class Gemm {
 public:
  /// `workspace`: device memory that the library may use, or null for its own, which it allocates
  /// anew in each graph. Throws DeviceError, also when the build has no library.
  explicit Gemm(GemmMath math, void* workspace = nullptr, std::size_t workspace_bytes = 0);
  ~Gemm();
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;

  /// Enqueues C = alpha A B + beta C on `launch_stream`; all matrices are in device memory.
  /// Throws DeviceError.
  void enqueue(const GemmArguments<float>& arguments);
  void enqueue(const GemmArguments<double>& arguments);
  /// Sums in FP32.
  void enqueue(const GemmArguments<Half>& arguments);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hipscope::vendor
