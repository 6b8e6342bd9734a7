// The vendor's library for matrix products, as stages are: something that multiplies.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/vendor/gemm.h>

#include <string>

#include "stage.h"

namespace gemm {

/// The library with one kind of math.
class Library {
 public:
  explicit Library(hipscope::vendor::GemmMath math) : gemm_(math) {}

  template <typename Value>
  void enqueue(const Product<Value>& product) {
    gemm_.enqueue(
        hipscope::vendor::GemmArguments<Value>{.m = static_cast<int>(product.extents.m),
                                               .n = static_cast<int>(product.extents.n),
                                               .k = static_cast<int>(product.extents.k),
                                               .alpha = product.alpha,
                                               .a = product.a,
                                               .lda = static_cast<int>(product.extents.lda),
                                               .b = product.b,
                                               .ldb = static_cast<int>(product.extents.ldb),
                                               .beta = product.beta,
                                               .c = product.c,
                                               .ldc = static_cast<int>(product.extents.ldc)});
  }

 private:
  hipscope::vendor::Gemm gemm_;
};

struct NamedMath {
  const char* name;
  hipscope::vendor::GemmMath math;
};
inline constexpr NamedMath library_math[] = {
    {"standard math", hipscope::vendor::GemmMath::standard},
    {"pedantic math", hipscope::vendor::GemmMath::pedantic}};

inline bool has_library(const hipscope::Sweep& sweep) {
  return sweep.is_hardware() && !hipscope::vendor::gemm_library().empty();
}

/// Says in a sweep which library it is, and what it computes in.
inline void note_library(hipscope::Sweep& sweep, const std::string& arithmetic) {
  sweep.note(has_library(sweep)
                 ? "library: " + hipscope::vendor::gemm_library() + ", " + arithmetic
                 : std::string("this build or device has no library for products: ") +
                       hipscope::vendor::gemm_libraries);
}

}  // namespace gemm
