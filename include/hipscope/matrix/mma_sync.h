// NVIDIA's mma.sync: a warp multiplies matrices that it holds in registers, and waits for the
// result as for that of any other instruction. PTX's manual (9.7.14, "Warp level matrix
// instructions") has pictures of the layouts: with g = lane / 4 and t = lane % 4 a register of A
// holds neighbours along k of row g or g + 8, one of B the same of column g, and the sums are
// columns 2 t and 2 t + 1 of these rows.
#pragma once

#include "hipscope/matrix/registers.h"

namespace matrix_rate {

/// Shape and layouts of an m16 n8 instruction (m8 for FP64's oldest). Elements share a register of
/// 32 bits; FP64's, a pair, holds one. 2:4 sparse: half of A is left out.
template <const Format& factor, const Format& sum, unsigned M, unsigned K, bool IsSparse = false>
struct MmaShape : FormatsOf<factor, sum> {
  static constexpr unsigned m = M;
  static constexpr unsigned n = 8;
  static constexpr unsigned k = K;
  static constexpr unsigned lanes = 32;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = IsSparse ? sparsity_of(factor) : Sparsity::dense;
  static constexpr unsigned metadata = metadata_of(sparsity);
  static constexpr unsigned a_elements = M * (IsSparse ? K / 2 : K) / lanes;
  static constexpr unsigned b_elements = K * n / lanes;
  static constexpr unsigned sum_elements = M * n / lanes;
  using A = RegistersOf<factor, a_elements>;
  using B = RegistersOf<factor, b_elements>;
  using Sum = RegistersOf<sum, sum_elements>;

  static constexpr unsigned per_register = factor.bits < 32 ? 32 / factor.bits : 1;
  static constexpr unsigned rows_of_registers = M / 8;
  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    const unsigned reg = element / per_register;
    return {lane / 4 + 8 * (reg % rows_of_registers), 4 * per_register * (reg / rows_of_registers) +
                                                          per_register * (lane % 4) +
                                                          element % per_register};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    const unsigned reg = element / per_register;
    return {4 * per_register * reg + per_register * (lane % 4) + element % per_register, lane / 4};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    return {lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2};
  }
  static constexpr const char* family = "mma.sync";
  static constexpr unsigned peak_groups = 16;
  static constexpr unsigned until = every_generation;
};

// The instructions, as rows: type; format in results; the least compute capability; shape; rows of
// A and k; factors, sums, and their types in PTX; how many registers sums, A and B take; and the
// letters by which inline assembly calls those of sums and factors. A macro, since assembly takes
// only literals: neither the opcode nor the number of registers can be a function's argument.
// clang-format off
#define MATRIX_RATE_MMA_TABLE(DENSE, SPARSE) \
  DENSE(MmaFp64Old,       "FP64",            80, "m8n8k4",   8,  4,  fp64, fp64,  "f64", "f64",  2, 1, 1, "d", "d") \
  DENSE(MmaFp64K4,        "FP64",            90, "m16n8k4",  16, 4,  fp64, fp64,  "f64", "f64",  4, 2, 1, "d", "d") \
  DENSE(MmaFp64K8,        "FP64",            90, "m16n8k8",  16, 8,  fp64, fp64,  "f64", "f64",  4, 4, 2, "d", "d") \
  DENSE(MmaFp64K16,       "FP64",            90, "m16n8k16", 16, 16, fp64, fp64,  "f64", "f64",  4, 8, 4, "d", "d") \
  DENSE(MmaTf32K4,        "TF32",            80, "m16n8k4",  16, 4,  tf32, fp32,  "f32", "tf32", 4, 2, 1, "f", "r") \
  DENSE(MmaTf32K8,        "TF32",            80, "m16n8k8",  16, 8,  tf32, fp32,  "f32", "tf32", 4, 4, 2, "f", "r") \
  DENSE(MmaFp16K8,        "FP16",            80, "m16n8k8",  16, 8,  fp16, fp32,  "f32", "f16",  4, 2, 1, "f", "r") \
  DENSE(MmaFp16K16,       "FP16",            80, "m16n8k16", 16, 16, fp16, fp32,  "f32", "f16",  4, 4, 2, "f", "r") \
  DENSE(MmaFp16HalfSums,  "FP16, FP16 sums", 80, "m16n8k16", 16, 16, fp16, fp16,  "f16", "f16",  2, 4, 2, "r", "r") \
  DENSE(MmaBf16K8,        "BF16",            80, "m16n8k8",  16, 8,  bf16, fp32,  "f32", "bf16", 4, 2, 1, "f", "r") \
  DENSE(MmaBf16K16,       "BF16",            80, "m16n8k16", 16, 16, bf16, fp32,  "f32", "bf16", 4, 4, 2, "f", "r") \
  DENSE(MmaInt8K16,       "INT8",            80, "m16n8k16", 16, 16, int8, int32, "s32", "s8",   4, 2, 1, "r", "r") \
  DENSE(MmaInt8K32,       "INT8",            80, "m16n8k32", 16, 32, int8, int32, "s32", "s8",   4, 4, 2, "r", "r") \
  SPARSE(MmaSparseTf32,   "TF32 sparse",     80, "m16n8k16", 16, 16, tf32, fp32,  "f32", "tf32", 4, 4, 4, "f", "r") \
  SPARSE(MmaSparseFp16,   "FP16 sparse",     80, "m16n8k32", 16, 32, fp16, fp32,  "f32", "f16",  4, 4, 4, "f", "r") \
  SPARSE(MmaSparseBf16,   "BF16 sparse",     80, "m16n8k32", 16, 32, bf16, fp32,  "f32", "bf16", 4, 4, 4, "f", "r") \
  SPARSE(MmaSparseInt8,   "INT8 sparse",     80, "m16n8k64", 16, 64, int8, int32, "s32", "s8",   4, 4, 4, "r", "r")
#define MATRIX_RATE_MMA_FP8_TABLE(DENSE) \
  DENSE(MmaE4m3Once,      "FP8 E4M3",        89, "m16n8k32", 16, 32, e4m3, fp32,  "f32", "e4m3", 4, 4, 2, "f", "r") \
  DENSE(MmaE5m2Once,      "FP8 E5M2",        89, "m16n8k32", 16, 32, e5m2, fp32,  "f32", "e5m2", 4, 4, 2, "f", "r")
// clang-format on

#if defined(__CUDA_ARCH__)
#define MATRIX_RATE_REGISTERS_1(letter, x) letter(x.value[0])
#define MATRIX_RATE_REGISTERS_2(letter, x) MATRIX_RATE_REGISTERS_1(letter, x), letter(x.value[1])
#define MATRIX_RATE_REGISTERS_4(letter, x) \
  MATRIX_RATE_REGISTERS_2(letter, x), letter(x.value[2]), letter(x.value[3])
#define MATRIX_RATE_REGISTERS_8(letter, x)                                                        \
  MATRIX_RATE_REGISTERS_4(letter, x), letter(x.value[4]), letter(x.value[5]), letter(x.value[6]), \
      letter(x.value[7])
// The operands' numbers in the text, by the registers of sums, A and B.
#define MATRIX_RATE_MMA_2_1_1 " {%0, %1}, {%2}, {%3}, {%0, %1}"
#define MATRIX_RATE_MMA_2_4_2 " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1}"
#define MATRIX_RATE_MMA_4_2_1 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3}"
#define MATRIX_RATE_MMA_4_4_2 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}"
#define MATRIX_RATE_MMA_4_4_4 \
  " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}"
#define MATRIX_RATE_MMA_4_8_4                                                     \
  " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, " \
  "{%0, %1, %2, %3}"
// CUDA 12.4's assembler has no word for the metadata's order, which it takes to be as it is here.
#if __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 5
#define MATRIX_RATE_MMA_SP "mma.sp"
#else
#define MATRIX_RATE_MMA_SP "mma.sp::ordered_metadata"
#endif
#define MATRIX_RATE_MMA_ASM(type, text, sums, of_a, of_b, of_sum, of_factor, ...) \
  if constexpr (10 * type::since <= __CUDA_ARCH__) {                              \
    asm volatile(text                                                             \
                 : MATRIX_RATE_REGISTERS_##sums("+" of_sum, d)                    \
                 : MATRIX_RATE_REGISTERS_##of_a(of_factor, a),                    \
                   MATRIX_RATE_REGISTERS_##of_b(of_factor, b) __VA_ARGS__);       \
  }
#else
#define MATRIX_RATE_MMA_ASM(type, ...) multiply_elsewhere<type>(d, a, b);
#endif
#define MATRIX_RATE_MMA(type, its_format, its_name, capability, m_rows, its_k, factor, sum,   \
                        is_sparse, ...)                                                       \
  struct type : MmaShape<factor, sum, m_rows, its_k, is_sparse> {                             \
    static constexpr const char* format = its_format;                                         \
    static constexpr const char* name = its_name;                                             \
    static constexpr unsigned since = capability;                                             \
    __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a, \
                                        [[maybe_unused]] const B& b) {                        \
      MATRIX_RATE_MMA_ASM(type, __VA_ARGS__)                                                  \
    }                                                                                         \
  };
#define MATRIX_RATE_MMA_DENSE(type, format, capability, shape, m_rows, k, factor, sum, ptx_sum, \
                              ptx, sums, of_a, of_b, of_sum, of_factor)                         \
  MATRIX_RATE_MMA(type, format, "mma.sync " shape, capability, m_rows, k, factor, sum, false,   \
                  "mma.sync.aligned." shape ".row.col." ptx_sum "." ptx "." ptx                 \
                  "." ptx_sum MATRIX_RATE_MMA_##sums##_##of_a##_##of_b ";",                     \
                  sums, of_a, of_b, of_sum, of_factor)
#define MATRIX_RATE_MMA_SPARSE(type, format, capability, shape, m_rows, k, factor, sum, ptx_sum, \
                               ptx, sums, of_a, of_b, of_sum, of_factor)                         \
  MATRIX_RATE_MMA(type, format, "mma.sp " shape, capability, m_rows, k, factor, sum, true,       \
                  MATRIX_RATE_MMA_SP ".sync.aligned." shape ".row.col." ptx_sum "." ptx "." ptx  \
                                     "." ptx_sum MATRIX_RATE_MMA_##sums##_##of_a##_##of_b        \
                  ", %12, 0x0;",                                                                 \
                  sums, of_a, of_b, of_sum, of_factor, , "r"(metadata))
MATRIX_RATE_MMA_TABLE(MATRIX_RATE_MMA_DENSE, MATRIX_RATE_MMA_SPARSE)
MATRIX_RATE_MMA_FP8_TABLE(MATRIX_RATE_MMA_DENSE)

/// FP8 has no instruction on sm_90: the assembler converts to halves, multiplies those, and adds
/// the product to the sums. A product of operands that stay as they are it computes once, and only
/// additions would be measured. So B is another one each time, for all that it knows: while the sum
/// is a number nothing is added.
template <typename Once>
struct MmaOfNewOperands : Once {
  __device__ static void multiply_add(typename Once::Sum& d, const typename Once::A& a,
                                      typename Once::B b) {
#if defined(__CUDA_ARCH__)
    const unsigned is_no_number = d.value[0] == d.value[0] ? 0 : 1;
    b.value[0] += is_no_number;
    b.value[1] += is_no_number;
#endif
    Once::multiply_add(d, a, b);
  }
};

using MmaCodes = Codes<void MATRIX_RATE_MMA_TABLE(MATRIX_RATE_AND, MATRIX_RATE_AND),
                       MmaOfNewOperands<MmaE4m3Once>, MmaOfNewOperands<MmaE5m2Once>>;

}  // namespace matrix_rate
