// What a kernel knows of itself and says to its block and wave: indices, barriers, wave operations.
//
// Every barrier and wave operation carries the source position of its call (the last two
// parameters, which a kernel never passes), to tell one from another.
//
// The model of a wave operation: a lane that reaches one waits until each live lane of its wave
// waits too, at a wave operation or at a block barrier. Of the lanes at wave operations, those at
// the smallest line then act together, as the operation's active lanes, and go on. The smallest
// line first is what reconverges structured code: lanes inside a branch or a loop stand at smaller
// lines than lanes that already wait after it, so the former catch up before both act as one.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "vector_types.h"

namespace hip_host {

/// 32 or 64: what the environment variable HIPSCOPE_HOST_WAVE_SIZE says, 32 when it is not set. For
/// another value it ends the program, with a sentence and status 2.
int wave_size_from_environment();

}  // namespace hip_host

/// Lanes of a wave.
inline const int warpSize = hip_host::wave_size_from_environment();

// References, so that a kernel cannot write what the scheduler sets at each switch of lanes.
extern const uint3& threadIdx;
extern const uint3& blockIdx;
extern const dim3& blockDim;
extern const dim3& gridDim;

namespace hip_host {

/// The file and line of a call.
struct SourcePosition {
  const char* file;
  int line;
};

/// What a wave vote tells each lane: bit i stands for lane i of the wave.
struct WaveVote {
  std::uint64_t active;
  std::uint64_t votes;
};

/// Waits until each lane of the block that has not exited is at this barrier. The launch fails if
/// they wait at barriers of different positions. Throws std::logic_error outside a kernel.
void wait_at_barrier(SourcePosition position);

/// Gives `bits` to the wave and returns the bits that lane `source_lane` of the wave gives; all
/// bits are ones if that lane is not active, so that the misuse shows. Throws std::logic_error
/// outside a kernel.
std::uint64_t exchange_in_wave(std::uint64_t bits, unsigned source_lane, SourcePosition position);

/// Returns for which active lanes of the wave `predicate` is true. Throws std::logic_error outside
/// a kernel.
WaveVote vote_in_wave(bool predicate, SourcePosition position);

/// Returns the running lane's number within its wave. Throws std::logic_error outside a kernel.
unsigned lane_in_wave();

/// Lets the block's other lanes, and the other blocks of a cooperative launch, run before this
/// returns: for the body of a loop that waits for what one of them stores. Lanes that wait at a
/// barrier or a wave operation go on only when no lane of the block is in here. Throws
/// std::logic_error outside a kernel.
void let_others_run();

/// Waits for all lanes of all blocks. The launch fails if it is not cooperative, or if a block ends
/// without coming. Throws std::logic_error outside a kernel.
void wait_at_grid_barrier(SourcePosition position);

/// Returns `width` as the size of a shuffle's segments, in lanes. Throws std::invalid_argument,
/// which fails the launch, if it is no power of two from 1 to the wave size.
unsigned checked_segment_width(int width, SourcePosition position);

/// The types that a shuffle moves: up to 8 bytes.
template <typename Value>
concept Shuffleable = std::is_arithmetic_v<Value> && sizeof(Value) <= sizeof(std::uint64_t);

/// What a shuffle of `Value` returns. HIP's overloads start at int, so smaller integers promote.
template <Shuffleable Value>
using Promoted = decltype(+Value{});

/// Shuffles `value`: returns that of lane `source_lane` of the wave.
template <typename Value>
Value shuffle(Value value, unsigned source_lane, SourcePosition position) {
  using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  static_assert(sizeof(Value) == sizeof(Bits));
  const std::uint64_t received =
      exchange_in_wave(std::bit_cast<Bits>(value), source_lane, position);
  return std::bit_cast<Value>(static_cast<Bits>(received));
}

}  // namespace hip_host

/// Returns the lane's number within its wave.
inline unsigned __lane_id() { return hip_host::lane_in_wave(); }

/// Waits for all lanes of the block that have not exited.
inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  hip_host::wait_at_barrier({file, line});
}

/// Waits for the wave's other lanes as any wave operation does; the mask is not looked at.
inline void __syncwarp([[maybe_unused]] unsigned long long mask = ~0ULL,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  hip_host::vote_in_wave(false, {file, line});
}

/// Returns the mask of the active lanes whose predicate is not 0.
inline unsigned long long __ballot(int predicate, const char* file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  return hip_host::vote_in_wave(predicate != 0, {file, line}).votes;
}

/// Returns 1 if the predicate of every active lane is not 0, else 0.
inline int __all(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const hip_host::WaveVote vote = hip_host::vote_in_wave(predicate != 0, {file, line});
  return vote.votes == vote.active ? 1 : 0;
}

// The shuffles. `width`, a power of two, splits the wave into segments of that many lanes.

/// Returns the value of lane `source_lane`, taken modulo the width, of the own segment.
template <hip_host::Shuffleable Value>
hip_host::Promoted<Value> __shfl(Value value, int source_lane, int width = warpSize,
                                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const unsigned segment_width = hip_host::checked_segment_width(width, {file, line});
  const unsigned segment_start = __lane_id() & ~(segment_width - 1);
  const unsigned source =
      segment_start + (static_cast<unsigned>(source_lane) & (segment_width - 1));
  return hip_host::shuffle<hip_host::Promoted<Value>>(value, source, {file, line});
}

/// Returns the value of the lane `delta` above; the own value where that is outside the segment.
template <hip_host::Shuffleable Value>
hip_host::Promoted<Value> __shfl_down(Value value, unsigned delta, int width = warpSize,
                                      const char* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) {
  const unsigned segment_width = hip_host::checked_segment_width(width, {file, line});
  const unsigned lane = __lane_id();
  const unsigned lanes_above = segment_width - 1 - (lane & (segment_width - 1));
  const unsigned source = delta <= lanes_above ? lane + delta : lane;
  return hip_host::shuffle<hip_host::Promoted<Value>>(value, source, {file, line});
}

/// Returns the value of the lane whose number is the own one xor `lane_mask`; the own value where
/// that lane is above the segment. A lane of a lower segment may be read.
template <hip_host::Shuffleable Value>
hip_host::Promoted<Value> __shfl_xor(Value value, int lane_mask, int width = warpSize,
                                     const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  const unsigned segment_width = hip_host::checked_segment_width(width, {file, line});
  const unsigned lane = __lane_id();
  const unsigned segment_end = (lane & ~(segment_width - 1)) + segment_width;
  const unsigned partner = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned source = partner < segment_end ? partner : lane;
  return hip_host::shuffle<hip_host::Promoted<Value>>(value, source, {file, line});
}
