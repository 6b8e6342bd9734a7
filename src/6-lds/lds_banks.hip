// How many banks has LDS, and what does a bank conflict cost?
//
// LDS (NVIDIA: shared memory) is built of banks, each of which serves one word per cycle: dword a
// is in bank a modulo the number of banks. When the lanes of a wave ask for different words of one
// bank, the access takes a pass for each; lanes that ask for the same word share it. So the stride
// between lanes decides: an odd one spreads them over all banks, 32 dwords put them all into one.
//   chase   one wave, every lane in a chain of its own whose dwords keep the stride: latency
//   loads   independent loads of a CU full of waves, and stores: throughput
//   width   bytes at a stride a little over a multiple of all banks: lanes meet in one bank for as
//           long as they are in one word of it
// Then come patterns that are no strides, and the cures for a tile that is read by column.
//
// Next to the cycles stands what arithmetic expects of 32 banks of 4 bytes; the number of banks is
// inferred from the curves alone. Cycles are counted in the kernel, from the first wave's start to
// the last one's end; what one wave counts for no accesses is taken off.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lds_banks_findings.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::lds_address;
using hipscope::lds_forget;
using hipscope::lds_load;
using hipscope::lds_store;
using hipscope::LdsWords;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;
using hipscope::WaveTimes;
using lds_banks::throughput;

namespace {

constexpr unsigned largest_block = 1024;
constexpr unsigned dword_bytes = 4;

// Each pattern lies in LDS so many times, one after the other, and accesses take turns. Copies are
// as far apart for all lanes, so that the conflicts are the same in each.
constexpr unsigned copies = 3;

// Accesses in the body of the loop: not a multiple of the copies, so that a chain does not end
// where it began.
constexpr unsigned body_steps = 127;

// --- Kernels ----------------------------------------------------------------------------------

// Stores each wave's time of `rounds` rounds.
template <typename Body>
__device__ void run_timed(WaveTime* times, unsigned rounds, Body body) {
  const WaveTime time = hipscope::time_rounds<true>(rounds, body);
  if (threadIdx.x % warpSize == 0) {
    times[threadIdx.x / warpSize] = time;
  }
}

// `offsets` says where the lanes of a wave go in the first copy, `pitch` how far it is to the next,
// both in bytes. What the kernel works on depends on the random `salt`.
using PatternKernel = void (*)(const unsigned* offsets, unsigned pitch, unsigned salt,
                               unsigned* results, WaveTime* times, unsigned rounds);

// Which copy follows each in a chain: they go round forwards or backwards.
__host__ __device__ unsigned next_copy(unsigned copy, unsigned salt) {
  return (copy + 1 + salt % 2) % copies;
}

// One wave. The last dword of an access is the address of the next one, in another copy.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    chase_kernel(const unsigned* offsets, unsigned pitch, unsigned salt, unsigned* ends,
                 WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  constexpr unsigned last = LdsWords<Bytes>::count - 1;
  const unsigned offset = offsets[threadIdx.x];
  unsigned address = lds_address(lds) + offset;
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    lds[(offset + copy * pitch) / dword_bytes + last] = address + next_copy(copy, salt) * pitch;
  }
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      address = lds_load<Bytes>(lds, address).word[last];
    }
  });
  ends[threadIdx.x] = address - lds_address(lds);
}

// What dword i of LDS holds; the factor is odd, so that no two hold the same.
__host__ __device__ unsigned content(unsigned i, unsigned salt) { return (i + 1) * (salt | 1U); }

// Independent loads: each thread adds up all that it has loaded.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    loads_kernel(const unsigned* offsets, unsigned pitch, unsigned salt, unsigned* sums,
                 WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  for (unsigned i = threadIdx.x; i < copies * pitch / dword_bytes; i += blockDim.x) {
    lds[i] = content(i, salt);
  }
  unsigned address[copies];
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    address[copy] = lds_address(lds) + offsets[threadIdx.x % warpSize] + copy * pitch;
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

// Independent stores. The first dword counts them, the others stay. All waves store the same at the
// same places, so that it does not matter which comes last; each thread then gives what it finds in
// its places.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    stores_kernel(const unsigned* offsets, unsigned pitch, unsigned salt, unsigned* found,
                  WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  constexpr unsigned count = LdsWords<Bytes>::count;
  const unsigned lane = threadIdx.x % warpSize;
  unsigned address[copies];
  LdsWords<Bytes> stored{};
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    address[copy] = lds_address(lds) + offsets[lane] + copy * pitch;
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
enum class Cure { none, padding, swizzle };

constexpr unsigned tile_size = 32;

template <Cure cure>
constexpr unsigned row_dwords = tile_size + (cure == Cure::padding ? 1 : 0);

template <Cure cure>
__host__ __device__ unsigned tile_index(unsigned row, unsigned column) {
  return row * row_dwords<cure> + (cure == Cure::swizzle ? column ^ row : column);
}

// An odd number, so that one round ends in the transposed tile.
constexpr unsigned body_transpositions = 7;

// A thread for each element: writes by row, reads by column, again and again.
template <Cure cure>
__global__ void __launch_bounds__(largest_block)
    transpose_kernel(const unsigned* tile, unsigned* result, WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(unsigned, lds)
  const unsigned row = threadIdx.x / tile_size;
  const unsigned column = threadIdx.x % tile_size;
  unsigned element = tile[threadIdx.x];
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_transpositions; ++step) {
      lds[tile_index<cure>(row, column)] = element;
      __syncthreads();
      element = lds[tile_index<cure>(column, row)];
      __syncthreads();
    }
  });
  result[threadIdx.x] = element;
}

// fsword73's own (example 9b): a block of 64 threads, each in the chain x = (lds[x] + thread) *
// stride, which a mask keeps in LDS. All of LDS holds 0, so that neighbours stay a stride apart.
// Corrected: the ends go to a buffer of their own, not over the zeros that the next launch reads,
// and a barrier stands behind the copy to LDS, without which waves of 32 lanes may read what the
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

// --- What the kernels must give ---------------------------------------------------------------

using Words = std::vector<unsigned>;

// Each is for one wave, after so many rounds with the warm-up.
template <unsigned Bytes>
Words chain_ends(const Words& offsets, unsigned pitch, unsigned salt, std::uint64_t rounds) {
  const auto copy = static_cast<unsigned>(rounds * body_steps * (1 + salt % 2) % copies);
  Words ends = offsets;
  for (unsigned& end : ends) {
    end += copy * pitch;
  }
  return ends;
}

template <unsigned Bytes>
Words load_sums(const Words& offsets, unsigned pitch, unsigned salt, std::uint64_t rounds) {
  Words lds(copies * pitch / dword_bytes);
  for (unsigned i = 0; i < lds.size(); ++i) {
    lds[i] = content(i, salt);
  }
  Words sums;
  for (const unsigned offset : offsets) {
    unsigned sum = 0;
    for (unsigned step = 0; step < body_steps; ++step) {
      LdsWords<Bytes> loaded{};
      const auto* const bytes = reinterpret_cast<const unsigned char*>(lds.data());
      std::memcpy(&loaded, bytes + offset + step % copies * pitch, Bytes);
      sum = std::accumulate(std::begin(loaded.word), std::end(loaded.word), sum);
    }
    sums.push_back(sum * static_cast<unsigned>(rounds));
  }
  return sums;
}

template <unsigned Bytes>
Words stored_words(const Words& offsets, unsigned /*pitch*/, unsigned salt, std::uint64_t rounds) {
  constexpr unsigned count = LdsWords<Bytes>::count;
  Words words;
  for (unsigned lane = 0; lane < offsets.size(); ++lane) {
    for (unsigned copy = 0; copy < copies; ++copy) {
      // The last of body_steps stores to this copy, counted from 1.
      const unsigned last = body_steps - (body_steps - 1 - copy) % copies;
      const auto stores = static_cast<unsigned>((rounds - 1) * body_steps + last);
      for (unsigned i = 0; i < count; ++i) {
        words.push_back(content(lane * count + i, salt) + (i == 0 ? stores : 0));
      }
    }
  }
  return words;
}

// The most different dwords of one bank that a wave asks for, if there are 32 banks of 4 bytes (as
// the CUDA C++ programming guide and AMD's manuals of GCN and CDNA say; RDNA has two sets of 32):
// the passes that it takes at least.
double dwords_of_busiest_bank(const Words& offsets, unsigned access_bytes) {
  constexpr unsigned banks = 32;
  std::array<std::set<unsigned>, banks> dwords;
  for (const unsigned offset : offsets) {
    for (unsigned byte = offset; byte < offset + access_bytes; ++byte) {
      dwords[byte / dword_bytes % banks].insert(byte / dword_bytes);
    }
  }
  const auto by_size = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return static_cast<double>(std::max_element(dwords.begin(), dwords.end(), by_size)->size());
}

// --- Measuring --------------------------------------------------------------------------------

unsigned lanes_of(const Sweep& sweep) { return static_cast<unsigned>(sweep.device().wave_size); }

// Verifies what a kernel of so many threads gives. Then returns the cycles of a round, net of what
// one wave counts for no rounds. `run` enqueues the kernel with so many threads and rounds, and its
// waves' times go where it is told.
template <typename Run, typename Expected>
double measure_rounds(const Sweep& sweep, Point& point, const std::string& what, unsigned threads,
                      std::uint64_t rounds, DeviceBuffer<unsigned>& results, Run run,
                      Expected expected) {
  const unsigned waves = threads / lanes_of(sweep);
  WaveTimes unused(waves);
  WaveTimes full(waves);
  WaveTimes empty(1);
  hipscope::verify_rounds(
      point, what, rounds, results,
      [&](std::uint64_t repeats) { run(threads, unused.next(), repeats); }, expected);
  point.measure([&] { run(threads, full.next(), rounds); }, {.batch = 1});
  for (unsigned i = 0; i < WaveTimes::kept_launches; ++i) {
    run(lanes_of(sweep), empty.next(), 0);
  }
  return sweep.counted((full.take(point) - empty.take(point)) / static_cast<double>(rounds));
}

// A way to go to LDS, and what is measured of it.
struct Access {
  unsigned bytes;
  bool full_cu;  // as many waves as --threads says, by default all that a block may have; or one
  const char* value;
  const char* verified;
  PatternKernel kernel;
  Words (*expected)(const Words& offsets, unsigned pitch, unsigned salt, std::uint64_t rounds);
};

template <unsigned Bytes>
constexpr Access chase = {
    Bytes, false, "latency", "ends of the chains", chase_kernel<Bytes>, chain_ends<Bytes>};
template <unsigned Bytes>
constexpr Access loads = {
    Bytes, true, throughput, "sums of all loads", loads_kernel<Bytes>, load_sums<Bytes>};
template <unsigned Bytes>  // no two lanes may store to one place
constexpr Access stores = {
    Bytes, true, throughput, "what the stores left", stores_kernel<Bytes>, stored_words<Bytes>};

/// How much is run: rounds of a kernel, and threads of the block that shall fill a CU.
struct Amount {
  hipscope::Size rounds;
  hipscope::Size threads;

  // In whole waves.
  [[nodiscard]] unsigned threads_on(const Sweep& sweep) const {
    const unsigned lanes = lanes_of(sweep);
    return (static_cast<unsigned>(threads) + lanes - 1) / lanes * lanes;
  }
};

// One access of a wave whose lanes go to `offsets`, in cycles.
double measure_access(const Sweep& sweep, Point& point, const Access& access, const Words& offsets,
                      const Amount& amount) {
  const std::uint64_t rounds = amount.rounds;
  const unsigned lanes = lanes_of(sweep);
  const unsigned all_threads = access.full_cu ? amount.threads_on(sweep) : lanes;
  constexpr unsigned widest = 16;  // so that the copies are aligned for every access
  const unsigned end = *std::max_element(offsets.begin(), offsets.end()) + access.bytes;
  const unsigned pitch = (end + widest - 1) / widest * widest;
  const auto salt = static_cast<unsigned>(std::mt19937_64(sweep.seed())());
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(offsets)};
  const std::size_t results_of_wave = access.expected(offsets, pitch, salt, 1).size();
  DeviceBuffer<unsigned> results(results_of_wave * (all_threads / lanes));
  const auto run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(access.kernel, {.grid = dim3(1), .block = dim3(threads), .lds_bytes = copies * pitch},
           given.data(), pitch, salt, results.data(), times, repeats);
  };
  const double round = measure_rounds(
      sweep, point, access.verified, all_threads, rounds, results, run,
      [&](std::uint64_t repeats) { return access.expected(offsets, pitch, salt, repeats); });
  const double cycles = round / (body_steps * (all_threads / lanes));
  point.value(access.value, cycles, "cycles");
  point.value("dwords in one bank", dwords_of_busiest_bank(offsets, access.bytes), "dwords");
  return cycles;
}

// --- Sweeps -----------------------------------------------------------------------------------

// Where the lanes of a wave go, in bytes; `place_of` says it in units.
template <typename PlaceOf>
Words offsets_of(unsigned lanes, PlaceOf place_of, unsigned unit_bytes = dword_bytes) {
  Words offsets(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    offsets[lane] = place_of(lane) * unit_bytes;
  }
  return offsets;
}

// All strides up to 64 dwords at which the access is aligned.
void measure_strides(Sweep& sweep, const Access& access, const Amount& amount) {
  constexpr unsigned longest_stride = 64;
  sweep.axis({.name = "stride", .unit = "dwords"});
  sweep.headline(access.value);
  const unsigned lanes = lanes_of(sweep);
  const unsigned step = access.bytes / dword_bytes;
  for (unsigned stride = step; stride <= longest_stride; stride += step) {
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

// The published times are those of all that a step holds, by events, and so are these. The check
// fills LDS with random numbers, so that each step counts.
void measure_published(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "stride", .unit = "dwords"});
  sweep.compare(lds_banks::published_series);
  sweep.headline("latency");
  sweep.note(
      "64 threads, x = ((lds[x] + thread) * stride) & mask in LDS full of zeros, 100 steps to a "
      "loop; time by events");
  constexpr unsigned longest_stride = 63;
  constexpr unsigned loops_per_round = 16;
  constexpr int mask = published_words - 1;
  const auto loops = static_cast<int>(rounds * loops_per_round);
  std::mt19937_64 random(sweep.seed());
  std::vector<int> words(published_words);
  std::generate(words.begin(), words.end(), [&] { return static_cast<int>(random() & mask); });
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
    std::uint64_t wrong = 0;
    int thread = 0;
    for (const int end : ends.to_host()) {
      int x = (thread * static_cast<int>(stride)) & mask;
      for (unsigned step = 0; step < published_steps; ++step) {
        x = ((words[static_cast<std::size_t>(x)] + thread) * static_cast<int>(stride)) & mask;
      }
      wrong += end == x ? 0 : 1;
      ++thread;
    }
    point.verify("ends of the chains", wrong, published_threads);
    const auto time = point.measure([&] { run(zeros, loops); });
    point.value("latency", time.cycles() / (double(loops) * published_steps), "cycles");
  }
}

// Strides of 256 bytes, a multiple of all banks together for up to 64 banks of 4 bytes, and x
// bytes. Lanes stay in one bank while their bytes do not leave a word of it: the fewest conflicts
// are where x is the width of a bank.
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
  constexpr unsigned same_bank = 256;  // a multiple of every number of banks so far
  constexpr unsigned random_dwords = 1024;
  const unsigned lanes = lanes_of(sweep);
  std::mt19937_64 random(sweep.seed());
  Words shuffled(lanes);
  std::iota(shuffled.begin(), shuffled.end(), 0U);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  double row = 0;
  const auto measure = [&](const std::string& label, auto place_of) {
    auto point = sweep.point(label, ++row);
    measure_access(sweep, point, loads<4>, offsets_of(lanes, place_of), amount);
  };
  measure("all one dword", [](unsigned) { return 0U; });
  measure("two dwords in two banks", [](unsigned lane) { return lane % 2; });
  measure("two dwords in one bank", [=](unsigned lane) { return lane % 2 * same_bank; });
  measure("a dword for each half", [=](unsigned lane) { return lane / (lanes / 2) * same_bank; });
  measure("four dwords in one bank", [=](unsigned lane) { return lane % 4 * same_bank; });
  measure("a dword for every two lanes", [](unsigned lane) { return lane / 2; });
  measure("a dword for each lane", [](unsigned lane) { return lane; });
  measure("the same in random order", [&](unsigned lane) { return shuffled[lane]; });
  measure("any of 1024 dwords",
          [&](unsigned) { return static_cast<unsigned>(random() % random_dwords); });
}

template <Cure cure>
void measure_tile(Sweep& sweep, const std::string& label, std::uint64_t rounds) {
  auto point = sweep.point(label, 1 + static_cast<int>(cure));
  constexpr unsigned elements = tile_size * tile_size;
  constexpr unsigned lds_bytes = tile_size * row_dwords<cure> * dword_bytes;
  std::mt19937_64 random(sweep.seed());
  Words tile(elements);
  std::generate(tile.begin(), tile.end(), [&] { return static_cast<unsigned>(random()); });
  Words transposed(elements);
  for (unsigned i = 0; i < elements; ++i) {
    transposed[i] = tile[i % tile_size * tile_size + i / tile_size];
  }
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(tile)};
  DeviceBuffer<unsigned> result(elements);
  const auto run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(transpose_kernel<cure>,
           {.grid = dim3(1), .block = dim3(threads), .lds_bytes = lds_bytes}, given.data(),
           result.data(), times, repeats);
  };
  const double round =
      measure_rounds(sweep, point, "elements of the tile", elements, rounds, result, run,
                     [&](std::uint64_t repeats) { return repeats % 2 == 1 ? transposed : tile; });
  const Words by_column = offsets_of(lanes_of(sweep), [](unsigned lane) {
    return tile_index<cure>(lane % tile_size, lane / tile_size);
  });
  point.value("transposition", round / body_transpositions, "cycles");
  point.value("dwords in one bank", dwords_of_busiest_bank(by_column, dword_bytes), "dwords");
  point.value("LDS", lds_bytes, "bytes");
}

void measure_cures(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "tile of 32 x 32"});
  sweep.headline("transposition");
  sweep.note("1024 threads store by row and load by column, with a barrier after each");
  measure_tile<Cure::none>(sweep, "plain", rounds);
  measure_tile<Cure::padding>(sweep, "padded by 1", rounds);
  measure_tile<Cure::swizzle>(sweep, "XOR swizzle", rounds);
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
                              .minimum = 1,
                              .maximum = largest_block})};
  experiment.sweep("published", "a chase as the published program has it",
                   [&](Sweep& sweep) { measure_published(sweep, rounds); });
  add_strides<4>(experiment, amount);
  add_strides<8>(experiment, amount);
  add_strides<16>(experiment, amount);
  experiment.sweep("width", "a full CU's loads of bytes",
                   [&](Sweep& sweep) { measure_width(sweep, amount); });
  experiment.sweep("patterns", "a full CU's loads that are no strides",
                   [&](Sweep& sweep) { measure_patterns(sweep, amount); });
  experiment.sweep("cures", "a tile that is read by column",
                   [&](Sweep& sweep) { measure_cures(sweep, rounds); });
  experiment.conclude(lds_banks::conclude);
  return experiment.run(argc, argv);
}
