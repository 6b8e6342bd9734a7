// mma.sync: FP16 and BF16.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MmaFp16K8 : MmaShape<16, 8, 2> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "mma.sync m16n8k8";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 2>;
  using B = Registers<unsigned, 1>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_2_1("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaFp16K8>(d, a, b);
#endif
  }
};

struct MmaFp16K16 : MmaShape<16, 16, 2> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "mma.sync m16n8k16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaFp16K16>(d, a, b);
#endif
  }
};

struct MmaFp16HalfSums : MmaShape<16, 16, 2> {
  static constexpr const char* format = "FP16, FP16 sums";
  static constexpr const char* name = "mma.sync m16n8k16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp16;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<unsigned, 2>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(d.value[0]), "+r"(d.value[1])
        : "r"(a.value[0]), "r"(a.value[1]), "r"(a.value[2]), "r"(a.value[3]), "r"(b.value[0]),
          "r"(b.value[1]));
#else
    multiply_elsewhere<MmaFp16HalfSums>(d, a, b);
#endif
  }
};

struct MmaBf16K8 : MmaShape<16, 8, 2> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "mma.sync m16n8k8";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 2>;
  using B = Registers<unsigned, 1>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_2_1("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaBf16K8>(d, a, b);
#endif
  }
};

struct MmaBf16K16 : MmaShape<16, 16, 2> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "mma.sync m16n8k16";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaBf16K16>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
