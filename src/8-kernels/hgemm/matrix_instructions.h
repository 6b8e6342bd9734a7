// Which matrix instruction a device has for values of 16 bits with sums in FP32. Rungs 05 to 07 are
// kernels for any of them: chapter 2's types say which element of its operands a lane holds, and
// multiply.
#pragma once

#include <cstdlib>
#include <type_traits>
#include <vector>

#include "../../2-compute/matrix_rate/mfma/halves.h"
#include "../../2-compute/matrix_rate/mma_sync/halves.h"
#include "../../2-compute/matrix_rate/wmma.h"
#include "stage.h"

namespace hgemm {

/// The instructions for a type of value.
template <typename Value>
struct Instructions {
  using Mma = matrix_rate::MmaFp16K16;           ///< NVIDIA, from compute capability 8.0 on
  using Mfma = matrix_rate::MfmaFp16Side32;      ///< CDNA: gfx908, gfx90a, gfx942, gfx950
  using WmmaOf11 = matrix_rate::WmmaFp16;        ///< RDNA 3: gfx11
  using WmmaOf12 = matrix_rate::WmmaFp16Halves;  ///< RDNA 4: gfx12
};
template <>
struct Instructions<BFloat16> {
  using Mma = matrix_rate::MmaBf16K16;
  using Mfma = matrix_rate::MfmaBf16Side32;  ///< from gfx90a on
  using WmmaOf11 = matrix_rate::WmmaBf16;
  using WmmaOf12 = matrix_rate::WmmaBf16Halves;
};
using Mma = Instructions<Half>::Mma;

template <typename Code>
inline constexpr bool is_mfma = std::is_same_v<Code, Instructions<Half>::Mfma> ||
                                std::is_same_v<Code, Instructions<BFloat16>::Mfma>;

/// Whether the device has the instruction; on the host backend, whether its model is for waves of
/// this size.
template <typename Code>
bool has_instruction(const hipscope::DeviceDescription& device) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return std::atoi(device.architecture.c_str() + 3) >= static_cast<int>(Code::since);
#elif defined(HIPSCOPE_BACKEND_AMD)
  const unsigned generation = is_mfma<Code> ? matrix_rate::cdna_generation(device.architecture)
                                            : matrix_rate::rdna_generation(device.architecture);
  return Code::since <= generation && generation <= Code::until;
#else
  return device.wave_size == static_cast<int>(Code::lanes);
#endif
}

/// A type to call a function with.
template <typename Code>
struct Instruction {
  using Type = Code;
};

/// A stage for each instruction that the backend's devices may have: `make(Instruction<Code>())`.
template <typename Value = Half, typename Make>
auto stages_by_instruction(Make make) {
  using Codes = Instructions<Value>;
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return std::vector{make(Instruction<typename Codes::Mma>())};
#elif defined(HIPSCOPE_BACKEND_AMD)
  return std::vector{make(Instruction<typename Codes::Mfma>()),
                     make(Instruction<typename Codes::WmmaOf11>()),
                     make(Instruction<typename Codes::WmmaOf12>())};
#else
  return std::vector{
      make(Instruction<typename Codes::Mma>()), make(Instruction<typename Codes::Mfma>()),
      make(Instruction<typename Codes::WmmaOf11>()), make(Instruction<typename Codes::WmmaOf12>())};
#endif
}

/// How a row names the instruction.
template <typename Code>
std::string name_of() {
  const std::string family = Code::family;
  if (family != "WMMA") {
    return family;
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

/// Nothing is scheduled across this: for gfx1201 clang 22 moves stores to LDS ahead of products
/// that do not need them, and the wait for what they store with them.
__device__ inline void keep_order() {
#if defined(__has_builtin)
#if __has_builtin(__builtin_amdgcn_sched_barrier)
  __builtin_amdgcn_sched_barrier(0);
#endif
#endif
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
/// Eight columns of two rows, to where the pairs of a column lie side by side, columns `pitch`
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

}  // namespace hgemm
