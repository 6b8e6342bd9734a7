// How the kernels of reduction.hip become stages: how many blocks sum an array, in how many
// launches, and how many additions in a row a value then goes through.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/vendor/sum.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "reduction_data.h"
#include "reduction_kernels.h"

namespace hipscope::reduction {

inline std::uint64_t divide_up(std::uint64_t dividend, std::uint64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

inline unsigned log2_of(unsigned power) {
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
    const auto counter = std::make_shared<DeviceBuffer<unsigned>>(1);
    counter->clear();
    const auto run_pass = [=](const Value* values, const Pass& pass, Value* sums, Value* total) {
      launch(kernel, {.grid = dim3(pass.blocks), .block = dim3(Threads)},
             vectors_of(values, pass.count), pass.blocks, sums, total, counter->data());
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
      constexpr bool marks = finish == Finish::early_ticket;  // beside each sum
      const auto sums = std::make_shared<DeviceBuffer<Value>>(pass.blocks * (marks ? 2 : 1));
      if (marks) {
        sums->poison();  // a fresh word might bear the mark of the first launch
      }
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
      job.depth = depth(pass.count, pass.blocks) +
                  (adds    ? pass.blocks
                   : marks ? static_cast<double>(divide_up(pass.blocks, Threads)) + log2_of(Threads)
                           : depth(pass.blocks, 1));
      job.launches = adds ? 2 : 1;
      job.blocks = pass.blocks;
      job.bytes = static_cast<double>(pass.count + (adds ? 0 : sums->size())) * sizeof(Value);
      return job;
    }
  };
  return {.name = name,
          .prepare = prepare,
          .barriers = finish == Finish::last_block ? 2 : 1,
          .bytes_at_once = static_cast<unsigned>(tile * sizeof(Value)),
          .blocks_per_unit = [] { return resident_blocks(kernel, Threads); }};
}

inline bool has_vendor(const Sweep& sweep) {
  return sweep.is_hardware() && !vendor::sum_library().empty();
}

constexpr const char* vendor_name = "vendor library";

// Nobody says in which order the library adds. It is allowed the additions that it takes if as many
// threads as fit share the values and each adds up its own in order.
template <typename Value>
Stage<Value> vendor_stage() {
  using LibraryValue = std::conditional_t<std::is_same_v<Value, float>, float, int>;
  using Library = vendor::Sum<LibraryValue>;
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

inline void note_vendor(Sweep& sweep) {
  if (has_vendor(sweep)) {
    sweep.note(std::string(vendor_name) + ": " + vendor::sum_library());
  } else if (sweep.is_hardware()) {
    sweep.note(std::string(vendor_name) + ": this build has none (looked for " +
               vendor::sum_libraries + ")");
  } else {
    sweep.note(std::string(vendor_name) + ": not on this device");
  }
}

}  // namespace hipscope::reduction
