// Hopper's wgmma: a group of four warps multiplies a matrix of 64 rows (16 for each warp) by one of
// up to 256 columns, of which B comes from LDS (NVIDIA: shared memory), and A too or from
// registers. It goes on by itself: only wait() makes its sums readable. Needs sm_90a. PTX's
// manual, 9.7.15 ("Asynchronous warpgroup level matrix instructions"), has layouts and descriptors.
//
// In LDS a matrix is made of cores of 8 rows of 16 bytes each (k along a row), without a swizzle:
// here those of one row of cores side by side, and the rows of cores one after the other.
#pragma once

#include <type_traits>

#include "hipscope/matrix/mma_sync.h"

namespace matrix_rate {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define MATRIX_RATE_HAS_WGMMA 1
#else
#define MATRIX_RATE_HAS_WGMMA 0
#endif

constexpr unsigned core_rows = 8;
constexpr unsigned core_row_bytes = 16;
constexpr unsigned core_bytes = core_rows * core_row_bytes;

/// The row and the place along k of element `element` of a matrix in LDS, whose rows have
/// `row_bytes` bytes.
__host__ __device__ constexpr Place place_in_cores(unsigned element, unsigned bits,
                                                   unsigned row_bytes) {
  const unsigned byte = element * bits / 8;
  const unsigned row_of_cores = byte / (core_rows * row_bytes);
  const unsigned in_row = byte % (core_rows * row_bytes);
  const unsigned row = in_row % core_bytes / core_row_bytes;
  const unsigned column_byte = in_row / core_bytes * core_row_bytes + in_row % core_row_bytes;
  return {core_rows * row_of_cores + row, column_byte * 8 / bits};
}

/// Shape and layouts. `row_bytes` bytes along k has B; A has as many, or half as many if it is
/// sparse.
template <const Format& factor, const Format& sum, unsigned N, bool FromRegisters, bool IsSparse>
struct WgmmaShape : FormatsOf<factor, sum> {
  static constexpr unsigned row_bytes = IsSparse ? 64 : 32;
  static constexpr unsigned a_row_bytes = 32;
  static constexpr unsigned m = 64;
  static constexpr unsigned n = N;
  static constexpr unsigned k = row_bytes * 8 / factor.bits;
  static constexpr unsigned lanes = 128;
  static constexpr bool a_in_registers = FromRegisters;
  static constexpr unsigned a_lanes = FromRegisters ? lanes : 1;
  static constexpr unsigned b_lanes = 1;
  static constexpr Sparsity sparsity = IsSparse ? sparsity_of(factor) : Sparsity::dense;
  static constexpr unsigned metadata = metadata_of(sparsity);
  static constexpr unsigned a_elements = m * a_row_bytes * 8 / factor.bits / a_lanes;
  static constexpr unsigned b_elements = N * k;
  static constexpr unsigned sum_elements = m * N / lanes;
  /// Registers, or what tells where the matrix in LDS is.
  using A = std::conditional_t<FromRegisters, Registers<unsigned, 4>, std::uint64_t>;
  using B = std::uint64_t;
  using Sum = RegistersOf<sum, sum_elements>;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    if constexpr (FromRegisters) {
      const Place in_warp = MmaShape<factor, sum, 16, k>::a_place(lane % 32, element);
      return {16 * (lane / 32) + in_warp.row, in_warp.column};
    } else {
      return place_in_cores(element, factor.bits, a_row_bytes);
    }
  }
  /// B is in LDS column by column, so that k runs along its rows there.
  __host__ __device__ static Place b_place(unsigned /*lane*/, unsigned element) {
    const Place place = place_in_cores(element, factor.bits, row_bytes);
    return {place.column, place.row};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    return {16 * (lane / 32) + lane % 32 / 4 + 8 * (element / 2 % 2),
            8 * (element / 4) + 2 * (lane % 4) + element % 2};
  }
  static constexpr unsigned peak_groups = 2;
  static constexpr const char* family = "wgmma";
  static constexpr unsigned since = 90;
  static constexpr unsigned until = 90;
};

/// What the instruction takes for a matrix in LDS: its address, the distance of two cores along k,
/// and that of two along the rows, all in 16 bytes.
__device__ inline std::uint64_t matrix_descriptor([[maybe_unused]] const void* lds,
                                                  [[maybe_unused]] unsigned row_bytes) {
#if defined(__CUDA_ARCH__)
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(lds));
  return (address >> 4 & 0x3FFF) | std::uint64_t{core_bytes >> 4} << 16 |
         std::uint64_t{core_rows * row_bytes >> 4} << 32;
#else
  return 0;
#endif
}

/// Before the first of a row of instructions: what was stored to their registers is there.
__device__ inline void wgmma_fence() {
#if MATRIX_RATE_HAS_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Closes a row of instructions, and waits until no more than `Pending` rows are in flight.
template <unsigned Pending>
__device__ void wgmma_wait() {
#if MATRIX_RATE_HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#endif
}

/// The operands of `Pairs` pairs in LDS, as all groups of a block read them.
template <typename Code, unsigned Pairs>
struct GroupOperands {
  static constexpr unsigned a_quads =
      Code::a_in_registers ? 0 : Code::m * Code::a_row_bytes / sizeof(uint4);
  static constexpr unsigned b_quads = Code::n * Code::row_bytes / sizeof(uint4);
  static constexpr unsigned quads = a_quads + b_quads;
  // compute-sanitizer takes an instruction with A in registers for one that reads 2 KiB of it from
  // where LDS begins: at least that much there is.
  static constexpr unsigned least_quads = 128 / Pairs;
  alignas(core_bytes) uint4 values[Pairs][quads > least_quads ? quads : least_quads];

  /// All threads of a block together.
  __device__ void fill(const void* a, const void* b) {
    for (unsigned i = threadIdx.x; i < Pairs * quads; i += blockDim.x) {
      const unsigned pair = i / quads;
      const unsigned quad = i % quads;
      if (a_quads == 0 || quad >= a_quads) {
        values[pair][quad] = static_cast<const uint4*>(b)[pair * b_quads + quad - a_quads];
      } else if constexpr (a_quads > 0) {
        values[pair][quad] = static_cast<const uint4*>(a)[pair * a_quads + quad];
      }
    }
#if MATRIX_RATE_HAS_WGMMA
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    __syncthreads();
  }

  [[nodiscard]] __device__ typename Code::A a_of([[maybe_unused]] const void* a, unsigned pair,
                                                 [[maybe_unused]] unsigned lane) const {
    if constexpr (Code::a_in_registers) {
      return static_cast<const typename Code::A*>(a)[pair * Code::lanes + lane];
    } else {
      return matrix_descriptor(values[pair], Code::a_row_bytes);
    }
  }

  [[nodiscard]] __device__ std::uint64_t b_of(unsigned pair) const {
    return matrix_descriptor(values[pair] + a_quads, Code::row_bytes);
  }

  __device__ void multiply_add(typename Code::Sum& sum, const typename Code::A& a, std::uint64_t b,
                               [[maybe_unused]] unsigned pair) const {
#if defined(HIPSCOPE_BACKEND_HOST)
    model<Code>(sum, a, b, Code::a_in_registers ? nullptr : values[pair], values[pair] + a_quads);
#else
    Code::multiply_add(sum, a, b);
#endif
  }
};

// The instructions, as rows: type; format in results; where A is; shape; columns; factors, sums,
// and the types of sums, A and B in PTX; registers of the sums, and the letter by which inline
// assembly calls them; and the literals after the operands: that D is added to, and then, where the
// format has them, signs and transpositions.
// clang-format off
#define MATRIX_RATE_WGMMA_TABLE(ROW) \
  ROW(WgmmaTf32N128,            "TF32",            LDS,              "m64n128k8",  128, tf32, fp32,  "f32.tf32.tf32", 64,  "f", ", 1, 1") \
  ROW(WgmmaTf32N256,            "TF32",            LDS,              "m64n256k8",  256, tf32, fp32,  "f32.tf32.tf32", 128, "f", ", 1, 1") \
  ROW(WgmmaTf32RegistersN256,   "TF32",            REGISTERS,        "m64n256k8",  256, tf32, fp32,  "f32.tf32.tf32", 128, "f", ", 1, 1") \
  ROW(WgmmaFp16N8,              "FP16",            LDS,              "m64n8k16",   8,   fp16, fp32,  "f32.f16.f16",   4,   "f", ", 1, 1, 0, 0") \
  ROW(WgmmaFp16RegistersN8,     "FP16",            REGISTERS,        "m64n8k16",   8,   fp16, fp32,  "f32.f16.f16",   4,   "f", ", 1, 1, 0") \
  ROW(WgmmaFp16N64,             "FP16",            LDS,              "m64n64k16",  64,  fp16, fp32,  "f32.f16.f16",   32,  "f", ", 1, 1, 0, 0") \
  ROW(WgmmaFp16RegistersN64,    "FP16",            REGISTERS,        "m64n64k16",  64,  fp16, fp32,  "f32.f16.f16",   32,  "f", ", 1, 1, 0") \
  ROW(WgmmaFp16N128,            "FP16",            LDS,              "m64n128k16", 128, fp16, fp32,  "f32.f16.f16",   64,  "f", ", 1, 1, 0, 0") \
  ROW(WgmmaFp16N256,            "FP16",            LDS,              "m64n256k16", 256, fp16, fp32,  "f32.f16.f16",   128, "f", ", 1, 1, 0, 0") \
  ROW(WgmmaFp16RegistersN256,   "FP16",            REGISTERS,        "m64n256k16", 256, fp16, fp32,  "f32.f16.f16",   128, "f", ", 1, 1, 0") \
  ROW(WgmmaFp16HalfSums,        "FP16, FP16 sums", LDS,              "m64n256k16", 256, fp16, fp16,  "f16.f16.f16",   64,  "r", ", 1, 1, 0, 0") \
  ROW(WgmmaBf16N128,            "BF16",            LDS,              "m64n128k16", 128, bf16, fp32,  "f32.bf16.bf16", 64,  "f", ", 1, 1, 0, 0") \
  ROW(WgmmaBf16N256,            "BF16",            LDS,              "m64n256k16", 256, bf16, fp32,  "f32.bf16.bf16", 128, "f", ", 1, 1, 0, 0") \
  ROW(WgmmaBf16RegistersN256,   "BF16",            REGISTERS,        "m64n256k16", 256, bf16, fp32,  "f32.bf16.bf16", 128, "f", ", 1, 1, 0") \
  ROW(WgmmaE4m3N128,            "FP8 E4M3",        LDS,              "m64n128k32", 128, e4m3, fp32,  "f32.e4m3.e4m3", 64,  "f", ", 1, 1") \
  ROW(WgmmaE4m3N256,            "FP8 E4M3",        LDS,              "m64n256k32", 256, e4m3, fp32,  "f32.e4m3.e4m3", 128, "f", ", 1, 1") \
  ROW(WgmmaE4m3RegistersN256,   "FP8 E4M3",        REGISTERS,        "m64n256k32", 256, e4m3, fp32,  "f32.e4m3.e4m3", 128, "f", ", 1, 1") \
  ROW(WgmmaE5m2N128,            "FP8 E5M2",        LDS,              "m64n128k32", 128, e5m2, fp32,  "f32.e5m2.e5m2", 64,  "f", ", 1, 1") \
  ROW(WgmmaE5m2N256,            "FP8 E5M2",        LDS,              "m64n256k32", 256, e5m2, fp32,  "f32.e5m2.e5m2", 128, "f", ", 1, 1") \
  ROW(WgmmaE5m2RegistersN256,   "FP8 E5M2",        REGISTERS,        "m64n256k32", 256, e5m2, fp32,  "f32.e5m2.e5m2", 128, "f", ", 1, 1") \
  ROW(WgmmaInt8N128,            "INT8",            LDS,              "m64n128k32", 128, int8, int32, "s32.s8.s8",     64,  "r", "") \
  ROW(WgmmaInt8N256,            "INT8",            LDS,              "m64n256k32", 256, int8, int32, "s32.s8.s8",     128, "r", "") \
  ROW(WgmmaInt8RegistersN256,   "INT8",            REGISTERS,        "m64n256k32", 256, int8, int32, "s32.s8.s8",     128, "r", "") \
  ROW(WgmmaSparseTf32,          "TF32 sparse",     SPARSE_LDS,       "m64n256k16", 256, tf32, fp32,  "f32.tf32.tf32", 128, "f", ", 1, 1") \
  ROW(WgmmaSparseTf32Registers, "TF32 sparse",     SPARSE_REGISTERS, "m64n256k16", 256, tf32, fp32,  "f32.tf32.tf32", 128, "f", ", 1, 1") \
  ROW(WgmmaSparseFp16,          "FP16 sparse",     SPARSE_LDS,       "m64n256k32", 256, fp16, fp32,  "f32.f16.f16",   128, "f", ", 1, 1, 0, 0") \
  ROW(WgmmaSparseFp16Registers, "FP16 sparse",     SPARSE_REGISTERS, "m64n256k32", 256, fp16, fp32,  "f32.f16.f16",   128, "f", ", 1, 1, 0") \
  ROW(WgmmaSparseBf16,          "BF16 sparse",     SPARSE_LDS,       "m64n256k32", 256, bf16, fp32,  "f32.bf16.bf16", 128, "f", ", 1, 1, 0, 0") \
  ROW(WgmmaSparseBf16Registers, "BF16 sparse",     SPARSE_REGISTERS, "m64n256k32", 256, bf16, fp32,  "f32.bf16.bf16", 128, "f", ", 1, 1, 0") \
  ROW(WgmmaSparseE4m3,          "FP8 E4M3 sparse", SPARSE_LDS,       "m64n256k64", 256, e4m3, fp32,  "f32.e4m3.e4m3", 128, "f", ", 1, 1") \
  ROW(WgmmaSparseE4m3Registers, "FP8 E4M3 sparse", SPARSE_REGISTERS, "m64n256k64", 256, e4m3, fp32,  "f32.e4m3.e4m3", 128, "f", ", 1, 1") \
  ROW(WgmmaSparseE5m2,          "FP8 E5M2 sparse", SPARSE_LDS,       "m64n256k64", 256, e5m2, fp32,  "f32.e5m2.e5m2", 128, "f", ", 1, 1") \
  ROW(WgmmaSparseE5m2Registers, "FP8 E5M2 sparse", SPARSE_REGISTERS, "m64n256k64", 256, e5m2, fp32,  "f32.e5m2.e5m2", 128, "f", ", 1, 1") \
  ROW(WgmmaSparseInt8,          "INT8 sparse",     SPARSE_LDS,       "m64n256k64", 256, int8, int32, "s32.s8.s8",     128, "r", "") \
  ROW(WgmmaSparseInt8Registers, "INT8 sparse",     SPARSE_REGISTERS, "m64n256k64", 256, int8, int32, "s32.s8.s8",     128, "r", "")
// clang-format on

// A macro, since assembly takes only literals.
#if MATRIX_RATE_HAS_WGMMA
// The sums' 4, 32, 64 and 128 registers in the text, by tens and eights, and as operands.
#define MATRIX_RATE_FIVE(t, a, b, c, d, e) \
  "%" #t #a ", %" #t #b ", %" #t #c ", %" #t #d ", %" #t #e ", "
#define MATRIX_RATE_TEN(t) MATRIX_RATE_FIVE(t, 0, 1, 2, 3, 4) MATRIX_RATE_FIVE(t, 5, 6, 7, 8, 9)
#define MATRIX_RATE_TENS_2 MATRIX_RATE_TEN() MATRIX_RATE_TEN(1) MATRIX_RATE_TEN(2)
#define MATRIX_RATE_TENS_5 \
  MATRIX_RATE_TENS_2 MATRIX_RATE_TEN(3) MATRIX_RATE_TEN(4) MATRIX_RATE_TEN(5)
#define MATRIX_RATE_TENS_8 \
  MATRIX_RATE_TENS_5 MATRIX_RATE_TEN(6) MATRIX_RATE_TEN(7) MATRIX_RATE_TEN(8)
#define MATRIX_RATE_TENS_11 \
  MATRIX_RATE_TENS_8 MATRIX_RATE_TEN(9) MATRIX_RATE_TEN(10) MATRIX_RATE_TEN(11)
#define MATRIX_RATE_LIST_4 "{%0, %1, %2, %3}"
#define MATRIX_RATE_LIST_32 "{" MATRIX_RATE_TENS_2 "%30, %31}"
#define MATRIX_RATE_LIST_64 "{" MATRIX_RATE_TENS_5 "%60, %61, %62, %63}"
#define MATRIX_RATE_LIST_128 \
  "{" MATRIX_RATE_TENS_11 "%120, %121, %122, %123, %124, %125, %126, %127}"
#define MATRIX_RATE_4_SUMS(letter, i) \
  letter(d.value[i]), letter(d.value[i + 1]), letter(d.value[i + 2]), letter(d.value[i + 3])
#define MATRIX_RATE_16_SUMS(letter, i)                              \
  MATRIX_RATE_4_SUMS(letter, i), MATRIX_RATE_4_SUMS(letter, i + 4), \
      MATRIX_RATE_4_SUMS(letter, i + 8), MATRIX_RATE_4_SUMS(letter, i + 12)
#define MATRIX_RATE_SUMS_4(letter) MATRIX_RATE_4_SUMS(letter, 0)
#define MATRIX_RATE_SUMS_32(letter) MATRIX_RATE_16_SUMS(letter, 0), MATRIX_RATE_16_SUMS(letter, 16)
#define MATRIX_RATE_SUMS_64(letter) \
  MATRIX_RATE_SUMS_32(letter), MATRIX_RATE_16_SUMS(letter, 32), MATRIX_RATE_16_SUMS(letter, 48)
#define MATRIX_RATE_SUMS_128(letter)                                                             \
  MATRIX_RATE_SUMS_64(letter), MATRIX_RATE_16_SUMS(letter, 64), MATRIX_RATE_16_SUMS(letter, 80), \
      MATRIX_RATE_16_SUMS(letter, 96), MATRIX_RATE_16_SUMS(letter, 112)
// What follows them in the text: A and B, and of a sparse A the metadata.
#define MATRIX_RATE_LDS_4 "%4, %5"
#define MATRIX_RATE_LDS_32 "%32, %33"
#define MATRIX_RATE_LDS_64 "%64, %65"
#define MATRIX_RATE_LDS_128 "%128, %129"
#define MATRIX_RATE_SPARSE_LDS_128 "%128, %129, %130, 0"
#define MATRIX_RATE_REGISTERS_OF_A_4 "{%4, %5, %6, %7}, %8"
#define MATRIX_RATE_REGISTERS_OF_A_32 "{%32, %33, %34, %35}, %36"
#define MATRIX_RATE_REGISTERS_OF_A_128 "{%128, %129, %130, %131}, %132"
#define MATRIX_RATE_SPARSE_REGISTERS_128 "{%128, %129, %130, %131}, %132, %133, 0"
#define MATRIX_RATE_WGMMA_ASM(operation, ptx, sums, letter, operands, ending, ...)       \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; " operation ".sync.aligned." ptx \
               " " MATRIX_RATE_LIST_##sums ", " operands ", add" ending ";}"             \
               : MATRIX_RATE_SUMS_##sums("+" letter)                                     \
               : __VA_ARGS__);
#define MATRIX_RATE_WGMMA_LDS(ptx, sums, letter, ending)                                      \
  MATRIX_RATE_WGMMA_ASM("wgmma.mma_async", ptx, sums, letter, MATRIX_RATE_LDS_##sums, ending, \
                        "l"(a), "l"(b))
#define MATRIX_RATE_WGMMA_REGISTERS(ptx, sums, letter, ending)                                   \
  MATRIX_RATE_WGMMA_ASM("wgmma.mma_async", ptx, sums, letter, MATRIX_RATE_REGISTERS_OF_A_##sums, \
                        ending, MATRIX_RATE_REGISTERS_4("r", a), "l"(b))
#define MATRIX_RATE_WGMMA_SPARSE_LDS(ptx, sums, letter, ending)                                 \
  MATRIX_RATE_WGMMA_ASM("wgmma.mma_async.sp", ptx, sums, letter, MATRIX_RATE_SPARSE_LDS_##sums, \
                        ending, "l"(a), "l"(b), "r"(metadata))
#define MATRIX_RATE_WGMMA_SPARSE_REGISTERS(ptx, sums, letter, ending) \
  MATRIX_RATE_WGMMA_ASM("wgmma.mma_async.sp", ptx, sums, letter,      \
                        MATRIX_RATE_SPARSE_REGISTERS_##sums, ending,  \
                        MATRIX_RATE_REGISTERS_4("r", a), "l"(b), "r"(metadata))
#else
#define MATRIX_RATE_WGMMA_LDS(...)
#define MATRIX_RATE_WGMMA_REGISTERS(...)
#define MATRIX_RATE_WGMMA_SPARSE_LDS(...)
#define MATRIX_RATE_WGMMA_SPARSE_REGISTERS(...)
#endif
// Whether A is in registers, and sparse; and what that makes of a shape's name.
#define MATRIX_RATE_IS_LDS false, false
#define MATRIX_RATE_IS_REGISTERS true, false
#define MATRIX_RATE_IS_SPARSE_LDS false, true
#define MATRIX_RATE_IS_SPARSE_REGISTERS true, true
#define MATRIX_RATE_NAME_LDS(shape) "wgmma " shape ", A in LDS"
#define MATRIX_RATE_NAME_REGISTERS(shape) "wgmma " shape ", A in registers"
#define MATRIX_RATE_NAME_SPARSE_LDS(shape) "wgmma.sp " shape ", A in LDS"
#define MATRIX_RATE_NAME_SPARSE_REGISTERS(shape) "wgmma.sp " shape ", A in registers"
#define MATRIX_RATE_WGMMA(type, its_format, place, shape, columns, factor, sum, ptx, sums, letter, \
                          ending)                                                                  \
  struct type : WgmmaShape<factor, sum, columns, MATRIX_RATE_IS_##place> {                         \
    static constexpr const char* format = its_format;                                              \
    static constexpr const char* name = MATRIX_RATE_NAME_##place(shape);                           \
    __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,      \
                                        [[maybe_unused]] const B& b) {                             \
      MATRIX_RATE_WGMMA_##place(shape "." ptx, sums, letter, ending)                               \
    }                                                                                              \
  };
MATRIX_RATE_WGMMA_TABLE(MATRIX_RATE_WGMMA)

using WgmmaCodes = Codes<void MATRIX_RATE_WGMMA_TABLE(MATRIX_RATE_AND)>;

}  // namespace matrix_rate
