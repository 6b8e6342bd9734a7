// Single pass, early ticket: each block draws its ticket before it loads, and stores its sum and a
// mark; the block with the last ticket waits for all marks and sums up. Blocks of 256, no more than
// fit at once; if that means 192 tiles or more for each, blocks of 16 tiles instead.
//
// Against 07: the counter's latency hides behind the loads, and a sum and its mark are one
// word, so that no fence is needed.
#pragma once

#include "05-vector-loads.h"
#include "8-kernels/message.h"

namespace hipscope::reduction {

// A block's sum together with a mark in one word, so that whoever sees the mark sees the sum: no
// fence is needed.
template <typename Value>
__device__ unsigned long long marked(Value sum, unsigned mark) {
  unsigned bits = 0;
  if constexpr (std::is_same_v<Value, float>) {
    bits = __float_as_uint(sum);
  } else {
    bits = sum;
  }
  return (static_cast<unsigned long long>(mark) << 32) | bits;
}

template <typename Value>
__device__ Value sum_of(unsigned long long word) {
  const auto bits = static_cast<unsigned>(word);
  if constexpr (std::is_same_v<Value, float>) {
    return __uint_as_float(bits);
  } else {
    return bits;
  }
}

// Waits until all `blocks` words bear the mark, several at a time; returns the sum of the thread's
// part of them.
template <unsigned Threads, typename Value>
__device__ Value sum_when_marked(unsigned long long* words, unsigned blocks, unsigned mark) {
  constexpr unsigned at_once = 4;
  Value sum{};
  for (unsigned first = threadIdx.x; first < blocks; first += at_once * Threads) {
    unsigned long long word[at_once];
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      const unsigned at = first + i * Threads;
      word[i] = load_message(words + (at < blocks ? at : first));
    }
#pragma unroll
    for (unsigned i = 0; i < at_once; ++i) {
      const unsigned at = first + i * Threads;
      if (at < blocks) {
        while (word[i] >> 32 != mark) {
          word[i] = load_message(words + at);
        }
        sum += sum_of<Value>(word[i]);
      }
    }
  }
  return sum;
}

// (Without the second launch bound the compilers keep to few registers, and have fewer loads in
// flight than are written here.)
template <typename Value, unsigned Threads, unsigned Loads>
__global__ void __launch_bounds__(Threads, 1)
    early_ticket_kernel(Vectors<Value> input, unsigned blocks, Value* sums, Value* total,
                        unsigned* counter) {
  __shared__ unsigned block_ticket;
  unsigned ticket = 0;
  if (threadIdx.x == 0) {
    ticket = atomicInc(counter, 2 * blocks - 1);  // comes back while loads are in flight
  }
  Value sum = sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  if (threadIdx.x == 0) {
    block_ticket = ticket;
  }
  sum = block_sum<Threads>(sum);
  // Tickets go through two launches: the marks of the second half differ from those of the first,
  // which nobody has to erase.
  auto* const words = reinterpret_cast<unsigned long long*>(sums);
  const unsigned mark = block_ticket >= blocks ? 1 : 0;
  if (threadIdx.x == 0) {
    store_message(words + blockIdx.x, marked(sum, mark));
  }
  if (block_ticket == mark * blocks + blocks - 1) {
    // Every other block has begun, so that none waits for room that this one takes.
    __syncthreads();
    sum = block_sum<Threads>(sum_when_marked<Threads, Value>(words, blocks, mark));
    if (threadIdx.x == 0) {
      *total = sum;
    }
  }
}

// Of 2^30 values an H200 reads 0.7 % more per second with 16 tiles for each block in place of
// 199: likely because blocks that stay for long drift apart, and with them what they read at a
// time. Of fewer values it reads less so: the last round of blocks then counts.
constexpr Spread early_ticket_spread = {.tiles_per_block = 0, .most_tiles = 16};

template <typename Value, unsigned Threads = 256, unsigned Loads = 8>
Stage<Value> early_ticket_stage(Spread spread = early_ticket_spread) {
  return vector_stage<Value>({.name = "single pass, early ticket",
                              .kernel = early_ticket_kernel<Value, Threads, Loads>,
                              .threads = Threads,
                              .loads = Loads,
                              .spread = spread,
                              .finish = Finish::early_ticket});
}

}  // namespace hipscope::reduction
