// Hopper's wgmma: a group of four warps multiplies a matrix of 64 rows (16 for each warp) by one of
// up to 256 columns, of which B comes from LDS (NVIDIA: shared memory), and A too or from
// registers. It goes on by itself: only wait() makes its sums readable. Needs sm_90a. PTX's
// manual, 9.7.15
// ("Asynchronous warpgroup level matrix instructions"), has layouts and descriptors.
//
// In LDS a matrix lies in cores of 8 rows of 16 bytes each (k along a row), without a swizzle: here
// those of one row of cores side by side, and the rows of cores one after the other.
#pragma once

#include "mma_sync.h"

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

/// Shape and layouts. `RowBytes` bytes along k has B; A has as many, or half as many if it is
/// sparse.
template <unsigned N, unsigned Bits, bool FromRegisters, Sparsity kept = Sparsity::dense>
struct WgmmaShape {
  static constexpr unsigned row_bytes = kept == Sparsity::dense ? 32 : 64;
  static constexpr unsigned a_row_bytes = 32;
  static constexpr unsigned m = 64;
  static constexpr unsigned n = N;
  static constexpr unsigned k = row_bytes * 8 / Bits;
  static constexpr unsigned lanes = 128;
  static constexpr bool a_in_registers = FromRegisters;
  static constexpr unsigned a_lanes = FromRegisters ? lanes : 1;
  static constexpr unsigned b_lanes = 1;
  static constexpr Sparsity sparsity = kept;
  static constexpr unsigned a_elements = m * a_row_bytes * 8 / Bits / a_lanes;
  static constexpr unsigned b_elements = N * k;
  static constexpr unsigned sum_elements = m * N / lanes;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    if constexpr (FromRegisters) {
      const Place in_warp = MmaShape<16, k, 32 / Bits>::a_place(lane % 32, element);
      return {16 * (lane / 32) + in_warp.row, in_warp.column};
    } else {
      return place_in_cores(element, Bits, a_row_bytes);
    }
  }
  /// B lies in LDS column by column, so that k runs along its rows there.
  __host__ __device__ static Place b_place(unsigned /*lane*/, unsigned element) {
    const Place place = place_in_cores(element, Bits, row_bytes);
    return {place.column, place.row};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    return {16 * (lane / 32) + lane % 32 / 4 + 8 * (element / 2 % 2),
            8 * (element / 4) + 2 * (lane % 4) + element % 2};
  }
  static constexpr unsigned peak_groups = 2;
  static constexpr const char* family = "wgmma";
  static constexpr unsigned since = 90;
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

/// Closes a row of instructions, and waits until no more than `Pending` rows are under way.
template <unsigned Pending>
__device__ void wgmma_wait() {
#if MATRIX_RATE_HAS_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
#endif
}

/// The operands of so many pairs in LDS, as all groups of a block read them.
template <typename Code, unsigned Pairs>
struct GroupOperands {
  static constexpr unsigned a_quads =
      Code::a_in_registers ? 0 : Code::m * Code::a_row_bytes / sizeof(uint4);
  static constexpr unsigned b_quads = Code::n * Code::row_bytes / sizeof(uint4);
  static constexpr unsigned quads = a_quads + b_quads;
  // compute-sanitizer takes an instruction with A in registers for one that reads 2 KiB of it from
  // where LDS begins: so much there is at least.
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
    model_of_group<Code>(sum, a, values[pair], values[pair] + a_quads);
    static_cast<void>(b);
#else
    Code::multiply_add(sum, a, b);
#endif
  }
};

// Assembly takes only literals. The operands of 4, 32, 64 and 128 registers, by tens and eights.
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
#define MATRIX_RATE_LIST_4 "%0, %1, %2, %3"
#define MATRIX_RATE_LIST_32 MATRIX_RATE_TENS_2 "%30, %31"
#define MATRIX_RATE_LIST_64 MATRIX_RATE_TENS_5 "%60, %61, %62, %63"
#define MATRIX_RATE_LIST_128 MATRIX_RATE_TENS_11 "%120, %121, %122, %123, %124, %125, %126, %127"
// The operands that follow them: A in LDS and B, or A in registers and B.
#define MATRIX_RATE_LDS_4 "%4, %5"
#define MATRIX_RATE_LDS_32 "%32, %33"
#define MATRIX_RATE_LDS_64 "%64, %65"
#define MATRIX_RATE_LDS_128 "%128, %129"
#define MATRIX_RATE_REGISTERS_4 "{%4, %5, %6, %7}, %8"
#define MATRIX_RATE_REGISTERS_32 "{%32, %33, %34, %35}, %36"
#define MATRIX_RATE_REGISTERS_64 "{%64, %65, %66, %67}, %68"
#define MATRIX_RATE_REGISTERS_128 "{%128, %129, %130, %131}, %132"
#define MATRIX_RATE_REGISTERS_METADATA_128 ", %133, 0"
#define MATRIX_RATE_METADATA_128 ", %130, 0"
#define MATRIX_RATE_SUMS_4(type, d, i) \
  "+" type(d[i]), "+" type(d[i + 1]), "+" type(d[i + 2]), "+" type(d[i + 3])
#define MATRIX_RATE_SUMS_16(type, d, i)                               \
  MATRIX_RATE_SUMS_4(type, d, i), MATRIX_RATE_SUMS_4(type, d, i + 4), \
      MATRIX_RATE_SUMS_4(type, d, i + 8), MATRIX_RATE_SUMS_4(type, d, i + 12)
#define MATRIX_RATE_ALL_4(type, d) MATRIX_RATE_SUMS_4(type, d, 0)
#define MATRIX_RATE_ALL_32(type, d) \
  MATRIX_RATE_SUMS_16(type, d, 0), MATRIX_RATE_SUMS_16(type, d, 16)
#define MATRIX_RATE_ALL_64(type, d)                                  \
  MATRIX_RATE_SUMS_16(type, d, 0), MATRIX_RATE_SUMS_16(type, d, 16), \
      MATRIX_RATE_SUMS_16(type, d, 32), MATRIX_RATE_SUMS_16(type, d, 48)
#define MATRIX_RATE_ALL_128(type, d)                                      \
  MATRIX_RATE_SUMS_16(type, d, 0), MATRIX_RATE_SUMS_16(type, d, 16),      \
      MATRIX_RATE_SUMS_16(type, d, 32), MATRIX_RATE_SUMS_16(type, d, 48), \
      MATRIX_RATE_SUMS_16(type, d, 64), MATRIX_RATE_SUMS_16(type, d, 80), \
      MATRIX_RATE_SUMS_16(type, d, 96), MATRIX_RATE_SUMS_16(type, d, 112)
// `ending` are the literals after the operands: D is added to, and then, where the format has them,
// signs and transpositions.
#define MATRIX_RATE_WGMMA_LDS(opcode, count, type, ending, d, a, b)                            \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned." opcode  \
               " {" MATRIX_RATE_LIST_##count "}, " MATRIX_RATE_LDS_##count ", add" ending ";}" \
               : MATRIX_RATE_ALL_##count(type, d)                                              \
               : "l"(a), "l"(b))
#define MATRIX_RATE_WGMMA_REGISTERS(opcode, count, type, ending, d, a, b)                       \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned." opcode   \
               " {" MATRIX_RATE_LIST_##count "}, " MATRIX_RATE_REGISTERS_##count ", add" ending \
                                                                                 ";}"           \
               : MATRIX_RATE_ALL_##count(type, d)                                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define MATRIX_RATE_WGMMA_SPARSE_REGISTERS(opcode, count, type, ending, d, a, b, metadata)       \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sp.sync.aligned." opcode \
               " {" MATRIX_RATE_LIST_##count                                                     \
               "}, " MATRIX_RATE_REGISTERS_##count MATRIX_RATE_REGISTERS_METADATA_##count        \
               ", add" ending ";}"                                                               \
               : MATRIX_RATE_ALL_##count(type, d)                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(metadata))
#define MATRIX_RATE_WGMMA_SPARSE(opcode, count, type, ending, d, a, b, metadata)                 \
  asm volatile("{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sp.sync.aligned." opcode \
               " {" MATRIX_RATE_LIST_##count                                                     \
               "}, " MATRIX_RATE_LDS_##count MATRIX_RATE_METADATA_##count ", add" ending ";}"    \
               : MATRIX_RATE_ALL_##count(type, d)                                                \
               : "l"(a), "l"(b), "r"(metadata))

struct WgmmaTf32N128 : WgmmaShape<128, 32, false> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "wgmma m64n128k8, A in LDS";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k8.f32.tf32.tf32", 64, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaTf32N256 : WgmmaShape<256, 32, false> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "wgmma m64n256k8, A in LDS";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k8.f32.tf32.tf32", 128, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaTf32RegistersN256 : WgmmaShape<256, 32, true> {
  static constexpr const char* format = "TF32";
  static constexpr const char* name = "wgmma m64n256k8, A in registers";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k8.f32.tf32.tf32", 128, "f", ", 1, 1", d.value, a.value, b);
#endif
  }
};

struct WgmmaFp16N8 : WgmmaShape<8, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n8k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n8k16.f32.f16.f16", 4, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16N64 : WgmmaShape<64, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n64k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 32>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n64k16.f32.f16.f16", 32, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16N128 : WgmmaShape<128, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n128k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k16.f32.f16.f16", 64, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16N256 : WgmmaShape<256, 16, false> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n256k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k16.f32.f16.f16", 128, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaFp16RegistersN64 : WgmmaShape<64, 16, true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n64k16, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 32>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n64k16.f32.f16.f16", 32, "f", ", 1, 1, 0", d.value, a.value, b);
#endif
  }
};

struct WgmmaFp16RegistersN256 : WgmmaShape<256, 16, true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n256k16, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k16.f32.f16.f16", 128, "f", ", 1, 1, 0", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaFp16HalfSums : WgmmaShape<256, 16, false> {
  static constexpr const char* format = "FP16, FP16 sums";
  static constexpr const char* name = "wgmma m64n256k16, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp16;
  using A = std::uint64_t;
  using Sum = Registers<unsigned, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k16.f16.f16.f16", 64, "r", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaBf16N128 : WgmmaShape<128, 16, false> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "wgmma m64n128k16, A in LDS";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k16.f32.bf16.bf16", 64, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaBf16N256 : WgmmaShape<256, 16, false> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "wgmma m64n256k16, A in LDS";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k16.f32.bf16.bf16", 128, "f", ", 1, 1, 0, 0", d.value, a, b);
#endif
  }
};

struct WgmmaBf16RegistersN256 : WgmmaShape<256, 16, true> {
  static constexpr const char* format = "BF16";
  static constexpr const char* name = "wgmma m64n256k16, A in registers";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k16.f32.bf16.bf16", 128, "f", ", 1, 1, 0", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaE4m3N128 : WgmmaShape<128, 8, false> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "wgmma m64n128k32, A in LDS";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k32.f32.e4m3.e4m3", 64, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE4m3N256 : WgmmaShape<256, 8, false> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "wgmma m64n256k32, A in LDS";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k32.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE4m3RegistersN256 : WgmmaShape<256, 8, true> {
  static constexpr const char* format = "FP8 E4M3";
  static constexpr const char* name = "wgmma m64n256k32, A in registers";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k32.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaE5m2N128 : WgmmaShape<128, 8, false> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "wgmma m64n128k32, A in LDS";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k32.f32.e5m2.e5m2", 64, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE5m2N256 : WgmmaShape<256, 8, false> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "wgmma m64n256k32, A in LDS";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k32.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value, a, b);
#endif
  }
};

struct WgmmaE5m2RegistersN256 : WgmmaShape<256, 8, true> {
  static constexpr const char* format = "FP8 E5M2";
  static constexpr const char* name = "wgmma m64n256k32, A in registers";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k32.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value, a.value,
                                b);
#endif
  }
};

struct WgmmaInt8N128 : WgmmaShape<128, 8, false> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "wgmma m64n128k32, A in LDS";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = std::uint64_t;
  using Sum = Registers<int, 64>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n128k32.s32.s8.s8", 64, "r", "", d.value, a, b);
#endif
  }
};

struct WgmmaInt8N256 : WgmmaShape<256, 8, false> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "wgmma m64n256k32, A in LDS";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = std::uint64_t;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_LDS("m64n256k32.s32.s8.s8", 128, "r", "", d.value, a, b);
#endif
  }
};

struct WgmmaInt8RegistersN256 : WgmmaShape<256, 8, true> {
  static constexpr const char* format = "INT8";
  static constexpr const char* name = "wgmma m64n256k32, A in registers";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n256k32.s32.s8.s8", 128, "r", "", d.value, a.value, b);
#endif
  }
};

struct WgmmaSparseTf32 : WgmmaShape<256, 32, false, Sparsity::one_of_two> {
  static constexpr const char* format = "TF32 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k16, A in LDS";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k16.f32.tf32.tf32", 128, "f", ", 1, 1", d.value, a, b,
                             sparse_metadata_of_pairs);
#endif
  }
};

struct WgmmaSparseFp16 : WgmmaShape<256, 16, false, Sparsity::two_of_four> {
  static constexpr const char* format = "FP16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in LDS";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k32.f32.f16.f16", 128, "f", ", 1, 1, 0, 0", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseBf16 : WgmmaShape<256, 16, false, Sparsity::two_of_four> {
  static constexpr const char* format = "BF16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in LDS";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k32.f32.bf16.bf16", 128, "f", ", 1, 1, 0, 0", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseE4m3 : WgmmaShape<256, 8, false, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E4M3 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in LDS";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k64.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseE5m2 : WgmmaShape<256, 8, false, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E5M2 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in LDS";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = std::uint64_t;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k64.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value, a, b,
                             sparse_metadata);
#endif
  }
};

struct WgmmaSparseInt8 : WgmmaShape<256, 8, false, Sparsity::two_of_four> {
  static constexpr const char* format = "INT8 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in LDS";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = std::uint64_t;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE("m64n256k64.s32.s8.s8", 128, "r", "", d.value, a, b, sparse_metadata);
#endif
  }
};

struct WgmmaFp16RegistersN8 : WgmmaShape<8, 16, true> {
  static constexpr const char* format = "FP16";
  static constexpr const char* name = "wgmma m64n8k16, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 4>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_REGISTERS("m64n8k16.f32.f16.f16", 4, "f", ", 1, 1, 0", d.value, a.value, b);
#endif
  }
};

struct WgmmaSparseTf32Registers : WgmmaShape<256, 32, true, Sparsity::one_of_two> {
  static constexpr const char* format = "TF32 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k16, A in registers";
  static constexpr Format a_format = tf32;
  static constexpr Format b_format = tf32;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k16.f32.tf32.tf32", 128, "f", ", 1, 1", d.value,
                                       a.value, b, sparse_metadata_of_pairs);
#endif
  }
};

struct WgmmaSparseFp16Registers : WgmmaShape<256, 16, true, Sparsity::two_of_four> {
  static constexpr const char* format = "FP16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in registers";
  static constexpr Format a_format = fp16;
  static constexpr Format b_format = fp16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k32.f32.f16.f16", 128, "f", ", 1, 1, 0", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseBf16Registers : WgmmaShape<256, 16, true, Sparsity::two_of_four> {
  static constexpr const char* format = "BF16 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k32, A in registers";
  static constexpr Format a_format = bf16;
  static constexpr Format b_format = bf16;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k32.f32.bf16.bf16", 128, "f", ", 1, 1, 0", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseE4m3Registers : WgmmaShape<256, 8, true, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E4M3 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in registers";
  static constexpr Format a_format = e4m3;
  static constexpr Format b_format = e4m3;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k64.f32.e4m3.e4m3", 128, "f", ", 1, 1", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseE5m2Registers : WgmmaShape<256, 8, true, Sparsity::two_of_four> {
  static constexpr const char* format = "FP8 E5M2 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in registers";
  static constexpr Format a_format = e5m2;
  static constexpr Format b_format = e5m2;
  static constexpr Format sum_format = fp32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<float, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k64.f32.e5m2.e5m2", 128, "f", ", 1, 1", d.value,
                                       a.value, b, sparse_metadata);
#endif
  }
};

struct WgmmaSparseInt8Registers : WgmmaShape<256, 8, true, Sparsity::two_of_four> {
  static constexpr const char* format = "INT8 sparse";
  static constexpr const char* name = "wgmma.sp m64n256k64, A in registers";
  static constexpr Format a_format = int8;
  static constexpr Format b_format = int8;
  static constexpr Format sum_format = int32;
  using A = Registers<unsigned, 4>;
  using Sum = Registers<int, 128>;
  __device__ static void multiply_add([[maybe_unused]] Sum& d, [[maybe_unused]] const A& a,
                                      [[maybe_unused]] std::uint64_t b) {
#if MATRIX_RATE_HAS_WGMMA
    MATRIX_RATE_WGMMA_SPARSE_REGISTERS("m64n256k64.s32.s8.s8", 128, "r", "", d.value, a.value, b,
                                       sparse_metadata);
#endif
  }
};

}  // namespace matrix_rate
