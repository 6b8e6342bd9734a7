// How many bytes per second do memory and caches give, and what does it take to get them?
//
// The functions are BabelStream's (read is its first half of dot; write is added), on 32-bit
// integers, whose sums wrap but are exact in any order: one checksum proves that every element was
// read.
//   stream      every function once, in the shape that was found best: the familiar table
//   width       the same bytes per thread in accesses of 4, 8 and 16 bytes
//   shape-N     by block size, each thread with N values of 16 bytes, each block with one tile
//   variants    one tile per block or several, and hints to the caches
//   occupancy-N few threads with N loads each ... many: how many bytes must be in flight? Little's
//               law says bandwidth x latency, and does not care whose they are
//   l2          ways to read the same few MiB over and over
//   footprint-* the same data again and again in one launch: from caches to memory
#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bandwidth_functions.h"
#include "memory_bandwidth_findings.h"

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::Hint;
using hipscope::launch;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::bandwidth::apply;
using hipscope::bandwidth::Arrays;
using hipscope::bandwidth::arrays_moved;
using hipscope::bandwidth::as;
using hipscope::bandwidth::Function;
using hipscope::bandwidth::inputs_of;
using hipscope::bandwidth::name_of;
using hipscope::bandwidth::stores;
using hipscope::bandwidth::verify;
using memory_bandwidth::footprint_label;
using memory_bandwidth::gigabytes;
using memory_bandwidth::peak;

namespace {

constexpr unsigned largest_block = 1024;
constexpr unsigned most_values = 8;  // of 16 bytes per thread: more do not fit into registers

// The largest tile of a block; arrays are multiples of it, so that no thread has to look where they
// end.
constexpr std::uint64_t tile_bytes = std::uint64_t{largest_block} * most_values * sizeof(uint4);

// --- Accesses of one, two and four words ------------------------------------------------------

template <typename Access>
constexpr unsigned words_of = sizeof(Access) / sizeof(unsigned);

template <typename Access>
__device__ unsigned& word(Access& access, unsigned i) {
  return static_cast<unsigned*>(static_cast<void*>(&access))[i];
}

// --- Kernels ----------------------------------------------------------------------------------

// The second launch bound of the kernels that are measured, one block per CU: without it CUDA 13's
// compiler keeps to 32 registers and loads fewer values at once than the source says.

// All loads before this are under way before anything after it waits for the first. Left to itself,
// clang loads a few at a time where that saves registers.
__device__ void end_of_loads() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

// Adds the threads' sums up, so that no load can be left out.
__device__ void store_block_sum(unsigned sum, unsigned* sums) {
  constexpr unsigned smallest_wave = 32;
  __shared__ unsigned wave_sums[largest_block / smallest_wave];
  for (unsigned distance = warpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_down(sum, distance);
  }
  if (threadIdx.x % warpSize == 0) {
    wave_sums[threadIdx.x / warpSize] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned wave = 1; wave < blockDim.x / warpSize; ++wave) {
      sum += wave_sums[wave];
    }
    sums[blockIdx.x] = sum;
  }
}

// Moves one tile; returns the sum of what was moved. Thread t has the accesses at start + t, as far
// apart as `distance`. Nothing says that `output` is another array than the inputs, so every load
// comes before the first store.
template <Function function, typename Access, unsigned Values, Hint load_hint, Hint store_hint>
__device__ unsigned move_tile(const Access* first, const Access* second, Access* output,
                              std::size_t start, unsigned distance, unsigned first_count) {
  constexpr unsigned words = words_of<Access>;
  Access a[Values];
  Access b[Values];
#pragma unroll
  for (unsigned i = 0; i < Values; ++i) {
    const std::size_t at = start + i * distance;
    if constexpr (inputs_of(function) == 0) {
#pragma unroll
      for (unsigned w = 0; w < words; ++w) {
        word(a[i], w) = first_count + static_cast<unsigned>(at) * words + w;
      }
    } else {
      a[i] = hipscope::load<load_hint>(first + at);
    }
    b[i] = a[i];
    if constexpr (inputs_of(function) == 2) {
      b[i] = hipscope::load<load_hint>(second + at);
    }
  }
  end_of_loads();
  unsigned sum = 0;
#pragma unroll
  for (unsigned i = 0; i < Values; ++i) {
#pragma unroll
    for (unsigned w = 0; w < words; ++w) {
      word(a[i], w) = apply<function>(word(a[i], w), word(b[i], w));
      sum += word(a[i], w);
    }
    if constexpr (stores(function)) {
      hipscope::store<store_hint>(output + start + i * distance, a[i]);
    }
  }
  return sum;
}

// A block takes a tile of `Values` accesses per thread, then the tile one grid further, if the grid
// has fewer blocks than there are tiles. (`blocks` is an argument, since HIP finds gridDim by a
// division.)
template <Function function, typename Access, unsigned Values, Hint load_hint, Hint store_hint>
__global__ void __launch_bounds__(largest_block, 1)
    stream_kernel(const Access* first, const Access* second, Access* output, unsigned* sums,
                  unsigned tiles, unsigned blocks, unsigned first_count) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned tile = blockIdx.x; tile < tiles; tile += blocks) {
    sum += move_tile<function, Access, Values, load_hint, store_hint>(
        first, second, output, std::size_t{tile} * (blockDim.x * Values) + threadIdx.x, blockDim.x,
        first_count);
  }
  if constexpr (!stores(function)) {
    store_block_sum(sum, sums);
  }
}

// A walk's tile is `Loads` units. A unit is what 64 threads read at once: a wave of 64 lanes, or
// two of 32.
constexpr unsigned unit_lanes = 64;
constexpr std::uint64_t unit_bytes = unit_lanes * sizeof(uint4);

// Who reads what of the data that is gone through again and again.
enum class Pattern {
  once,      // in each pass every tile is taken by one block: no line is asked for twice
  own_part,  // each block has data of its own, and takes all of it
  in_step,   // each block takes all tiles; all start together
};

// From the last of `tiles` tiles a walk goes on to the first.
struct Walk {
  Pattern pattern;
  unsigned tiles;
  unsigned visits;  // to tiles: of each block, or for `once` of all blocks together
};

// 64 threads take a tile, the next 64 the next one. The addresses change from visit to visit, so
// that nothing can be kept in registers. For a function that stores the sum proves that no visit
// was left out.
template <Function function, unsigned Loads, Hint hint>
__global__ void __launch_bounds__(largest_block, 1)
    walk_kernel(const uint4* first, uint4* output, unsigned* sums, Walk walk,
                unsigned first_count) {
  constexpr unsigned tile_accesses = Loads * unit_lanes;
  const bool is_shared = walk.pattern == Pattern::once;
  const unsigned groups = blockDim.x / unit_lanes;
  const unsigned stride = is_shared ? groups * gridDim.x : groups;
  const unsigned group = threadIdx.x / unit_lanes + (is_shared ? groups * blockIdx.x : 0);
  const unsigned part = walk.pattern == Pattern::own_part ? blockIdx.x * walk.tiles : 0;
  const std::size_t start = std::size_t{part} * tile_accesses + threadIdx.x % unit_lanes;
  const unsigned step = stride % walk.tiles;
  unsigned tile = group % walk.tiles;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned visit = group; visit < walk.visits; visit += stride) {
    sum += move_tile<function, uint4, Loads, hint, Hint::none>(
        first, nullptr, output, start + std::size_t{tile} * tile_accesses, unit_lanes, first_count);
    tile += step;
    tile -= tile >= walk.tiles ? walk.tiles : 0;
  }
  store_block_sum(sum, sums);
}

// --- Streams ----------------------------------------------------------------------------------

struct Shape {
  unsigned threads;
  unsigned values;  // 16 bytes each, per thread
};

// The best on an H200: a sum wants many loads under way, what stores wants only one value per
// thread.
constexpr Shape best_shape(Function function) {
  if (!stores(function)) {
    return {.threads = 256, .values = inputs_of(function) == 1 ? 8U : 4U};
  }
  return {.threads = inputs_of(function) == 2 ? 1024U : 256U, .values = 1};
}

Arrays stream_arrays(const Sweep& sweep, std::uint64_t bytes) {
  sweep.require_memory(3 * bytes, "--array");
  return {sweep, bytes / tile_bytes * tile_bytes, 2, true};
}

// The host backend's waves of 64 lanes fill no fewer threads; more only take time.
constexpr unsigned threads_on_host = 64;

// Verifies and measures one function; returns GB/s.
template <Function function, typename Access, unsigned Values, Hint load_hint = Hint::none,
          Hint store_hint = Hint::none>
double stream(const Sweep& sweep, Point& point, Arrays& arrays, const std::string& time_name,
              unsigned wanted_threads, unsigned tiles_per_block = 1) {
  const unsigned threads = sweep.is_hardware() ? wanted_threads : threads_on_host;
  const auto tiles = static_cast<unsigned>(arrays.bytes() / (threads * Values * sizeof(Access)));
  const unsigned blocks = (tiles + tiles_per_block - 1) / tiles_per_block;
  DeviceBuffer<unsigned> sums(stores(function) ? 1 : blocks);
  const auto run = [&] {
    launch(stream_kernel<function, Access, Values, load_hint, store_hint>,
           {.grid = dim3(blocks), .block = dim3(threads)}, as<Access>(arrays.first),
           as<Access>(arrays.second), as<Access>(arrays.output), sums.data(), tiles, blocks,
           arrays.key);
  };
  verify<function>(point, arrays, arrays.bytes(), stores(function) ? nullptr : &sums, 1, run);
  const auto time = point.measure(run, {.name = time_name});
  return static_cast<double>(arrays.bytes()) * arrays_moved(function) * 1e-9 /
         time.seconds().median;
}

template <Function function>
void measure_function(Sweep& sweep, Arrays& arrays) {
  auto point = sweep.point(name_of(function), static_cast<double>(function));
  constexpr Shape best = best_shape(function);
  const double bandwidth =
      stream<function, uint4, best.values>(sweep, point, arrays, "time", best.threads);
  point.value("bandwidth", bandwidth, gigabytes);
  point.value("share of the driver's peak", 100 * bandwidth / peak(sweep.device()), "%");
}

void measure_stream(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "function"});
  sweep.headline("bandwidth");
  sweep.note("bytes counted as BabelStream does: of every array that is read or written");
  Arrays arrays = stream_arrays(sweep, bytes);
  measure_function<Function::read>(sweep, arrays);
  measure_function<Function::write>(sweep, arrays);
  measure_function<Function::copy>(sweep, arrays);
  measure_function<Function::scale>(sweep, arrays);
  measure_function<Function::add>(sweep, arrays);
  measure_function<Function::triad>(sweep, arrays);
  measure_function<Function::dot>(sweep, arrays);
}

// The rows of the other sweeps: four functions, as their best shape is but for what is given.
template <typename Access, unsigned Values = 0, Hint load_hint = Hint::none,
          Hint store_hint = Hint::none>
void measure_row(Sweep& sweep, Arrays& arrays, const std::string& label, double x,
                 unsigned threads = 0, unsigned tiles_per_block = 1) {
  auto point = sweep.point(label, x);
  const auto column = [&]<Function function>() {
    constexpr Shape best = best_shape(function);
    constexpr unsigned words = sizeof(uint4) / sizeof(Access);
    constexpr unsigned values = Values > 0 ? Values : best.values * words;
    // Eight values of each of two arrays do not fit into registers.
    if constexpr (inputs_of(function) * values <= most_values * words) {
      const std::string name = name_of(function);
      const double bandwidth = stream<function, Access, values, load_hint, store_hint>(
          sweep, point, arrays, name + " time", threads > 0 ? threads : best.threads,
          tiles_per_block);
      point.value(name, bandwidth, gigabytes);
    }
  };
  column.template operator()<Function::read>();
  column.template operator()<Function::write>();
  column.template operator()<Function::copy>();
  column.template operator()<Function::triad>();
}

void measure_widths(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "access", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("copy");
  sweep.note("each thread moves the same bytes: four or two times as many accesses of 4 or 8");
  Arrays arrays = stream_arrays(sweep, bytes);
  measure_row<unsigned>(sweep, arrays, "4", 4);
  measure_row<uint2>(sweep, arrays, "8", 8);
  measure_row<uint4>(sweep, arrays, "16", 16);
}

template <unsigned Values>
void measure_shapes(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("copy");
  Arrays arrays = stream_arrays(sweep, bytes);
  const unsigned largest = sweep.is_hardware() ? largest_block : threads_on_host;
  for (unsigned threads = 64; threads <= largest; threads *= 2) {
    measure_row<uint4, Values>(sweep, arrays, std::to_string(threads), threads, threads);
  }
}

void measure_variants(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "variant"});
  sweep.headline("copy");
  sweep.note("several tiles per block: a grid apart from each other (grid-stride loop)");
  Arrays arrays = stream_arrays(sweep, bytes);
  for (const unsigned tiles : {1U, 2U, 4U, 16U, 64U}) {
    measure_row<uint4>(sweep, arrays, "tiles per block: " + std::to_string(tiles), tiles, 0, tiles);
  }
  // Further rows, of one tile per block.
  measure_row<uint4, 0, Hint::none, Hint::streaming>(sweep, arrays, "streaming stores", 65);
  measure_row<uint4, 0, Hint::streaming, Hint::none>(sweep, arrays, "streaming loads", 66);
}

// --- Walks ------------------------------------------------------------------------------------

// Persistent blocks: as many as are given, all in place at once.
struct Crew {
  unsigned threads;
  unsigned blocks_per_unit = 1;
};

Crew on_this(const Sweep& sweep, const Crew& crew) {
  return sweep.is_hardware() ? crew : Crew{.threads = threads_on_host};
}

// Verifies and measures whole passes through `bytes` (for own_part of each block) until at least
// `traffic` bytes have been visited; returns GB/s.
template <Function function, unsigned Loads, Hint hint>
double walk(Sweep& sweep, Point& point, Arrays& arrays, Pattern pattern, const Crew& wanted,
            std::uint64_t bytes, std::uint64_t traffic) {
  const Crew crew = on_this(sweep, wanted);
  const bool is_shared = pattern == Pattern::once;
  const unsigned blocks = crew.blocks_per_unit * arrays.units;
  auto tiles = std::max(1U, static_cast<unsigned>(bytes / (Loads * unit_bytes)));
  // No wave comes to its own tile again, which a cache that is not passed by might still hold.
  if (is_shared && tiles > 1 && crew.threads / unit_lanes * blocks % tiles == 0) {
    --tiles;
  }
  const std::uint64_t data_bytes = tiles * Loads * unit_bytes;
  const std::uint64_t pass_bytes = data_bytes * (is_shared ? 1 : blocks);
  const auto passes = static_cast<unsigned>((traffic + pass_bytes - 1) / pass_bytes);
  const Walk way = {.pattern = pattern, .tiles = tiles, .visits = passes * tiles};
  DeviceBuffer<unsigned> sums(blocks);
  const auto run = [&] {
    launch(walk_kernel<function, Loads, hint>, {.grid = dim3(blocks), .block = dim3(crew.threads)},
           as<uint4>(arrays.first), as<uint4>(arrays.output), sums.data(), way, arrays.key);
  };
  // All blocks together must have moved these bytes so many times.
  const std::uint64_t distinct = pattern == Pattern::own_part ? pass_bytes : data_bytes;
  const unsigned repeats = pattern == Pattern::in_step ? passes * blocks : passes;
  verify<function>(point, arrays, distinct, &sums, repeats, run);
  const double moved = static_cast<double>(pass_bytes) * passes * arrays_moved(function);
  return moved * 1e-9 / point.measure(run).seconds().median;
}

// A row that reads, if all blocks of the crew are in place at once.
template <unsigned Loads, Hint hint>
void measure_reading(Sweep& sweep, Arrays& arrays, const std::string& label, double x,
                     Pattern pattern, const Crew& wanted, std::uint64_t traffic) {
  const Crew crew = on_this(sweep, wanted);
  int blocks = 0;
  check(hipOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, walk_kernel<Function::read, Loads, hint>, static_cast<int>(crew.threads), 0));
  if (static_cast<unsigned>(blocks) < crew.blocks_per_unit) {
    sweep.note(label + ": more threads than a CU has room for");
    return;
  }
  auto point = sweep.point(label, x);
  const double bandwidth = walk<Function::read, Loads, hint>(sweep, point, arrays, pattern, crew,
                                                             arrays.bytes(), traffic);
  point.value("bandwidth", bandwidth, gigabytes);
  const auto in_flight =
      static_cast<double>(crew.threads * crew.blocks_per_unit * Loads * sizeof(uint4));
  point.value("in flight per CU", in_flight, "bytes");
  // Little's law: what is in flight = bandwidth x time in flight.
  point.value("time in flight", in_flight * sweep.device().compute_units / bandwidth, "ns");
}

template <unsigned Loads>
void measure_occupancy(Sweep& sweep, std::uint64_t footprint) {
  sweep.axis({.name = "threads per CU", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.note("time in flight is bytes in flight / bandwidth");
  constexpr unsigned threads_of_a_block = 256;
  // At the lowest rates a pass takes long: a GiB is well beyond any L2.
  const std::uint64_t bytes = std::min(footprint, std::uint64_t{1} << 30);
  sweep.require_memory(bytes, "--footprint");
  Arrays arrays(sweep, bytes, 1, false);
  const std::vector<unsigned> threads_per_unit =
      sweep.is_hardware() ? std::vector<unsigned>{64, 128, 192, 256, 512, 768, 1024, 1536, 2048}
                          : std::vector<unsigned>{threads_on_host};
  for (const unsigned threads : threads_per_unit) {
    measure_reading<Loads, Hint::past_l1>(
        sweep, arrays, std::to_string(threads), threads, Pattern::once,
        {.threads = std::min(threads, threads_of_a_block),
         .blocks_per_unit = std::max(1U, threads / threads_of_a_block)},
        bytes);
  }
}

void measure_l2(Sweep& sweep, std::uint64_t bytes, std::uint64_t traffic) {
  sweep.axis({.name = "way"});
  sweep.headline("bandwidth");
  sweep.note(
      "blocks per CU x threads x loads under way; once: each line once per pass, from L2; in step: "
      "every block takes all lines, and one answer of L2 may serve several CUs that ask for a line "
      "at about the same time; through L1 also the blocks of one CU");
  sweep.require_memory(bytes, "--l2-bytes");
  Arrays arrays(sweep, bytes, 1, false);
  double row = 0;
  const auto way = [&]<unsigned Loads, Hint hint = Hint::past_l1>(
      const Crew& crew, const std::string& name = "once", Pattern pattern = Pattern::once) {
    const std::string label = name + ", " + std::to_string(crew.blocks_per_unit) + " x " +
                              std::to_string(crew.threads) + " x " + std::to_string(Loads);
    measure_reading<Loads, hint>(sweep, arrays, label, ++row, pattern, crew, traffic);
  };
  for (const unsigned threads : {256U, 512U, 768U, 1024U}) {
    way.operator()<1>({.threads = threads});
    way.operator()<2>({.threads = threads});
    way.operator()<4>({.threads = threads});
  }
  way.operator()<3>({.threads = 1024});
  constexpr Crew two_blocks = {.threads = 1024, .blocks_per_unit = 2};
  way.operator()<1>(two_blocks);
  way.operator()<4>(two_blocks);
  way.operator()<1>(two_blocks, "in step", Pattern::in_step);
  way.operator()<1, Hint::none>(two_blocks, "in step, through L1", Pattern::in_step);
}

constexpr std::uint64_t kibibyte = 1024;

// Footprints from `first` to `last` in quarter octaves, in whole pages of 4 KiB.
std::vector<std::uint64_t> quarter_octaves(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t page = 4 * kibibyte;
  std::vector<std::uint64_t> footprints;
  for (double exact = static_cast<double>(first);; exact *= std::exp2(0.25)) {
    // A whole octave may come out a little too small.
    const std::uint64_t rounded = static_cast<std::uint64_t>(exact + 1) / page * page;
    if (rounded > last) {
      return footprints;
    }
    if (footprints.empty() || footprints.back() != rounded) {
      footprints.push_back(rounded);
    }
  }
}

Point footprint_point(Sweep& sweep, std::uint64_t bytes) {
  const auto x = static_cast<double>(bytes);
  return sweep.point(footprint_label(x), x);
}

void set_footprint_axis(Sweep& sweep, const std::string& name) {
  sweep.axis({.name = name, .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
}

void measure_footprint_l1(Sweep& sweep, std::uint64_t traffic) {
  set_footprint_axis(sweep, "part of each CU");
  sweep.note("one block on each CU reads its own part again and again, through L1");
  const std::uint64_t smallest = sweep.is_hardware() ? 16 * kibibyte : 4 * kibibyte;
  const std::uint64_t largest = sweep.is_hardware() ? 1024 * kibibyte : 8 * kibibyte;
  const auto units = static_cast<std::uint64_t>(sweep.device().compute_units);
  sweep.require_memory(units * largest, "this GPU's number of CUs");
  Arrays arrays(sweep, units * largest, 1, false);
  for (const std::uint64_t bytes : quarter_octaves(smallest, largest)) {
    auto point = footprint_point(sweep, bytes);
    const double bandwidth = walk<Function::read, 4, Hint::none>(
        sweep, point, arrays, Pattern::own_part, {.threads = 1024}, bytes, traffic);
    point.value("bandwidth", bandwidth, gigabytes);
    point.value("per CU", bandwidth / static_cast<double>(units), gigabytes);
  }
}

// 32 KiB in flight per CU: an H200's L2 gives the most with that (sweep l2: 10.2 TB/s; with 2 x
// 1024 x 1, as many bytes, 9.7, and 9.6 with 128 KiB), and its memory 96 % of what 128 KiB get
// (sweeps occupancy-*), however the 32 KiB are split.
constexpr Crew footprint_crew = {.threads = 1024};
constexpr unsigned footprint_loads = 2;

template <Function function>
void measure_footprint(Sweep& sweep, std::uint64_t footprint) {
  set_footprint_axis(sweep, "footprint");
  sweep.note("all CUs together go through the data, each line once per pass, past L1");
  const std::uint64_t smallest = std::min(footprint, (sweep.is_hardware() ? 512 : 64) * kibibyte);
  constexpr std::uint64_t moved = arrays_moved(function);
  constexpr unsigned allocated = stores(function) ? 2 : 1;
  sweep.require_memory(allocated * (footprint / moved), "--footprint");
  Arrays arrays(sweep, footprint / moved, 1, stores(function));
  for (const std::uint64_t bytes : quarter_octaves(smallest, footprint)) {
    auto point = footprint_point(sweep, bytes);
    point.value(
        "bandwidth",
        walk<function, footprint_loads, Hint::past_l1>(
            sweep, point, arrays, Pattern::once, footprint_crew, bytes / moved, footprint / moved),
        gigabytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "memory_bandwidth",
      {.question = "How many bytes per second do memory and caches give, and what does it take?",
       .sources = {
           "hipscope's own; functions and table as in UoB-HPC/BabelStream, footprints as in "
           "RRZE-HPC/gpu-benches"}});
  const auto array = experiment.size("--array", "bytes of each of three arrays, in whole 128 KiB",
                                     {.gpu = std::uint64_t{4} << 30,
                                      .quick = std::uint64_t{1} << 29,
                                      .host = tile_bytes,
                                      .minimum = tile_bytes,
                                      .maximum = std::uint64_t{16} << 30,
                                      .share_of_memory = 1.0 / 8});
  const auto footprint =
      experiment.size("--footprint", "largest footprint in bytes, and what a launch moves at least",
                      {.gpu = std::uint64_t{4} << 30,
                       .quick = std::uint64_t{1} << 28,
                       .host = 128 * kibibyte,
                       .minimum = 64 * kibibyte,
                       .maximum = std::uint64_t{16} << 30,
                       .share_of_memory = 1.0 / 4});
  const auto l2_bytes = experiment.size("--l2-bytes", "footprint of sweep l2 in bytes",
                                        {.gpu = 5120 * kibibyte,
                                         .quick = 5120 * kibibyte,
                                         .host = 64 * kibibyte,
                                         .minimum = 4 * kibibyte,
                                         .maximum = std::uint64_t{1} << 30});
  experiment.sweep("stream", "device memory, by function",
                   [&](Sweep& sweep) { measure_stream(sweep, array); });
  experiment.sweep("width", "device memory, by bytes per access",
                   [&](Sweep& sweep) { measure_widths(sweep, array); });
  const auto shape = [&](const std::string& values, void (*measure)(Sweep&, std::uint64_t)) {
    experiment.sweep("shape-" + values,
                     "device memory, by block size; 16 bytes x " + values + " per thread",
                     [=](Sweep& sweep) { measure(sweep, array); });
  };
  shape("1", measure_shapes<1>);
  shape("2", measure_shapes<2>);
  shape("4", measure_shapes<4>);
  shape("8", measure_shapes<8>);
  experiment.sweep("variants", "device memory, by tiles per block and cache hints",
                   [&](Sweep& sweep) { measure_variants(sweep, array); });
  const auto occupancy = [&](const std::string& loads, void (*measure)(Sweep&, std::uint64_t)) {
    experiment.sweep(
        "occupancy-" + loads,
        "reading device memory, by threads; 16 bytes x " + loads + " under way in each",
        [=](Sweep& sweep) { measure(sweep, footprint); });
  };
  occupancy("1", measure_occupancy<1>);
  occupancy("2", measure_occupancy<2>);
  occupancy("4", measure_occupancy<4>);
  occupancy("8", measure_occupancy<8>);
  experiment.sweep("l2", "one footprint in L2, by ways to read it",
                   [&](Sweep& sweep) { measure_l2(sweep, l2_bytes, footprint); });
  experiment.sweep("footprint-l1", "reading, by the part that each CU has for itself",
                   [&](Sweep& sweep) { measure_footprint_l1(sweep, footprint); });
  experiment.sweep("footprint-read", "reading, by footprint",
                   [&](Sweep& sweep) { measure_footprint<Function::read>(sweep, footprint); });
  experiment.sweep("footprint-write", "writing, by footprint",
                   [&](Sweep& sweep) { measure_footprint<Function::write>(sweep, footprint); });
  experiment.sweep("footprint-copy", "copying, by footprint of both arrays",
                   [&](Sweep& sweep) { measure_footprint<Function::copy>(sweep, footprint); });
  experiment.conclude(memory_bandwidth::conclude);
  return experiment.run(argc, argv);
}
