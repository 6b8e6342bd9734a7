// Chains of lds_latency beside those of loads: atomics on LDS, and from lane to lane of a wave.
#pragma once

#include <hipscope/hipscope.h>

#include "words.h"

namespace lds_latency {

/// The atomics all work on one dword, with what the last one returned: an add makes Fibonacci's
/// numbers of it, an exchange has two values take turns, and a compare and swap, which compares
/// with what was returned before, always finds it and stores what was returned last.
///
/// LDS holds the word, the first value, and for each thread where the word is, which is the same
/// place: nvcc does not know that. For what it knows to be one address it would add up the operands
/// of all lanes first, by some twenty instructions.
template <Atomic atomic>
struct AtomicChain {
  static constexpr bool follows_addresses = false;
  unsigned* word;
  unsigned x;
  unsigned last_x;

  __device__ explicit AtomicChain(unsigned* lds)
      : word(lds + lds[2 + threadIdx.x]), x(lds[1]), last_x(lds[0]) {}
  __device__ void step() {
    const unsigned operand = x;
    if constexpr (atomic == Atomic::add) {
      x = atomicAdd(word, operand);
    } else if constexpr (atomic == Atomic::exchange) {
      x = atomicExch(word, operand);
    } else {
      x = atomicCAS(word, last_x, operand);
    }
    last_x = operand;
  }
};

/// A lane's number as ds_bpermute of AMD takes it: in bytes of a dword each.
#if defined(HIPSCOPE_BACKEND_AMD)
inline constexpr unsigned lane_unit = 4;
#else
inline constexpr unsigned lane_unit = 1;
#endif

/// `value` of another lane, by the shuffle instruction alone. HIP's __shfl works on the lanes that
/// are active and on part of a wave, which can cost further instructions.
__device__ inline unsigned bare_shuffle(unsigned value, unsigned lane_times_unit) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned all_lanes = 0xFFFFFFFF;
  return __shfl_sync(all_lanes, value, static_cast<int>(lane_times_unit));
#elif defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_ds_bpermute(static_cast<int>(lane_times_unit), static_cast<int>(value));
#else
  return __shfl(value, static_cast<int>(lane_times_unit));
#endif
}

/// What takes a value from lane to lane. Each lane has its own dword of LDS in a register.
enum class Hop {
  shuffle,        // each lane asks lane x for its dword, which is the next x
  bare_shuffle,   // the same by the instruction alone
  fixed_shuffle,  // each lane asks the lane that its dword names: only the value is on its way
  row_rotation,  // AMD's DPP: lane i of a row of 16 has lane i - 1's register, without LDS hardware
  readlane,      // AMD: one lane for the whole wave, its number and its dword in scalar registers
};

template <Hop hop>
struct LaneChain {
  static constexpr bool follows_addresses = false;
  unsigned mine;
  unsigned x;

  __device__ explicit LaneChain(const unsigned* lds)
      : mine(lds[threadIdx.x]), x(hop == Hop::readlane ? 0 : mine) {}
  __device__ void step() {
    if constexpr (hop == Hop::shuffle) {
      x = static_cast<unsigned>(__shfl(static_cast<int>(mine), static_cast<int>(x)));
    } else if constexpr (hop == Hop::bare_shuffle) {
      x = bare_shuffle(mine, x);
    } else if constexpr (hop == Hop::fixed_shuffle) {
      x = bare_shuffle(x, mine);
    }
#if defined(__HIP_DEVICE_COMPILE__)
    if constexpr (hop == Hop::row_rotation) {
      constexpr int rotate_row_by_one = 0x121;
      constexpr int all = 0xF;
      x = __builtin_amdgcn_mov_dpp(static_cast<int>(x), rotate_row_by_one, all, all, false);
    } else if constexpr (hop == Hop::readlane) {
      x = __builtin_amdgcn_readlane(static_cast<int>(mine), static_cast<int>(x));
    }
#endif
  }
};

}  // namespace lds_latency
