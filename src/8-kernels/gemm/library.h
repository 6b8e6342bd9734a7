// The vendor's library for matrix products, as stages are: something that multiplies.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/vendor/gemm.h>
#include <hipscope/vendor/probe.h>

#include <optional>
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

/// Hidden from `--help`: with this and a device's number a binary makes one small
/// product by the library on that device, and ends.
inline constexpr const char* probe_option = "--probe-library";

/// The status to end with where the arguments ask for the probe.
template <typename Value>
std::optional<int> probe_if_asked(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != probe_option) {
    return std::nullopt;
  }
  constexpr unsigned side = 64;
  try {
    hipscope::check(hipSetDevice(std::stoi(argv[2])));
    hipscope::DeviceBuffer<Value> matrix(std::size_t{side} * side);
    hipscope::DeviceBuffer<Value> result(std::size_t{side} * side);
    matrix.clear();
    result.clear();
    const Extents extents = {
        .m = side, .n = side, .k = side, .lda = side, .ldb = side, .ldc = side};
    for (const NamedMath& named : library_math) {
      Library library(named.math);
      library.enqueue(Product<Value>{.extents = extents,
                                     .alpha = 1,
                                     .a = matrix.data(),
                                     .b = matrix.data(),
                                     .beta = 0,
                                     .c = result.data()});
      hipscope::check(hipDeviceSynchronize());
    }
  } catch (const std::exception&) {
    return 3;
  }
  return 0;
}

/// Why the library cannot be called, by a child that tried; empty if it can, or never ends a
/// process.
inline const std::string& failure_of_library() {
  static const std::string failure = [] {
    int device = 0;
    hipscope::check(hipGetDevice(&device));
    return hipscope::vendor::gemm_may_end_the_process()
               ? hipscope::vendor::failure_of_child({probe_option, std::to_string(device)})
               : std::string();
  }();
  return failure;
}

/// A build without one, or a device that is none, has no library to try.
inline bool names_library(const hipscope::Sweep& sweep) {
  return sweep.is_hardware() && !hipscope::vendor::gemm_library().empty();
}

inline bool has_library(const hipscope::Sweep& sweep) {
  return names_library(sweep) && failure_of_library().empty();
}

/// Says in a sweep which library it is, and what it computes in.
inline void note_library(hipscope::Sweep& sweep, const std::string& arithmetic) {
  if (!names_library(sweep)) {
    sweep.note(std::string("this build or device has no library for products: ") +
               hipscope::vendor::gemm_libraries);
  } else if (!has_library(sweep)) {
    sweep.note("library: " + hipscope::vendor::gemm_library() +
               " is left out: a process that called it on this device " + failure_of_library());
  } else {
    sweep.note("library: " + hipscope::vendor::gemm_library() + ", " + arithmetic);
  }
}

}  // namespace gemm
