// The sum over a wave and over a block by shuffles: LDS holds only the waves' sums, and there is
// one barrier.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope::reduction {

constexpr unsigned smallest_wave = 32;
constexpr unsigned largest_block = 1024;

#if defined(__HIP_DEVICE_COMPILE__)
// The value of another lane of the same row of 16, by AMD's DPP: as part of the instruction that
// uses it, without LDS hardware.
template <int Control, typename Value>
__device__ Value of_row(Value value) {
  constexpr int all = 0xF;
  return __builtin_bit_cast(
      Value, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, value), Control, all, all, true));
}

template <typename Value>
__device__ Value of_lane(Value value, int lane) {
  return __builtin_bit_cast(Value, __builtin_amdgcn_readlane(__builtin_bit_cast(int, value), lane));
}
#endif

// NVIDIA's warpSize is no constant for the compiler: it divides by it, and loops.
__device__ inline unsigned wave_lanes() {
#if defined(__CUDA_ARCH__)
  return smallest_wave;
#else
  return warpSize;
#endif
}

// The sum over the wave, all of whose lanes are active, in each of them.
template <typename Value>
__device__ Value wave_sum(Value sum) {
#if defined(__HIP_DEVICE_COMPILE__)
  constexpr int swap_neighbours = 0xB1;  // quad_perm:[1,0,3,2]
  constexpr int swap_pairs = 0x4E;       // quad_perm:[2,3,0,1]
  constexpr int half_mirror = 0x141;
  constexpr int mirror = 0x140;
  constexpr int row = 16;
  sum += of_row<swap_neighbours>(sum);
  sum += of_row<swap_pairs>(sum);
  sum += of_row<half_mirror>(sum);
  sum += of_row<mirror>(sum);
  const Value two_rows = of_lane(sum, 0) + of_lane(sum, row);
  return warpSize == 2 * row ? two_rows
                             : two_rows + (of_lane(sum, 2 * row) + of_lane(sum, 3 * row));
#else
  for (int distance = static_cast<int>(wave_lanes()) / 2; distance > 0; distance /= 2) {
#if defined(__CUDA_ARCH__)
    // The mask is a constant: to ask which lanes are active takes as long as the shuffle, or
    // longer.
    constexpr unsigned all_lanes = 0xFFFFFFFF;
    sum += __shfl_xor_sync(all_lanes, sum, distance);
#else
    sum += __shfl_xor(sum, distance);
#endif
  }
  return sum;
#endif
}

// The sum over the block, in all lanes of its first wave.
template <unsigned Threads, typename Value>
__device__ Value block_sum(Value sum) {
  __shared__ Value wave_sums[largest_block / smallest_wave];
  const unsigned lane = threadIdx.x % wave_lanes();
  const unsigned wave = threadIdx.x / wave_lanes();
  sum = wave_sum(sum);
  if (lane == 0) {
    wave_sums[wave] = sum;
  }
  __syncthreads();
  if (wave == 0) {
    sum = wave_sum(lane < Threads / wave_lanes() ? wave_sums[lane] : Value{});
  }
  return sum;
}

}  // namespace hipscope::reduction
