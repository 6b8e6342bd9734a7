// Bytes from LDS, L1, L2, memory, and over the link to the host. The kernels do as little else as
// can be.
#pragma once

#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>
#include <hipscope/lds.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "data.h"
#include "meter.h"

namespace energy {

using hipscope::Hint;

// --- LDS --------------------------------------------------------------------------------------

inline constexpr unsigned lds_block = 256;
inline constexpr unsigned lds_loads = 8;  // of 16 bytes, by each lane in a round

// For all that the compiler knows, uses what was loaded.
__device__ inline void use([[maybe_unused]] const hipscope::LdsWords<16>& loaded) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile(""
               :
               : "v"(loaded.word[0]), "v"(loaded.word[1]), "v"(loaded.word[2]),
                 "v"(loaded.word[3]));
#endif
}

// Each lane reads what is its own, next to its neighbours': no bank is asked twice at once. Of the
// loads of a round one word is added up.
static __global__ void __launch_bounds__(lds_block)
    read_lds_kernel(const uint4* data, unsigned* sums, unsigned rounds) {
  __shared__ uint4 values[lds_loads * lds_block];
  for (unsigned i = threadIdx.x; i < lds_loads * lds_block; i += lds_block) {
    values[i] = data[i];
  }
  __syncthreads();
  const auto* const lds = static_cast<const unsigned*>(static_cast<const void*>(values));
  unsigned address = hipscope::lds_address(lds) + threadIdx.x * unsigned{sizeof(uint4)};
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    hipscope::lds_forget(address);
    hipscope::LdsWords<sizeof(uint4)> loaded[lds_loads];
#pragma unroll
    for (unsigned load = 0; load < lds_loads; ++load) {
      loaded[load] = hipscope::lds_load<sizeof(uint4)>(
          lds, address + load * lds_block * unsigned{sizeof(uint4)});
    }
#pragma unroll
    for (unsigned load = 0; load < lds_loads; ++load) {
      use(loaded[load]);
    }
    sum += loaded[lds_loads - 1].word[0];
  }
  sums[blockIdx.x * lds_block + threadIdx.x] = sum;
}

inline Load measure_lds(Sweep& sweep, Meter& meter, Point& point, Data data,
                        double& bytes_of_launch) {
  constexpr unsigned blocks_per_unit = 2;
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const unsigned blocks = sweep.is_hardware() ? blocks_per_unit * units : 2;
  constexpr unsigned words_of_quad = sizeof(uint4) / sizeof(unsigned);
  const std::vector<unsigned> words =
      words_of(data, std::size_t{lds_loads} * lds_block * words_of_quad, sweep.seed());
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(words)};
  DeviceBuffer<unsigned> sums(std::size_t{blocks} * lds_block);
  const auto run = [&](unsigned rounds) {
    hipscope::launch(read_lds_kernel, {.grid = dim3(blocks), .block = dim3(lds_block)},
                     static_cast<const uint4*>(static_cast<const void*>(given.data())), sums.data(),
                     rounds);
  };
  const unsigned rounds = meter.rounds_for(run);
  const Load load = meter.measure([&] { run(rounds); });
  point.check("sum of every lane", sums.to_host(), [&](std::uint64_t i) {
    const std::size_t last = (lds_loads - 1) * lds_block + i % lds_block;
    return rounds * words[last * words_of_quad];
  });
  bytes_of_launch = double(sums.size()) * lds_loads * sizeof(uint4) * rounds;
  return load;
}

// --- Caches and memory ------------------------------------------------------------------------

inline constexpr unsigned largest_reading_block = 1024;
inline constexpr unsigned tile_lanes = 64;  // a wave of 64, or two of 32
inline constexpr unsigned tile_loads = 4;   // of 16 bytes, by each lane
inline constexpr unsigned tile_quads = tile_lanes * tile_loads;
inline constexpr std::uint64_t tile_bytes = tile_quads * sizeof(uint4);

// Who reads what: all blocks together the whole data, or each block a part of its own.
struct Way {
  unsigned tiles;   // of the data, or of a part
  unsigned visits;  // to tiles: of all blocks together, or of each
  bool is_shared;
};

// Persistent blocks go through the data again and again, 64 lanes a tile at a time. The sum takes
// two additions of three for every 16 bytes.
template <Hint hint>
__global__ void __launch_bounds__(largest_reading_block, 1)
    read_kernel(const uint4* data, unsigned* sums, Way way) {
  const unsigned groups = blockDim.x / tile_lanes;
  const unsigned stride = way.is_shared ? groups * gridDim.x : groups;
  const unsigned group = threadIdx.x / tile_lanes + (way.is_shared ? groups * blockIdx.x : 0);
  const std::size_t part = way.is_shared ? 0 : std::size_t{blockIdx.x} * way.tiles;
  const uint4* const first = data + part * tile_quads + threadIdx.x % tile_lanes;
  const unsigned step = stride % way.tiles;
  unsigned tile = group % way.tiles;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned visit = group; visit < way.visits; visit += stride) {
    uint4 loaded[tile_loads];
#pragma unroll
    for (unsigned i = 0; i < tile_loads; ++i) {
      loaded[i] = hipscope::load<hint>(first + std::size_t{tile} * tile_quads + i * tile_lanes);
    }
#pragma unroll
    for (unsigned i = 0; i < tile_loads; ++i) {
      sum += loaded[i].x + loaded[i].y;
      sum += loaded[i].z + loaded[i].w;
    }
    tile += step;
    tile -= tile >= way.tiles ? way.tiles : 0;
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// A level, by what is read: `bytes` by all CUs together, or by each its own.
struct Level {
  std::string name;
  std::uint64_t bytes;
  bool is_shared;
};

template <Hint hint>
Load measure_level(Sweep& sweep, Meter& meter, Point& point, const Level& level, Data data,
                   double& bytes_of_launch) {
  const auto units = static_cast<unsigned>(sweep.device().compute_units);
  const unsigned threads = sweep.is_hardware() ? largest_reading_block : tile_lanes;
  const auto tiles = static_cast<unsigned>(level.bytes / tile_bytes);
  const std::uint64_t all_tiles = level.is_shared ? tiles : std::uint64_t{tiles} * units;
  const RepeatedData given(data, all_tiles * tile_bytes, sweep.seed());
  DeviceBuffer<unsigned> sums(std::size_t{units} * threads);
  const auto run = [&](unsigned rounds) {
    hipscope::launch(read_kernel<hint>, {.grid = dim3(units), .block = dim3(threads)},
                     given.quads(), sums.data(),
                     Way{.tiles = tiles, .visits = rounds * tiles, .is_shared = level.is_shared});
  };
  const unsigned rounds = std::min(meter.rounds_for(run), ~0U / 2 / tiles);
  const Load load = meter.measure([&] { run(rounds); });
  const std::vector<unsigned> made = sums.to_host();
  const unsigned total = std::accumulate(made.begin(), made.end(), 0U);
  const std::uint64_t words = all_tiles * tile_bytes / sizeof(unsigned);
  point.check_value("sum of all bytes", total, rounds * given.sum(words));
  bytes_of_launch = double(all_tiles) * tile_bytes * rounds;
  return load;
}

// --- The link to the host ---------------------------------------------------------------------

/// Memory of the host that copies need not go through a buffer for.
class PinnedWords {
 public:
  explicit PinnedWords(std::size_t count) : count_(count) {
    hipscope::check(hipHostMalloc(reinterpret_cast<void**>(&words_), count * sizeof(unsigned),
                                  hipHostMallocMapped));
  }
  ~PinnedWords() { static_cast<void>(hipHostFree(words_)); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;

  [[nodiscard]] std::span<unsigned> words() const { return {words_, count_}; }

 private:
  unsigned* words_ = nullptr;
  std::size_t count_;
};

inline Load measure_link(Sweep& sweep, Meter& meter, Point& point, bool to_device, Data data,
                         std::uint64_t bytes, double& bytes_of_launch) {
  const std::vector<unsigned> words = words_of(data, bytes / sizeof(unsigned), sweep.seed());
  const PinnedWords host(words.size());
  std::fill(host.words().begin(), host.words().end(), ~0U);
  DeviceBuffer<unsigned> device(words.size());
  if (to_device) {
    std::copy(words.begin(), words.end(), host.words().begin());
  } else {
    hipscope::check(hipMemcpy(device.data(), words.data(), bytes, hipMemcpyHostToDevice));
  }
  const Load load = meter.measure([&] {
    if (to_device) {
      hipscope::check(hipMemcpyAsync(device.data(), host.words().data(), bytes,
                                     hipMemcpyHostToDevice, nullptr));
    } else {
      hipscope::check(hipMemcpyAsync(host.words().data(), device.data(), bytes,
                                     hipMemcpyDeviceToHost, nullptr));
    }
  });
  const std::vector<unsigned> copied =
      to_device ? device.to_host()
                : std::vector<unsigned>(host.words().begin(), host.words().end());
  point.check("every word", copied, [&](std::uint64_t i) { return words[i]; });
  bytes_of_launch = static_cast<double>(bytes);
  return load;
}

}  // namespace energy
