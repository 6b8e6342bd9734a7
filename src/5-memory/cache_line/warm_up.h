// A chain of nodes, what a chase reads before the chain is timed, and where that lies: computed by
// host and device, since a table of it would stand in the caches.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>

namespace cache_line {

inline constexpr unsigned word_bytes = 4;
inline constexpr unsigned poison_word = 0xFFFFFFFF;

// A node is one word, the lower half of the next node's address; the upper is the same for all.
// So nodes can be 4 bytes apart, and following them takes no arithmetic.
struct Chain {
  unsigned upper;  // halves of addresses
  unsigned first;
  unsigned loads;
};

// What is read before the chain is timed. A block reads one word in each of strata x per_stratum
// chunks, `passes` times; one lane follows the chain itself `laps` times.
struct WarmUp {
  unsigned strata = 0;
  unsigned per_stratum = 0;
  unsigned chunk_bytes = 0;
  unsigned salt = 0;
  unsigned passes = 0;
  unsigned laps = 0;
};

// Left as poison by a chain that did not end.
struct Outcome {
  long long cycles;
  unsigned end;
};

__host__ __device__ inline unsigned scramble(unsigned bits) {
  bits *= 0x9E3779B1U;  // 2^32 over the golden ratio, made odd
  bits = (bits ^ (bits >> 15)) * 0x7FEB352DU;
  return bits ^ (bits >> 16);
}

// Chunks that share a line of this size or a smaller one are read one right after another.
inline constexpr unsigned longest_line = 256;  // bytes

__host__ __device__ inline unsigned chunks_per_line(const WarmUp& warm_up) {
  return warm_up.chunk_bytes < longest_line ? longest_line / warm_up.chunk_bytes : 1;
}

// The node that a warm-up reads in one stratum in round 0, 1 ... per_stratum - 1: chunks in turn,
// from the start of a random line on, and in the chunk (of 2^n bytes) a random word. The chain goes
// through nodes of these first lines: what is read after them can drive them out.
__host__ __device__ inline unsigned node_place(const WarmUp& warm_up, unsigned stratum,
                                               unsigned round) {
  const auto random = static_cast<unsigned>(
      static_cast<std::uint64_t>(scramble(stratum + warm_up.salt)) * warm_up.per_stratum >> 32);
  const unsigned into_line = (stratum * warm_up.per_stratum + random) % chunks_per_line(warm_up);
  const unsigned first = random > into_line ? random - into_line : 0;
  const unsigned turn = first + round;
  const unsigned chunk = stratum * warm_up.per_stratum +
                         (turn < warm_up.per_stratum ? turn : turn - warm_up.per_stratum);
  return chunk * warm_up.chunk_bytes +
         (scramble(chunk ^ warm_up.salt) & (warm_up.chunk_bytes - word_bytes));
}

}  // namespace cache_line
