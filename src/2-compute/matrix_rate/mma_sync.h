// NVIDIA's mma.sync: a warp multiplies matrices that lie in its registers, and waits for the result
// as for that of any other instruction. PTX's manual (9.7.14, "Warp level matrix instructions") has
// pictures of the layouts: with g = lane / 4 and t = lane % 4 a register of A holds neighbours
// along k of row g or g + 8, one of B the same of column g, and the sums are columns 2 t and 2 t +
// 1 of these rows.
#pragma once

#include "registers.h"

namespace matrix_rate {

/// Shape and layouts of an m16 n8 instruction (m8 for FP64's oldest). `PerRegister` elements are
/// side by side in a register: 4 / size of one, and of FP64, whose register is a pair, 1.
template <unsigned M, unsigned K, unsigned PerRegister, Sparsity kept = Sparsity::dense>
struct MmaShape {
  static constexpr unsigned m = M;
  static constexpr unsigned n = 8;
  static constexpr unsigned k = K;
  static constexpr unsigned lanes = 32;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = kept;
  static constexpr unsigned a_elements = M * (kept == Sparsity::dense ? K : K / 2) / lanes;
  static constexpr unsigned b_elements = K * n / lanes;
  static constexpr unsigned sum_elements = M * n / lanes;
  static constexpr unsigned rows_of_registers = M / 8;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    const unsigned reg = element / PerRegister;
    return {lane / 4 + 8 * (reg % rows_of_registers), 4 * PerRegister * (reg / rows_of_registers) +
                                                          PerRegister * (lane % 4) +
                                                          element % PerRegister};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    const unsigned reg = element / PerRegister;
    return {4 * PerRegister * reg + PerRegister * (lane % 4) + element % PerRegister, lane / 4};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    return {lane / 4 + 8 * (element / 2), 2 * (lane % 4) + element % 2};
  }
  static constexpr const char* family = "mma.sync";
  static constexpr unsigned peak_groups = 16;
};

// Assembly takes only literals: neither the opcode nor the number of registers can be an argument
// of a function.
#define MATRIX_RATE_MMA_8_4(opcode, type, d, a, b)                                            \
  asm volatile(opcode                                                                         \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "                      \
               "{%12, %13, %14, %15}, {%0, %1, %2, %3};"                                      \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3])               \
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), \
                 "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]))
#define MATRIX_RATE_MMA_4_2(opcode, type, operand, d, a, b)                                 \
  asm volatile(opcode " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"    \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3])             \
               : operand(a[0]), operand(a[1]), operand(a[2]), operand(a[3]), operand(b[0]), \
                 operand(b[1]))
#define MATRIX_RATE_MMA_2_1(opcode, type, operand, d, a, b)                     \
  asm volatile(opcode " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"    \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3]) \
               : operand(a[0]), operand(a[1]), operand(b[0]))
// CUDA 12.4's assembler has no word for the metadata's order, which it takes to be as it is here.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 5
#define MATRIX_RATE_MMA_SP "mma.sp"
#else
#define MATRIX_RATE_MMA_SP "mma.sp::ordered_metadata"
#endif
#define MATRIX_RATE_MMA_SPARSE(opcode, type, d, a, b, metadata)                               \
  asm volatile(opcode                                                                         \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, "                    \
               "{%0, %1, %2, %3}, %12, 0x0;"                                                  \
               : "+" type(d[0]), "+" type(d[1]), "+" type(d[2]), "+" type(d[3])               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), \
                 "r"(b[3]), "r"(metadata))

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

struct MmaSparseTf32 : MmaShape<16, 16, 1, Sparsity::one_of_two> {
  static constexpr const char* format = "TF32 sparse";
  static constexpr const char* name = "mma.sp m16n8k16";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
                           "f", d.value, a.value, b.value, sparse_metadata_of_pairs);
#else
    multiply_elsewhere<MmaSparseTf32>(d, a, b);
#endif
  }
};

struct MmaSparseFp16 : MmaShape<16, 32, 2, Sparsity::two_of_four> {
  static constexpr const char* format = "FP16 sparse";
  static constexpr const char* name = "mma.sp m16n8k32";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "f",
                           d.value, a.value, b.value, sparse_metadata);
#else
    multiply_elsewhere<MmaSparseFp16>(d, a, b);
#endif
  }
};

struct MmaSparseBf16 : MmaShape<16, 32, 2, Sparsity::two_of_four> {
  static constexpr const char* format = "BF16 sparse";
  static constexpr const char* name = "mma.sp m16n8k32";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32",
                           "f", d.value, a.value, b.value, sparse_metadata);
#else
    multiply_elsewhere<MmaSparseBf16>(d, a, b);
#endif
  }
};

struct MmaSparseInt8 : MmaShape<16, 64, 4, Sparsity::two_of_four> {
  static constexpr const char* format = "INT8 sparse";
  static constexpr const char* name = "mma.sp m16n8k64";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  static constexpr unsigned since = 80;
  using A = Registers<unsigned, 4>;
  using B = Registers<unsigned, 4>;
  using Sum = Registers<int, 4>;
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    MATRIX_RATE_MMA_SPARSE(MATRIX_RATE_MMA_SP ".sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", "r",
                           d.value, a.value, b.value, sparse_metadata);
#else
    multiply_elsewhere<MmaSparseInt8>(d, a, b);
#endif
  }
};

}  // namespace matrix_rate
