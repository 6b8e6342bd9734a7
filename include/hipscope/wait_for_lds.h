// The waits that a kernel asks for by itself, for what AMD loads from LDS or memory.
#pragma once

#include <hip/hip_runtime.h>

// The waits at the end of asm statements that load from memory or from LDS. RDNA 4 has separate
// counters, with other names.
#if defined(__GFX12__)
#define HIPSCOPE_WAIT_FOR_MEMORY "s_wait_loadcnt 0x0"
#define HIPSCOPE_WAIT_FOR_LDS "s_wait_dscnt 0x0"
#else
#define HIPSCOPE_WAIT_FOR_MEMORY "s_waitcnt vmcnt(0)"
#define HIPSCOPE_WAIT_FOR_LDS "s_waitcnt lgkmcnt(0)"
#endif

namespace hipscope {

/// Waits for all of this wave's accesses to LDS: for loads, where the compiler would wait for them
/// one by one as they are used; for stores, before a __syncthreads() where clang 22.1.8 forgets to.
/// It does so where a loop begins with the barrier and its last turn has stored: the first turn
/// needs no wait, so clang leaves it out of all (fixed by
/// https://github.com/llvm/llvm-project/pull/220357), and other waves may load too early.
/// tests/isa/lds_waits.py finds such barriers. (NVIDIA has no such instruction: the hardware tracks
/// registers, and its barrier waits.)
__device__ inline void wait_for_lds() {
#if defined(__GFX9__) || defined(__GFX10__)
  __builtin_amdgcn_s_waitcnt(0xC07F);  // lgkmcnt(0), the others at their most
#elif defined(__GFX11__)
  __builtin_amdgcn_s_waitcnt(0xFC07);  // the same; its bits are elsewhere
#elif defined(__GFX12__)
  asm volatile(HIPSCOPE_WAIT_FOR_LDS ::: "memory");  // clang 22 has no builtin for it
#endif
}

}  // namespace hipscope
