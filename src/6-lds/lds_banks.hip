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
// Strides are not the only patterns: lanes may share words, or go anywhere. The last sweep has the
// cures for a tile that is read by column: a row of padding, or a swizzle.
//
// Next to the cycles stands what arithmetic expects of 32 banks of 4 bytes; the number of banks is
// inferred from the curves alone. Cycles are counted in the kernel, from the first wave's start to
// the last one's end; what one wave counts for no accesses is taken off.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;
constexpr unsigned dword_bytes = 4;

// Each pattern lies in LDS so many times, one after the other, and accesses take turns. Copies are
// as far apart for all lanes, so that the conflicts are the same in each.
constexpr unsigned copies = 3;

// Accesses in the body of the loop: not a multiple of the copies, so that a chain does not end
// where it began.
constexpr unsigned body_steps = 127;

// --- LDS by address ---------------------------------------------------------------------------

#if defined(__HIP_DEVICE_COMPILE__)
template <typename T>
using LdsPointer = __attribute__((address_space(3))) T*;
#endif

// The registers of an access of so many bytes.
template <unsigned Bytes>
struct Words {
  static constexpr unsigned count = Bytes < dword_bytes ? 1 : Bytes / dword_bytes;
  unsigned word[count];
};

// Where `lds` is, as an instruction of LDS takes it.
__device__ unsigned lds_address([[maybe_unused]] const unsigned* lds) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__cvta_generic_to_shared(lds));
#elif defined(__HIP_DEVICE_COMPILE__)
  return reinterpret_cast<unsigned>((LdsPointer<const unsigned>)lds);
#else
  return 0;
#endif
}

// One load instruction. Nothing may leave out one that repeats an earlier one, nor join two: on AMD
// the compiler does not know that the address is still the same, on NVIDIA the load is volatile.
template <unsigned Bytes>
__device__ Words<Bytes> load([[maybe_unused]] const unsigned* lds, unsigned& address) {
  Words<Bytes> loaded{};
#if defined(__CUDA_ARCH__)
  if constexpr (Bytes == 1) {
    asm volatile("ld.volatile.shared.u8 %0, [%1];"
                 : "=r"(loaded.word[0])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Bytes == 4) {
    asm volatile("ld.volatile.shared.u32 %0, [%1];"
                 : "=r"(loaded.word[0])
                 : "r"(address)
                 : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(loaded.word[0]), "=r"(loaded.word[1])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(loaded.word[0]), "=r"(loaded.word[1]), "=r"(loaded.word[2]),
                   "=r"(loaded.word[3])
                 : "r"(address)
                 : "memory");
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(address));
  if constexpr (Bytes == 1) {
    loaded.word[0] = *reinterpret_cast<LdsPointer<const unsigned char>>(address);
  } else {
    using Vector = unsigned __attribute__((ext_vector_type(Words<Bytes>::count)));
    const Vector vector = *reinterpret_cast<LdsPointer<const Vector>>(address);
#pragma unroll
    for (unsigned i = 0; i < Words<Bytes>::count; ++i) {
      loaded.word[i] = vector[i];
    }
  }
#else
  memcpy(&loaded, reinterpret_cast<const unsigned char*>(lds) + address, Bytes);
#endif
  return loaded;
}

// One store instruction.
template <unsigned Bytes>
__device__ void store([[maybe_unused]] unsigned* lds, unsigned& address, Words<Bytes> stored) {
#if defined(__CUDA_ARCH__)
  if constexpr (Bytes == 4) {
    asm volatile("st.volatile.shared.u32 [%0], %1;"
                 :
                 : "r"(address), "r"(stored.word[0])
                 : "memory");
  } else if constexpr (Bytes == 8) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};"
                 :
                 : "r"(address), "r"(stored.word[0]), "r"(stored.word[1])
                 : "memory");
  } else {
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(address), "r"(stored.word[0]), "r"(stored.word[1]), "r"(stored.word[2]),
                   "r"(stored.word[3])
                 : "memory");
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(address));
  using Vector = unsigned __attribute__((ext_vector_type(Words<Bytes>::count)));
  Vector vector;
#pragma unroll
  for (unsigned i = 0; i < Words<Bytes>::count; ++i) {
    vector[i] = stored.word[i];
  }
  *reinterpret_cast<LdsPointer<Vector>>(address) = vector;
#else
  memcpy(reinterpret_cast<unsigned char*>(lds) + address, &stored, Bytes);
#endif
}

// --- Kernels ----------------------------------------------------------------------------------

// When a wave began and ended, by its CU's cycle counter.
struct WaveTime {
  long long start;
  long long end;
};

// Where the lanes of a wave go: offsets of the first copy, in bytes, and the size of a copy.
struct Layout {
  const unsigned* offsets;
  unsigned copy_bytes;
};

constexpr unsigned warm_up_rounds = 1;

// Calls `body` warm_up_rounds times, then `rounds` times and takes the time of that. Both go
// through the same code, so that the compiler can move nothing from before the first into the timed
// one.
template <typename Body>
__device__ void run_timed(WaveTime* times, unsigned rounds, Body body) {
  WaveTime time{};
  unsigned repeats = warm_up_rounds;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    __syncthreads();
    time.start = clock64();
#pragma unroll 1
    for (unsigned round = 0; round < repeats; ++round) {
      body();
    }
    time.end = clock64();
    repeats = rounds;
  }
  if (threadIdx.x % warpSize == 0) {
    times[threadIdx.x / warpSize] = time;
  }
}

// Which copy follows each copy in a chain.
struct CopyOrder {
  unsigned next[copies];
};

// One wave. The last dword of an access is the address of the next one, in another copy.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    chase_kernel(Layout layout, CopyOrder order, unsigned* ends, WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  const unsigned origin = lds_address(lds);
  const unsigned offset = layout.offsets[threadIdx.x];
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    const unsigned node = offset + copy * layout.copy_bytes;
    lds[node / dword_bytes + Words<Bytes>::count - 1] =
        origin + offset + order.next[copy] * layout.copy_bytes;
  }
  unsigned address = origin + offset;
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      Words<Bytes> loaded = load<Bytes>(lds, address);
#if defined(__HIP_DEVICE_COMPILE__)
      // Uses every dword, so that none may be left out of the load.
#pragma unroll
      for (unsigned i = 0; i < Words<Bytes>::count; ++i) {
        asm volatile("" : "+v"(loaded.word[i]));
      }
#endif
      address = loaded.word[Words<Bytes>::count - 1];
    }
  });
  ends[threadIdx.x] = address - origin;
}

// What dword i of LDS holds.
__host__ __device__ unsigned content(unsigned i, unsigned factor) { return (i + 1) * factor; }

// Independent loads: each thread adds up all that it has loaded.
template <unsigned Bytes>
__global__ void __launch_bounds__(largest_block)
    loads_kernel(Layout layout, unsigned factor, unsigned* sums, WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  for (unsigned i = threadIdx.x; i < copies * layout.copy_bytes / dword_bytes; i += blockDim.x) {
    lds[i] = content(i, factor);
  }
  unsigned address[copies];
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    address[copy] =
        lds_address(lds) + layout.offsets[threadIdx.x % warpSize] + copy * layout.copy_bytes;
  }
  unsigned sum = 0;
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      const Words<Bytes> loaded = load<Bytes>(lds, address[step % copies]);
#pragma unroll
      for (unsigned i = 0; i < Words<Bytes>::count; ++i) {
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
    stores_kernel(Layout layout, unsigned factor, unsigned* found, WaveTime* times,
                  unsigned rounds) {
  HIP_DYNAMIC_SHARED(uint4, dynamic_lds)
  auto* const lds = reinterpret_cast<unsigned*>(dynamic_lds);
  constexpr unsigned count = Words<Bytes>::count;
  const unsigned lane = threadIdx.x % warpSize;
  unsigned address[copies];
  Words<Bytes> stored{};
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    address[copy] = lds_address(lds) + layout.offsets[lane] + copy * layout.copy_bytes;
  }
#pragma unroll
  for (unsigned i = 0; i < count; ++i) {
    stored.word[i] = content(lane * count + i, factor);
  }
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_steps; ++step) {
      ++stored.word[0];
      store<Bytes>(lds, address[step % copies], stored);
    }
  });
  __syncthreads();
#pragma unroll
  for (unsigned copy = 0; copy < copies; ++copy) {
    const Words<Bytes> loaded = load<Bytes>(lds, address[copy]);
#pragma unroll
    for (unsigned i = 0; i < count; ++i) {
      found[(threadIdx.x * copies + copy) * count + i] = loaded.word[i];
    }
  }
}

// --- A tile that is read by column ------------------------------------------------------------

constexpr unsigned tile_size = 32;

// Where element (row, column) of a tile of 32 x 32 dwords lies.
struct PlainTile {
  static constexpr const char* name = "plain";
  static constexpr unsigned dwords = tile_size * tile_size;
  __host__ __device__ static unsigned index(unsigned row, unsigned column) {
    return row * tile_size + column;
  }
};

// A dword more in each row: rows begin in different banks.
struct PaddedTile {
  static constexpr const char* name = "padded by 1";
  static constexpr unsigned dwords = tile_size * (tile_size + 1);
  __host__ __device__ static unsigned index(unsigned row, unsigned column) {
    return row * (tile_size + 1) + column;
  }
};

// Each row in an order of its own, which costs no space.
struct SwizzledTile {
  static constexpr const char* name = "XOR swizzle";
  static constexpr unsigned dwords = tile_size * tile_size;
  __host__ __device__ static unsigned index(unsigned row, unsigned column) {
    return row * tile_size + (column ^ row);
  }
};

// An odd number, so that one round ends in the transposed tile.
constexpr unsigned body_transpositions = 7;

// A thread for each element: writes by row, reads by column, again and again.
template <typename Tile>
__global__ void __launch_bounds__(largest_block)
    transpose_kernel(const unsigned* tile, unsigned* result, WaveTime* times, unsigned rounds) {
  HIP_DYNAMIC_SHARED(unsigned, lds)
  const unsigned row = threadIdx.x / tile_size;
  const unsigned column = threadIdx.x % tile_size;
  unsigned element = tile[threadIdx.x];
  run_timed(times, rounds, [&] {
#pragma unroll
    for (unsigned step = 0; step < body_transpositions; ++step) {
      lds[Tile::index(row, column)] = element;
      __syncthreads();
      element = lds[Tile::index(column, row)];
      __syncthreads();
    }
  });
  result[threadIdx.x] = element;
}

// --- Patterns and what arithmetic says of them ------------------------------------------------

// Offsets of a wave's lanes in bytes.
using Pattern = std::vector<unsigned>;

Pattern strided(unsigned lanes, unsigned stride_bytes) {
  Pattern pattern(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    pattern[lane] = lane * stride_bytes;
  }
  return pattern;
}

// Bytes from one copy of a pattern to the next: a multiple of the widest access.
unsigned copy_bytes(const Pattern& pattern, unsigned access_bytes) {
  constexpr unsigned widest = 16;
  const unsigned end = *std::max_element(pattern.begin(), pattern.end()) + access_bytes;
  return (end + widest - 1) / widest * widest;
}

// The most different dwords of one bank that a wave asks for, if there are 32 banks of 4 bytes (as
// the CUDA C++ programming guide and AMD's ISA manuals say): the passes that it takes at least.
double dwords_of_busiest_bank(const Pattern& pattern, unsigned access_bytes) {
  constexpr unsigned banks = 32;
  std::set<unsigned> dwords;
  for (const unsigned offset : pattern) {
    for (unsigned byte = offset; byte < offset + access_bytes; ++byte) {
      dwords.insert(byte / dword_bytes);
    }
  }
  std::array<unsigned, banks> of_bank{};
  for (const unsigned dword : dwords) {
    ++of_bank[dword % banks];
  }
  return *std::max_element(of_bank.begin(), of_bank.end());
}

// An odd number, by which the contents of LDS differ from run to run.
unsigned random_factor(const Sweep& sweep) {
  return static_cast<unsigned>(std::mt19937_64(sweep.seed())()) | 1U;
}

// --- Measuring --------------------------------------------------------------------------------

// Enqueues a kernel of so many threads and rounds, which stores its waves' times there.
using Run = std::function<void(unsigned threads, WaveTime*, std::uint64_t rounds)>;

// The times of the last launches.
class Times {
 public:
  explicit Times(unsigned waves) : waves_(waves), times_(std::size_t{waves} * kept_launches) {}

  // Where the next launch stores them.
  WaveTime* next() { return times_.data() + std::size_t{waves_} * (launches_++ % kept_launches); }

  // From the first wave's start to the last one's end: the median of the launches. Every wave must
  // have stored its times.
  double take(hipscope::Point& point) const {
    const std::vector<WaveTime> all = times_.to_host();
    const unsigned launches = std::min(launches_, kept_launches);
    std::uint64_t missing = 0;
    std::vector<double> cycles;
    for (unsigned i = 0; i < launches; ++i) {
      const auto mine = std::span(all).subspan(std::size_t{i} * waves_, waves_);
      WaveTime whole = mine.front();
      for (const WaveTime& time : mine) {
        missing += time.start > 0 && time.end >= time.start ? 0 : 1;
        whole = {.start = std::min(whole.start, time.start), .end = std::max(whole.end, time.end)};
      }
      cycles.push_back(static_cast<double>(whole.end - whole.start));
    }
    point.verify("times of all waves", missing, std::uint64_t{launches} * waves_);
    return hipscope::summarize(cycles).median;
  }

  static constexpr unsigned kept_launches = 8;

 private:
  unsigned waves_;
  unsigned launches_ = 0;
  DeviceBuffer<WaveTime> times_;
};

// Cycles of a round of so many threads, net of what one wave counts for no rounds.
double cycles_per_round(const Sweep& sweep, hipscope::Point& point, unsigned threads,
                        std::uint64_t rounds, const Run& run) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  Times full(threads / wave_size);
  point.measure([&] { run(threads, full.next(), rounds); }, {.batch = 1});
  Times empty(1);
  for (unsigned i = 0; i < Times::kept_launches; ++i) {
    run(wave_size, empty.next(), 0);
  }
  // The host backend counts nanoseconds.
  const double unknown = sweep.is_hardware() ? 0 : std::numeric_limits<double>::quiet_NaN();
  return (full.take(point) - empty.take(point)) / static_cast<double>(rounds) + unknown;
}

std::uint64_t count_wrong(const DeviceBuffer<unsigned>& results,
                          const std::vector<unsigned>& expected) {
  const std::vector<unsigned> computed = results.to_host();
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    wrong += computed[i] == expected[i % expected.size()] ? 0 : 1;
  }
  return wrong;
}

// Runs the warm-up alone and then all, once each; `expected` gives what must come out after so many
// rounds, repeated for each wave.
template <typename Expected>
void verify(hipscope::Point& point, const std::string& what, unsigned threads, std::uint64_t rounds,
            DeviceBuffer<unsigned>& results, const Run& run, Expected expected) {
  Times unused(largest_block);
  for (const std::uint64_t repeats : {std::uint64_t{0}, rounds}) {
    results.poison();
    run(threads, unused.next(), repeats);
    point.verify(repeats == 0 ? what + " after the warm-up" : what,
                 count_wrong(results, expected(warm_up_rounds + repeats)), results.size());
  }
}

// As many waves as one block may have.
unsigned full_block(const Sweep& sweep) {
  return sweep.is_hardware() ? largest_block : 2 * static_cast<unsigned>(sweep.device().wave_size);
}

// A pattern's chains of one wave: the latency.
template <unsigned Bytes>
double measure_chase(const Sweep& sweep, hipscope::Point& point, const Pattern& pattern,
                     std::uint64_t rounds) {
  const auto lanes = static_cast<unsigned>(pattern.size());
  const unsigned pitch = copy_bytes(pattern, Bytes);
  const bool forwards = std::mt19937_64(sweep.seed())() % 2 == 0;
  const CopyOrder order = forwards ? CopyOrder{{1, 2, 0}} : CopyOrder{{2, 0, 1}};
  const DeviceBuffer<unsigned> offsets{std::span<const unsigned>(pattern)};
  DeviceBuffer<unsigned> ends(lanes);
  const Run run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(
        chase_kernel<Bytes>, {.grid = dim3(1), .block = dim3(threads), .lds_bytes = copies * pitch},
        Layout{.offsets = offsets.data(), .copy_bytes = pitch}, order, ends.data(), times, repeats);
  };
  verify(point, "ends of the chains", lanes, rounds, ends, run, [&](std::uint64_t all_rounds) {
    unsigned copy = 0;
    for (std::uint64_t step = 0; step < all_rounds * body_steps; ++step) {
      copy = order.next[copy];
    }
    std::vector<unsigned> expected = pattern;
    for (unsigned& end : expected) {
      end += copy * pitch;
    }
    return expected;
  });
  return cycles_per_round(sweep, point, lanes, rounds, run) / body_steps;
}

// A pattern's loads by all waves of a CU: cycles per load of a wave.
template <unsigned Bytes>
double measure_loads(const Sweep& sweep, hipscope::Point& point, const Pattern& pattern,
                     std::uint64_t rounds) {
  const unsigned pitch = copy_bytes(pattern, Bytes);
  const unsigned factor = random_factor(sweep);
  const unsigned all_threads = full_block(sweep);
  const DeviceBuffer<unsigned> offsets{std::span<const unsigned>(pattern)};
  DeviceBuffer<unsigned> sums(all_threads);
  const Run run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(loads_kernel<Bytes>,
           {.grid = dim3(1), .block = dim3(threads), .lds_bytes = copies * pitch},
           Layout{.offsets = offsets.data(), .copy_bytes = pitch}, factor, sums.data(), times,
           repeats);
  };
  verify(point, "sums of all loads", all_threads, rounds, sums, run, [&](std::uint64_t all_rounds) {
    std::vector<unsigned> dwords(copies * pitch / dword_bytes);
    for (unsigned i = 0; i < dwords.size(); ++i) {
      dwords[i] = content(i, factor);
    }
    std::vector<unsigned> expected(pattern.size());
    for (std::size_t lane = 0; lane < pattern.size(); ++lane) {
      for (unsigned step = 0; step < body_steps; ++step) {
        Words<Bytes> loaded{};
        std::memcpy(&loaded,
                    reinterpret_cast<const unsigned char*>(dwords.data()) + pattern[lane] +
                        step % copies * pitch,
                    Bytes);
        for (const unsigned word : loaded.word) {
          expected[lane] += word;
        }
      }
      expected[lane] *= static_cast<unsigned>(all_rounds);
    }
    return expected;
  });
  const unsigned waves = all_threads / static_cast<unsigned>(pattern.size());
  return cycles_per_round(sweep, point, all_threads, rounds, run) / (body_steps * waves);
}

// The same for stores, of which no two lanes may go to one place.
template <unsigned Bytes>
double measure_stores(const Sweep& sweep, hipscope::Point& point, const Pattern& pattern,
                      std::uint64_t rounds) {
  constexpr unsigned count = Words<Bytes>::count;
  const unsigned pitch = copy_bytes(pattern, Bytes);
  const unsigned factor = random_factor(sweep);
  const unsigned all_threads = full_block(sweep);
  const DeviceBuffer<unsigned> offsets{std::span<const unsigned>(pattern)};
  DeviceBuffer<unsigned> found(std::size_t{all_threads} * copies * count);
  const Run run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(stores_kernel<Bytes>,
           {.grid = dim3(1), .block = dim3(threads), .lds_bytes = copies * pitch},
           Layout{.offsets = offsets.data(), .copy_bytes = pitch}, factor, found.data(), times,
           repeats);
  };
  verify(point, "what the stores left", all_threads, rounds, found, run,
         [&](std::uint64_t all_rounds) {
           std::vector<unsigned> expected;
           for (unsigned lane = 0; lane < pattern.size(); ++lane) {
             for (unsigned copy = 0; copy < copies; ++copy) {
               // The last of body_steps stores to this copy, counted from 1.
               const unsigned last = body_steps - (body_steps - 1 - copy) % copies;
               const auto stores = static_cast<unsigned>((all_rounds - 1) * body_steps + last);
               for (unsigned i = 0; i < count; ++i) {
                 expected.push_back(content(lane * count + i, factor) + (i == 0 ? stores : 0));
               }
             }
           }
           return expected;
         });
  const unsigned waves = all_threads / static_cast<unsigned>(pattern.size());
  return cycles_per_round(sweep, point, all_threads, rounds, run) / (body_steps * waves);
}

// --- Sweeps -----------------------------------------------------------------------------------

// All strides up to 64 dwords at which an access of so many bytes is aligned.
std::vector<unsigned> strides(const Sweep& sweep, unsigned access_bytes) {
  constexpr unsigned longest_stride = 64;
  const unsigned step = access_bytes / dword_bytes;
  if (!sweep.is_hardware()) {
    return {step, 3 * step, 32, longest_stride};
  }
  std::vector<unsigned> all;
  for (unsigned stride = step; stride <= longest_stride; stride += step) {
    all.push_back(stride);
  }
  return all;
}

constexpr const char* ways_name = "dwords in one bank";

void show_throughput(hipscope::Point& point, const Sweep& sweep, double cycles, unsigned bytes) {
  point.value("cycles per access", cycles, "cycles");
  point.value("rate", sweep.device().wave_size * static_cast<double>(bytes) / cycles,
              "bytes/cycle/CU");
}

// `measure_one` measures a point of a pattern and shows its values.
template <unsigned Bytes, typename MeasureOne>
void measure_strides(Sweep& sweep, const std::string& headline, MeasureOne measure_one) {
  sweep.axis({.name = "stride", .unit = "dwords"});
  sweep.headline(headline);
  for (const unsigned stride : strides(sweep, Bytes)) {
    auto point = sweep.point(std::to_string(stride), stride);
    const Pattern pattern =
        strided(static_cast<unsigned>(sweep.device().wave_size), stride * dword_bytes);
    measure_one(point, pattern);
    point.value(ways_name, dwords_of_busiest_bank(pattern, Bytes), "dwords");
  }
}

constexpr const char* published_series = "chase, 64 lanes";

template <unsigned Bytes>
void measure_chases(Sweep& sweep, std::uint64_t rounds) {
  if (Bytes == dword_bytes) {
    sweep.compare(published_series);
  }
  measure_strides<Bytes>(sweep, "latency", [&](hipscope::Point& point, const Pattern& pattern) {
    point.value("latency", measure_chase<Bytes>(sweep, point, pattern, rounds), "cycles");
  });
}

template <unsigned Bytes>
void measure_all_loads(Sweep& sweep, std::uint64_t rounds) {
  measure_strides<Bytes>(
      sweep, "cycles per access", [&](hipscope::Point& point, const Pattern& pattern) {
        show_throughput(point, sweep, measure_loads<Bytes>(sweep, point, pattern, rounds), Bytes);
      });
}

template <unsigned Bytes>
void measure_all_stores(Sweep& sweep, std::uint64_t rounds) {
  measure_strides<Bytes>(
      sweep, "cycles per access", [&](hipscope::Point& point, const Pattern& pattern) {
        show_throughput(point, sweep, measure_stores<Bytes>(sweep, point, pattern, rounds), Bytes);
      });
}

// Strides of 256 bytes, a multiple of all banks together for up to 64 banks of 4 bytes, and x
// bytes. Lanes stay in one bank while their bytes do not leave a word of it: the fewest conflicts
// are where x is the width of a bank.
void measure_width(Sweep& sweep, std::uint64_t rounds) {
  constexpr unsigned all_banks_bytes = 256;
  constexpr unsigned most_extra_bytes = 32;
  sweep.axis({.name = "256 and", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("cycles per access");
  for (unsigned extra = 1; extra <= most_extra_bytes; extra *= 2) {
    auto point = sweep.point(std::to_string(extra), extra);
    const Pattern pattern =
        strided(static_cast<unsigned>(sweep.device().wave_size), all_banks_bytes + extra);
    point.value("cycles per access", measure_loads<1>(sweep, point, pattern, rounds), "cycles");
    point.value(ways_name, dwords_of_busiest_bank(pattern, 1), "dwords");
  }
}

// `dword_of` says which dword a lane asks for.
template <typename DwordOf>
Pattern pattern_of(unsigned lanes, DwordOf dword_of) {
  Pattern pattern(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    pattern[lane] = dword_of(lane) * dword_bytes;
  }
  return pattern;
}

// In the order of the table.
std::vector<std::pair<std::string, Pattern>> patterns(unsigned lanes, std::uint64_t seed) {
  constexpr unsigned same_bank = 256;  // dwords: a multiple of every number of banks so far
  constexpr unsigned random_dwords = 1024;
  std::mt19937_64 random(seed);
  std::vector<unsigned> shuffled(lanes);
  std::iota(shuffled.begin(), shuffled.end(), 0U);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const auto make = [=](auto dword_of) { return pattern_of(lanes, dword_of); };
  return {
      {"all one dword", make([](unsigned) { return 0U; })},
      {"two dwords in two banks", make([](unsigned lane) { return lane % 2; })},
      {"two dwords in one bank", make([](unsigned lane) { return lane % 2 * same_bank; })},
      {"a dword for each half",
       make([=](unsigned lane) { return lane / (lanes / 2) * same_bank; })},
      {"four dwords in one bank", make([](unsigned lane) { return lane % 4 * same_bank; })},
      {"a dword for every two lanes", make([](unsigned lane) { return lane / 2; })},
      {"a dword for each lane", make([](unsigned lane) { return lane; })},
      {"the same in random order", make([&](unsigned lane) { return shuffled[lane]; })},
      {"any of 1024 dwords",
       make([&](unsigned) { return static_cast<unsigned>(random() % random_dwords); })},
  };
}

void measure_patterns(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "pattern"});
  sweep.headline("cycles per access");
  sweep.note("4 bytes; dwords in one bank are 256 dwords apart");
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  double row = 0;
  for (const auto& [label, pattern] : patterns(lanes, sweep.seed())) {
    auto point = sweep.point(label, ++row);
    point.value("cycles per access", measure_loads<4>(sweep, point, pattern, rounds), "cycles");
    point.value(ways_name, dwords_of_busiest_bank(pattern, 4), "dwords");
  }
}

template <typename Tile>
void measure_tile(Sweep& sweep, double x, std::uint64_t rounds) {
  auto point = sweep.point(Tile::name, x);
  constexpr unsigned elements = tile_size * tile_size;
  std::mt19937_64 random(sweep.seed());
  std::vector<unsigned> tile(elements);
  std::generate(tile.begin(), tile.end(), [&] { return static_cast<unsigned>(random()); });
  std::vector<unsigned> transposed(elements);
  for (unsigned i = 0; i < elements; ++i) {
    transposed[i] = tile[i % tile_size * tile_size + i / tile_size];
  }
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(tile)};
  DeviceBuffer<unsigned> result(elements);
  const Run run = [&](unsigned threads, WaveTime* times, std::uint64_t repeats) {
    launch(transpose_kernel<Tile>,
           {.grid = dim3(1), .block = dim3(threads), .lds_bytes = Tile::dwords * dword_bytes},
           given.data(), result.data(), times, repeats);
  };
  verify(point, "elements of the tile", elements, rounds, result, run,
         [&](std::uint64_t all_rounds) { return all_rounds % 2 == 1 ? transposed : tile; });
  const Pattern by_column =
      pattern_of(static_cast<unsigned>(sweep.device().wave_size),
                 [](unsigned lane) { return Tile::index(lane % tile_size, lane / tile_size); });
  point.value("transposition",
              cycles_per_round(sweep, point, elements, rounds, run) / body_transpositions,
              "cycles");
  point.value(ways_name, dwords_of_busiest_bank(by_column, dword_bytes), "dwords");
  point.value("LDS", Tile::dwords * dword_bytes, "bytes");
}

void measure_cures(Sweep& sweep, std::uint64_t rounds) {
  sweep.axis({.name = "tile of 32 x 32"});
  sweep.headline("transposition");
  sweep.note("1024 threads store by row and load by column, with a barrier after each");
  measure_tile<PlainTile>(sweep, 1, rounds);
  measure_tile<PaddedTile>(sweep, 2, rounds);
  measure_tile<SwizzledTile>(sweep, 3, rounds);
}

// --- What the curves show ---------------------------------------------------------------------

constexpr const char* chase_sweep = "chase-4";
constexpr const char* loads_sweep = "loads-4";

std::string fit_text(const std::string& what, const std::optional<hipscope::BankFit>& fit) {
  if (!fit) {
    return what + ": no number of banks explains the curve";
  }
  std::string banks;
  for (const unsigned each : fit->alike) {
    banks += (banks.empty() ? "" : " or ") + std::to_string(each);
  }
  const std::string text =
      what + ": " + banks + " banks explain " + number(100 * fit->explained, 4) + " % of the curve";
  return fit->banks ? text + ", " + number(fit->base, 3) + " cycles and " +
                          number(fit->cost_per_way) + " for each dword more in one bank"
                    : text + ", which cannot tell them apart";
}

// What the published curves say by themselves.
std::vector<std::string> published_evidence(const hipscope::Results& results) {
  constexpr unsigned published_lanes = 64;
  std::vector<std::string> evidence;
  for (const auto& curve : results.published(published_series, "latency")) {
    std::vector<hipscope::CurvePoint> points;
    for (const auto& [stride, latency] : curve.points) {
      points.push_back({.x = std::stod(stride), .y = latency});
    }
    evidence.push_back(fit_text("published for " + curve.gpu + ", strides 1 ... 16",
                                hipscope::fit_banks(points, published_lanes)));
  }
  return evidence;
}

// The number of banks, which latency and throughput must tell alike.
void infer_banks(hipscope::Results& results) {
  const auto lanes = static_cast<unsigned>(results.device().wave_size);
  const auto chase_curve = results.curve(chase_sweep, "latency");
  const auto loads_curve = results.curve(loads_sweep, "cycles per access");
  if (chase_curve.empty() || loads_curve.empty()) {
    return;
  }
  const auto chase = hipscope::fit_banks(chase_curve, lanes);
  const auto loads = hipscope::fit_banks(loads_curve, lanes);
  hipscope::Inference banks{.name = "LDS banks",
                            .unit = "banks",
                            .statement = "latency and throughput do not tell one number of banks",
                            .evidence = {fit_text("latency of one wave", chase),
                                         fit_text("throughput of a full CU", loads)}};
  hipscope::Inference cost{.name = "cycles per extra conflict way",
                           .unit = "cycles",
                           .statement = "without the number of banks there is no telling"};
  if (chase && loads && chase->banks && chase->banks == loads->banks) {
    banks.value = *chase->banks;
    banks.confidence = std::min(chase->confidence, loads->confidence);
    banks.statement = "the costs of strides 1 ... 64 dwords repeat as with " +
                      std::to_string(*chase->banks) + " banks";
    cost.value = chase->cost_per_way;
    cost.confidence = chase->explained;
    cost.statement =
        "a load of one wave takes so much longer for each dword more that one bank "
        "must serve";
    cost.evidence = {
        "without conflicts " + number(chase->base, 4) + " cycles",
        "of a full CU's loads each dword more takes " + number(loads->cost_per_way) + " cycles"};
  }
  for (const std::string& line : published_evidence(results)) {
    banks.evidence.push_back(line);
  }
  results.infer(banks);
  results.infer(cost);
}

void infer_width(hipscope::Results& results) {
  const auto curve = results.curve("width", "cycles per access");
  if (curve.empty()) {
    return;
  }
  constexpr double smallest_ratio = 1.3;
  hipscope::Inference inference{.name = "LDS bank width",
                                .unit = "bytes",
                                .statement = "the curve has no single lowest point"};
  if (const auto valley = hipscope::find_valley(curve, smallest_ratio)) {
    inference.value = valley->x;
    inference.confidence = valley->confidence;
    inference.statement =
        "lanes whose bytes are a multiple of all banks and so many bytes apart "
        "conflict least";
    inference.evidence = {"half and twice as many cost at least " + number(valley->ratio) +
                          " times as much"};
  }
  results.infer(inference);
}

const std::array<std::string, 3> loads_sweeps = {"loads-4", "loads-8", "loads-16"};

void infer_bandwidth(hipscope::Results& results) {
  hipscope::CurvePoint best;
  std::string best_sweep;
  std::vector<std::string> evidence;
  for (const std::string& sweep : loads_sweeps) {
    hipscope::CurvePoint best_here;
    for (const auto& point : results.curve(sweep, "rate")) {
      best_here = point.y > best_here.y ? point : best_here;
    }
    if (best_here.y > 0) {
      evidence.push_back(sweep + ": " + number(best_here.y, 4) + " bytes per cycle");
    }
    if (best_here.y > best.y) {
      best = best_here;
      best_sweep = sweep;
    }
  }
  if (evidence.empty()) {
    return;
  }
  results.infer({.name = "LDS read bandwidth",
                 .value = best.y,
                 .unit = "bytes/cycle/CU",
                 .confidence = 1 - std::min(1.0, best.relative_spread),
                 .statement = "the most of all strides, in sweep " + best_sweep + " at stride " +
                              number(best.x, 2),
                 .evidence = evidence});
}

template <unsigned Bytes>
void add_sweeps(hipscope::Experiment& experiment, const hipscope::Size& rounds) {
  const std::string bytes = std::to_string(Bytes);
  experiment.sweep("chase-" + bytes, "latency of one wave's loads of " + bytes + " bytes",
                   [=](Sweep& sweep) { measure_chases<Bytes>(sweep, rounds); });
  experiment.sweep("loads-" + bytes, "a full CU's loads of " + bytes + " bytes",
                   [=](Sweep& sweep) { measure_all_loads<Bytes>(sweep, rounds); });
  experiment.sweep("stores-" + bytes, "a full CU's stores of " + bytes + " bytes",
                   [=](Sweep& sweep) { measure_all_stores<Bytes>(sweep, rounds); });
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
  add_sweeps<4>(experiment, rounds);
  add_sweeps<8>(experiment, rounds);
  add_sweeps<16>(experiment, rounds);
  experiment.sweep("width", "a full CU's loads of bytes",
                   [&](Sweep& sweep) { measure_width(sweep, rounds); });
  experiment.sweep("patterns", "a full CU's loads that are no strides",
                   [&](Sweep& sweep) { measure_patterns(sweep, rounds); });
  experiment.sweep("cures", "a tile that is read by column",
                   [&](Sweep& sweep) { measure_cures(sweep, rounds); });
  experiment.conclude([](hipscope::Results& results) {
    infer_banks(results);
    infer_width(results);
    infer_bandwidth(results);
  });
  return experiment.run(argc, argv);
}
