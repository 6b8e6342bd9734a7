// The kernels of reduction.hip, in the order of its stages: how a block adds up its values, and
// what it does with the sum. `Value` is float or unsigned, whose sums wrap.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/message.h>

#include <cstdint>
#include <type_traits>

namespace hipscope::reduction {

constexpr unsigned smallest_wave = 32;
constexpr unsigned largest_block = 1024;
constexpr unsigned vector_values = 4;  // of 32 bits in the widest load

// --- Sums of a block --------------------------------------------------------------------------

// Joins the first `Left` of `values`, of which each thread has its own in `sum`, in steps that add
// up `Fan` each. What a step reads no thread has written since the barrier before it, whatever the
// size of a wave.
template <unsigned Left, unsigned Fan, typename Value>
__device__ void tree_steps(Value* values, Value& sum) {
  constexpr unsigned next = Left > Fan ? Left / Fan : 1;
  __syncthreads();
  if (threadIdx.x < next) {
#pragma unroll
    for (unsigned other = next; other < Left; other += next) {
      sum += values[threadIdx.x + other];
    }
    if constexpr (next > 1) {
      values[threadIdx.x] = sum;
    }
  }
  if constexpr (next > 1) {
    tree_steps<next, Fan>(values, sum);
  }
}

// The sum over the block, in thread 0.
template <unsigned Threads, unsigned Fan, typename Value>
__device__ Value tree_sum(Value sum) {
  __shared__ Value values[Threads];
  values[threadIdx.x] = sum;
  tree_steps<Threads, Fan>(values, sum);
  return sum;
}

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
  static_assert(Threads <= largest_block);
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

// --- Kernels with loads of one value ----------------------------------------------------------

// All loads before this are under way before anything after it waits for the first. Left to itself,
// clang loads a few at a time where that saves registers.
__device__ inline void end_of_loads() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

// Of values [blockIdx.x * Threads * Loads, ...), those that there are. Past the end the last one is
// loaded and does not count: with a branch around each load, the next one would wait for it.
template <unsigned Threads, unsigned Loads, typename Value>
__device__ Value load_values(const Value* values, std::uint64_t count) {
  const std::uint64_t first = std::uint64_t{blockIdx.x} * (Threads * Loads) + threadIdx.x;
  Value loaded[Loads];
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    const std::uint64_t at = first + i * Threads;
    loaded[i] = values[at < count ? at : count - 1];
  }
  end_of_loads();
  Value sum{};
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    sum += first + i * Threads < count ? loaded[i] : Value{};
  }
  return sum;
}

template <typename Value, unsigned Threads, unsigned Fan, unsigned Loads>
__global__ void __launch_bounds__(Threads)
    tree_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum = tree_sum<Threads, Fan>(load_values<Threads, Loads>(values, count));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

template <typename Value, unsigned Threads, unsigned Loads>
__global__ void __launch_bounds__(Threads)
    shuffle_kernel(const Value* values, std::uint64_t count, Value* sums) {
  const Value sum = block_sum<Threads>(load_values<Threads, Loads>(values, count));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

// --- Kernels with vector loads ----------------------------------------------------------------

template <typename Value>
using Vector = std::conditional_t<std::is_same_v<Value, float>, float4, uint4>;

template <typename Access>
__device__ void add(Access& sum, const Access& other) {
  sum.x += other.x;
  sum.y += other.y;
  sum.z += other.z;
  sum.w += other.w;
}

// Adds the first 2 * `Half` vectors up, into the first one. (As a loop of its own the tree is not
// unrolled for gfx900 with 16 vectors, which then lie in scratch.)
template <unsigned Half, typename Access>
__device__ void add_halves(Access* vectors) {
  if constexpr (Half > 0) {
#pragma unroll
    for (unsigned i = 0; i < Half; ++i) {
      add(vectors[i], vectors[i + Half]);
    }
    add_halves<Half / 2>(vectors);
  }
}

// Adds `Loads` vectors to `sum`: all loads first, then a tree. Those from `end` on do not count;
// they are loaded from `at`, which is before it, so that no load depends on a branch.
template <unsigned Threads, unsigned Loads, bool Whole, typename Access>
__device__ void add_tile(Access& sum, const Access* vectors, std::uint64_t at,
                         [[maybe_unused]] std::uint64_t end) {
  Access loaded[Loads];
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    const std::uint64_t place = at + i * Threads;
    loaded[i] = vectors[Whole || place < end ? place : at];
  }
  end_of_loads();
#pragma unroll
  for (unsigned i = 0; i < Loads; ++i) {
    if (!Whole && at + i * Threads >= end) {
      loaded[i] = Access{};
    }
  }
  add_halves<Loads / 2>(loaded);
  add(sum, loaded[0]);
}

// An array as vectors on their own boundaries, and what is left over before and behind them.
template <typename Value>
struct Vectors {
  const Vector<Value>* vectors;
  std::uint64_t count;
  const Value* head;
  const Value* tail;
  unsigned head_count;
  unsigned tail_count;
};

template <typename Value>
__host__ __device__ Vectors<Value> vectors_of(const Value* values, std::uint64_t count) {
  const std::uint64_t past =
      reinterpret_cast<std::uintptr_t>(values) / sizeof(Value) % vector_values;
  const std::uint64_t to_boundary = (vector_values - past) % vector_values;
  const std::uint64_t head = to_boundary < count ? to_boundary : count;
  const std::uint64_t whole = (count - head) / vector_values;
  return {.vectors = reinterpret_cast<const Vector<Value>*>(values + head),
          .count = whole,
          .head = values,
          .tail = values + head + whole * vector_values,
          .head_count = static_cast<unsigned>(head),
          .tail_count = static_cast<unsigned>(count - head - whole * vector_values)};
}

// Sums tile `first` of `Loads` vectors per thread, then the one `step` further, and so on.
template <unsigned Threads, unsigned Loads, typename Value>
__device__ Value sum_tiles(const Vectors<Value>& input, unsigned first, unsigned step) {
  constexpr unsigned tile_vectors = Threads * Loads;
  const auto whole_tiles = static_cast<unsigned>(input.count / tile_vectors);
  Vector<Value> sum{};
  unsigned tile = first;
#pragma unroll 1
  for (; tile < whole_tiles; tile += step) {
    add_tile<Threads, Loads, true>(sum, input.vectors,
                                   std::uint64_t{tile} * tile_vectors + threadIdx.x, input.count);
  }
  const std::uint64_t at = std::uint64_t{tile} * tile_vectors + threadIdx.x;
  if (tile == whole_tiles && at < input.count) {
    add_tile<Threads, Loads, false>(sum, input.vectors, at, input.count);
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

// What is no part of a vector: at most three values at either end.
template <typename Value>
__device__ Value sum_ends(const Vectors<Value>& input) {
  Value sum{};
  if (threadIdx.x < input.head_count) {
    sum += input.head[threadIdx.x];
  }
  if (threadIdx.x < input.tail_count) {
    sum += input.tail[threadIdx.x];
  }
  return sum;
}

enum class Finish {
  store,         // another launch sums the blocks' sums
  add,           // to the total
  last_block,    // the block that ends last sums them
  early_ticket,  // the block that begins last waits for them
};

// Counts the block among the `blocks` that have stored their sums, and says whether it is the last.
// The counter then starts again at 0.
__device__ inline bool is_last_block(unsigned* finished, unsigned blocks) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    __threadfence();  // who sees the count sees the sum
    is_last = atomicInc(finished, blocks - 1) == blocks - 1;
  }
  __syncthreads();
  const bool last = is_last;
  if (last) {
    __threadfence();
  }
  return last;
}

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

// (`blocks` is an argument, since HIP finds gridDim by a division. The second launch bound: or else
// the compilers keep to few registers, and load fewer vectors at once than the source says.)
template <typename Value, unsigned Threads, unsigned Loads, Finish finish>
__global__ void __launch_bounds__(Threads, 1)
    vector_kernel(Vectors<Value> input, unsigned blocks, Value* sums, Value* total,
                  unsigned* counter) {
  __shared__ unsigned block_ticket;
  unsigned ticket = 0;
  if (finish == Finish::early_ticket && threadIdx.x == 0) {
    ticket = atomicInc(counter, 2 * blocks - 1);  // comes back while loads are under way
  }
  Value sum = sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  if (finish == Finish::early_ticket && threadIdx.x == 0) {
    block_ticket = ticket;
  }
  sum = block_sum<Threads>(sum);
  if constexpr (finish == Finish::store) {
    if (threadIdx.x == 0) {
      sums[blockIdx.x] = sum;
    }
  } else if constexpr (finish == Finish::add) {
    if (threadIdx.x == 0) {
      atomicAdd(total, sum);
    }
  } else if constexpr (finish == Finish::last_block) {
    if (threadIdx.x == 0) {
      sums[blockIdx.x] = sum;
    }
    if (is_last_block(counter, blocks)) {
      const Vectors<Value> all = vectors_of<Value>(sums, blocks);
      sum = block_sum<Threads>(sum_tiles<Threads, Loads>(all, 0, 1) + sum_ends(all));
      if (threadIdx.x == 0) {
        *total = sum;
      }
    }
  } else {
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
}

// What the memory gives: the same loads and no more, as memory_bandwidth found them best. An
// integer sum for each block, so that no load can be left out.
constexpr unsigned read_threads = 256;
constexpr unsigned read_loads = 8;
constexpr std::uint64_t read_tile = std::uint64_t{read_threads} * read_loads * vector_values;

static __global__ void __launch_bounds__(read_threads, 1)
    read_kernel(const uint4* vectors, unsigned* sums) {
  uint4 sum{};
  add_tile<read_threads, read_loads, true>(
      sum, vectors, std::uint64_t{blockIdx.x} * (read_threads * read_loads) + threadIdx.x, 0);
  const unsigned total = block_sum<read_threads>((sum.x + sum.y) + (sum.z + sum.w));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = total;
  }
}

}  // namespace hipscope::reduction
