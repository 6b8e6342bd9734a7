// AMD's MFMA (CDNA: gfx908 and later): a wave of 64 multiplies matrices that lie in its registers.
// Lane l has of A the elements of row l % 32 (or 16), of B those of that column, in both neighbours
// along k from `PerLane` x (l / 32 or 16) on; and of D one column, in runs of four rows (of FP64 in
// rows four apart). AMD's matrix instruction calculator and the manuals of CDNA's instructions tell
// them; the sums do not depend on the order along k, as long as A and B agree.
//
// The host chooses by generation what to launch. Where a pass is for another one, or its compiler
// has not the builtin, a kernel does nothing.
#pragma once

#include "registers.h"

namespace matrix_rate {

#if defined(__gfx908__)
#define MATRIX_RATE_CDNA 1
#elif defined(__gfx90a__)
#define MATRIX_RATE_CDNA 2
#elif defined(__gfx942__)
#define MATRIX_RATE_CDNA 3
#elif defined(__gfx950__)
#define MATRIX_RATE_CDNA 4
#else
#define MATRIX_RATE_CDNA 0
#endif
// Whether this pass is for a generation from `first` to `last` and its compiler has the builtin.
#if MATRIX_RATE_CDNA > 0
#define MATRIX_RATE_MFMA(first, last, builtin) \
  (MATRIX_RATE_CDNA >= first && MATRIX_RATE_CDNA <= last && __has_builtin(builtin))
#else
#define MATRIX_RATE_MFMA(first, last, builtin) 0
#endif

/// The generation of CDNA of an architecture; 0: another one.
inline unsigned cdna_generation(const std::string& architecture) {
  const std::string family = architecture.substr(0, architecture.find(':'));
  return family == "gfx908"   ? 1
         : family == "gfx90a" ? 2
         : family == "gfx942" ? 3
         : family == "gfx950" ? 4
                              : 0;
}

/// An instruction of `Side` x `Side` sums, of whose factors a lane has `PerLane`.
template <unsigned Side, unsigned PerLane, bool FourApart = false>
struct MfmaShape {
  static constexpr unsigned m = Side;
  static constexpr unsigned n = Side;
  static constexpr unsigned lanes = 64;
  static constexpr unsigned k = lanes / Side * PerLane;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = Sparsity::dense;
  static constexpr unsigned a_elements = PerLane;
  static constexpr unsigned b_elements = PerLane;
  static constexpr unsigned sum_elements = Side * Side / lanes;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    return {lane % Side, lane / Side * PerLane + element};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    return {lane / Side * PerLane + element, lane % Side};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    constexpr unsigned parts = lanes / Side;
    const unsigned row = FourApart ? parts * element + lane / Side
                                   : 4 * parts * (element / 4) + 4 * (lane / Side) + element % 4;
    return {row, lane % Side};
  }
  static constexpr const char* family = "MFMA";
  static constexpr unsigned peak_groups = 8;
};

#if MATRIX_RATE_CDNA == 4
/// What the scaled instructions take, however few bits their operands have.
template <unsigned Count>
__device__ Vector<int, 8> widened(const Registers<unsigned, Count>& operand) {
  Vector<int, 8> wide = {};
#pragma unroll
  for (unsigned i = 0; i < Count; ++i) {
    wide[i] = static_cast<int>(operand.value[i]);
  }
  return wide;
}
/// A scale in E8M0 for each block of 32 elements: 2^0.
constexpr int scale_of_one = 0x7F7F7F7F;
#endif

struct MfmaFp64 : MfmaShape<16, 1, true> {
  static constexpr const char* format = "FP64";
  static constexpr const char* name = "v_mfma_f64_16x16x4f64";
  static constexpr Format a_format = fp64;
  static constexpr Format b_format = fp64;
  static constexpr Format sum_format = fp64;
  static constexpr unsigned since = 2;
  static constexpr unsigned until = 4;
  using A = Registers<double, 1>;
  using B = A;
  using Sum = Registers<double, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(2, 4, __builtin_amdgcn_mfma_f64_16x16x4f64)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f64_16x16x4f64(
                                    __builtin_bit_cast(double, a), __builtin_bit_cast(double, b),
                                    __builtin_bit_cast(Vector<double, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp64>(d, a, b);
#endif
  }
};

struct MfmaFp32Side32 : MfmaShape<32, 1> {
  static constexpr const char* format = "FP32";
  static constexpr const char* name = "v_mfma_f32_32x32x2f32";
  static constexpr Format a_format = fp32;
  static constexpr Format b_format = fp32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<float, 1>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_32x32x2f32)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x2f32(
                                    __builtin_bit_cast(float, a), __builtin_bit_cast(float, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp32Side32>(d, a, b);
#endif
  }
};

struct MfmaFp32Side16 : MfmaShape<16, 1> {
  static constexpr const char* format = "FP32";
  static constexpr const char* name = "v_mfma_f32_16x16x4f32";
  static constexpr Format a_format = fp32;
  static constexpr Format b_format = fp32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<float, 1>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_16x16x4f32)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_16x16x4f32(
                                    __builtin_bit_cast(float, a), __builtin_bit_cast(float, b),
                                    __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp32Side16>(d, a, b);
#endif
  }
};

struct MfmaXf32Side32 : MfmaShape<32, 2> {
  static constexpr const char* format = "XF32";
  static constexpr const char* name = "v_mfma_f32_32x32x4_xf32";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<float, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_32x32x4_xf32)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x4_xf32(
                 __builtin_bit_cast(Vector<float, 2>, a), __builtin_bit_cast(Vector<float, 2>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaXf32Side32>(d, a, b);
#endif
  }
};

struct MfmaXf32Side16 : MfmaShape<16, 2> {
  static constexpr const char* format = "XF32";
  static constexpr const char* name = "v_mfma_f32_16x16x8_xf32";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<float, 2>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_16x16x8_xf32)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_16x16x8_xf32(
                 __builtin_bit_cast(Vector<float, 2>, a), __builtin_bit_cast(Vector<float, 2>, b),
                 __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaXf32Side16>(d, a, b);
#endif
  }
};

struct MfmaFp16Side32 : MfmaShape<32, 4> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_mfma_f32_32x32x8f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_32x32x8f16)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x8f16(
                                    __builtin_bit_cast(Vector<_Float16, 4>, a),
                                    __builtin_bit_cast(Vector<_Float16, 4>, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp16Side32>(d, a, b);
#endif
  }
};

struct MfmaFp16Side16 : MfmaShape<16, 4> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_mfma_f32_16x16x16f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 4, __builtin_amdgcn_mfma_f32_16x16x16f16)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_16x16x16f16(
                                    __builtin_bit_cast(Vector<_Float16, 4>, a),
                                    __builtin_bit_cast(Vector<_Float16, 4>, b),
                                    __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp16Side16>(d, a, b);
#endif
  }
};

struct MfmaBf16Old : MfmaShape<32, 2> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_32x32x4bf16";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 2;
  using A = Registers<unsigned, 1>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 2, __builtin_amdgcn_mfma_f32_32x32x4bf16)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x4bf16(
                 __builtin_bit_cast(Vector<short, 2>, a), __builtin_bit_cast(Vector<short, 2>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Old>(d, a, b);
#endif
  }
};

struct MfmaBf16Side32 : MfmaShape<32, 4> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_32x32x8bf16_1k";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 2;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(2, 4, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
                 __builtin_bit_cast(Vector<short, 4>, a), __builtin_bit_cast(Vector<short, 4>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Side32>(d, a, b);
#endif
  }
};

struct MfmaBf16Side16 : MfmaShape<16, 4> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_16x16x16bf16_1k";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 2;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(2, 4, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
                 __builtin_bit_cast(Vector<short, 4>, a), __builtin_bit_cast(Vector<short, 4>, b),
                 __builtin_bit_cast(Vector<float, 4>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Side16>(d, a, b);
#endif
  }
};

struct MfmaInt8Old : MfmaShape<32, 4> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_mfma_i32_32x32x8i8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 1;
  static constexpr unsigned until = 2;
  using A = Registers<unsigned, 1>;
  using B = A;
  using Sum = Registers<int, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(1, 2, __builtin_amdgcn_mfma_i32_32x32x8i8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_i32_32x32x8i8(
                                    __builtin_bit_cast(int, a), __builtin_bit_cast(int, b),
                                    __builtin_bit_cast(Vector<int, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaInt8Old>(d, a, b);
#endif
  }
};

struct MfmaInt8 : MfmaShape<32, 8> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_mfma_i32_32x32x16_i8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<int, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 4, __builtin_amdgcn_mfma_i32_32x32x16_i8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_i32_32x32x16_i8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<int, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaInt8>(d, a, b);
#endif
  }
};

struct MfmaE4m3Fnuz : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_mfma_f32_32x32x16_fp8_fp8, FNUZ";
  static constexpr Format a_format = e4m3_fnuz;
  static constexpr Format b_format = e4m3_fnuz;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE4m3Fnuz>(d, a, b);
#endif
  }
};

struct MfmaE4m3 : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_mfma_f32_32x32x16_fp8_fp8";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE4m3>(d, a, b);
#endif
  }
};

struct MfmaE5m2Fnuz : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf8_bf8, FNUZ";
  static constexpr Format a_format = e5m2_fnuz;
  static constexpr Format b_format = e5m2_fnuz;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 3;
  static constexpr unsigned until = 3;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(3, 3, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE5m2Fnuz>(d, a, b);
#endif
  }
};

struct MfmaE5m2 : MfmaShape<32, 8> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf8_bf8";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 2>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(
                                    __builtin_bit_cast(long, a), __builtin_bit_cast(long, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaE5m2>(d, a, b);
#endif
  }
};

struct MfmaFp16Wide : MfmaShape<32, 8> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "v_mfma_f32_32x32x16_f16";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_f16)
    d = __builtin_bit_cast(Sum, __builtin_amdgcn_mfma_f32_32x32x16_f16(
                                    __builtin_bit_cast(Vector<_Float16, 8>, a),
                                    __builtin_bit_cast(Vector<_Float16, 8>, b),
                                    __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaFp16Wide>(d, a, b);
#endif
  }
};

struct MfmaBf16Wide : MfmaShape<32, 8> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf16";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_f32_32x32x16_bf16)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_f32_32x32x16_bf16(
                 __builtin_bit_cast(Vector<__bf16, 8>, a), __builtin_bit_cast(Vector<__bf16, 8>, b),
                 __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaBf16Wide>(d, a, b);
#endif
  }
};

struct MfmaInt8Wide : MfmaShape<32, 16> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "v_mfma_i32_32x32x32_i8";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<int, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_i32_32x32x32_i8)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_i32_32x32x32_i8(
                 __builtin_bit_cast(Vector<int, 4>, a), __builtin_bit_cast(Vector<int, 4>, b),
                 __builtin_bit_cast(Vector<int, 16>, d), 0, 0, 0));
#else
    multiply_elsewhere<MfmaInt8Wide>(d, a, b);
#endif
  }
};

struct MfmaScaledE4m3 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 8>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 0, 0, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE4m3>(d, a, b);
#endif
  }
};

struct MfmaScaledE5m2 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 8>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 1, 1, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE5m2>(d, a, b);
#endif
  }
};

struct MfmaScaledE2m3 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP6 E2M3";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e2m3;
  static constexpr Format b_format = e2m3;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 6>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 2, 2, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE2m3>(d, a, b);
#endif
  }
};

struct MfmaScaledE3m2 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP6 E3M2";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e3m2;
  static constexpr Format b_format = e3m2;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 6>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 3, 3, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE3m2>(d, a, b);
#endif
  }
};

struct MfmaScaledE2m1 : MfmaShape<32, 32> {
  static constexpr const char* format = "FP4 E2M1";
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr Format a_format = e2m1;
  static constexpr Format b_format = e2m1;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 4;
  static constexpr unsigned until = 4;
  using A = Registers<unsigned, 4>;
  using B = A;
  using Sum = Registers<float, 16>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] const B& b) {
#if MATRIX_RATE_MFMA(4, 4, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
    d = __builtin_bit_cast(
        Sum, __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
                 widened(a), widened(b), __builtin_bit_cast(Vector<float, 16>, d), 4, 4, 0,
                 scale_of_one, 0, scale_of_one));
#else
    multiply_elsewhere<MfmaScaledE2m1>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
