// All instructions, and which of them a device has.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "matrix_rate_findings.h"
#include "mfma.h"
#include "mma_sync.h"
#include "packed.h"
#include "registers.h"
#include "wgmma.h"
#include "wmma.h"

namespace matrix_rate {

/// Dwords of registers that a lane needs for operands and sums.
template <typename Code, unsigned Chains>
inline constexpr unsigned register_dwords = (Chains * sizeof(typename Code::Sum) +
                                             pairs * sizeof(typename Code::A)) /
                                            4;

/// A block's threads, so that each has registers enough.
template <typename Code, unsigned Chains>
inline constexpr unsigned most_threads =
    register_dwords<Code, Chains> > 72 ? largest_block / 2 : largest_block;

/// As many chains as leave no lane without registers for anything else.
template <typename Code, unsigned Chains>
inline constexpr bool has_registers_for = Chains == 1 || (Chains <= largest_chains &&
                                                          register_dwords<Code, Chains> <= 144);

/// Whether lanes of several waves issue it together, with operands in LDS: wgmma.
template <typename Code>
inline constexpr bool is_of_groups = requires {
  Code::a_in_registers;
};

/// Whether a GPU that this pass compiles for has the instruction: AMD's binaries hold code for each
/// GPU, which takes long for all instructions of all others.
template <typename Code>
__host__ __device__ constexpr bool is_of_this_pass() {
#if defined(HIPSCOPE_BACKEND_AMD) && defined(__HIP_DEVICE_COMPILE__)
  constexpr bool is_wmma = std::string_view(Code::family) == "WMMA";
  constexpr unsigned generation = is_wmma ? MATRIX_RATE_RDNA : MATRIX_RATE_CDNA;
  if constexpr (requires { Code::until; }) {
    return Code::since <= generation && generation <= Code::until;
  } else if constexpr (requires { Code::since; }) {
    return Code::since <= generation;
  }
#endif
  return true;
}

/// The row of an instruction, without its kernels.
template <typename Code>
Instruction describe() {
  return {.format = Code::format,
          .name = Code::name,
          .family = Code::family,
          .a = Code::a_format,
          .b = Code::b_format,
          .sum = Code::sum_format,
          .m = Code::m,
          .n = Code::n,
          .k = Code::k,
          .lanes = Code::lanes,
          .a_layout = {Code::a_lanes, Code::a_elements, &Code::a_place},
          .b_layout = {Code::b_lanes, Code::b_elements, &Code::b_place},
          .sum_layout = {Code::lanes, Code::sum_elements, &Code::sum_place},
          .sum_register_bytes = sizeof(typename Code::Sum::Value),
          .sparsity = Code::sparsity,
          .peak_groups = std::min(Code::peak_groups, most_threads<Code, 4> / Code::lanes)};
}

/// The number in "sm_90"; 0 for what is no NVIDIA GPU.
inline unsigned compute_capability(const hipscope::DeviceDescription& device) {
  return device.architecture.starts_with("sm_")
             ? static_cast<unsigned>(std::atoi(device.architecture.c_str() + 3))
             : 0;
}

/// wgmma is Hopper's alone, and in no build but for sm_90a.
inline bool has_wgmma([[maybe_unused]] unsigned capability) {
#if defined(HIPSCOPE_WARPGROUP_INSTRUCTIONS)
  return capability == 90;
#else
  return false;
#endif
}

template <typename... Code>
struct Codes {};

using MmaCodes = Codes<MmaFp64Old, MmaFp64K4, MmaFp64K8, MmaFp64K16, MmaTf32K4, MmaTf32K8,
                       MmaFp16K8, MmaFp16K16, MmaFp16HalfSums, MmaBf16K8, MmaBf16K16, MmaInt8K16,
                       MmaInt8K32, MmaSparseTf32, MmaSparseFp16, MmaSparseBf16, MmaSparseInt8>;
using WgmmaCodes =
    Codes<WgmmaTf32N128, WgmmaTf32N256, WgmmaTf32RegistersN256, WgmmaFp16N8, WgmmaFp16RegistersN8,
          WgmmaFp16N64, WgmmaFp16RegistersN64, WgmmaFp16N128, WgmmaFp16N256, WgmmaFp16RegistersN256,
          WgmmaFp16HalfSums, WgmmaBf16N128, WgmmaBf16N256, WgmmaBf16RegistersN256, WgmmaE4m3N128,
          WgmmaE4m3N256, WgmmaE4m3RegistersN256, WgmmaE5m2N128, WgmmaE5m2N256,
          WgmmaE5m2RegistersN256, WgmmaInt8N128, WgmmaInt8N256, WgmmaInt8RegistersN256,
          WgmmaSparseTf32, WgmmaSparseTf32Registers, WgmmaSparseFp16, WgmmaSparseFp16Registers,
          WgmmaSparseBf16, WgmmaSparseBf16Registers, WgmmaSparseE4m3, WgmmaSparseE4m3Registers,
          WgmmaSparseE5m2, WgmmaSparseE5m2Registers, WgmmaSparseInt8, WgmmaSparseInt8Registers>;
using NvidiaVectorCodes = Codes<VectorFp32, VectorFp64, PackedFp16, PackedBf16, DotInt8>;
using MfmaCodes =
    Codes<MfmaFp64, MfmaFp32Side32, MfmaFp32Side16, MfmaXf32Side32, MfmaXf32Side16, MfmaFp16Side32,
          MfmaFp16Side16, MfmaFp16Wide, MfmaBf16Old, MfmaBf16Side32, MfmaBf16Side16, MfmaBf16Wide,
          MfmaE4m3Fnuz, MfmaE5m2Fnuz, MfmaE4m3, MfmaE5m2, MfmaInt8Old, MfmaInt8, MfmaInt8Wide,
          MfmaScaledE4m3, MfmaScaledE5m2, MfmaScaledE3m2, MfmaScaledE2m3, MfmaScaledE2m1>;
using WmmaCodes = Codes<WmmaFp16, WmmaFp16Halves, WmmaBf16, WmmaBf16Halves, WmmaE4m3, WmmaE5m2,
                        WmmaInt8, WmmaInt8Halves>;
using AmdVectorCodes = Codes<VectorFp32, VectorFp64, PackedFp16>;
using AmdDotCodes = Codes<DotFp16, DotInt8>;

inline constexpr unsigned every_generation = ~0U;

/// On the host backend every generation has a model, but the widest shapes are left out, which lie
/// as narrower ones do and take a CPU, and its compiler, long.
#if defined(HIPSCOPE_BACKEND_HOST)
inline constexpr unsigned widest = 64;
#else
inline constexpr unsigned widest = ~0U;
#endif

/// Calls `visit` with a pointer to each of these types that begins no later than `generation` and
/// has not ended before it.
template <typename Visit, typename... Code>
void visit_codes(Codes<Code...> /*types*/, unsigned generation, Visit& visit) {
  const auto visit_one = [&]<typename One>(const One* type) {
    if constexpr (One::n <= widest) {
      unsigned since = 0;
      unsigned until = every_generation;
      if constexpr (requires { One::since; }) {
        since = One::since;
      }
      if constexpr (requires { One::until; }) {
        until = One::until;
      }
      if (generation == every_generation || (since <= generation && generation <= until)) {
        visit(type);
      }
    }
  };
  (visit_one(static_cast<const Code*>(nullptr)), ...);
}

/// Calls `visit` with a pointer to the type of each instruction that the device has; on the host
/// backend of those whose models are for waves of its size.
template <typename Visit>
void visit_instructions(const hipscope::DeviceDescription& device, Visit visit) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  const unsigned capability = compute_capability(device);
  visit_codes(MmaCodes(), capability, visit);
  visit_codes(WgmmaCodes(), has_wgmma(capability) ? capability : 0, visit);
  visit_codes(NvidiaVectorCodes(), capability, visit);
#elif defined(HIPSCOPE_BACKEND_AMD)
  const unsigned cdna = cdna_generation(device.architecture);
  visit_codes(MfmaCodes(), cdna, visit);
  visit_codes(WmmaCodes(), rdna_generation(device.architecture), visit);
  visit_codes(AmdVectorCodes(), 0, visit);
  visit_codes(Codes<PackedFp32>(), cdna, visit);
  if (!device.architecture.starts_with("gfx900")) {
    visit_codes(AmdDotCodes(), 0, visit);
  }
#else
  if (device.wave_size == 32) {
    visit_codes(MmaCodes(), every_generation, visit);
    visit_codes(WgmmaCodes(), every_generation, visit);
    visit_codes(NvidiaVectorCodes(), every_generation, visit);
  } else {
    visit_codes(MfmaCodes(), every_generation, visit);
    visit_codes(WmmaCodes(), every_generation, visit);
    visit_codes(AmdVectorCodes(), every_generation, visit);
    visit_codes(Codes<PackedFp32>(), every_generation, visit);
    visit_codes(AmdDotCodes(), every_generation, visit);
  }
#endif
}

inline bool is_matrix_instruction(const Instruction& instruction) {
  return instruction.family != vector_family;
}

/// Of each format and family the instruction with the most FMAs, of several the last.
inline std::vector<const Instruction*> leading(const std::vector<Instruction>& list) {
  std::vector<const Instruction*> found;
  for (const Instruction& instruction : list) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const Instruction* other) {
      return other->format == instruction.format && other->family == instruction.family;
    });
    if (same == found.end()) {
      found.push_back(&instruction);
    } else if (instruction.fmas() >= (*same)->fmas()) {
      *same = &instruction;
    }
  }
  return found;
}

}  // namespace matrix_rate
