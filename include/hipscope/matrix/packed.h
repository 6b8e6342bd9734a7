// Packed and dot instructions of the vector units, beside which matrix instructions stand: each
// lane multiplies for itself. A wave's packed FMA is a product of a column by one number, a dot
// product one of rows by a column.
#pragma once

#include "hipscope/matrix/mfma.h"
#include "hipscope/matrix/registers.h"

namespace matrix_rate {

// Dot products: gfx906 and later, of signed bytes on gfx11 and gfx12 by another name; and not
// gfx1010.
#if defined(__gfx906__) || defined(__gfx1030__) || MATRIX_RATE_CDNA > 0
#define MATRIX_RATE_DOT 1
#elif defined(__GFX11__) || defined(__GFX12__)
#define MATRIX_RATE_DOT 2
#else
#define MATRIX_RATE_DOT 0
#endif

/// Each of 32 lanes has `Rows` rows of A, and all the same column of B, of `K` elements.
template <const Format& factor, const Format& sum, unsigned Rows, unsigned K>
struct PackedShape : FormatsOf<factor, sum> {
  static constexpr unsigned m = 32 * Rows;
  static constexpr unsigned n = 1;
  static constexpr unsigned k = K;
  static constexpr unsigned lanes = 32;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = Sparsity::dense;
  static constexpr unsigned a_elements = Rows * K;
  static constexpr unsigned b_elements = Rows * K;
  static constexpr unsigned sum_elements = Rows;
  using A = RegistersOf<factor, a_elements>;
  using B = A;
  using Sum = RegistersOf<sum, sum_elements>;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    return {Rows * lane + element / K, element % K};
  }
  __host__ __device__ static Place b_place(unsigned /*lane*/, unsigned element) {
    return {element % K, 0};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    return {Rows * lane + element, 0};
  }
  static constexpr const char* family = vector_family;
  static constexpr unsigned peak_groups = 16;
  static constexpr unsigned since = 0;
  static constexpr unsigned until = every_generation;
};

/// For all that the compiler knows, changes the sum: so that no two of them go into one
/// instruction.
template <typename T>
__device__ void keep_apart([[maybe_unused]] T& sum) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(sum));
#endif
}

/// What the others are to be held against: one FMA for each lane.
struct VectorFp32 : PackedShape<fp32, fp32, 1, 1> {
  static constexpr const char* format = "FP32 vector";
  static constexpr const char* name = "FMA";
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if defined(__GFX11__) || defined(__GFX12__)
    // Of FMAs that clang chooses it makes dual instructions in the end, however far apart they are.
    asm("v_fma_f32 %0, %1, %2, %0" : "+v"(d.value[0]) : "v"(a.value[0]), "v"(b.value[0]));
#else
    d.value[0] = fmaf(a.value[0], b.value[0], d.value[0]);
    keep_apart(d.value[0]);
#endif
  }
};

struct VectorFp64 : PackedShape<fp64, fp64, 1, 1> {
  static constexpr const char* format = "FP64 vector";
  static constexpr const char* name = "FMA";
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
    d.value[0] = fma(a.value[0], b.value[0], d.value[0]);
    keep_apart(d.value[0]);
  }
};

/// Two FP16 FMAs in a register; all three operands are registers of their own.
struct PackedFp16 : PackedShape<fp16, fp16, 2, 1> {
  static constexpr const char* format = "FP16 packed";
  static constexpr const char* name = "FMA of pairs";
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 530
    asm volatile("fma.rn.f16x2 %0, %1, %2, %0;"
                 : "+r"(d.value[0])
                 : "r"(a.value[0]), "r"(b.value[0]));
#elif defined(__HIP_DEVICE_COMPILE__)
    asm("v_pk_fma_f16 %0, %1, %2, %0" : "+v"(d.value[0]) : "v"(a.value[0]), "v"(b.value[0]));
#else
    multiply_elsewhere<PackedFp16>(d, a, b);
#endif
  }
};

struct PackedBf16 : PackedShape<bf16, bf16, 2, 1> {
  static constexpr const char* format = "BF16 packed";
  static constexpr const char* name = "FMA of pairs";
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 800
    asm volatile("fma.rn.bf16x2 %0, %1, %2, %0;"
                 : "+r"(d.value[0])
                 : "r"(a.value[0]), "r"(b.value[0]));
#else
    multiply_elsewhere<PackedBf16>(d, a, b);
#endif
  }
};

/// Two FP32 FMAs in two registers: CDNA 2 and later.
struct PackedFp32 : PackedShape<fp32, fp32, 2, 1> {
  static constexpr const char* format = "FP32 packed";
  static constexpr const char* name = "FMA of pairs";
  static constexpr unsigned since = 2;  // CDNA
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_CDNA >= 2
    auto sum = __builtin_bit_cast(Vector<float, 2>, d);
    asm("v_pk_fma_f32 %0, %1, %2, %0"
        : "+v"(sum)
        : "v"(__builtin_bit_cast(Vector<float, 2>, a)),
          "v"(__builtin_bit_cast(Vector<float, 2>, b)));
    d = __builtin_bit_cast(Sum, sum);
#else
    multiply_elsewhere<PackedFp32>(d, a, b);
#endif
  }
};

/// d + a0 b0 + a1 b1 of halves, the sum in FP32: AMD, from gfx906 on.
struct DotFp16 : PackedShape<fp16, fp32, 1, 2> {
  static constexpr const char* format = "FP16 dot";
  static constexpr const char* name = "of 2";
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_DOT > 0
    d.value[0] =
        __builtin_amdgcn_fdot2(__builtin_bit_cast(Vector<_Float16, 2>, a),
                               __builtin_bit_cast(Vector<_Float16, 2>, b), d.value[0], false);
#else
    multiply_elsewhere<DotFp16>(d, a, b);
#endif
  }
};

/// The same of four bytes, the sum in INT32.
struct DotInt8 : PackedShape<int8, int32, 1, 4> {
  static constexpr const char* format = "INT8 dot";
  static constexpr const char* name = "of 4";
  __device__ static void multiply_add(Sum& d, const A& a, const B& b) {
#if MATRIX_RATE_SM >= 610
    asm volatile("dp4a.s32.s32 %0, %1, %2, %0;"
                 : "+r"(d.value[0])
                 : "r"(a.value[0]), "r"(b.value[0]));
#elif MATRIX_RATE_DOT == 1
    d.value[0] = __builtin_amdgcn_sdot4(static_cast<int>(a.value[0]), static_cast<int>(b.value[0]),
                                        d.value[0], false);
#elif MATRIX_RATE_DOT == 2
    d.value[0] = __builtin_amdgcn_sudot4(true, static_cast<int>(a.value[0]), true,
                                         static_cast<int>(b.value[0]), d.value[0], false);
#else
    multiply_elsewhere<DotInt8>(d, a, b);
#endif
  }
};

using NvidiaVectorCodes = Codes<void, VectorFp32, VectorFp64, PackedFp16, PackedBf16, DotInt8>;
using AmdVectorCodes = Codes<void, VectorFp32, VectorFp64, PackedFp16>;
using PackedFp32Code = Codes<void, PackedFp32>;
using AmdDotCodes = Codes<void, DotFp16, DotInt8>;

}  // namespace matrix_rate
