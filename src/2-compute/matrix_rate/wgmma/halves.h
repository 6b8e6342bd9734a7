// wgmma: FP16 and BF16.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct WgmmaFp16N8 : WgmmaShape<8, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n8k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n8k16.f32.f16.f16", 4, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16N64 : WgmmaShape<64, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n64k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 32>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n64k16.f32.f16.f16", 32, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16N128 : WgmmaShape<128, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n128k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k16.f32.f16.f16", 64, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16N256 : WgmmaShape<256, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n256k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k16.f32.f16.f16", 128, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16RegistersN64 : WgmmaShape<64, 16, true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n64k16, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 32>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n64k16.f32.f16.f16", 32, "f", ", 1, 1, 0", d.value, a.value, b);
#endif
  }
};

struct WgmmaFp16RegistersN256 : WgmmaShape<256, 16, true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n256k16, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k16.f32.f16.f16", 128, "f", ", 1, 1, 0", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaFp16HalfSums : WgmmaShape<256, 16, false> {
  static constexpr const char* format = "FP16, FP16 sums";
  static constexpr const char* name = "wgmma m64n256k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp16;
  using A = std::uint64_t;
  using Sum = Registers<unsigned, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k16.f16.f16.f16", 64, "r", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaBf16N128 : WgmmaShape<128, 16, false> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "wgmma m64n128k16, A in LDS";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k16.f32.bf16.bf16", 64, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaBf16N256 : WgmmaShape<256, 16, false> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "wgmma m64n256k16, A in LDS";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k16.f32.bf16.bf16", 128, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaBf16RegistersN256 : WgmmaShape<256, 16, true> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "wgmma m64n256k16, A in registers";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k16.f32.bf16.bf16", 128, "f", ", 1, 1, 0", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaFp16RegistersN8 : WgmmaShape<8, 16, true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n8k16, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n8k16.f32.f16.f16", 4, "f", ", 1, 1, 0", d.value, a.value, b);
#endif
  }
};

}  // namespace matrix_rate
