// mma.sync: FP8 and INT8.
#pragma once

#include "shape.h"

namespace matrix_rate {

struct MmaE4m3K32 : MmaShape<16, 32, 4> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "mma.sync m16n8k32";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 89;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 890
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaE4m3K32>(d, a, b);
#endif
  }
};

struct MmaE5m2K32 : MmaShape<16, 32, 4> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "mma.sync m16n8k32";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 89;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 890
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", "f", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaE5m2K32>(d, a, b);
#endif
  }
};

struct MmaInt8K16 : MmaShape<16, 16, 4> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "mma.sync m16n8k16";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 2>;
  using B = Registers<unsigned, 1>;
  using Sum = Registers<int, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_2_1("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "r", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaInt8K16>(d, a, b);
#endif
  }
};

struct MmaInt8K32 : MmaShape<16, 32, 4> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "mma.sync m16n8k32";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 2>;
  using Sum = Registers<int, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_4_2("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "r", "r", d.value,
                        a.value, b.value);
#else
    multiply_elsewhere<MmaInt8K32>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
