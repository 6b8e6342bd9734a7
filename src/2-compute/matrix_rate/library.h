// The GPU vendor's library beside the instructions: products of large square matrices in each
// format, with random operands and with zeros.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>
#include <hipscope/libraries/matrix.h>
#include <hipscope/libraries/probe.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "documented.h"
#include "hipscope/matrix/operands.h"

namespace matrix_rate {

struct LibraryFormat {
  const char* name;  ///< as in the tables
  const char* documented;
  hipscope::vendor::MatrixFormat format;
  hipscope::vendor::MatrixSums sums;
  Format a;
  Format b;
  Format d;
};

inline constexpr LibraryFormat library_formats[] = {
    {"FP64", "FP64", hipscope::vendor::MatrixFormat::fp64, hipscope::vendor::MatrixSums::standard,
     fp64, fp64, fp64},
    {"TF32", "TF32", hipscope::vendor::MatrixFormat::tf32, hipscope::vendor::MatrixSums::standard,
     tf32, tf32, fp32},
    {"FP16", "FP16", hipscope::vendor::MatrixFormat::fp16, hipscope::vendor::MatrixSums::standard,
     fp16, fp16, fp16},
    {"BF16", "BF16", hipscope::vendor::MatrixFormat::bf16, hipscope::vendor::MatrixSums::standard,
     bf16, bf16, bf16},
    {"FP8 E4M3", "FP8 E4M3", hipscope::vendor::MatrixFormat::e4m3,
     hipscope::vendor::MatrixSums::standard, e4m3, e4m3, bf16},
    {"FP8 E4M3, fast sums", "FP8 E4M3", hipscope::vendor::MatrixFormat::e4m3,
     hipscope::vendor::MatrixSums::fast, e4m3, e4m3, bf16},
    {"FP8 E5M2 by E4M3, fast sums", "FP8 E5M2", hipscope::vendor::MatrixFormat::e5m2,
     hipscope::vendor::MatrixSums::fast, e5m2, e4m3, bf16},
    {"INT8", "INT8", hipscope::vendor::MatrixFormat::int8, hipscope::vendor::MatrixSums::standard,
     int8, int8, int32}};

/// How a factor is filled: by the signs of a product of a column of signs by a row of them, so that
/// every element of the product of two such matrices is known; or by any of `filling_codes` codes.
enum class Filling { signs, codes };
inline constexpr unsigned filling_codes = 4096;

__host__ __device__ inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9ULL;
  return x ^ x >> 32;
}
/// The sign of a row of the first factor, of a column of the second one, or of a place along k.
__host__ __device__ inline unsigned sign_of(unsigned number, unsigned which) {
  return static_cast<unsigned>(mixed(3 * std::uint64_t{number} + which + 1) & 1);
}

template <typename Element>
__global__ void __launch_bounds__(256) fill_kernel(Element* matrix, const std::uint64_t* codes,
                                                   unsigned side, unsigned which, Filling filling) {
  const std::uint64_t count = std::uint64_t{side} * side;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const auto line = static_cast<unsigned>(i / side);
    const auto k = static_cast<unsigned>(i % side);
    const unsigned choice = filling == Filling::signs
                                ? sign_of(line, which) ^ sign_of(k, 2)
                                : static_cast<unsigned>(mixed(2 * i + which) % filling_codes);
    matrix[i] = static_cast<Element>(codes[choice]);
  }
}

/// The elements of a product of signs: each is one of two codes.
template <typename Element>
struct SignProducts {
  Element codes[2];
  unsigned side;
  __host__ __device__ Element operator()(std::uint64_t i) const {
    return codes[sign_of(static_cast<unsigned>(i % side), 0) ^
                 sign_of(static_cast<unsigned>(i / side), 1)];
  }
};

/// One format's matrices and its product by the library.
class LibraryProduct {
 public:
  LibraryProduct(const LibraryFormat& format, unsigned side, std::uint64_t seed)
      : format_(format),
        side_(side),
        seed_(seed),
        product_(format.format, format.sums, static_cast<int>(side)),
        a_(bytes_of(format.a, side)),
        b_(bytes_of(format.b, side)),
        d_(bytes_of(format.d, side)),
        workspace_(hipscope::vendor::matrix_workspace_bytes) {}

  static std::size_t bytes_of(const Format& format, unsigned side) {
    return std::size_t{side} * side * format.bits / 8;
  }

  void enqueue() { product_.enqueue(a_.data(), b_.data(), d_.data(), workspace_.data()); }

  void fill(Data data) {
    Values values(data, format_.a, seed_);
    std::vector<double> random(filling_codes);
    for (double& value : random) {
      value = values.next();
    }
    fill_both(random, Filling::codes);
  }

  void verify(const hipscope::Sweep& sweep, hipscope::Point& point) {
    fill_both({1, -1}, Filling::signs);
    d_.poison();
    enqueue();
    const double product = side_;
    const auto codes = codes_of(format_.d, {product, -product});
    with_element(format_.d, [&]<typename Element>(Element /*type*/) {
      const std::uint64_t count = std::uint64_t{side_} * side_;
      const auto* const got = reinterpret_cast<const Element*>(d_.data());
      const SignProducts<Element> expected{
          {static_cast<Element>(codes[0]), static_cast<Element>(codes[1])}, side_};
      point.verify("every element of the product",
                   hipscope::count_wrong(sweep, got, count, expected), count,
                   [&](hipscope::Comparison& comparison) {
                     comparison = hipscope::Comparison(side_);
                     hipscope::compare_on_host(comparison, got, count, expected);
                   });
    });
  }

 private:
  static constexpr unsigned blocks = 1024;

  static std::vector<std::uint64_t> codes_of(const Format& format,
                                             const std::vector<double>& values) {
    std::vector<std::uint64_t> codes;
    for (const double value : values) {
      codes.push_back(encode(format, value));
    }
    return codes;
  }

  template <typename Body>
  static void with_element(const Format& format, Body body) {
    if (format.bits == 8) {
      body(std::uint8_t{});
    } else if (format.bits == 16) {
      body(std::uint16_t{});
    } else if (format.bits == 32) {
      body(std::uint32_t{});
    } else {
      body(std::uint64_t{});
    }
  }

  void fill_both(const std::vector<double>& values, Filling filling) {
    fill_one(format_.a, a_, 0, values, filling);
    fill_one(format_.b, b_, 1, values, filling);
  }

  void fill_one(const Format& format, const hipscope::DeviceBuffer<unsigned char>& matrix,
                unsigned which, const std::vector<double>& values, Filling filling) {
    const auto codes = codes_of(format, values);
    const hipscope::DeviceBuffer<std::uint64_t> device_codes{std::span<const std::uint64_t>(codes)};
    with_element(format, [&]<typename Element>(Element /*type*/) {
      hipscope::launch(fill_kernel<Element>, {.grid = dim3(blocks), .block = dim3(256)},
                       reinterpret_cast<Element*>(matrix.data()), device_codes.data(), side_, which,
                       filling);
    });
    hipscope::check(hipDeviceSynchronize());
  }

  LibraryFormat format_;
  unsigned side_;
  std::uint64_t seed_;
  hipscope::vendor::MatrixProduct product_;
  hipscope::DeviceBuffer<unsigned char> a_;
  hipscope::DeviceBuffer<unsigned char> b_;
  hipscope::DeviceBuffer<unsigned char> d_;
  hipscope::DeviceBuffer<unsigned char> workspace_;
};

/// Hidden from `--help`: with this and a device's number the binary makes one small product by the
/// library on that device, and ends.
inline constexpr const char* probe_option = "--probe-library";

/// The status to end with where the arguments ask for the probe.
inline std::optional<int> probe_if_asked(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != probe_option) {
    return std::nullopt;
  }
  constexpr unsigned side = 64;
  try {
    hipscope::check(hipSetDevice(std::stoi(argv[2])));
    LibraryProduct product(library_formats[2], side, 1);
    product.fill(Data::integers);
    product.enqueue();
    hipscope::check(hipDeviceSynchronize());
  } catch (const std::exception&) {
    return 3;
  }
  return 0;
}

/// Why there is no library to call; empty where there is one.
inline std::string no_library(const hipscope::Sweep& sweep) {
  if (!sweep.is_hardware() || hipscope::vendor::matrix_library().empty()) {
    return std::string("this build or device has no library for products by format: ") +
           hipscope::vendor::matrix_libraries;
  }
  if (hipscope::vendor::matrix_may_end_the_process()) {
    const std::string failure =
        hipscope::vendor::failure_of_child({probe_option, std::to_string(sweep.device().index)});
    if (!failure.empty()) {
      return "library: " + hipscope::vendor::matrix_library() +
             " is left out: a process that called it on this device " + failure;
    }
  }
  return "";
}

/// What the library makes of the same instructions, where all that a product needs is in the time:
/// loads, stores, and the clock that is left for random operands.
inline void measure_library(hipscope::Sweep& sweep, std::uint64_t side) {
  sweep.axis({.name = "format and operands"});
  sweep.headline("rate");
  const std::string missing = no_library(sweep);
  sweep.note(missing.empty() ? "library: " + hipscope::vendor::matrix_library() : missing);
  if (!missing.empty()) {
    return;
  }
  sweep.require_memory(3 * sizeof(double) * side * side + hipscope::vendor::matrix_workspace_bytes,
                       "--side");
  const double units = sweep.device().compute_units;
  double row = 0;
  for (const LibraryFormat& format : library_formats) {
    std::optional<LibraryProduct> product;
    try {
      product.emplace(format, static_cast<unsigned>(side), sweep.seed());
    } catch (const hipscope::DeviceError& error) {
      sweep.note(std::string(format.name) + " is left out: " + error.what());
      continue;
    }
    for (const auto& [data, name] :
         {std::pair(Data::zeros, "zeros"), std::pair(Data::random, "random bits")}) {
      auto point = sweep.point(std::string(format.name) + ", " + name, ++row);
      product->verify(sweep, point);
      product->fill(data);
      const auto time = point.measure([&] { product->enqueue(); });
      const double fmas = double(side) * double(side) * double(side);
      add_rates(point, time, fmas / units, units, format.documented);
    }
  }
}

}  // namespace matrix_rate
