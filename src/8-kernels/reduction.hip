// How fast can many values be summed, and what does each way to do it cost?
//
// Every value must be read once, so a kernel that only reads is the limit. Every stage leaves the
// one total in device memory; each changes one thing:
//   2, 4, 8 values per step   one value per thread; a block's tree in LDS adds up so many per step
//   first add on load         two values per thread: the first addition comes before the tree
//   wave shuffle              the tree goes through registers, LDS only joins the waves
//   vector load               16 bytes per thread in one load
//   eight vector loads        under way at once: 128 bytes per thread
//   grid stride               no more blocks than fit at once; each goes through the whole array
//   single pass, atomic add   the blocks add their sums to the total, which starts as 0
//   single pass, last block   the block that finishes last adds up the sums of all, in fixed order
//   single pass, short blocks the same, four tiles per block: blocks that end make room for others
// Up to `grid stride` a second launch of the same kernel sums the blocks' sums, and further ones
// until one is left.
#include <hipscope/hipscope.h>
#include <hipscope/vendor/sum.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "reduction_data.h"

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::Inference;
using hipscope::launch;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::reduction::Array;
using hipscope::reduction::Data;
using hipscope::reduction::error_bound;
using hipscope::reduction::is_right;
using hipscope::reduction::name_of;
using hipscope::reduction::Reference;

namespace {

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
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor(sum, distance);
  }
  return sum;
#endif
}

// The sum over the block, in all lanes of its first wave.
template <unsigned Threads, typename Value>
__device__ Value block_sum(Value sum) {
  static_assert(Threads <= largest_block);
  __shared__ Value wave_sums[largest_block / smallest_wave];
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned wave = threadIdx.x / warpSize;
  sum = wave_sum(sum);
  if (lane == 0) {
    wave_sums[wave] = sum;
  }
  __syncthreads();
  if (wave == 0) {
    sum = wave_sum(lane < Threads / warpSize ? wave_sums[lane] : Value{});
  }
  return sum;
}

// --- Kernels with loads of one value ----------------------------------------------------------

// All loads before this are under way before anything after it waits for the first. Left to itself,
// clang loads a few at a time where that saves registers.
__device__ void end_of_loads() {
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
  store,       // another launch sums the blocks' sums
  add,         // to the total
  last_block,  // sums them
};

// Counts the block among the `blocks` that have stored their sums, and says whether it is the last.
// The counter then starts again at 0.
__device__ bool is_last_block(unsigned* finished, unsigned blocks) {
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

// (`blocks` is an argument, since HIP finds gridDim by a division. The second launch bound: or else
// the compilers keep to few registers, and load fewer vectors at once than the source says.)
template <typename Value, unsigned Threads, unsigned Loads, Finish finish>
__global__ void __launch_bounds__(Threads, 1)
    vector_kernel(Vectors<Value> input, unsigned blocks, Value* sums, Value* total,
                  unsigned* finished) {
  Value sum = sum_tiles<Threads, Loads>(input, blockIdx.x, blocks);
  if (blockIdx.x == 0) {
    sum += sum_ends(input);
  }
  sum = block_sum<Threads>(sum);
  if constexpr (finish == Finish::add) {
    if (threadIdx.x == 0) {
      atomicAdd(total, sum);
    }
    return;
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
  if constexpr (finish == Finish::last_block) {
    if (is_last_block(finished, blocks)) {
      const Vectors<Value> all = vectors_of<Value>(sums, blocks);
      sum = block_sum<Threads>(sum_tiles<Threads, Loads>(all, 0, 1) + sum_ends(all));
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

__global__ void __launch_bounds__(read_threads, 1)
    read_kernel(const uint4* vectors, unsigned* sums) {
  uint4 sum{};
  add_tile<read_threads, read_loads, true>(
      sum, vectors, std::uint64_t{blockIdx.x} * (read_threads * read_loads) + threadIdx.x, 0);
  const unsigned total = block_sum<read_threads>((sum.x + sum.y) + (sum.z + sum.w));
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = total;
  }
}

// --- Stages -----------------------------------------------------------------------------------

std::uint64_t divide_up(std::uint64_t dividend, std::uint64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

unsigned log2_of(unsigned power) {
  unsigned bits = 0;
  while ((1U << bits) < power) {
    ++bits;
  }
  return bits;
}

// A way to sum one array.
template <typename Value>
struct Job {
  std::function<void(Value* total)> enqueue;
  std::function<void(Value* total)> zero;  // the part of it that zeroes the total, if any
  double depth = 0;                        // additions that a value goes through, at most
  std::size_t launches = 0;                // 0: not known
  std::uint64_t blocks = 0;                // of the first launch
  double bytes = 0;                        // that are read
};

template <typename Value>
struct Stage {
  std::string name;
  std::function<Job<Value>(const Sweep&, const Array<Value>&)> prepare;
  unsigned barriers = 0;       // of a block
  unsigned bytes_at_once = 0;  // that a block asks for before it waits
  std::function<int()> blocks_per_unit;
};

// What lies between two launches of a kernel.
struct Pass {
  std::uint64_t count;  // values that it sums
  unsigned blocks;
  std::uint64_t sums;  // where in the buffer it stores its blocks' sums
};

// Until one sum is left; `blocks_for` says how many blocks so many values get.
template <typename BlocksFor>
std::vector<Pass> passes_over(std::uint64_t count, BlocksFor blocks_for) {
  std::vector<Pass> passes;
  std::uint64_t sums = 0;
  do {
    const unsigned blocks = blocks_for(count);
    passes.push_back({.count = count, .blocks = blocks, .sums = sums});
    sums += divide_up(blocks, vector_values) * vector_values;
    count = blocks;
  } while (count > 1);
  return passes;
}

// `run(values, pass, sums)` enqueues one pass; `depth(pass)` is that of its additions.
template <typename Value, typename Run, typename Depth>
Job<Value> job_of(const Array<Value>& array, const std::vector<Pass>& passes, Run run,
                  Depth depth) {
  const Pass& last = passes.back();
  const auto buffer = std::make_shared<DeviceBuffer<Value>>(last.sums + last.blocks);
  const Value* const values = array.values();
  Job<Value> job;
  job.enqueue = [=](Value* total) {
    const Value* input = values;
    for (const Pass& pass : passes) {
      Value* const sums = pass.blocks == 1 ? total : buffer->data() + pass.sums;
      run(input, pass, sums);
      input = sums;
    }
  };
  for (const Pass& pass : passes) {
    job.depth += depth(pass);
    job.bytes += static_cast<double>(pass.count) * sizeof(Value);
  }
  job.launches = passes.size();
  job.blocks = passes.front().blocks;
  return job;
}

template <typename Kernel>
int resident_blocks(Kernel kernel, unsigned threads) {
  int blocks = 0;
  check(
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads), 0));
  return blocks;
}

// A stage that loads single values: `depth` and `barriers` are those of the block's tree.
template <unsigned Threads, unsigned Loads, typename Value>
Stage<Value> scalar_stage(const std::string& name,
                          void (*kernel)(const Value*, std::uint64_t, Value*), double depth,
                          unsigned barriers) {
  const auto blocks_for = [](std::uint64_t count) {
    return static_cast<unsigned>(divide_up(count, std::uint64_t{Threads} * Loads));
  };
  const auto run = [=](const Value* values, const Pass& pass, Value* sums) {
    launch(kernel, {.grid = dim3(pass.blocks), .block = dim3(Threads)}, values, pass.count, sums);
  };
  return {.name = name,
          .prepare =
              [=](const Sweep&, const Array<Value>& array) {
                return job_of(array, passes_over(array.count(), blocks_for), run,
                              [=](const Pass&) { return depth + Loads; });
              },
          .barriers = barriers,
          .bytes_at_once = Threads * Loads * unsigned{sizeof(Value)},
          .blocks_per_unit = [=] { return resident_blocks(kernel, Threads); }};
}

template <typename Value, unsigned Threads, unsigned Fan, unsigned Loads = 1>
Stage<Value> tree_stage(const std::string& name) {
  unsigned depth = 0;
  unsigned barriers = 0;
  for (unsigned left = Threads; left > 1; left = left > Fan ? left / Fan : 1) {
    depth += std::min(left, Fan) - 1;
    ++barriers;
  }
  return scalar_stage<Threads, Loads>(name, tree_kernel<Value, Threads, Fan, Loads>, depth,
                                      barriers);
}

// How the tiles of an array are dealt out: so many to each block, or to as many blocks as fit at
// once.
struct Deal {
  unsigned tiles_per_block;  // 0: as many blocks as fit, each with as many tiles as the others
};
constexpr Deal to_resident_blocks = {.tiles_per_block = 0};

template <typename Value, unsigned Threads, unsigned Loads, Finish finish>
Stage<Value> vector_stage(const std::string& name, Deal deal) {
  constexpr auto kernel = vector_kernel<Value, Threads, Loads, finish>;
  constexpr std::uint64_t tile = std::uint64_t{Threads} * Loads * vector_values;
  const auto prepare = [=](const Sweep& sweep, const Array<Value>& array) {
    const auto resident = static_cast<std::uint64_t>(resident_blocks(kernel, Threads)) *
                          static_cast<std::uint64_t>(sweep.device().compute_units);
    const auto blocks_for = [=](std::uint64_t count) {
      const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(count, tile));
      const std::uint64_t each =
          deal.tiles_per_block > 0 ? deal.tiles_per_block : divide_up(tiles, resident);
      return static_cast<unsigned>(divide_up(tiles, each));
    };
    // Tiles (the last may be a part), the tree of a tile, of a vector, of the block, and the ends.
    const auto depth = [=](std::uint64_t count, unsigned blocks) {
      const std::uint64_t tiles = divide_up(count, tile * blocks) + 1;
      return static_cast<double>(tiles) + log2_of(Loads) + 2 + log2_of(Threads) + 3;
    };
    const auto finished = std::make_shared<DeviceBuffer<unsigned>>(1);
    finished->clear();
    const auto run_pass = [=](const Value* values, const Pass& pass, Value* sums, Value* total) {
      launch(kernel, {.grid = dim3(pass.blocks), .block = dim3(Threads)},
             vectors_of(values, pass.count), pass.blocks, sums, total, finished->data());
    };
    if constexpr (finish == Finish::store) {
      return job_of(
          array, passes_over(array.count(), blocks_for),
          [=](const Value* values, const Pass& pass, Value* sums) {
            run_pass(values, pass, sums, nullptr);
          },
          [=](const Pass& pass) { return depth(pass.count, pass.blocks); });
    } else {
      const Pass pass = {.count = array.count(), .blocks = blocks_for(array.count()), .sums = 0};
      const auto sums = std::make_shared<DeviceBuffer<Value>>(pass.blocks);
      const Value* const values = array.values();
      const bool adds = finish == Finish::add;
      Job<Value> job;
      if (adds) {
        job.zero = [](Value* total) { check(hipMemsetAsync(total, 0, sizeof(Value))); };
      }
      job.enqueue = [=, zero = job.zero](Value* total) {
        if (zero) {
          zero(total);
        }
        run_pass(values, pass, sums->data(), total);
      };
      job.depth = depth(pass.count, pass.blocks) + (adds ? pass.blocks : depth(pass.blocks, 1));
      job.launches = adds ? 2 : 1;
      job.blocks = pass.blocks;
      job.bytes = static_cast<double>(pass.count + (adds ? 0 : pass.blocks)) * sizeof(Value);
      return job;
    }
  };
  return {.name = name,
          .prepare = prepare,
          .barriers = finish == Finish::last_block ? 2 : 1,
          .bytes_at_once = static_cast<unsigned>(tile * sizeof(Value)),
          .blocks_per_unit = [] { return resident_blocks(kernel, Threads); }};
}

constexpr unsigned threads = 256;
constexpr unsigned loads = 8;

// The best of sweep `shapes` on an H200.
template <typename Value>
Stage<Value> best_stage() {
  return vector_stage<Value, threads, loads, Finish::last_block>("single pass, short blocks",
                                                                 {.tiles_per_block = 4});
}

template <typename Value>
Stage<Value> many_loads_stage() {
  return vector_stage<Value, threads, loads, Finish::store>("eight vector loads",
                                                            {.tiles_per_block = 1});
}

template <typename Value>
Stage<Value> atomic_stage() {
  return vector_stage<Value, threads, loads, Finish::add>("single pass, atomic add",
                                                          to_resident_blocks);
}

template <typename Value>
Stage<Value> last_block_stage() {
  return vector_stage<Value, threads, loads, Finish::last_block>("single pass, last block",
                                                                 to_resident_blocks);
}

template <typename Value>
std::vector<Stage<Value>> stages() {
  return {tree_stage<Value, threads, 2>("2 values per step"),
          tree_stage<Value, threads, 4>("4 values per step"),
          tree_stage<Value, threads, 8>("8 values per step"),
          tree_stage<Value, threads, 4, 2>("first add on load"),
          scalar_stage<threads, 2>("wave shuffle", shuffle_kernel<Value, threads, 2>,
                                   log2_of(threads), 1),
          vector_stage<Value, threads, 1, Finish::store>("vector load", {.tiles_per_block = 1}),
          many_loads_stage<Value>(),
          vector_stage<Value, threads, loads, Finish::store>("grid stride", to_resident_blocks),
          atomic_stage<Value>(),
          last_block_stage<Value>(),
          best_stage<Value>()};
}

bool has_vendor(const Sweep& sweep) {
  return sweep.is_hardware() && !hipscope::vendor::sum_library().empty();
}

constexpr const char* vendor_name = "vendor library";

// Nobody says in which order the library adds. It is allowed the additions that it takes if as many
// threads as fit share the values and each adds up its own in order.
template <typename Value>
Stage<Value> vendor_stage() {
  using LibraryValue = std::conditional_t<std::is_same_v<Value, float>, float, int>;
  using Library = hipscope::vendor::Sum<LibraryValue>;
  return {.name = vendor_name,
          .prepare =
              [](const Sweep& sweep, const Array<Value>& array) {
                const auto library = std::make_shared<Library>(array.count());
                const auto* const values = reinterpret_cast<const LibraryValue*>(array.values());
                const double all_threads =
                    static_cast<double>(sweep.device().compute_units) *
                    std::max(largest_block, static_cast<unsigned>(
                                                sweep.device().maximum_threads_per_compute_unit));
                Job<Value> job;
                job.enqueue = [=](Value* total) {
                  library->enqueue(values, reinterpret_cast<LibraryValue*>(total));
                };
                job.depth = static_cast<double>(array.count()) / all_threads + 64;
                return job;
              },
          .blocks_per_unit = {}};
}

void note_vendor(Sweep& sweep) {
  if (has_vendor(sweep)) {
    sweep.note(std::string(vendor_name) + ": " + hipscope::vendor::sum_library());
  } else if (sweep.is_hardware()) {
    sweep.note(std::string(vendor_name) + ": this build has none (looked for " +
               hipscope::vendor::sum_libraries + ")");
  } else {
    sweep.note(std::string(vendor_name) + ": not on this device");
  }
}

// --- Measuring --------------------------------------------------------------------------------

constexpr const char* gigabytes = "GB/s";

double bandwidth(double bytes, double seconds) { return bytes * 1e-9 / seconds; }

template <typename Value>
double bytes_of(const Array<Value>& array) {
  return static_cast<double>(array.count()) * sizeof(Value);
}

// One array to check by, and what it sums to.
template <typename Value>
struct Checked {
  const Array<Value>& array;
  Reference reference;
};

template <typename Value>
Checked<Value> with_reference(Point& point, const Array<Value>& array) {
  array.verify_reference(point);
  return {.array = array, .reference = array.reference(0, array.count())};
}

template <typename Value>
void verify(const Sweep& sweep, Point& point, const Stage<Value>& stage,
            const Checked<Value>& checked, const std::string& prefix = "") {
  const Job<Value> job = stage.prepare(sweep, checked.array);
  DeviceBuffer<Value> total(1);
  // Twice: the first run must leave behind what the second one needs.
  std::uint64_t wrong = 0;
  for (unsigned run = 0; run < 2; ++run) {
    total.poison();
    job.enqueue(total.data());
    wrong +=
        is_right(checked.array.data(), checked.reference, total.to_host()[0], job.depth) ? 0 : 1;
  }
  point.verify(prefix + "total of values " + name_of(checked.array.data()), wrong, 2);
}

// Measures the read kernel on the whole tiles of the values; returns GB/s.
template <typename Value>
double measure_read(Point& point, const Array<Value>& array, const std::string& name = "time") {
  const auto blocks = static_cast<unsigned>(array.count() / read_tile);
  const auto* const vectors = static_cast<const uint4*>(static_cast<const void*>(array.values()));
  DeviceBuffer<unsigned> sums(blocks);
  const auto run = [&] {
    launch(read_kernel, {.grid = dim3(blocks), .block = dim3(read_threads)}, vectors, sums.data());
  };
  run();
  unsigned words = 0;
  for (const unsigned sum : sums.to_host()) {
    words += sum;
  }
  point.verify("checksum of what was read",
               words == array.reference(0, blocks * read_tile).words ? 0 : 1, 1);
  return bandwidth(static_cast<double>(blocks * read_tile) * sizeof(Value),
                   point.measure(run, {.name = name}).seconds().median);
}

template <typename Value>
double measure_sum(const Sweep& sweep, Point& point, const Stage<Value>& stage,
                   const Array<Value>& array, const std::string& name = "time") {
  const Job<Value> job = stage.prepare(sweep, array);
  DeviceBuffer<Value> total(1);
  return point.measure([&] { job.enqueue(total.data()); }, {.name = name}).seconds().median;
}

// The values that are measured: random in all bits that matter.
template <typename Value>
constexpr Data measured_data = std::is_same_v<Value, float> ? Data::positive : Data::all_bits;

// Those that must come out exactly.
template <typename Value>
constexpr Data exact_data = std::is_same_v<Value, float> ? Data::small_integers : Data::all_bits;

void require_values(const Sweep& sweep, std::uint64_t count, const std::string& option) {
  sweep.require_memory(2 * count * sizeof(float), option);
}

// --- Sweep: stages ----------------------------------------------------------------------------

template <typename Value>
class StageTable {
 public:
  StageTable(Sweep& sweep, std::uint64_t count)
      : sweep_(sweep),
        measured_(sweep, measured_data<Value>, count),
        exact_(sweep, exact_data<Value>, count) {}

  void measure(bool is_published) {
    auto point = sweep_.point("read", 0);
    const Checked<Value> measured = with_reference(point, measured_);
    const Checked<Value> exact = with_reference(point, exact_);
    read_ = measure_read(point, measured_);
    point.value("bandwidth", read_, gigabytes);
    const auto ladder = stages<Value>();
    if (has_vendor(sweep_)) {
      const double x = static_cast<double>(ladder.size()) + 1;
      vendor_seconds_ = row(sweep_.point(vendor_name, x), vendor_stage<Value>(), measured, exact);
    }
    double before = 0;
    for (std::size_t i = 0; i < ladder.size(); ++i) {
      const std::string series = i == 0 ? "2 elements a step" : i == 1 ? "4 elements a step" : "";
      auto stage_point =
          sweep_.point(ladder[i].name, static_cast<double>(i + 1), is_published ? series : "");
      const double seconds = row(stage_point, ladder[i], measured, exact);
      stage_point.value("speed-up on the stage before",
                        before > 0 ? before / seconds : std::numeric_limits<double>::quiet_NaN(),
                        "times");
      before = seconds;
    }
  }

 private:
  // Returns its time in seconds.
  double row(Point point, const Stage<Value>& stage, const Checked<Value>& measured,
             const Checked<Value>& exact) {
    verify(sweep_, point, stage, exact);
    if constexpr (measured_data<Value> != exact_data<Value>) {
      verify(sweep_, point, stage, measured);
    }
    const double seconds = measure_sum(sweep_, point, stage, measured_);
    const double gigabytes_per_second = bandwidth(bytes_of(measured_), seconds);
    point.value("bandwidth", gigabytes_per_second, gigabytes);
    point.value("share of read", 100 * gigabytes_per_second / read_, "%");
    if (vendor_seconds_ > 0) {
      point.value("rate over the vendor's", vendor_seconds_ / seconds, "times");
    }
    const Job<Value> job = stage.prepare(sweep_, measured_);
    if (job.zero) {
      DeviceBuffer<Value> total(1);
      point.measure([&] { job.zero(total.data()); }, {.name = "of it zeroing"});
    }
    if (job.launches > 0) {
      const int resident = stage.blocks_per_unit();
      point.value("launches", static_cast<double>(job.launches), "per sum");
      point.value("barriers", stage.barriers, "per block");
      point.value("values",
                  static_cast<double>(measured_.count()) / static_cast<double>(job.blocks),
                  "per block");
      point.value("in flight per CU", static_cast<double>(stage.bytes_at_once) * resident, "bytes");
      point.value("read", job.bytes * 1e-6, "MB");
    }
    return seconds;
  }

  Sweep& sweep_;
  Array<Value> measured_;
  Array<Value> exact_;
  double read_ = 0;
  double vendor_seconds_ = 0;
};

template <typename Value>
void measure_stages(Sweep& sweep, std::uint64_t count, bool is_published) {
  sweep.axis({.name = "stage"});
  sweep.headline("time");
  sweep.note(std::to_string(count) +
             " values of 4 bytes; launches include the one that zeroes the "
             "total of the atomic add");
  if (is_published) {
    sweep.note("the published times end with the blocks' sums, ours with the total");
  }
  note_vendor(sweep);
  require_values(sweep, count, "--values");
  StageTable<Value>(sweep, count).measure(is_published);
}

// --- Sweep: steps -----------------------------------------------------------------------------

// Sweep steps' columns.
std::string steps_time(unsigned fan) { return std::to_string(fan) + " values time"; }

template <unsigned Threads, unsigned Fan>
double measure_fan(const Sweep& sweep, Point& point, const Checked<float>& exact) {
  const std::string name = std::to_string(Fan) + " values ";
  const auto stage = tree_stage<float, Threads, Fan>(name);
  verify(sweep, point, stage, exact, name + "per step, ");
  const double seconds = measure_sum(sweep, point, stage, exact.array, steps_time(Fan));
  point.value(name + "barriers", stage.barriers, "per block");
  return seconds;
}

template <unsigned Threads>
void measure_block_size(Sweep& sweep, const Array<float>& array) {
  auto point = sweep.point(std::to_string(Threads), Threads);
  const Checked<float> exact = with_reference(point, array);
  const double two = measure_fan<Threads, 2>(sweep, point, exact);
  const double four = measure_fan<Threads, 4>(sweep, point, exact);
  const double eight = measure_fan<Threads, 8>(sweep, point, exact);
  point.value("speed-up of 4 on 2", two / four, "times");
  point.value("speed-up of 8 on 4", four / eight, "times");
}

void measure_steps(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("speed-up of 8 on 4");
  require_values(sweep, count, "--values");
  const Array<float> array(sweep, Data::small_integers, count);
  measure_block_size<256>(sweep, array);
  measure_block_size<512>(sweep, array);
  measure_block_size<1024>(sweep, array);
}

// --- Sweep: shapes ----------------------------------------------------------------------------

template <unsigned Threads, unsigned Loads>
void measure_shape(Sweep& sweep, const Checked<float>& exact, double read, double& row) {
  const std::string shape = std::to_string(Threads) + " x " + std::to_string(Loads);
  for (const unsigned tiles : {1U, 2U, 4U, 8U, 16U, 0U}) {
    auto point = sweep.point(
        shape + (tiles > 0 ? ", tiles per block: " + std::to_string(tiles) : ", blocks that fit"),
        ++row);
    const auto stage =
        vector_stage<float, Threads, Loads, Finish::last_block>("", {.tiles_per_block = tiles});
    verify(sweep, point, stage, exact);
    const double rate =
        bandwidth(bytes_of(exact.array), measure_sum(sweep, point, stage, exact.array));
    point.value("bandwidth", rate, gigabytes);
    point.value("share of read", 100 * rate / read, "%");
    point.value("blocks", static_cast<double>(stage.prepare(sweep, exact.array).blocks),
                "per launch");
    point.value("in flight per CU",
                static_cast<double>(stage.bytes_at_once) * stage.blocks_per_unit(), "bytes");
  }
}

void measure_shapes(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "shape"});
  sweep.headline("bandwidth");
  sweep.note("single pass, last block: threads x loads of 16 bytes under way in each");
  require_values(sweep, count, "--values");
  const Array<float> array(sweep, Data::small_integers, count);
  auto point = sweep.point("read", 0);
  const Checked<float> exact = with_reference(point, array);
  const double read = measure_read(point, array);
  point.value("bandwidth", read, gigabytes);
  double row = 0;
  measure_shape<256, 4>(sweep, exact, read, row);
  measure_shape<256, 8>(sweep, exact, read, row);
  measure_shape<256, 16>(sweep, exact, read, row);
  measure_shape<512, 4>(sweep, exact, read, row);
  measure_shape<512, 8>(sweep, exact, read, row);
  measure_shape<1024, 4>(sweep, exact, read, row);
}

// --- Sweep: sizes -----------------------------------------------------------------------------

void measure_size(Sweep& sweep, std::uint64_t count) {
  auto point = sweep.point("2^" + number(std::log2(static_cast<double>(count)), 6),
                           static_cast<double>(count));
  const Array<float> array(sweep, Data::small_integers, count);
  const Checked<float> exact = with_reference(point, array);
  point.value("read", measure_read(point, array, "read time"), gigabytes);
  std::vector<Stage<float>> ways = {many_loads_stage<float>(), atomic_stage<float>(),
                                    last_block_stage<float>(), best_stage<float>()};
  if (has_vendor(sweep)) {
    ways.push_back(vendor_stage<float>());
  }
  for (const auto& stage : ways) {
    verify(sweep, point, stage, exact, stage.name + ", ");
    const double seconds = measure_sum(sweep, point, stage, array, stage.name + " time");
    point.value(stage.name, bandwidth(bytes_of(array), seconds), gigabytes);
  }
}

void measure_sizes(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "values", .scale = hipscope::Scale::logarithmic});
  sweep.headline(best_stage<float>().name);
  sweep.note("what fits into L2 stays there from one run to the next");
  note_vendor(sweep);
  require_values(sweep, largest, "--largest");
  const std::uint64_t first = sweep.is_hardware() ? 1U << 20 : read_tile;
  for (std::uint64_t count = std::min(first, largest); count <= largest; count *= 2) {
    measure_size(sweep, count);
  }
}

// --- Sweep: error -----------------------------------------------------------------------------

// How many different totals a stage gives when it runs again and again.
std::size_t count_totals(const Job<float>& job, unsigned runs) {
  DeviceBuffer<float> totals(runs);
  for (unsigned run = 0; run < runs; ++run) {
    job.enqueue(totals.data() + run);
  }
  const auto made = totals.to_host();
  return std::set<float>(made.begin(), made.end()).size();
}

void show_error(Point& point, float total, const Reference& reference, Data data) {
  point.value(std::string("error of values ") + name_of(data),
              std::abs(static_cast<double>(total) - reference.sum) / reference.magnitude,
              "of the sum of absolute values");
}

// What a loop on the host makes of the same values.
void measure_loop_error(Sweep& sweep, const std::vector<const Checked<float>*>& inputs) {
  auto point = sweep.point("one loop, on the host", 0);
  for (const auto* const input : inputs) {
    float total = 0;
    for (std::uint64_t i = 0; i < input->array.count(); ++i) {
      total += input->array.value(i);
    }
    show_error(point, total, input->reference, input->array.data());
  }
}

void measure_errors(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "stage"});
  sweep.headline(std::string("error of values ") + name_of(Data::positive));
  sweep.note("bound: what rounding can do at most, by the number of additions in a row");
  note_vendor(sweep);
  require_values(sweep, count, "--values");
  const Array<float> positive(sweep, Data::positive, count);
  const Array<float> centred(sweep, Data::centred, count);
  std::vector<Stage<float>> ways = stages<float>();
  if (has_vendor(sweep)) {
    ways.push_back(vendor_stage<float>());
  }
  const std::vector<Checked<float>> inputs = {
      {.array = positive, .reference = positive.reference(0, count)},
      {.array = centred, .reference = centred.reference(0, count)}};
  measure_loop_error(sweep, {inputs.data(), inputs.data() + 1});
  const unsigned runs = sweep.is_hardware() ? 16 : 2;
  double x = 0;
  for (const auto& stage : ways) {
    auto point = sweep.point(stage.name, ++x);
    for (const auto& input : inputs) {
      verify(sweep, point, stage, input);
      DeviceBuffer<float> total(1);
      const Job<float> job = stage.prepare(sweep, input.array);
      job.enqueue(total.data());
      show_error(point, total.to_host()[0], input.reference, input.array.data());
    }
    const Job<float> job = stage.prepare(sweep, centred);
    point.value("bound", error_bound(job.depth, 1), "of the sum of absolute values");
    point.value("different totals", static_cast<double>(count_totals(job, runs)),
                "in " + std::to_string(runs) + " runs");
  }
}

// --- Sweep: awkward ---------------------------------------------------------------------------

template <typename Value>
void verify_stages(const Sweep& sweep, Point& point, Data data, std::uint64_t count,
                   unsigned skipped) {
  const Array<Value> array(sweep, data, count, skipped);
  const Checked<Value> checked = with_reference(point, array);
  for (const auto& stage : stages<Value>()) {
    verify(sweep, point, stage, checked, stage.name + ", ");
  }
}

// `skipped` values before the first one: it lies on no boundary of a vector.
void measure_awkward_size(Sweep& sweep, std::uint64_t count, unsigned skipped) {
  auto point = sweep.point(
      std::to_string(count) + (skipped > 0 ? " from value " + std::to_string(skipped) + " on" : ""),
      static_cast<double>(count));
  sweep.require_memory(count * sizeof(float), "this sweep");
  verify_stages<float>(sweep, point, Data::small_integers, count, skipped);
  verify_stages<float>(sweep, point, Data::centred, count, skipped);
  verify_stages<unsigned>(sweep, point, Data::all_bits, count, skipped);
  const Array<float> array(sweep, Data::positive, count, skipped);
  const double seconds = measure_sum(sweep, point, best_stage<float>(), array);
  point.value("bandwidth", bandwidth(bytes_of(array), seconds), gigabytes);
}

void measure_awkward(Sweep& sweep) {
  sweep.axis({.name = "values", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.note("every stage on every kind of value; bandwidth of " + best_stage<float>().name);
  constexpr std::uint64_t fermat_prime = 65537;
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{255},
        std::uint64_t{257}, read_tile - 1, read_tile + 1, fermat_prime}) {
    measure_awkward_size(sweep, count, 0);
  }
  constexpr std::uint64_t prime = 40961;
  for (const unsigned skipped : {1U, 2U, 3U}) {
    measure_awkward_size(sweep, prime, skipped);
  }
  measure_awkward_size(sweep, 2, 3);  // no vector at all
  if (sweep.is_hardware()) {
    constexpr std::uint64_t beyond_2_gibibytes = (std::uint64_t{1} << 29) + (1U << 20) + 7;
    measure_awkward_size(sweep, 16777259, 1);  // a prime
    measure_awkward_size(sweep, beyond_2_gibibytes, 1);
  }
}

// --- What the curves show ---------------------------------------------------------------------

const hipscope::CurvePoint* find(const std::vector<hipscope::CurvePoint>& curve, double x) {
  const auto found =
      std::find_if(curve.begin(), curve.end(), [=](const auto& point) { return point.x == x; });
  return found == curve.end() ? nullptr : &*found;
}

double confidence_of(const hipscope::CurvePoint& a, const hipscope::CurvePoint& b) {
  return 1 - std::min(1.0, a.relative_spread + b.relative_spread);
}

// The source asks: are 8 values per step better still than 4?
void infer_steps(hipscope::Results& results, const std::vector<hipscope::CurvePoint>& times) {
  const auto* const two = find(times, 1);
  const auto* const four = find(times, 2);
  const auto* const eight = find(times, 3);
  if (two == nullptr || four == nullptr || eight == nullptr) {
    return;
  }
  const double speed_up = four->y / eight->y;
  // Less than this is no help worth its name, whatever the spread.
  constexpr double least = 0.02;
  const double noise = std::max(least, four->relative_spread + eight->relative_spread);
  const std::string verdict = speed_up > 1 + noise   ? "help further"
                              : speed_up < 1 - noise ? "are slower"
                                                     : "make no difference";
  Inference inference{.name = "8 values per step over 4",
                      .value = speed_up,
                      .unit = "times as fast",
                      .confidence = confidence_of(*four, *eight),
                      .statement = "8 values per step of the tree in LDS " + verdict +
                                   ", which the source leaves open"};
  inference.evidence = {"4 values per step are " + number(two->y / four->y) +
                        " times as fast as 2, with half the barriers"};
  const auto published_two = results.published("2 elements a step", "time");
  const auto published_four = results.published("4 elements a step", "time");
  if (!published_two.empty() && !published_four.empty()) {
    inference.evidence.back() +=
        "; published for " + published_two.front().gpu + ": " +
        number(published_two.front().points[0].second / published_four.front().points[0].second);
  }
  for (const auto& point : results.curve("steps", "speed-up of 8 on 4")) {
    inference.evidence.push_back("blocks of " + number(point.x, 4) +
                                 " threads: " + number(point.y) + " times as fast");
  }
  results.infer(inference);
}

void infer_best(hipscope::Results& results, const std::vector<hipscope::CurvePoint>& times) {
  const auto ladder = stages<float>();
  const auto vendor_x = static_cast<double>(ladder.size()) + 1;
  const hipscope::CurvePoint* best = nullptr;
  for (const auto& point : times) {
    if (point.x > 0 && point.x < vendor_x && (best == nullptr || point.y < best->y)) {
      best = &point;
    }
  }
  const auto bandwidths = results.curve("stages", "bandwidth");
  const auto* const read = find(bandwidths, 0);
  if (best == nullptr || read == nullptr) {
    return;
  }
  const auto* const rate = find(bandwidths, best->x);
  const std::string name = ladder[static_cast<std::size_t>(best->x) - 1].name;
  results.infer({.name = "best reduction over read bandwidth",
                 .value = 100 * rate->y / read->y,
                 .unit = "%",
                 .confidence = confidence_of(*best, *read),
                 .statement = "fastest of our stages: " + name,
                 .evidence = {number(rate->y, 4) + " GB/s; a kernel that only reads the same: " +
                              number(read->y, 4) + " GB/s"}});
  Inference inference{.name = "best reduction over vendor library",
                      .unit = "%",
                      .statement = "this build has no vendor library, or did not run it"};
  if (const auto* const vendor = find(times, vendor_x)) {
    inference.value = 100 * vendor->y / best->y;
    inference.confidence = confidence_of(*best, *vendor);
    inference.statement = name + " against " + hipscope::vendor::sum_library();
    inference.evidence = {number(best->y * 1e6, 4) + " us; the library " +
                          number(vendor->y * 1e6, 4) + " us"};
  }
  results.infer(inference);
}

void infer(hipscope::Results& results) {
  const auto times = results.curve("stages", "time");
  infer_steps(results, times);
  infer_best(results, times);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "reduction",
      {.question = "How fast can many values be summed, and what does each way to do it cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.12 (example 12a)"}});
  constexpr std::uint64_t published_values = 1U << 28;
  constexpr std::uint64_t most = std::uint64_t{1} << 34;
  const auto values = experiment.size("--values", "values that are summed",
                                      {.gpu = published_values,
                                       .quick = 1U << 26,
                                       .host = 3 * read_tile + 5,
                                       .minimum = read_tile,
                                       .maximum = most});
  const auto largest = experiment.size("--largest", "most values of sweep sizes",
                                       {.gpu = 1U << 30,
                                        .quick = 1U << 26,
                                        .host = 2 * read_tile,
                                        .minimum = read_tile,
                                        .maximum = most});
  experiment.sweep("published", "every stage on integers, as the source", [&](Sweep& sweep) {
    measure_stages<unsigned>(sweep, values, values == published_values);
  });
  experiment.sweep("stages", "every stage on FP32 values",
                   [&](Sweep& sweep) { measure_stages<float>(sweep, values, false); });
  experiment.sweep("steps", "the tree in LDS, by block size and values per step",
                   [&](Sweep& sweep) { measure_steps(sweep, values); });
  experiment.sweep("shapes", "the last stage, by threads, loads and blocks",
                   [&](Sweep& sweep) { measure_shapes(sweep, values); });
  experiment.sweep("sizes", "the best stages by the number of values",
                   [&](Sweep& sweep) { measure_sizes(sweep, largest); });
  experiment.sweep("error", "how exact are the totals, and are they the same every time?",
                   [&](Sweep& sweep) { measure_errors(sweep, values); });
  experiment.sweep("awkward", "sizes that divide by nothing, and starts between vectors",
                   [](Sweep& sweep) { measure_awkward(sweep); });
  experiment.conclude(infer);
  return experiment.run(argc, argv);
}
