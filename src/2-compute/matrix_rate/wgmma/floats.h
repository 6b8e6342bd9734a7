// wgmma: TF32.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct WgmmaTf32N128 : WgmmaShape<128, 32, false> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "wgmma m64n128k8, A in LDS";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k8.f32.tf32.tf32", 64, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaTf32N256 : WgmmaShape<256, 32, false> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "wgmma m64n256k8, A in LDS";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k8.f32.tf32.tf32", 128, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaTf32RegistersN256 : WgmmaShape<256, 32, true> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "wgmma m64n256k8, A in registers";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k8.f32.tf32.tf32", 128, "f", ", 1, 1", d.value, a.value, b);
#endif
  }
};

}  // namespace matrix_rate
