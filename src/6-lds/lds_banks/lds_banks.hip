// How many banks has LDS, and what does a bank conflict cost?
//
// LDS (NVIDIA: shared memory) has banks, each of which serves one dword per cycle: dword a is in
// bank a modulo the number of banks. When the lanes of a wave ask for different dwords of one bank,
// the access takes a pass for each; lanes that ask for the same dword share its pass. So the stride
// between lanes decides: an odd one spreads them over all banks, 32 dwords put them all into one.
//   published  fsword73's own chain
//   chase      one wave, every lane in a chain of its own whose dwords keep the stride: latency
//   loads      independent loads of a block of many waves: throughput; sweep stores: the same of
//              stores
//   width      how wide is a bank? The lanes' addresses differ by all banks and a few bytes
//   patterns   addresses without a stride
//   remedies   ways to read a tile by column without conflicts
//
// A column beside the cycles predicts the passes of 32 banks of 4 bytes (dwords_of_busiest_bank in
// patterns.h). The number of banks is inferred from the curves alone (findings.cpp). The kernel
// counts cycles from the first wave's start to the last one's end; what one wave counts around no
// access is taken off.
#include <hipscope/hipscope.h>
#include <hipscope/lds.h>
#include <hipscope/timed_rounds.h>
#include <hipscope/wait_for_lds.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "access.h"    // measure_access: the cycles of an access
#include "contents.h"  // what LDS holds, and what a kernel must give
#include "findings.h"
#include "patterns.h"  // where lanes go, and how many dwords that is in one bank

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::lds_address;
using hipscope::lds_forget;
using hipscope::lds_load;
using hipscope::lds_store;
using hipscope::LdsWords;
using hipscope::Sweep;
using hipscope::WaveTime;
using namespace lds_banks;

namespace {

constexpr unsigned largest_block = 1024;

// --- Kernels ----------------------------------------------------------------------------------

// Of each kernel: `offsets` says where the lanes go in LDS, in bytes. LDS holds `copies` (3) copies
// of that pattern, and accesses take turns: all have the same conflicts, but no access repeats the
// one before. `salt` is random; values depend on it.

// The timed loop of all: repeats `body`, mostly body_steps (127) accesses, `rounds` times, once all
// waves of the block have come. Each wave stores when it began and ended.
template <typename Body>
__device__ void run_timed(WaveTime* times, unsigned rounds, Body body) {
  const WaveTime time = hipscope::time_rounds<true>(rounds, body, [] { hipscope::wait_for_lds(); });
  if (threadIdx.x % warpSize == 0) {
    times[threadIdx.x / warpSize] = time;
  }
}

// One wave. The last dword of an access is the address of the next one, in another copy.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    chase_kernel(const unsigned* offsets, Copies placement, unsigned salt, unsigned* ends,
                 WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  constexpr unsigned last = LdsWords<Bytes>::count - 1;
  const unsigned offset = offsets[threadIdx.x];
  unsigned address = lds_address(lds) + offset;
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    lds[(offset + copy * placement.pitch) / dword_bytes + last] =
        address + next_copy(copy, salt) * placement.pitch;
  }
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      address = lds_load<Bytes>(lds, address).word[last];
    }
  });
  ends[threadIdx.x] = address - lds_address(lds);
}

// Independent loads: each thread adds up all that it has loaded.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    loads_kernel(const unsigned* offsets, Copies placement, unsigned salt, unsigned* sums,
                 WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  for (unsigned i = threadIdx.x; i < placement.words; i += blockDim.x) {
    lds[i] = content(i, salt);
  }
  unsigned address[copies];
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    address[copy] = lds_address(lds) + offsets[threadIdx.x % warpSize] + copy * placement.pitch;
  }
  unsigned sum = 0;
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      lds_forget(address[step % copies]);
      const LdsWords<Bytes> loaded = lds_load<Bytes>(lds, address[step % copies]);
#pragma unroll
      for (unsigned i = 0; i < loaded.count; ++i) {
        sum += loaded.word[i];
      }
    }
  });
  sums[threadIdx.x] = sum;
}

// Independent stores. From one to the next the first dword of what is stored goes up by one, the
// others stay. All waves store the same at the same places, so that it does not matter which comes
// last; each thread then gives what it finds in its places.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    stores_kernel(const unsigned* offsets, Copies placement, unsigned salt, unsigned* found,
                  WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  constexpr unsigned count = LdsWords<Bytes>::count;
  const unsigned lane = threadIdx.x % warpSize;
  unsigned address[copies];
  LdsWords<Bytes> stored{};
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    address[copy] = lds_address(lds) + offsets[lane] + copy * placement.pitch;
  }
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    stored.word[i] = content(lane * count + i, salt);
  }
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      ++stored.word[0];
      lds_forget(address[step % copies]);
      lds_store<Bytes>(lds, address[step % copies], stored);
    }
  });
  __syncthreads();
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    lds_forget(address[copy]);
    const LdsWords<Bytes> loaded = lds_load<Bytes>(lds, address[copy]);
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
      found[(threadIdx.x * copies + copy) * count + i] = loaded.word[i];
    }
  }
}

// A tile of 32 x 32 dwords. Padding adds a dword to each row, so that rows begin in different
// banks; the swizzle gives each row an order of its own, which costs no space.
enum class TileLayout { plain, padded, swizzled };

constexpr unsigned tile_size = 32;

template <TileLayout layout>
constexpr unsigned row_dwords = tile_size + (layout == TileLayout::padded ? 1 : 0);

template <TileLayout layout>
__host__ __device__ unsigned tile_index(unsigned row, unsigned column) {
  return row * row_dwords<layout> + (layout == TileLayout::swizzled ? column ^ row : column);
}

// An odd number, so that one round ends in the transposed tile.
constexpr unsigned body_transpositions = 7;

// A thread for each element: writes by row, reads by column, again and again.
template <TileLayout layout>
__global__ void __launch_bounds__(largest_block)
    transpose_kernel(const unsigned* tile, unsigned* result, WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(unsigned, lds)
  const unsigned row = threadIdx.x / tile_size;
  const unsigned column = threadIdx.x % tile_size;
  unsigned element = tile[threadIdx.x];
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_transpositions; ++step) {
      lds[tile_index<layout>(row, column)] = element;
      __syncthreads();
      element = lds[tile_index<layout>(column, row)];
      __syncthreads();
    }
  });
  result[threadIdx.x] = element;
}

// fsword73's own (example 9b): a block of 64 threads, each in the chain x = (lds[x] + thread) *
// stride, which a mask keeps in LDS. All of LDS holds 0, so that neighbours stay a stride apart.
// Corrected: the ends go to a buffer of their own, not over the zeros that the next launch reads,
// and a barrier follows the copy to LDS, without which waves of 32 lanes may read what the
// other has not stored yet.
constexpr unsigned published_words = 4096;
constexpr unsigned published_threads = 64;
constexpr unsigned published_steps = 100;  // of the inner loop

__global__ void __launch_bounds__(published_threads)
    masked_chase_kernel(const int* buffer, int* ends, int stride, int mask, int outer_loops) {
  __shared__ int lds[published_words];
  const int thread = static_cast<int>(threadIdx.x);
  for (unsigned i = 0; i < published_words; i += published_threads) {
    lds[threadIdx.x + i] = buffer[threadIdx.x + i];
  }
  __syncthreads();
  int x = (thread * stride) & mask;
  for (int i = 0; i < outer_loops; ++i) {
    for (unsigned j = 0; j < published_steps; ++j) {
      x = ((lds[x] + thread) * stride) & mask;
    }
  }
  if (x > 0) {
    ends[threadIdx.x] = x;
  }
}

// --- What is measured -------------------------------------------------------------------------

template <unsigned Bytes>
constexpr Access chase = {.bytes = Bytes,
                          .full_cu = false,
                          .value = "latency",
                          .verified = "ends of the chains",
                          .kernel = chase_kernel<Bytes>,
                          .expected = chain_ends<Bytes>};
template <unsigned Bytes>
constexpr Access loads = {.bytes = Bytes,
                          .full_cu = true,
                          .value = throughput,
                          .verified = "sums of all loads",
                          .kernel = loads_kernel<Bytes>,
                          .expected = load_sums<Bytes>};
// For patterns in which no two lanes store to one place: nobody could say whose value is left.
template <unsigned Bytes>
constexpr Access stores = {.bytes = Bytes,
                           .full_cu = true,
                           .value = throughput,
                           .verified = "what the stores left",
                           .kernel = stores_kernel<Bytes>,
                           .expected = stored_words<Bytes>};

// --- Sweeps -----------------------------------------------------------------------------------

// All strides up to 64 dwords at which the access is aligned, and for accesses of one dword some
// longer ones: 64 banks that serve a wave of 64 in halves differ from 128 banks at a stride of 128
// only.
void measure_strides(Sweep& sweep, const Access& access, const Amount& amount) {
  constexpr unsigned longest_of_all = 64;
  sweep.axis({.name = "stride", .unit = "dwords"});
  sweep.headline(access.value);
  const unsigned lanes = lanes_of(sweep);
  const unsigned step = access.bytes / dword_bytes;
  std::vector<unsigned> strides;
  for (unsigned stride = step; stride <= longest_of_all; stride += step) {
    strides.push_back(stride);
  }
  if (access.bytes == dword_bytes) {
    strides.insert(strides.end(), {80, 96, 112, 128});
  }
  for (const unsigned stride : strides) {
    if (!sweep.is_hardware() && stride > 3 * step && stride % 32 != 0) {
      continue;  // the host backend is slow
    }
    auto point = sweep.point(std::to_string(stride), stride);
    const Words offsets = offsets_of(lanes, [=](unsigned lane) { return lane * stride; });
    const double cycles = measure_access(sweep, point, access, offsets, amount);
    if (access.full_cu) {
      point.value("rate", lanes * access.bytes / cycles, "bytes/cycle/CU");
    }
  }
}

// The published times are by events and include all that a step does; so are these. The check fills
// LDS with random numbers, so that each step counts.
void measure_published(Sweep& sweep, int loops) {
  sweep.axis({.name = "stride", .unit = "dwords"});
  sweep.compare(lds_banks::published_series);
  sweep.headline("latency");
  sweep.note(
      "64 threads, x = ((lds[x] + thread) * stride) & mask in LDS full of zeros, 100 steps to a "
      "loop; time by events");
  constexpr unsigned longest_stride = 63;
  constexpr int mask = published_words - 1;
  const auto words = lds_banks::random_words<int>(published_words, mask, sweep.seed());
  const DeviceBuffer<int> filled{std::span<const int>(words)};
  DeviceBuffer<int> zeros(published_words);
  zeros.clear();
  DeviceBuffer<int> ends(published_threads);
  for (unsigned stride = 1; stride <= (sweep.is_hardware() ? longest_stride : 2); ++stride) {
    auto point = sweep.point(std::to_string(stride), stride);
    const auto run = [&](const DeviceBuffer<int>& buffer, int outer_loops) {
      launch(masked_chase_kernel, {.grid = dim3(1), .block = dim3(published_threads)},
             buffer.data(), ends.data(), static_cast<int>(stride), mask, outer_loops);
    };
    ends.clear();
    run(filled, 1);
    point.check("ends of the chains", ends.to_host(), [&](std::uint64_t thread) {
      return lds_banks::end_of_chain(static_cast<int>(thread), words, static_cast<int>(stride),
                                     mask, published_steps);
    });
    const auto time = point.measure([&] { run(zeros, loops); });
    point.value("latency", time.cycles() / (double(loops) * published_steps), "cycles");
  }
}

// Lanes are 256 + `extra` bytes apart. 256 bytes, once or more around all banks if there are up to
// 64 of 4 bytes, lead back to the same bank; `extra` moves on. If that is less than a bank's width,
// some lanes stay in the bank of the lane before, in another dword of it; if more, they skip banks
// and meet sooner. The fewest conflicts are where it is the width.
void measure_width(Sweep& sweep, const Amount& amount) {
  constexpr unsigned all_banks_bytes = 256;
  sweep.axis({.name = "256 and", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline(throughput);
  for (const unsigned extra : {1U, 2U, 4U, 8U, 16U, 32U}) {
    auto point = sweep.point(std::to_string(extra), extra);
    const auto place_of = [=](unsigned lane) { return lane * (all_banks_bytes + extra); };
    measure_access(sweep, point, loads<1>, offsets_of(lanes_of(sweep), place_of, 1), amount);
  }
}

void measure_patterns(Sweep& sweep, const Amount& amount) {
  sweep.axis({.name = "pattern"});
  sweep.headline(throughput);
  sweep.note("4 bytes; dwords in one bank are 256 dwords apart");
  double row = 0;
  for (const auto& pattern : lds_banks::patterns(lanes_of(sweep), sweep.seed())) {
    auto point = sweep.point(pattern.label, ++row);
    measure_access(sweep, point, loads<4>, pattern.offsets, amount);
  }
}

template <TileLayout layout>
void measure_tile(Sweep& sweep, const std::string& label, std::uint64_t rounds) {
  auto point = sweep.point(label, 1 + static_cast<int>(layout));
  constexpr unsigned elements = tile_size * tile_size;
  constexpr unsigned lds_bytes = tile_size * row_dwords<layout> * dword_bytes;
  const auto tile = lds_banks::random_words<unsigned>(elements, 0xFFFFFFFF, sweep.seed());
  const Words transposed = lds_banks::transposed(tile, tile_size);
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(tile)};
  DeviceBuffer<unsigned> result(elements);
  const auto run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(transpose_kernel<layout>,
           {.grid = dim3(1), .block = dim3(threads), .lds_bytes = lds_bytes}, given.data(),
           result.data(), times, repeats);
  };
  const double round = lds_banks::measure_rounds(
      sweep, point, "elements of the tile", elements, rounds, result, run,
      [&](std::uint64_t repeats) { return repeats % 2 == 1 ? transposed : tile; });
  const Words by_column = offsets_of(lanes_of(sweep), [](unsigned lane) {
    return tile_index<layout>(lane % tile_size, lane / tile_size);
  });
  point.value("transposition", round / body_transpositions, "cycles");
  point.value("dwords in one bank", lds_banks::dwords_of_busiest_bank(by_column, dword_bytes),
              "dwords");
  point.value("LDS", lds_bytes, "bytes");
}

void measure_remedies(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "tile of 32 x 32"});
  sweep.headline("transposition");
  sweep.note("1024 threads store by row and load by column, with a barrier after each");
  measure_tile<TileLayout::plain>(sweep, "plain", rounds);
  measure_tile<TileLayout::padded>(sweep, "padded by 1", rounds);
  measure_tile<TileLayout::swizzled>(sweep, "XOR swizzle", rounds);
}

template <unsigned Bytes>
void add_strides(hipscope::Experiment& experiment, const Amount& amount) {
  const std::string bytes = std::to_string(Bytes);
  experiment.sweep("chase-" + bytes, "latency of one wave's loads of " + bytes + " bytes",
                   [=](Sweep& sweep) { measure_strides(sweep, chase<Bytes>, amount); });
  experiment.sweep("loads-" + bytes, "a full CU's loads of " + bytes + " bytes",
                   [=](Sweep& sweep) { measure_strides(sweep, loads<Bytes>, amount); });
  experiment.sweep("stores-" + bytes, "a full CU's stores of " + bytes + " bytes",
                   [=](Sweep& sweep) { measure_strides(sweep, stores<Bytes>, amount); });
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "lds_banks", {.question = "How many banks has LDS, and what does a bank conflict cost?",
                    .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.9.2 (example "
                                "9b)"}});
  const auto rounds =
      experiment.size("--rounds", "rounds of 127 accesses per wave (7 transpositions)",
                      {.gpu = 32, .quick = 8, .host = 1, .minimum = 1, .maximum = 1U << 16});
  const Amount amount = {.rounds = rounds,
                         .threads = experiment.size(
                             "--threads", "threads of the block that fills a CU, in whole waves",
                             {.gpu = largest_block,
                              .quick = largest_block,
                              .host = 128,
                              .tiny = 192,
                              .minimum = 1,
                              .maximum = largest_block})};
  const auto loops = experiment.size(
      "--published-loops", "loops of 100 steps in sweep published",
      {.gpu = 10'000, .quick = 1000, .host = 16, .minimum = 1, .maximum = 1U << 20});
  experiment.sweep("published", "a chase as the published program has it",
                   [=](Sweep& sweep) { measure_published(sweep, static_cast<int>(loops)); });
  add_strides<4>(experiment, amount);
  add_strides<8>(experiment, amount);
  add_strides<16>(experiment, amount);
  experiment.sweep("width", "a full CU's loads of bytes",
                   [&](Sweep& sweep) { measure_width(sweep, amount); });
  experiment.sweep("patterns", "a full CU's loads that are no strides",
                   [&](Sweep& sweep) { measure_patterns(sweep, amount); });
  experiment.sweep("remedies", "a tile that is read by column",
                   [&](Sweep& sweep) { measure_remedies(sweep, rounds); });
  experiment.conclude(lds_banks::conclude);
  return experiment.run(argc, argv);
}
