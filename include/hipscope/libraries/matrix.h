// Matrix products in each number format by the GPU vendor's own library, as a reference in the same
// run: cuBLASLt on NVIDIA, hipBLASLt on AMD, where the build has found it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace hipscope::vendor {

/// The library's name and version, "cuBLASLt 13.0.2"; empty when this build has none.
std::string matrix_library();

/// Whether a call may end the process instead of failing.
bool matrix_may_end_the_process();

/// What the build looked for, for a sentence that says that it is not there.
inline constexpr const char* matrix_libraries = "cuBLASLt, hipBLASLt";

/// The type of the factors; the product is FP64, FP32 (of TF32 too), FP16, BF16 (of FP8 too) and
/// INT32. With e5m2 only A has it: NVIDIA's library multiplies it by e4m3.
enum class MatrixFormat { fp64, fp32, tf32, fp16, bf16, e4m3, e5m2, int8 };

/// How FP8 is summed.
enum class MatrixSums {
  standard,  ///< as the library does by default
  fast,      ///< in the sums of the instruction alone
};

/// Bytes of device memory that a product may use besides its matrices.
inline constexpr std::size_t matrix_workspace_bytes = std::size_t{64} << 20;

/// The most ways to compute a RowProduct that the library is asked for.
inline constexpr int most_matrix_ways = 8;

/// Products of one size and format, in the way that the library chooses.
class MatrixProduct {
 public:
  /// Throws DeviceError: where the build has no library, or the library nothing for this format.
  MatrixProduct(MatrixFormat format, MatrixSums sums, int side);
  ~MatrixProduct();
  MatrixProduct(const MatrixProduct&) = delete;
  MatrixProduct& operator=(const MatrixProduct&) = delete;

  /// Enqueues D = A B on the default stream. A is row-major, B and D column-major, so that k
  /// runs along the memory of both factors, as FP8 must. All in device memory. Throws DeviceError.
  void enqueue(const void* a, const void* b, void* d, void* workspace);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// What one product of any extents computes, with sums, alpha and beta in FP32 (FP64 of that).
struct RowProductArguments {
  int m = 0;  ///< rows of A and C
  int n = 0;  ///< columns of B and C
  int k = 0;  ///< columns of A, rows of B
  double alpha = 1;
  const void* a = nullptr;  ///< m x k, row by row, rows `lda` apart
  int lda = 0;
  const void* b = nullptr;  ///< k x n, rows `ldb` apart
  int ldb = 0;              ///< where B is stored by columns that of columns
  double beta = 0;
  void* c = nullptr;  ///< m x n, rows `ldc` apart
  int ldc = 0;
};

/// Whether the build's library has a RowProduct of this format.
bool has_row_products_of(MatrixFormat format);

struct RowProductKind {
  MatrixFormat format = MatrixFormat::fp16;
  bool result_is_fp32 = false;             ///< C is FP32; else like A and B, of E4M3 FP16
  bool b_is_by_columns = false;            ///< B is column-major, as for E4M3 it must be
  MatrixSums sums = MatrixSums::standard;  ///< is asked for only of E4M3
};

/// Products of row-major matrices. The library offers several ways to compute one, first the one
/// that it expects to be fastest.
class RowProduct {
 public:
  /// Throws DeviceError.
  explicit RowProduct(const RowProductKind& kind);
  ~RowProduct();
  RowProduct(const RowProduct&) = delete;
  RowProduct& operator=(const RowProduct&) = delete;

  /// How many ways there are for these extents, `most_matrix_ways` at the most; 0: the library
  /// does not compute such products. Throws DeviceError.
  int ways(const RowProductArguments& arguments);

  /// Chooses the way of `enqueue` from now on; by default the first.
  void choose(int way);

  /// Enqueues C = alpha A B + beta C on `launch_stream`, with the extents that were asked for last.
  /// All in device memory. Throws DeviceError.
  void enqueue(const RowProductArguments& arguments, void* workspace);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hipscope::vendor
