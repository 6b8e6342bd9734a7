// AMD's MFMA (CDNA: gfx908 and later): a wave of 64 multiplies matrices that it holds in registers.
// Lane l has of A the elements of row l % 32 (or 16), of B those of that column, in both neighbours
// along k from `PerLane` x (l / 32 or 16) on; and of D one column, in runs of four rows (of FP64 in
// rows four apart). AMD's matrix instruction calculator and the manuals of CDNA's instructions tell
// them; the sums do not depend on the order along k, as long as A and B agree.
//
// The host chooses by generation what to launch. Where a pass is for another one, or its compiler
// has not the builtin, a kernel does nothing.
#pragma once

#include <string>

#include "hipscope/matrix/registers.h"

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
template <const Format& factor, const Format& sum, unsigned Side, unsigned PerLane>
struct MfmaShape : FormatsOf<factor, sum> {
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
  using A = RegistersOf<factor, a_elements>;
  using B = A;
  using Sum = RegistersOf<sum, sum_elements>;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    return {lane % Side, lane / Side * PerLane + element};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    return {lane / Side * PerLane + element, lane % Side};
  }
  __host__ __device__ static constexpr Place sum_place(unsigned lane, unsigned element) {
    constexpr unsigned parts = lanes / Side;
    constexpr bool is_four_apart = sum.bits == 64;
    const unsigned row = is_four_apart
                             ? parts * element + lane / Side
                             : 4 * parts * (element / 4) + 4 * (lane / Side) + element % 4;
    return {row, lane % Side};
  }
  static constexpr const char* family = "MFMA";
  static constexpr unsigned peak_groups = 8;
};

#if MATRIX_RATE_CDNA > 0
#if MATRIX_RATE_CDNA == 4
using Bfloat = __bf16;
#else
using Bfloat = short;  // other passes may not have the type
#endif
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
#endif

// The instructions, as rows: type; format and ending of the name in results; the operation, of
// which the name and the builtin are made; factors, sums; the generations of CDNA that have it;
// side; elements per lane; and the type that the builtin takes factors as, but of those with a
// scale. A macro, since a builtin has no address and no pass knows all.
// clang-format off
#define MATRIX_RATE_MFMA_TABLE(PLAIN, SCALED) \
  PLAIN(MfmaFp64,        "FP64",     "",       mfma_f64_16x16x4f64,        fp64,      fp64,  2, 4, 16, 1,  double) \
  PLAIN(MfmaFp32Side32,  "FP32",     "",       mfma_f32_32x32x2f32,        fp32,      fp32,  1, 4, 32, 1,  float) \
  PLAIN(MfmaFp32Side16,  "FP32",     "",       mfma_f32_16x16x4f32,        fp32,      fp32,  1, 4, 16, 1,  float) \
  PLAIN(MfmaXf32Side32,  "XF32",     "",       mfma_f32_32x32x4_xf32,      tf32,      fp32,  3, 3, 32, 2,  Vector<float, 2>) \
  PLAIN(MfmaXf32Side16,  "XF32",     "",       mfma_f32_16x16x8_xf32,      tf32,      fp32,  3, 3, 16, 2,  Vector<float, 2>) \
  PLAIN(MfmaFp16Side32,  "FP16",     "",       mfma_f32_32x32x8f16,        fp16,      fp32,  1, 4, 32, 4,  Vector<_Float16, 4>) \
  PLAIN(MfmaFp16Side16,  "FP16",     "",       mfma_f32_16x16x16f16,       fp16,      fp32,  1, 4, 16, 4,  Vector<_Float16, 4>) \
  PLAIN(MfmaFp16Wide,    "FP16",     "",       mfma_f32_32x32x16_f16,      fp16,      fp32,  4, 4, 32, 8,  Vector<_Float16, 8>) \
  PLAIN(MfmaBf16Old,     "BF16",     "",       mfma_f32_32x32x4bf16,       bf16,      fp32,  1, 2, 32, 2,  Vector<short, 2>) \
  PLAIN(MfmaBf16Side32,  "BF16",     "",       mfma_f32_32x32x8bf16_1k,    bf16,      fp32,  2, 4, 32, 4,  Vector<short, 4>) \
  PLAIN(MfmaBf16Side16,  "BF16",     "",       mfma_f32_16x16x16bf16_1k,   bf16,      fp32,  2, 4, 16, 4,  Vector<short, 4>) \
  PLAIN(MfmaBf16Wide,    "BF16",     "",       mfma_f32_32x32x16_bf16,     bf16,      fp32,  4, 4, 32, 8,  Vector<Bfloat, 8>) \
  PLAIN(MfmaE4m3Fnuz,    "FP8 E4M3", ", FNUZ", mfma_f32_32x32x16_fp8_fp8,  e4m3_fnuz, fp32,  3, 3, 32, 8,  long) \
  PLAIN(MfmaE5m2Fnuz,    "FP8 E5M2", ", FNUZ", mfma_f32_32x32x16_bf8_bf8,  e5m2_fnuz, fp32,  3, 3, 32, 8,  long) \
  PLAIN(MfmaE4m3,        "FP8 E4M3", "",       mfma_f32_32x32x16_fp8_fp8,  e4m3,      fp32,  4, 4, 32, 8,  long) \
  PLAIN(MfmaE5m2,        "FP8 E5M2", "",       mfma_f32_32x32x16_bf8_bf8,  e5m2,      fp32,  4, 4, 32, 8,  long) \
  PLAIN(MfmaInt8Old,     "INT8",     "",       mfma_i32_32x32x8i8,         int8,      int32, 1, 2, 32, 4,  int) \
  PLAIN(MfmaInt8,        "INT8",     "",       mfma_i32_32x32x16_i8,       int8,      int32, 3, 4, 32, 8,  long) \
  PLAIN(MfmaInt8Wide,    "INT8",     "",       mfma_i32_32x32x32_i8,       int8,      int32, 4, 4, 32, 16, Vector<int, 4>) \
  SCALED(MfmaScaledE4m3, "FP8 E4M3", "", mfma_scale_f32_32x32x64_f8f6f4, e4m3, fp32, 4, 4, 32, 32) \
  SCALED(MfmaScaledE5m2, "FP8 E5M2", "", mfma_scale_f32_32x32x64_f8f6f4, e5m2, fp32, 4, 4, 32, 32) \
  SCALED(MfmaScaledE3m2, "FP6 E3M2", "", mfma_scale_f32_32x32x64_f8f6f4, e3m2, fp32, 4, 4, 32, 32) \
  SCALED(MfmaScaledE2m3, "FP6 E2M3", "", mfma_scale_f32_32x32x64_f8f6f4, e2m3, fp32, 4, 4, 32, 32) \
  SCALED(MfmaScaledE2m1, "FP4 E2M1", "", mfma_scale_f32_32x32x64_f8f6f4, e2m1, fp32, 4, 4, 32, 32)
// clang-format on

// In a template what a pass has not is no error as long as it is not chosen.
#if MATRIX_RATE_CDNA > 0
#define MATRIX_RATE_MFMA_CALL(type, since, until, builtin, ...)                   \
  if constexpr (since <= MATRIX_RATE_CDNA && MATRIX_RATE_CDNA <= until &&         \
                __has_builtin(builtin)) {                                         \
    const auto sums = __builtin_bit_cast(Vector<typename D::Value, D::count>, d); \
    d = __builtin_bit_cast(D, builtin(__VA_ARGS__));                              \
  }
#else
#define MATRIX_RATE_MFMA_CALL(type, ...) multiply_elsewhere<type>(d, a, b);
#endif
#define MATRIX_RATE_MFMA(type, its_format, ending, operation, factor, sum, first, last, side, \
                         per_lane, ...)                                                       \
  struct type : MfmaShape<factor, sum, side, per_lane> {                                      \
    static constexpr const char* format = its_format;                                         \
    static constexpr const char* name = "v_" #operation ending;                               \
    static constexpr unsigned since = first;                                                  \
    static constexpr unsigned until = last;                                                   \
    template <typename D>                                                                     \
    __device__ static void multiply_add([[maybe_unused]] D& d, [[maybe_unused]] const A& a,   \
                                        [[maybe_unused]] const B& b) {                        \
      MATRIX_RATE_MFMA_CALL(type, first, last, __builtin_amdgcn_##operation, __VA_ARGS__)     \
    }                                                                                         \
  };
#define MATRIX_RATE_MFMA_PLAIN(type, its_format, ending, operation, factor, sum, first, last,     \
                               side, per_lane, ...)                                               \
  MATRIX_RATE_MFMA(type, its_format, ending, operation, factor, sum, first, last, side, per_lane, \
                   __builtin_bit_cast(__VA_ARGS__, a), __builtin_bit_cast(__VA_ARGS__, b), sums,  \
                   0, 0, 0)
#define MATRIX_RATE_MFMA_SCALED(type, its_format, ending, operation, factor, sum, first, last,    \
                                side, per_lane)                                                   \
  MATRIX_RATE_MFMA(type, its_format, ending, operation, factor, sum, first, last, side, per_lane, \
                   widened(a), widened(b), sums, code_of_##factor, code_of_##factor, 0,           \
                   int(scales_of_one), 0, int(scales_of_one))
MATRIX_RATE_MFMA_TABLE(MATRIX_RATE_MFMA_PLAIN, MATRIX_RATE_MFMA_SCALED)

using MfmaCodes = Codes<void MATRIX_RATE_MFMA_TABLE(MATRIX_RATE_AND, MATRIX_RATE_AND)>;

}  // namespace matrix_rate
