// Bytes from LDS, L1, L2, memory, and over the links to the host and to another device. The kernels
// do as little else as can be.
#pragma once

#include <hipscope/cache_hint.h>
#include <hipscope/hipscope.h>
#include <hipscope/lds.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "meter.h"

namespace energy {

using hipscope::Hint;

// --- What is moved: zeros, small integers or random bits --------------------------------------

/// `count` words of such data. Of zeros one in 1024 is 1, so that a sum tells what was read.
inline std::vector<unsigned> words_of(Data data, std::size_t count, std::uint64_t seed) {
  constexpr unsigned small = 5;
  constexpr std::size_t distance_of_ones = 1024;
  const unsigned key = hipscope::key_of(seed);
  std::vector<unsigned> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned random = hipscope::random_bits(static_cast<unsigned>(i) + key);
    words[i] = data == Data::zeros      ? unsigned{i % distance_of_ones == 0}
               : data == Data::integers ? random % small
                                        : random;
  }
  return words;
}

/// Bytes on the device, of which the host knows a piece.
class RepeatedData {
 public:
  /// `bytes`: whole words. A piece of 2^20 bytes repeats.
  RepeatedData(Data data, std::uint64_t bytes, std::uint64_t seed)
      : piece_(words_of(data, std::min(bytes, std::uint64_t{1} << 20) / sizeof(unsigned), seed)),
        words_(bytes / sizeof(unsigned)) {
    const auto copy = [&](std::size_t to, const unsigned* from, std::size_t count) {
      hipscope::check(
          hipMemcpy(words_.data() + to, from, count * sizeof(unsigned), hipMemcpyDefault));
    };
    copy(0, piece_.data(), piece_.size());
    for (std::size_t filled = piece_.size(); filled < words_.size(); filled *= 2) {
      copy(filled, words_.data(), std::min(filled, words_.size() - filled));
    }
  }

  [[nodiscard]] const uint4* quads() const { return reinterpret_cast<const uint4*>(words_.data()); }

  /// Word `i` of them, as the host knows it.
  [[nodiscard]] unsigned word(std::size_t i) const { return piece_[i % piece_.size()]; }

  /// Of all words, modulo 2^32.
  [[nodiscard]] unsigned sum() const {
    const auto rest = static_cast<std::ptrdiff_t>(words_.size() % piece_.size());
    return static_cast<unsigned>(words_.size() / piece_.size()) *
               std::accumulate(piece_.begin(), piece_.end(), 0U) +
           std::accumulate(piece_.begin(), piece_.begin() + rest, 0U);
  }

 private:
  std::vector<unsigned> piece_;
  hipscope::DeviceBuffer<unsigned> words_;
};

// --- LDS --------------------------------------------------------------------------------------

inline constexpr unsigned lds_block = 256;
inline constexpr unsigned lds_loads = 8;  // of 16 bytes, by each lane in a round

// For all that the compiler knows, uses what was loaded.
__device__ inline void use([[maybe_unused]] const hipscope::LdsWords<16>& loaded) {
#if defined(__HIP_DEVICE_COMPILE__)
  for (const unsigned word : loaded.word) {
    asm volatile("" : : "v"(word));
  }
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
  const auto* const lds = reinterpret_cast<const unsigned*>(values);
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

inline Row measure_lds(Meter& meter, Point point, Data data) {
  const unsigned blocks = meter.blocks(2);
  constexpr unsigned words_of_quad = sizeof(uint4) / sizeof(unsigned);
  const std::vector<unsigned> words =
      words_of(data, std::size_t{lds_loads} * lds_block * words_of_quad, meter.sweep().seed());
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(words)};
  DeviceBuffer<unsigned> sums(std::size_t{blocks} * lds_block);
  const Load load = meter.measure_rounds([&](unsigned rounds) {
    hipscope::launch(read_lds_kernel, {.grid = dim3(blocks), .block = dim3(lds_block)},
                     reinterpret_cast<const uint4*>(given.data()), sums.data(), rounds);
  });
  point.check("sum of every lane", sums.to_host(), [&](std::uint64_t i) {
    const std::size_t last = (lds_loads - 1) * lds_block + i % lds_block;
    return load.rounds * words[last * words_of_quad];
  });
  return {point, load, Per::byte, double(sums.size()) * lds_loads * sizeof(uint4) * load.rounds};
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

/// `bytes` that all CUs read together, or so many that each has of its own.
template <Hint hint>
Row measure_level(Meter& meter, Point point, Data data, std::uint64_t level_bytes, bool is_shared) {
  const unsigned threads = meter.sweep().is_hardware() ? largest_reading_block : tile_lanes;
  const auto tiles = static_cast<unsigned>(level_bytes / tile_bytes);
  const std::uint64_t all_tiles = is_shared ? tiles : std::uint64_t{tiles} * meter.units();
  const RepeatedData given(data, all_tiles * tile_bytes, meter.sweep().seed());
  DeviceBuffer<unsigned> sums(std::size_t{meter.units()} * threads);
  const auto run = [&](unsigned rounds) {
    hipscope::launch(read_kernel<hint>, {.grid = dim3(meter.units()), .block = dim3(threads)},
                     given.quads(), sums.data(),
                     Way{.tiles = tiles, .visits = rounds * tiles, .is_shared = is_shared});
  };
  const Load load = meter.measure_rounds(run, ~0U / 2 / tiles);
  const std::vector<unsigned> made = sums.to_host();
  point.check_value("sum of all bytes", std::accumulate(made.begin(), made.end(), 0U),
                    load.rounds * given.sum());
  return {point, load, Per::byte, double(all_tiles) * tile_bytes * load.rounds};
}

// --- The link to the host ---------------------------------------------------------------------

inline Row measure_link(Meter& meter, Point point, Data data, std::uint64_t copied,
                        bool to_device) {
  const std::vector<unsigned> words =
      words_of(data, copied / sizeof(unsigned), meter.sweep().seed());
  DeviceBuffer<unsigned> device(words.size());
  unsigned* host = nullptr;  // pinned: copies need not go through a buffer
  hipscope::check(hipHostMalloc(reinterpret_cast<void**>(&host), copied, hipHostMallocMapped));
  const std::shared_ptr<unsigned> owner(
      host, [](unsigned* pinned) { static_cast<void>(hipHostFree(pinned)); });
  std::fill_n(host, words.size(), ~0U);
  if (to_device) {
    std::copy(words.begin(), words.end(), host);
  } else {
    hipscope::check(hipMemcpy(device.data(), words.data(), copied, hipMemcpyHostToDevice));
  }
  const Load load = meter.measure([&] {
    hipscope::check(
        to_device ? hipMemcpyAsync(device.data(), host, copied, hipMemcpyHostToDevice, nullptr)
                  : hipMemcpyAsync(host, device.data(), copied, hipMemcpyDeviceToHost, nullptr));
  });
  const std::vector<unsigned> arrived =
      to_device ? device.to_host() : std::vector<unsigned>(host, host + words.size());
  point.check("every word", arrived, [&](std::uint64_t i) { return words[i]; });
  return {point, load, Per::byte, static_cast<double>(copied)};
}

// --- The link to another device ---------------------------------------------------------------

/// Copies by an engine, checked word by word: from this device to `other`, or within it.
inline Row measure_peer_copy(Meter& meter, Point point, Data data, std::uint64_t copied, int here,
                             int other) {
  const RepeatedData source(data, copied, meter.sweep().seed());
  hipscope::check(hipSetDevice(other));
  const DeviceBuffer<unsigned> destination(copied / sizeof(unsigned));
  hipscope::check(hipDeviceSynchronize());  // copies do not wait for its poison
  hipscope::check(hipSetDevice(here));
  const Load load = meter.measure_rounds([&](unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
      hipscope::check(
          hipMemcpyPeerAsync(destination.data(), other, source.quads(), here, copied, nullptr));
    }
  });
  hipscope::check(hipDeviceSynchronize());
  point.check("every word", destination.to_host(), [&](std::uint64_t i) { return source.word(i); });
  return {point, load, Per::byte, static_cast<double>(copied) * load.rounds};
}

}  // namespace energy
