// All instructions, and which of them a device has.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "hipscope/matrix/mfma.h"
#include "hipscope/matrix/mma_sync.h"
#include "hipscope/matrix/operands.h"
#include "hipscope/matrix/packed.h"
#include "hipscope/matrix/wgmma.h"
#include "hipscope/matrix/wmma.h"

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

template <typename Code>
inline constexpr bool is_vector = std::string_view(Code::family) == vector_family;

/// As many chains as make an instruction fastest with every CU full: up to four hide what a matrix
/// instruction waits for; neighbours among a vector instruction's share operands.
template <typename Code>
inline constexpr unsigned peak_chains = is_vector<Code>&& has_registers_for<Code, 8> ? 8
                                        : has_registers_for<Code, 4>                 ? 4
                                        : has_registers_for<Code, 2>                 ? 2
                                                                                     : 1;

/// Whether a GPU that this pass compiles for has the instruction: AMD's binaries hold code for each
/// GPU, which takes long for all instructions of all others.
template <typename Code>
__host__ __device__ constexpr bool is_of_this_pass() {
#if defined(HIPSCOPE_BACKEND_AMD) && defined(__HIP_DEVICE_COMPILE__)
  constexpr bool is_wmma = std::string_view(Code::family) == "WMMA";
  constexpr unsigned generation = is_wmma ? MATRIX_RATE_RDNA : MATRIX_RATE_CDNA;
  return Code::since <= generation && generation <= Code::until;
#else
  return true;
#endif
}

/// The row of an instruction, without its kernels.
template <typename Code>
Instruction describe() {
  return {arithmetic_of<Code>,
          Code::format,
          Code::name,
          Code::family,
          sizeof(typename Code::Sum::Value),
          std::min(Code::peak_groups, most_threads<Code, 4> / Code::lanes)};
}

/// The number in "sm_90"; 0 for what is no NVIDIA GPU.
inline unsigned compute_capability(const hipscope::DeviceDescription& device) {
  return device.architecture.starts_with("sm_")
             ? static_cast<unsigned>(std::atoi(device.architecture.c_str() + 3))
             : 0;
}

/// On the host backend every instruction has a model, but the widest shapes are left out, which
/// take a CPU, and its compiler, long, and have the layout of narrower ones.
#if defined(HIPSCOPE_BACKEND_HOST)
inline constexpr unsigned widest = 64;
#else
inline constexpr unsigned widest = ~0U;
#endif

/// Calls `visit` with a pointer to each of these types that a device of `generation` has.
template <typename Visit, typename... Code>
void visit_codes(Codes<void, Code...> /*types*/, unsigned generation, Visit& visit) {
  const auto visit_one = [&]<typename One>(const One* type) {
    if constexpr (One::n <= widest) {
      if (generation == every_generation ||
          generation == std::clamp(generation, One::since, One::until)) {
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
#if defined(HIPSCOPE_WARPGROUP_INSTRUCTIONS)  // code for sm_90a
  visit_codes(WgmmaCodes(), capability, visit);
#endif
  visit_codes(NvidiaVectorCodes(), capability, visit);
#elif defined(HIPSCOPE_BACKEND_AMD)
  const unsigned cdna = cdna_generation(device.architecture);
  visit_codes(MfmaCodes(), cdna, visit);
  visit_codes(WmmaCodes(), rdna_generation(device.architecture), visit);
  visit_codes(AmdVectorCodes(), 0, visit);
  visit_codes(PackedFp32Code(), cdna, visit);
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
    visit_codes(PackedFp32Code(), every_generation, visit);
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
