// AMD's WMMA (RDNA 3 and 4: gfx11 and gfx12): a wave of 32 multiplies matrices of 16 x 16 that are
// in its registers. On gfx11 lanes 16 to 31 hold once more what lanes 0 to 15 do, and the sums of a
// lane are every second row of its column; on gfx12 each half has its half of k, and of the rows.
// AMD's manuals of the RDNA 3 and RDNA 4 instruction sets, "Wave matrix multiply accumulate", tell
// them.
#pragma once

#include <string>

#include "hipscope/matrix/registers.h"

namespace matrix_rate {

#if defined(__GFX11__)
#define MATRIX_RATE_RDNA 3
#elif defined(__GFX12__)
#define MATRIX_RATE_RDNA 4
#else
#define MATRIX_RATE_RDNA 0
#endif

/// The generation of RDNA of an architecture, if it has matrix instructions; else 0.
inline unsigned rdna_generation(const std::string& architecture) {
  return architecture.starts_with("gfx11") ? 3 : architecture.starts_with("gfx12") ? 4 : 0;
}

/// Of RDNA 3 both halves of a wave hold the operands.
template <const Format& factor, const Format& sum, unsigned Generation>
struct WmmaShape : FormatsOf<factor, sum> {
  static constexpr bool is_doubled = Generation == 3;
  static constexpr unsigned m = 16;
  static constexpr unsigned n = 16;
  static constexpr unsigned k = 16;
  static constexpr unsigned lanes = 32;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = Sparsity::dense;
  static constexpr unsigned a_elements = is_doubled ? 16 : 8;
  static constexpr unsigned b_elements = a_elements;
  static constexpr unsigned sum_elements = 8;
  using A = RegistersOf<factor, a_elements>;
  using B = A;
  using Sum = RegistersOf<sum, sum_elements>;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    return {lane % 16, is_doubled ? element : 8 * (lane / 16) + element};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    return {is_doubled ? element : 8 * (lane / 16) + element, lane % 16};
  }
  __host__ __device__ static constexpr Place sum_place(unsigned lane, unsigned element) {
    return {is_doubled ? 2 * element + lane / 16 : 8 * (lane / 16) + element, lane % 16};
  }
  static constexpr const char* family = "WMMA";
  static constexpr unsigned peak_groups = 16;
  static constexpr unsigned since = Generation;
  static constexpr unsigned until = Generation;
};

// The instructions, as rows: type; format and ending of the name in results; the operation, of
// which the name and the builtin are made, and the builtin's ending; factors, sums; the generation
// of RDNA; and the type that the builtin takes factors as. Bytes come with a word on their signs.
// clang-format off
#define MATRIX_RATE_WMMA_TABLE(FLOATS, BYTES) \
  FLOATS(WmmaFp16,        "FP16",     "",        wmma_f32_16x16x16_f16,     _w32,       fp16, fp32,  3, Vector<_Float16, 16>) \
  FLOATS(WmmaFp16Halves,  "FP16",     ", gfx12", wmma_f32_16x16x16_f16,     _w32_gfx12, fp16, fp32,  4, Vector<_Float16, 8>) \
  FLOATS(WmmaBf16,        "BF16",     "",        wmma_f32_16x16x16_bf16,    _w32,       bf16, fp32,  3, Vector<short, 16>) \
  FLOATS(WmmaBf16Halves,  "BF16",     ", gfx12", wmma_f32_16x16x16_bf16,    _w32_gfx12, bf16, fp32,  4, Vector<short, 8>) \
  FLOATS(WmmaE4m3,        "FP8 E4M3", "",        wmma_f32_16x16x16_fp8_fp8, _w32_gfx12, e4m3, fp32,  4, Vector<int, 2>) \
  FLOATS(WmmaE5m2,        "FP8 E5M2", "",        wmma_f32_16x16x16_bf8_bf8, _w32_gfx12, e5m2, fp32,  4, Vector<int, 2>) \
  BYTES(WmmaInt8,         "INT8",     "",        wmma_i32_16x16x16_iu8,     _w32,       int8, int32, 3, Vector<int, 4>) \
  BYTES(WmmaInt8Halves,   "INT8",     ", gfx12", wmma_i32_16x16x16_iu8,     _w32_gfx12, int8, int32, 4, Vector<int, 2>)
// clang-format on

// In a template what a pass has not is no error as long as it is not chosen.
#if MATRIX_RATE_RDNA > 0
#define MATRIX_RATE_WMMA_CALL(type, builtin, ...)                                 \
  if constexpr (type::since == MATRIX_RATE_RDNA && __has_builtin(builtin)) {      \
    const auto sums = __builtin_bit_cast(Vector<typename D::Value, D::count>, d); \
    d = __builtin_bit_cast(D, builtin(__VA_ARGS__));                              \
  }
#else
#define MATRIX_RATE_WMMA_CALL(type, ...) multiply_elsewhere<type>(d, a, b);
#endif
#define MATRIX_RATE_WMMA(type, its_format, ending, operation, of_builtin, factor, sum, generation, \
                         ...)                                                                      \
  struct type : WmmaShape<factor, sum, generation> {                                               \
    static constexpr const char* format = its_format;                                              \
    static constexpr const char* name = "v_" #operation ending;                                    \
    template <typename D>                                                                          \
    __device__ static void multiply_add([[maybe_unused]] D& d, [[maybe_unused]] const A& a,        \
                                        [[maybe_unused]] const B& b) {                             \
      MATRIX_RATE_WMMA_CALL(type, __builtin_amdgcn_##operation##of_builtin, __VA_ARGS__)           \
    }                                                                                              \
  };
#define MATRIX_RATE_WMMA_FLOATS(type, its_format, ending, operation, of_builtin, factor, sum, \
                                generation, ...)                                              \
  MATRIX_RATE_WMMA(type, its_format, ending, operation, of_builtin, factor, sum, generation,  \
                   __builtin_bit_cast(__VA_ARGS__, a), __builtin_bit_cast(__VA_ARGS__, b), sums)
#define MATRIX_RATE_WMMA_BYTES(type, its_format, ending, operation, of_builtin, factor, sum,       \
                               generation, ...)                                                    \
  MATRIX_RATE_WMMA(type, its_format, ending, operation, of_builtin, factor, sum, generation, true, \
                   __builtin_bit_cast(__VA_ARGS__, a), true, __builtin_bit_cast(__VA_ARGS__, b),   \
                   sums, false)
MATRIX_RATE_WMMA_TABLE(MATRIX_RATE_WMMA_FLOATS, MATRIX_RATE_WMMA_BYTES)

using WmmaCodes = Codes<void MATRIX_RATE_WMMA_TABLE(MATRIX_RATE_AND, MATRIX_RATE_AND)>;

}  // namespace matrix_rate
