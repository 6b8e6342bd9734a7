// What the loops of fma_loop take in memory. Plain C++, no GPU headers.
#pragma once

namespace fma_loop {

// FMAs, and count, compare and branch. On AMD src/2-compute/fma_loop/compiled_code.check holds the
// compiler to it; NVIDIA's instructions have 16 bytes since Volta, and nvcc 13 makes the same three
// for sm_90. Of what ends a chunk, one instruction of NVIDIA's counts and compares.
inline constexpr unsigned loop_instructions = 3;
#if defined(HIPSCOPE_BACKEND_AMD)
inline constexpr unsigned bytes_per_fma = 8;
inline constexpr unsigned bytes_per_loop_instruction = 4;
inline constexpr unsigned chunk_instructions = 3;
#else
inline constexpr unsigned bytes_per_fma = 16;
inline constexpr unsigned bytes_per_loop_instruction = 16;
inline constexpr unsigned chunk_instructions = 2;
#endif

// What a loop takes beside its FMAs.
inline constexpr unsigned loop_overhead_bytes = loop_instructions * bytes_per_loop_instruction;

// A chunk with its end.
constexpr unsigned bytes_of_chunk(unsigned fmas) {
  return fmas * bytes_per_fma + chunk_instructions * bytes_per_loop_instruction;
}

}  // namespace fma_loop
