// How the kernels of reduction.hip become stages: how many blocks sum an array, in how many
// launches, and how many additions in a row a value then goes through.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data.h"
#include "device_code.h"

namespace hipscope::reduction {

inline std::uint64_t divide_up(std::uint64_t dividend, std::uint64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

inline unsigned log2_of(unsigned power) { return static_cast<unsigned>(std::countr_zero(power)); }

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

// One launch of a kernel, of those that a sum takes.
struct Pass {
  std::uint64_t count;  // values that it sums
  unsigned blocks;
  std::uint64_t sums;  // where in the buffer it stores its blocks' sums
};

// The launches until one sum is left; `blocks_for` says how many blocks the values get.
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

// `run(values, pass, sums)` enqueues one pass; `depth(pass)` is how many additions a value goes
// through in it.
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

// --- Stages that load single values ------------------------------------------------------------

template <typename Value>
struct ScalarStage {
  std::string name;
  void (*kernel)(const Value*, std::uint64_t, Value*);
  unsigned threads;   // of a block
  unsigned loads;     // of a thread
  unsigned depth;     // additions in a row in the block's tree
  unsigned barriers;  // of a block
};

template <typename Value>
Stage<Value> scalar_stage(const ScalarStage<Value>& shape) {
  const auto blocks_for = [=](std::uint64_t count) {
    return static_cast<unsigned>(divide_up(count, std::uint64_t{shape.threads} * shape.loads));
  };
  const auto run = [=](const Value* values, const Pass& pass, Value* sums) {
    launch(shape.kernel, {.grid = dim3(pass.blocks), .block = dim3(shape.threads)}, values,
           pass.count, sums);
  };
  return {.name = shape.name,
          .prepare =
              [=](const Sweep&, const Array<Value>& array) {
                return job_of(array, passes_over(array.count(), blocks_for), run,
                              [=](const Pass&) { return shape.depth + shape.loads; });
              },
          .barriers = shape.barriers,
          .bytes_at_once = shape.threads * shape.loads * unsigned{sizeof(Value)},
          .blocks_per_unit = [=] { return resident_blocks(shape.kernel, shape.threads); }};
}

// Steps of a tree that adds up `fan` of `threads` values in each, and the additions in a row.
struct TreeShape {
  unsigned steps = 0;
  unsigned depth = 0;
};

inline TreeShape tree_shape(unsigned threads, unsigned fan) {
  TreeShape shape;
  for (unsigned left = threads; left > 1; left = left > fan ? left / fan : 1) {
    shape.depth += std::min(left, fan) - 1;
    ++shape.steps;
  }
  return shape;
}

// --- Stages that load vectors ------------------------------------------------------------------

// How the tiles of an array are spread over blocks: a number for each, or over as many blocks as
// fit at once.
struct Spread {
  unsigned tiles_per_block;  // 0: as many blocks as fit, each with as many tiles as the others
  // If not 0: a block gets only this many where that still makes many_rounds of blocks.
  unsigned most_tiles = 0;
};
constexpr unsigned many_rounds = 12;  // it then matters little how full the last one is
constexpr Spread to_resident_blocks = {.tiles_per_block = 0};

// What becomes of the blocks' sums.
enum class Finish {
  store,         // another launch sums them
  add,           // each is added to the total
  last_block,    // the block that ends last sums them
  early_ticket,  // the block that begins last waits for them
};

template <typename Value>
struct VectorStage {
  std::string name;
  // `blocks` is an argument, since HIP finds gridDim by a division. The first stages leave the
  // total alone, and only the last ones use the counter.
  void (*kernel)(Vectors<Value> input, unsigned blocks, Value* sums, Value* total,
                 unsigned* counter);
  unsigned threads;  // of a block
  unsigned loads;    // of a thread, from a tile
  Spread spread;
  Finish finish;

  [[nodiscard]] std::uint64_t tile() const {  // in values
    return std::uint64_t{threads} * loads * vector_values;
  }

  [[nodiscard]] unsigned blocks_for(std::uint64_t count, std::uint64_t resident) const {
    const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(count, tile()));
    std::uint64_t each =
        spread.tiles_per_block > 0 ? spread.tiles_per_block : divide_up(tiles, resident);
    if (spread.most_tiles > 0 && each >= std::uint64_t{many_rounds} * spread.most_tiles) {
      each = spread.most_tiles;
    }
    return static_cast<unsigned>(divide_up(tiles, each));
  }

  // Additions in a row: a block's tiles (the last may be a part), the tree of a tile, of a vector,
  // of the block, and the ends of the array.
  [[nodiscard]] double depth(std::uint64_t count, unsigned blocks) const {
    const std::uint64_t tiles = divide_up(count, tile() * blocks) + 1;
    return static_cast<double>(tiles) + log2_of(loads) + 2 + log2_of(threads) + 3;
  }

  void run(const Value* values, const Pass& pass, Value* sums, Value* total,
           unsigned* counter) const {
    launch(kernel, {.grid = dim3(pass.blocks), .block = dim3(threads)},
           vectors_of(values, pass.count), pass.blocks, sums, total, counter);
  }
};

// Additions in a row that the blocks' sums then go through.
template <typename Value>
double depth_of_finish(const VectorStage<Value>& shape, unsigned blocks) {
  if (shape.finish == Finish::add) {
    return blocks;
  }
  return shape.finish == Finish::last_block
             ? shape.depth(blocks, 1)
             : static_cast<double>(divide_up(blocks, shape.threads)) + log2_of(shape.threads);
}

template <typename Value>
Job<Value> single_pass_job(const VectorStage<Value>& shape, const Array<Value>& array,
                           unsigned blocks) {
  const Pass pass = {.count = array.count(), .blocks = blocks, .sums = 0};
  const bool marks = shape.finish == Finish::early_ticket;  // beside each sum
  const bool adds = shape.finish == Finish::add;
  const auto counter = std::make_shared<DeviceBuffer<unsigned>>(1);
  counter->clear();
  const auto sums = std::make_shared<DeviceBuffer<Value>>(blocks * (marks ? 2 : 1));
  if (marks) {
    sums->poison();  // a fresh word might bear the mark of the first launch
  }
  Job<Value> job;
  if (adds) {
    job.zero = [](Value* total) {
      check(hipMemsetAsync(total, 0, sizeof(Value), static_cast<hipStream_t>(launch_stream)));
    };
  }
  job.enqueue = [=, values = array.values(), zero = job.zero](Value* total) {
    if (zero) {
      zero(total);
    }
    shape.run(values, pass, sums->data(), total, counter->data());
  };
  job.depth = shape.depth(pass.count, blocks) + depth_of_finish(shape, blocks);
  job.launches = adds ? 2 : 1;
  job.blocks = blocks;
  job.bytes = static_cast<double>(pass.count + (adds ? 0 : sums->size())) * sizeof(Value);
  return job;
}

template <typename Value>
Stage<Value> vector_stage(const VectorStage<Value>& shape) {
  const auto prepare = [=](const Sweep& sweep, const Array<Value>& array) {
    const auto resident = static_cast<std::uint64_t>(resident_blocks(shape.kernel, shape.threads)) *
                          static_cast<std::uint64_t>(sweep.device().compute_units);
    const auto blocks_for = [=](std::uint64_t count) { return shape.blocks_for(count, resident); };
    if (shape.finish != Finish::store) {
      return single_pass_job(shape, array, blocks_for(array.count()));
    }
    return job_of(
        array, passes_over(array.count(), blocks_for),
        [=](const Value* values, const Pass& pass, Value* sums) {
          shape.run(values, pass, sums, nullptr, nullptr);
        },
        [=](const Pass& pass) { return shape.depth(pass.count, pass.blocks); });
  };
  return {.name = shape.name,
          .prepare = prepare,
          .barriers = shape.finish == Finish::last_block ? 2U : 1U,
          .bytes_at_once = static_cast<unsigned>(shape.tile() * sizeof(Value)),
          .blocks_per_unit = [=] { return resident_blocks(shape.kernel, shape.threads); }};
}

}  // namespace hipscope::reduction
