// wgmma: FP8 and INT8.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct WgmmaE4m3N128 : WgmmaShape<128, 8, false> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "wgmma m64n128k32, A in LDS";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k32.f32.e4m3.e4m3", 64, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE4m3N256 : WgmmaShape<256, 8, false> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "wgmma m64n256k32, A in LDS";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k32.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE4m3RegistersN256 : WgmmaShape<256, 8, true> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "wgmma m64n256k32, A in registers";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k32.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaE5m2N128 : WgmmaShape<128, 8, false> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "wgmma m64n128k32, A in LDS";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k32.f32.e5m2.e5m2", 64, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE5m2N256 : WgmmaShape<256, 8, false> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "wgmma m64n256k32, A in LDS";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k32.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE5m2RegistersN256 : WgmmaShape<256, 8, true> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "wgmma m64n256k32, A in registers";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k32.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaInt8N128 : WgmmaShape<128, 8, false> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "wgmma m64n128k32, A in LDS";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = std::uint64_t;
  using Sum = Registers<int, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k32.s32.s8.s8", 64, "r", "", d.value, a, b);
#endif
  }
};

struct WgmmaInt8N256 : WgmmaShape<256, 8, false> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "wgmma m64n256k32, A in LDS";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = std::uint64_t;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k32.s32.s8.s8", 128, "r", "", d.value, a, b);
#endif
  }
};

struct WgmmaInt8RegistersN256 : WgmmaShape<256, 8, true> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "wgmma m64n256k32, A in registers";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k32.s32.s8.s8", 128, "r", "", d.value, a.value, b);
#endif
  }
};

}  // namespace matrix_rate
