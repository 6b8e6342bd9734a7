// The matrix instructions of four warps, by the columns of their second operand. Sum i of a lane is
// in row 16 warp + lane / 4 + 8 (i / 2 % 2) and in column 8 (i / 4) + 2 (lane % 4) + i % 2.
#pragma once

#include <type_traits>

#include "hopper.h"

#if defined(HGEMM_HAS_HOPPER)

namespace hgemm {

/// How a matrix product's operands become an instruction's.
enum class Operands {
  rows_first,     ///< 64 rows of A by columns of B, row by row in LDS
  columns_first,  ///< 64 columns of B, row by row in LDS, by rows of A: the sums are transposed
};

// The text of an instruction must be a literal: the numbers of its registers and the type of the
// factors are put into it by macros.
#define HGEMM_LIST_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define HGEMM_LIST_16 \
  HGEMM_LIST_8        \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define HGEMM_LIST_32 \
  HGEMM_LIST_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HGEMM_LIST_40 \
  HGEMM_LIST_32       \
  ", %32, %33, %34, %35, %36, %37, %38, %39"
#define HGEMM_LIST_48 \
  HGEMM_LIST_40       \
  ", %40, %41, %42, %43, %44, %45, %46, %47"
#define HGEMM_LIST_64 \
  HGEMM_LIST_48       \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HGEMM_LIST_72 \
  HGEMM_LIST_64       \
  ", %64, %65, %66, %67, %68, %69, %70, %71"
#define HGEMM_LIST_96                                                                \
  HGEMM_LIST_72                                                                      \
  ", %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87" \
  ", %88, %89, %90, %91, %92, %93, %94, %95"
#define HGEMM_LIST_128                                                                   \
  HGEMM_LIST_96                                                                          \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109"     \
  ", %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123" \
  ", %124, %125, %126, %127"
#define HGEMM_SUMS_8(i)                                                                      \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define HGEMM_SUMS_ALL_8 HGEMM_SUMS_8(0)
#define HGEMM_SUMS_ALL_16 HGEMM_SUMS_ALL_8, HGEMM_SUMS_8(8)
#define HGEMM_SUMS_ALL_32 HGEMM_SUMS_ALL_16, HGEMM_SUMS_8(16), HGEMM_SUMS_8(24)
#define HGEMM_SUMS_ALL_40 HGEMM_SUMS_ALL_32, HGEMM_SUMS_8(32)
#define HGEMM_SUMS_ALL_48 HGEMM_SUMS_ALL_40, HGEMM_SUMS_8(40)
#define HGEMM_SUMS_ALL_64 HGEMM_SUMS_ALL_48, HGEMM_SUMS_8(48), HGEMM_SUMS_8(56)
#define HGEMM_SUMS_ALL_72 HGEMM_SUMS_ALL_64, HGEMM_SUMS_8(64)
#define HGEMM_SUMS_ALL_96 HGEMM_SUMS_ALL_72, HGEMM_SUMS_8(72), HGEMM_SUMS_8(80), HGEMM_SUMS_8(88)
#define HGEMM_SUMS_ALL_128 \
  HGEMM_SUMS_ALL_96, HGEMM_SUMS_8(96), HGEMM_SUMS_8(104), HGEMM_SUMS_8(112), HGEMM_SUMS_8(120)

#define HGEMM_WGMMA(shape, count, a_number, b_number, add_number, ending)         \
  asm volatile("{ .reg .pred add; setp.ne.b32 add, %" #add_number                 \
               ", 0; wgmma.mma_async.sync.aligned." shape " {" HGEMM_LIST_##count \
               "}, %" #a_number ", %" #b_number ", add, 1, 1" ending "; }"        \
               : HGEMM_SUMS_ALL_##count                                           \
               : "l"(a), "l"(b), "r"(static_cast<int>(add)))

/// sums (+)= a b: of 16 bits 64 x 16 by 16 x `columns`, of 8 bits twice as deep and both with rows
/// along k. Without `add` the sums begin at 0.
#define HGEMM_MULTIPLY(columns, count, a_number, b_number, add_number)                             \
  template <typename Value = hipscope::Half, Operands operands = Operands::rows_first>             \
  __device__ void multiply(float(&sums)[count], std::uint64_t a, std::uint64_t b, bool add) {      \
    constexpr bool are_halves = std::is_same_v<Value, hipscope::Half>;                             \
    if constexpr (std::is_same_v<Value, hipscope::E4M3>) {                                         \
      HGEMM_WGMMA("m64n" #columns "k32.f32.e4m3.e4m3", count, a_number, b_number, add_number, ""); \
    } else if constexpr (operands == Operands::columns_first && are_halves) {                      \
      HGEMM_WGMMA("m64n" #columns "k16.f32.f16.f16", count, a_number, b_number, add_number,        \
                  ", 1, 0");                                                                       \
    } else if constexpr (operands == Operands::columns_first) {                                    \
      HGEMM_WGMMA("m64n" #columns "k16.f32.bf16.bf16", count, a_number, b_number, add_number,      \
                  ", 1, 0");                                                                       \
    } else if constexpr (are_halves) {                                                             \
      HGEMM_WGMMA("m64n" #columns "k16.f32.f16.f16", count, a_number, b_number, add_number,        \
                  ", 0, 1");                                                                       \
    } else {                                                                                       \
      HGEMM_WGMMA("m64n" #columns "k16.f32.bf16.bf16", count, a_number, b_number, add_number,      \
                  ", 0, 1");                                                                       \
    }                                                                                              \
  }
HGEMM_MULTIPLY(16, 8, 8, 9, 10)
HGEMM_MULTIPLY(32, 16, 16, 17, 18)
HGEMM_MULTIPLY(64, 32, 32, 33, 34)
HGEMM_MULTIPLY(80, 40, 40, 41, 42)
HGEMM_MULTIPLY(96, 48, 48, 49, 50)
HGEMM_MULTIPLY(128, 64, 64, 65, 66)
HGEMM_MULTIPLY(144, 72, 72, 73, 74)
HGEMM_MULTIPLY(192, 96, 96, 97, 98)
HGEMM_MULTIPLY(256, 128, 128, 129, 130)

#undef HGEMM_MULTIPLY
#undef HGEMM_WGMMA
#undef HGEMM_SUMS_8
#undef HGEMM_SUMS_ALL_8
#undef HGEMM_SUMS_ALL_16
#undef HGEMM_SUMS_ALL_32
#undef HGEMM_SUMS_ALL_40
#undef HGEMM_SUMS_ALL_48
#undef HGEMM_SUMS_ALL_64
#undef HGEMM_SUMS_ALL_72
#undef HGEMM_SUMS_ALL_96
#undef HGEMM_SUMS_ALL_128
#undef HGEMM_LIST_8
#undef HGEMM_LIST_16
#undef HGEMM_LIST_32
#undef HGEMM_LIST_40
#undef HGEMM_LIST_48
#undef HGEMM_LIST_64
#undef HGEMM_LIST_72
#undef HGEMM_LIST_96
#undef HGEMM_LIST_128

}  // namespace hgemm

#endif
