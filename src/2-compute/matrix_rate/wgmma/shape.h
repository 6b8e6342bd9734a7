// Hopper's wgmma: a group of four warps multiplies a matrix of 64 rows (16 for each warp) by one of
// up to 256 columns, of which B comes from LDS (NVIDIA: shared memory), and A too or from
// registers. It goes on by itself: only wait() makes its sums readable. Needs sm_90a. PTX's
// manual, 9.7.15
// ("Asynchronous warpgroup level matrix instructions"), has layouts and descriptors.
//
// In LDS a matrix lies in cores of 8 rows of 16 bytes each (k along a row), without a swizzle: here
// those of one row of cores side by side, and the rows of cores one after the other.
#pragma once

#include "../mma_sync/shape.h"

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

}  // namespace matrix_rate
