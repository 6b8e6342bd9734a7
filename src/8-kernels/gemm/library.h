// The vendor's library for matrix products, as stages are: something that multiplies.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/libraries/gemm.h>
#include <hipscope/libraries/matrix.h>
#include <hipscope/libraries/probe.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "problem.h"
#include "stage.h"

namespace gemm {

/// A way to multiply that a library of the vendor's offers.
struct LibraryWay {
  std::string name;
  /// The kind of math; none: the library for products by format (Lt), which may have several ways
  /// of its own.
  std::optional<hipscope::vendor::GemmMath> math;
  hipscope::vendor::MatrixSums sums = hipscope::vendor::MatrixSums::standard;  ///< of FP8
  /// B is given as a copy, made before anything is timed, that is stored column by column: k then
  /// runs along the memory of both factors.
  bool has_columns_of_b = false;
};

/// Whether the library for products (not that by format) has these types.
template <typename Value, typename Result>
inline constexpr bool is_plain = std::is_same_v<Value, Result> && !std::is_same_v<Value, BFloat16>;

template <typename Value>
constexpr hipscope::vendor::MatrixFormat format_of() {
  using hipscope::vendor::MatrixFormat;
  return std::is_same_v<Value, float>      ? MatrixFormat::fp32
         : std::is_same_v<Value, double>   ? MatrixFormat::fp64
         : std::is_same_v<Value, Half>     ? MatrixFormat::fp16
         : std::is_same_v<Value, BFloat16> ? MatrixFormat::bf16
                                           : MatrixFormat::e4m3;
}

/// Of floats of 8 bits libraries multiply only matrices whose extents are multiples of 16.
template <typename Value>
bool is_for_library(const Extents& e) {
  return !has_b_by_columns<Value> || (e.m | e.n | e.k | e.lda | e.ldb | e.ldc) % 16 == 0;
}

/// The library in one way, for products of the extents, A and B of one.
template <typename Value, typename Result = Value>
class Library {
 public:
  Library(const LibraryWay& way, const Product<Value, Result>& product)
      : name_("library, " + way.name), workspace_(hipscope::vendor::matrix_workspace_bytes) {
    if (way.math) {
      gemm_ =
          std::make_unique<hipscope::vendor::Gemm>(*way.math, workspace_.data(), workspace_.size());
      return;
    }
    if (way.has_columns_of_b) {
      const auto [m, n, k, lda, ldb, ldc] = product.extents;
      columns_of_b_.emplace(elements(n, k));
      hipscope::launch(columns_kernel<Value>, row_shape(k, n), columns_of_b_->data(), product.b, k,
                       n, ldb);
    }
    by_format_ = std::make_unique<hipscope::vendor::RowProduct>(hipscope::vendor::RowProductKind{
        .format = format_of<Value>(),
        .result_is_fp32 = std::is_same_v<Result, float>,
        .b_is_by_columns = way.has_columns_of_b || has_b_by_columns<Value>,
        .sums = way.sums});
    ways_ = by_format_->ways(row_arguments(product));
  }

  /// How many ways of its own it has, of which `choose` takes one.
  [[nodiscard]] int ways() const { return ways_; }
  void choose(int way) {
    way_ = way;
    if (by_format_) {
      by_format_->choose(way);
    }
  }

  [[nodiscard]] std::string name() const {
    return name_ + (by_format_ ? ", choice " + std::to_string(way_ + 1) : "");
  }

  void enqueue(const Product<Value, Result>& product) {
    if (by_format_) {
      by_format_->enqueue(row_arguments(product), workspace_.data());
      return;
    }
    if constexpr (is_plain<Value, Result>) {
      gemm_->enqueue(arguments_of<hipscope::vendor::GemmArguments<Value>>(product));
    }
  }

 private:
  [[nodiscard]] hipscope::vendor::RowProductArguments row_arguments(
      const Product<Value, Result>& product) const {
    auto arguments = arguments_of<hipscope::vendor::RowProductArguments>(product);
    if (columns_of_b_) {
      arguments.b = columns_of_b_->data();
      arguments.ldb = static_cast<int>(product.extents.k);
    }
    return arguments;
  }

  template <typename Arguments>
  static Arguments arguments_of(const Product<Value, Result>& product) {
    const auto [m, n, k, lda, ldb, ldc] = product.extents;
    return {.m = static_cast<int>(m),
            .n = static_cast<int>(n),
            .k = static_cast<int>(k),
            .alpha = product.alpha,
            .a = product.a,
            .lda = static_cast<int>(lda),
            .b = product.b,
            .ldb = static_cast<int>(ldb),
            .beta = product.beta,
            .c = product.c,
            .ldc = static_cast<int>(ldc)};
  }

  std::string name_;
  hipscope::DeviceBuffer<unsigned char> workspace_;
  std::optional<hipscope::DeviceBuffer<Value>> columns_of_b_;
  std::unique_ptr<hipscope::vendor::Gemm> gemm_;
  std::unique_ptr<hipscope::vendor::RowProduct> by_format_;
  int ways_ = 1;
  int way_ = 0;
};

/// Every way of every library, whether it is here or not.
inline const std::vector<LibraryWay>& all_ways() {
  static const std::vector<LibraryWay> ways = {
      {"standard math", hipscope::vendor::GemmMath::standard},
      {"pedantic math", hipscope::vendor::GemmMath::pedantic},
      {"by format", std::nullopt},
      {"by format, columns of B", std::nullopt, hipscope::vendor::MatrixSums::standard, true},
      {"by format, fast sums", std::nullopt, hipscope::vendor::MatrixSums::fast}};
  return ways;
}

/// Hidden from `--help`: with one of these and a device's number a binary makes one small product
/// by the library on that device, and ends.
inline constexpr const char* probe_option = "--probe-library";
inline constexpr const char* probe_option_by_format = "--probe-library-by-format";

/// Only FP8, whose B is stored by columns in any case, is summed in more than one way.
template <typename Value>
bool is_of_format(const LibraryWay& way) {
  return has_b_by_columns<Value> ? !way.has_columns_of_b
                                 : way.sums == hipscope::vendor::MatrixSums::standard;
}

/// The status to end with where the arguments ask for a probe.
template <typename Value>
std::optional<int> probe_if_asked(int argc, char** argv) {
  const std::string option = argc == 3 ? argv[1] : "";
  if (option != probe_option && option != probe_option_by_format) {
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
    for (const LibraryWay& way : all_ways()) {
      if (way.math.has_value() == (option == probe_option) &&
          (way.math || is_of_format<Value>(way))) {
        const Product<Value> product{.extents = extents,
                                     .alpha = 1,
                                     .a = matrix.data(),
                                     .b = matrix.data(),
                                     .beta = 0,
                                     .c = result.data()};
        Library<Value> library(way, product);
        if (library.ways() > 0) {
          library.enqueue(product);
        }
        hipscope::check(hipDeviceSynchronize());
      }
    }
  } catch (const std::exception&) {
    return 3;
  }
  return 0;
}

/// Why a child that made such a probe failed; empty if it did not.
inline std::string failure_of_probe(const char* option) {
  int device = 0;
  hipscope::check(hipGetDevice(&device));
  return hipscope::vendor::failure_of_child({option, std::to_string(device)});
}

/// Why the library cannot be called; empty if it can, or never ends a process.
inline const std::string& failure_of_library() {
  static const std::string failure =
      hipscope::vendor::gemm_may_end_the_process() ? failure_of_probe(probe_option) : std::string();
  return failure;
}
inline const std::string& failure_of_library_by_format() {
  static const std::string failure = hipscope::vendor::matrix_may_end_the_process()
                                         ? failure_of_probe(probe_option_by_format)
                                         : std::string();
  return failure;
}

/// A build without one, or a device that is none, has no library to try.
inline bool names_library(const hipscope::Sweep& sweep) {
  return sweep.is_hardware() && !hipscope::vendor::gemm_library().empty();
}
template <typename Value>
bool names_library_by_format(const hipscope::Sweep& sweep) {
  return sweep.is_hardware() && !hipscope::vendor::matrix_library().empty() &&
         hipscope::vendor::has_row_products_of(format_of<Value>());
}

/// What the libraries offer for products of these types on this device.
template <typename Value, typename Result = Value>
std::vector<LibraryWay> ways_of_library(const hipscope::Sweep& sweep) {
  std::vector<LibraryWay> ways;
  for (const LibraryWay& way : all_ways()) {
    const bool is_here =
        way.math ? is_plain<Value, Result> && names_library(sweep) && failure_of_library().empty()
                 : is_of_format<Value>(way) && names_library_by_format<Value>(sweep) &&
                       failure_of_library_by_format().empty();
    if (is_here) {
      ways.push_back(way);
    }
  }
  return ways;
}

/// Says in a sweep which libraries there are, and what they compute in.
template <typename Value, typename Result = Value>
void note_library(hipscope::Sweep& sweep, const std::string& arithmetic) {
  const auto note = [&](const std::string& name, const std::string& failure) {
    sweep.note("library: " + name +
               (failure.empty()
                    ? ", " + arithmetic
                    : " is left out: a process that called it on this device " + failure));
  };
  const bool has_plain = is_plain<Value, Result> && names_library(sweep);
  const bool has_by_format = names_library_by_format<Value>(sweep);
  if (has_plain) {
    note(hipscope::vendor::gemm_library(), failure_of_library());
  }
  if (has_by_format) {
    note(hipscope::vendor::matrix_library(), failure_of_library_by_format());
  }
  if (!has_plain && !has_by_format) {
    sweep.note(std::string("this build or device has no library for products: ") +
               (is_plain<Value, Result> ? hipscope::vendor::gemm_libraries
                                        : hipscope::vendor::matrix_libraries));
  }
}

}  // namespace gemm
