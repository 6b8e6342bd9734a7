// NVIDIA's mma.sync: a warp multiplies matrices that lie in its registers, and waits for the result
// as for that of any other instruction. PTX's manual (9.7.14, "Warp level matrix instructions") has
// pictures of the layouts: with g = lane / 4 and t = lane % 4 a register of A holds neighbours
// along k of row g or g + 8, one of B the same of column g, and the sums are columns 2 t and 2 t +
// 1 of these rows.
#pragma once

#include "../registers.h"

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

}  // namespace matrix_rate
