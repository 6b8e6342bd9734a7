// Where a wave's slots for pieces are in its block's LDS, and how its lanes wait for one another.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds.h>

#include <cstdint>

namespace async_copies {

/// Slots begin at multiples of what a tensor copy asks for.
struct alignas(128) Line {
  unsigned words[32];
};

/// Lanes of a wave, where the device code is to know them; the fewest that any may have.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
inline constexpr unsigned fewest_lanes = 64;
#else
inline constexpr unsigned fewest_lanes = 32;
#endif
__device__ inline unsigned lanes() {
#if defined(__HIP_DEVICE_COMPILE__) || defined(__CUDA_ARCH__)
  return fewest_lanes;
#else
  return static_cast<unsigned>(warpSize);
#endif
}

/// What clang cannot know to be.
__device__ inline unsigned same_for_all_lanes(unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  value = __builtin_amdgcn_readfirstlane(value);
#endif
  return value;
}

/// After this each lane of the wave may load what the others stored to LDS, or store anew what they
/// have loaded.
__device__ inline void wave_barrier() {
#if defined(__HIP_DEVICE_COMPILE__)
  // The lanes run in lockstep, and LDS is in order for a wave: only clang must keep that order.
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#elif !defined(HIPSCOPE_BACKEND_AMD)
  __syncwarp();
#endif
}

/// A wave's place in its block's LDS: slots for pieces, and for each a barrier that counts bytes.
struct Slots {
  unsigned* lds;           ///< all of the block's
  unsigned offset;         ///< of the first slot, in bytes
  std::uint64_t* arrived;  ///< of the first slot
  unsigned lane;

  [[nodiscard]] __device__ unsigned char* at(unsigned bytes) const {
    return reinterpret_cast<unsigned char*>(lds) + offset + bytes;
  }
  /// As hipscope::lds_load and lds_store take it.
  [[nodiscard]] __device__ unsigned address(unsigned bytes) const {
    return hipscope::lds_address(lds) + offset + bytes;
  }
};

/// A wave's slots, and after those of all waves their barriers.
template <typename Way>
__device__ Slots slots_of_wave(Line* lds) {
  const unsigned waves = blockDim.x / lanes();
  const unsigned wave = same_for_all_lanes(threadIdx.x / lanes());
  auto* const words = reinterpret_cast<unsigned*>(lds);
  auto* const barriers = reinterpret_cast<std::uint64_t*>(reinterpret_cast<unsigned char*>(lds) +
                                                          waves * Way::in_flight * Way::pitch);
  return {.lds = words,
          .offset = wave * Way::in_flight * Way::pitch,
          .arrived = barriers + wave * Way::in_flight,
          .lane = threadIdx.x % lanes()};
}

/// LDS of a block of that many waves.
template <typename Way>
std::uint32_t lds_bytes(unsigned waves) {
  return waves * Way::in_flight * (Way::pitch + Way::barrier_bytes);
}

}  // namespace async_copies
