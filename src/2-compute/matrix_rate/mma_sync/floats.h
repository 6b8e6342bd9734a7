// mma.sync: FP64 and TF32.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MmaFp64Old : MmaShape<8, 4, 1> {
  static constexpr const char* format = "FP64";
  static constexpr const char* name = "mma.sync m8n8k4";
  static constexpr Format a_format = fp64;
  static constexpr Format b_format = fp64;
  static constexpr Format sum_format = fp64;
  static constexpr unsigned since = 80;
  using A = Registers<double, 1>;
  using B = Registers<double, 1>;
  using Sum = Registers<double, 2>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d.value[0]), "+d"(d.value[1])
                 : "d"(a.value[0]), "d"(b.value[0]));
#else
    multiply_elsewhere<MmaFp64Old>(d, a, b);
#endif
  }
};

struct MmaFp64K4 : MmaShape<16, 4, 1> {
  static constexpr const char* format = "FP64";
  static constexpr const char* name = "mma.sync m16n8k4";
  static constexpr Format a_format = fp64;
  static constexpr Format b_format = fp64;
  static constexpr Format sum_format = fp64;
  static constexpr unsigned since = 90;
  using A = Registers<double, 2>;
  using B = Registers<double, 1>;
  using Sum = Registers<double, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 900
    MATRIX_RATE_MMA_2_1("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "d", "d", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaFp64K4>(d, a, b);
#endif
  }
};

struct MmaFp64K8 : MmaShape<16, 8, 1> {
  static constexpr const char* format = "FP64";
  static constexpr const char* name = "mma.sync m16n8k8";
  static constexpr Format a_format = fp64;
  static constexpr Format b_format = fp64;
  static constexpr Format sum_format = fp64;
  static constexpr unsigned since = 90;
  using A = Registers<double, 4>;
  using B = Registers<double, 2>;
  using Sum = Registers<double, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 900
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "d", "d", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaFp64K8>(d, a, b);
#endif
  }
};

struct MmaFp64K16 : MmaShape<16, 16, 1> {
  static constexpr const char* format = "FP64";
  static constexpr const char* name = "mma.sync m16n8k16";
  static constexpr Format a_format = fp64;
  static constexpr Format b_format = fp64;
  static constexpr Format sum_format = fp64;
  static constexpr unsigned since = 90;
  using A = Registers<double, 8>;
  using B = Registers<double, 4>;
  using Sum = Registers<double, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 900
    MATRIX_RATE_MMA_8_4("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "d", d.value, a.value,
                        b.value);
#else
    multiply_elsewhere<MmaFp64K16>(d, a, b);
#endif
  }
};

struct MmaTf32K4 : MmaShape<16, 4, 1> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "mma.sync m16n8k4";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 2>;
  using B = Registers<unsigned, 1>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_2_1("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaTf32K4>(d, a, b);
#endif
  }
};

struct MmaTf32K8 : MmaShape<16, 8, 1> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "mma.sync m16n8k8";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaTf32K8>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
