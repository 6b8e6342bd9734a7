// Which matrix instruction a device has for values of 16 and 8 bits with sums in FP32. Stages 05 to
// 07 are kernels for any of them: hipscope/matrix's types say which element of its operands a lane
// holds, and multiply.
#pragma once

#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "hipscope/matrix/mfma.h"
#include "hipscope/matrix/mma_sync.h"
#include "hipscope/matrix/wmma.h"
#include "stage.h"

namespace hgemm {

/// The instructions for a type of value.
template <typename Value>
struct Instructions {
  using Mma = matrix_rate::MmaFp16K16;           ///< NVIDIA, from compute capability 8.0 on
  using Mfma = matrix_rate::MfmaFp16Side32;      ///< CDNA: gfx908, gfx90a, gfx942, gfx950
  using MfmaOf950 = matrix_rate::MfmaFp16Wide;   ///< CDNA 4: twice as many k
  using WmmaOf11 = matrix_rate::WmmaFp16;        ///< RDNA 3: gfx11
  using WmmaOf12 = matrix_rate::WmmaFp16Halves;  ///< RDNA 4: gfx12
};
template <>
struct Instructions<BFloat16> {
  using Mma = matrix_rate::MmaBf16K16;
  using Mfma = matrix_rate::MfmaBf16Side32;  ///< from gfx90a on
  using MfmaOf950 = matrix_rate::MfmaBf16Wide;
  using WmmaOf11 = matrix_rate::WmmaBf16;
  using WmmaOf12 = matrix_rate::WmmaBf16Halves;
};
template <>
struct Instructions<E4M3> {
  using MfmaOf950 = matrix_rate::MfmaScaledE4m3;  ///< at twice the rate of the one without scales
  using WmmaOf12 = matrix_rate::WmmaE4m3;
};
template <>
struct Instructions<E4M3Fnuz> {
  using Mfma = matrix_rate::MfmaE4m3Fnuz;  ///< gfx942's alone
};
using Mma = Instructions<Half>::Mma;

/// The instruction, where it is; and the host backend, whose model is for waves of this size.
template <typename Code>
gemm::Needs needs_of() {
  const auto is_on = [](const std::string& architecture) {
    const std::string family = Code::family;
    if (family != "MFMA" && family != "WMMA") {
      return gemm::sm_of(architecture) >= static_cast<int>(Code::since) ||
             gemm::is_host(architecture);
    }
    const unsigned generation = family == "MFMA" ? matrix_rate::cdna_generation(architecture)
                                                 : matrix_rate::rdna_generation(architecture);
    return (Code::since <= generation && generation <= Code::until) || gemm::is_host(architecture);
  };
  return {.what = Code::family, .on = is_on, .lanes = Code::lanes};
}

/// A value to call a function with that wants the type.
template <typename Code>
struct Instruction {};

#if !defined(HIPSCOPE_BACKEND_NVIDIA)
/// A stage for each of AMD's instructions: `make(Instruction<Code>())`.
template <typename Value = Half, typename Make>
auto stages_by_amd_instruction(Make make) {
  using Codes = Instructions<Value>;
  return std::vector{make(Instruction<typename Codes::Mfma>()),
                     make(Instruction<typename Codes::WmmaOf11>()),
                     make(Instruction<typename Codes::WmmaOf12>())};
}

/// The same with CDNA 4's own, of which a lane takes the 16 bytes at once.
template <typename Value = Half, typename Make>
auto stages_by_fragment(Make make) {
  auto stages = stages_by_amd_instruction<Value>(make);
  stages.push_back(make(Instruction<typename Instructions<Value>::MfmaOf950>()));
  return stages;
}
#endif

/// A stage for each instruction that the backend's devices may have: `make(Instruction<Code>())`.
template <typename Value = Half, typename Make>
auto stages_by_instruction(Make make) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return std::vector{make(Instruction<typename Instructions<Value>::Mma>())};
#else
  auto stages = stages_by_amd_instruction<Value>(make);
#if defined(HIPSCOPE_BACKEND_HOST)
  stages.insert(stages.begin(), make(Instruction<typename Instructions<Value>::Mma>()));
#endif
  return stages;
#endif
}

/// How a row names the instruction.
template <typename Code>
std::string name_of() {
  const std::string family = Code::family;
  if (family != "WMMA") {
    return Code::lanes == 64 && Code::since == 4 ? family + " of gfx950" : family;
  }
  return Code::since == 3 ? "WMMA of gfx11" : "WMMA of gfx12";  // by generation of RDNA
}

/// Eight halves, as copies of 16 bytes bring them. (HIP's uint4 is a class, which clang keeps in
/// scratch where it is assigned to under a condition.)
#if defined(HIPSCOPE_BACKEND_AMD)
using Piece = unsigned __attribute__((ext_vector_type(4)));
#else
using Piece = uint4;
#endif

/// The piece at a multiple of 16 bytes.
template <typename Value>
__device__ const Piece& piece_at(const Value* at) {
  return *reinterpret_cast<const Piece*>(at);
}
template <typename Value>
__device__ Piece& piece_at(Value* at) {
  return *reinterpret_cast<Piece*>(at);
}

/// Two halves as one register of an operand holds them.
__device__ inline unsigned pair_of(Half low, Half high) {
  return low.bits | static_cast<unsigned>(high.bits) << 16;
}
/// Two that are neighbours in memory, at a multiple of 4 bytes.
template <typename Value>
__device__ unsigned pair_at(const Value* at) {
  return *reinterpret_cast<const unsigned*>(at);
}
/// Eight columns of two rows, to where the pairs of a column are side by side, columns `pitch`
/// halves apart.
template <typename Value>
__device__ void store_pairs(Value* at, unsigned pitch, const Piece& even, const Piece& odd) {
  const auto store = [&](unsigned column, unsigned of_even, unsigned of_odd) {
    *reinterpret_cast<unsigned*>(at + column * pitch) = (of_even & 0xFFFF) | of_odd << 16;
    *reinterpret_cast<unsigned*>(at + (column + 1) * pitch) = of_even >> 16 | (of_odd & 0xFFFF0000);
  };
  store(0, even.x, odd.x);
  store(2, even.y, odd.y);
  store(4, even.z, odd.z);
  store(6, even.w, odd.w);
}

/// What a wave has of a block's 128 x 128: `rows` x as many columns as it has lanes.
template <typename Code>
struct WaveTile {
  static constexpr unsigned rows = 64;
  static constexpr unsigned columns = Code::lanes;
  static constexpr unsigned down = rows / Code::m;
  static constexpr unsigned across = columns / Code::n;

  /// The wave's first row and column in its block.
  __device__ static unsigned first_row() { return threadIdx.x / Code::lanes % 2 * rows; }
  __device__ static unsigned first_column() { return threadIdx.x / Code::lanes / 2 * columns; }

  __device__ void multiply_add(const typename Code::A (&left)[down],
                               const typename Code::B (&right)[across]) {
#pragma unroll
    for (unsigned i = 0; i < down; ++i) {
#pragma unroll
      for (unsigned j = 0; j < across; ++j) {
        Code::multiply_add(sums[i][j], left[i], right[j]);
      }
    }
  }

  /// Of tiles in LDS, both with k along their rows.
  template <typename Value, unsigned a_rows, unsigned b_rows, unsigned pitch>
  __device__ void multiply_add(const Value (&a)[a_rows][pitch], const Value (&b)[b_rows][pitch],
                               unsigned k) {
    const unsigned lane = threadIdx.x % Code::lanes;
    typename Code::A left[down];
#pragma unroll
    for (unsigned i = 0; i < down; ++i) {
#pragma unroll
      for (unsigned r = 0; r < Code::A::count; ++r) {
        const matrix_rate::Place at = Code::a_place(lane, 2 * r);
        left[i].value[r] = pair_at(&a[first_row() + i * Code::m + at.row][k + at.column]);
      }
    }
    typename Code::B right[across];
#pragma unroll
    for (unsigned j = 0; j < across; ++j) {
#pragma unroll
      for (unsigned r = 0; r < Code::B::count; ++r) {
        const matrix_rate::Place at = Code::b_place(lane, 2 * r);
        right[j].value[r] = pair_at(&b[first_column() + j * Code::n + at.column][k + at.row]);
      }
    }
    multiply_add(left, right);
  }

  /// `c` is where the block's tile begins.
  template <typename Result>
  __device__ void store(Result* c, unsigned pitch, float alpha, float beta) const {
    c += std::size_t{first_row()} * pitch + first_column();
#pragma unroll
    for (unsigned i = 0; i < down; ++i) {
#pragma unroll
      for (unsigned j = 0; j < across; ++j) {
#pragma unroll
        for (unsigned e = 0; e < Code::sum_elements; ++e) {
          const matrix_rate::Place at = Code::sum_place(threadIdx.x % Code::lanes, e);
          store_result(c + std::size_t{i * Code::m + at.row} * pitch + j * Code::n + at.column,
                       alpha, sums[i][j].value[e], beta);
        }
      }
    }
  }

  typename Code::Sum sums[down][across] = {};
};

/// A stage by such an instruction.
template <typename Code, auto kernel, typename Value = Half, typename Result = Value>
gemm::Stage<Value, Result> matrix_stage(const std::string& what, unsigned depth) {
  auto stage = gemm::stage_of<Value, kernel, Result>(name_of<Code>() + what,
                                                     {128, 128, depth, 256, 64, Code::lanes});
  stage.unit = gemm::Unit::matrix;
  stage.k_multiple = Code::k;
  stage.needs = needs_of<Code>();
  return stage;
}

}  // namespace hgemm
