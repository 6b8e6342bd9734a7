// How many bytes per second do memory and caches give, and what does it take to get them?
//
// The functions are BabelStream's (read is the first half of its dot; write is added), on 32-bit
// integers, whose sums wrap but are exact in any order: one checksum proves that every element was
// read.
//   stream      every function once, in the best shape: the familiar table
//   width       the same bytes per thread in accesses of 4, 8 and 16 bytes
//   shape-N     by block size, each thread with N values of 16 bytes, each block with one tile
//   variants    one tile per block or several, and hints to the caches
// Sweeps that read the same data again and again have files of their own:
//   occupancy-N bytes_in_flight.h  few threads with N loads each ... many: how many bytes must be
//                                  in flight? By Little's law bandwidth x latency, whoever loads
//                                  them
//   l2          l2_ways.h          ways to read the same few MiB over and over
//   footprint-* footprints.h       footprints from caches to memory
//   sectors     sectors.h          how many bytes L2 fetches for one
#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "bandwidth_functions.h"
#include "bytes_in_flight.h"
#include "findings.h"
#include "footprints.h"
#include "l2_ways.h"
#include "sectors.h"
#include "tile.h"

namespace memory_bandwidth {
namespace {

// --- Kernel -----------------------------------------------------------------------------------

// A block takes a tile of `Values` accesses per thread, then the tile one grid further, if the grid
// has fewer blocks than there are tiles. (`blocks` is an argument, since HIP finds gridDim by a
// division.) The second launch bound, one block per CU: without it CUDA 13's compiler keeps to 32
// registers and loads fewer values at once than the source says.
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

// --- Streams ----------------------------------------------------------------------------------

struct Shape {
  unsigned threads;
  unsigned values;     // 16 bytes each, per thread
  unsigned tiles = 1;  // of a block
};

// The best on an H200: a sum wants many loads in flight, and two tiles for each time that a block
// adds up its threads' sums; what stores wants only one value per thread.
constexpr Shape best_shape(Function function) {
  if (!stores(function)) {
    return {.threads = 256, .values = inputs_of(function) == 1 ? 8U : 4U, .tiles = 2};
  }
  return {.threads = inputs_of(function) == 2 ? 1024U : 256U, .values = 1};
}

Arrays stream_arrays(const Sweep& sweep, std::uint64_t bytes) {
  sweep.require_memory(3 * bytes, "--array");
  return {sweep, bytes / tile_bytes * tile_bytes, 2, true};
}

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
    hipscope::launch(stream_kernel<function, Access, Values, load_hint, store_hint>,
                     {.grid = dim3(blocks), .block = dim3(threads)}, as<Access>(arrays.first),
                     as<Access>(arrays.second), as<Access>(arrays.output), sums.data(), tiles,
                     blocks, arrays.key);
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
      stream<function, uint4, best.values>(sweep, point, arrays, "time", best.threads, best.tiles);
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

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "memory_bandwidth",
      {.question = "How many bytes per second do memory and caches give, and what does it take?",
       .sources = {
           "hipscope's own; functions and table as in UoB-HPC/BabelStream, footprints as in "
           "RRZE-HPC/gpu-benches"}});
  const auto array =
      experiment.size("--array", "bytes of each of three arrays, in units of 128 KiB",
                      {.gpu = std::uint64_t{4} << 30,
                       .quick = std::uint64_t{1} << 29,
                       .host = tile_bytes,
                       .minimum = tile_bytes,
                       .maximum = std::uint64_t{16} << 30,
                       .share_of_memory = 1.0 / 8});
  const auto footprint =
      experiment.size("--footprint", "largest footprint, and least traffic of a launch, in bytes",
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
        "reading device memory, by threads; 16 bytes x " + loads + " in flight in each",
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
  experiment.sweep("sectors", "reading one dword of each so many bytes of device memory",
                   [&](Sweep& sweep) { measure_sectors(sweep, footprint); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace memory_bandwidth

int main(int argc, char** argv) { return memory_bandwidth::run(argc, argv); }
