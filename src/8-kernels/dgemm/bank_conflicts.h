// Sweep bank-conflicts: what the spread of a thread's columns means for its loads from LDS.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds.h>
#include <hipscope/timed_rounds.h>

#include <string>
#include <vector>

namespace dgemm {

/// How a thread's four columns (and rows) are spread over the block's 64.
enum class Spread {
  together,  ///< 4 t, 4 t + 1, 4 t + 2, 4 t + 3
  pairs,     ///< 2 t, 2 t + 1, 32 + 2 t, 32 + 2 t + 1
  apart,     ///< t, 16 + t, 32 + t, 48 + t
};

/// The `i`th place of thread `t`, 0 ... 15.
template <Spread spread>
__host__ __device__ constexpr unsigned place_of(unsigned t, unsigned i) {
  if constexpr (spread == Spread::together) {
    return 4 * t + i;
  } else if constexpr (spread == Spread::pairs) {
    return i / 2 * 32 + 2 * t + i % 2;
  } else {
    return i * 16 + t;
  }
}

/// How many of 16 lanes want different values of one bank, at most, when thread t loads from its
/// places: banks are 4 bytes wide, so a value of 8 takes two, of 32.
template <Spread spread>
constexpr unsigned conflict_degree() {
  constexpr unsigned pairs_of_banks = 16;
  unsigned wanted[pairs_of_banks] = {};
  unsigned most = 0;
  for (unsigned lane = 0; lane < 16; ++lane) {
    const unsigned wants = ++wanted[place_of<spread>(lane, 0) % pairs_of_banks];
    most = wants > most ? wants : most;
  }
  return most;
}

inline constexpr unsigned conflict_threads = 256;
inline constexpr unsigned conflict_depth = 8;       // rows of the tile
inline constexpr unsigned conflict_pitch = 64 + 1;  // values of 8 bytes
inline constexpr unsigned conflict_loads = 4;       // of a thread from each row
inline constexpr unsigned conflict_dwords = conflict_depth * conflict_pitch * 2;

/// Every thread loads its four values of each of the tile's rows.
template <Spread spread>
__global__ void __launch_bounds__(conflict_threads)
    bank_conflicts_kernel(const unsigned* input, unsigned* output, hipscope::WaveTime* times,
                          unsigned rounds) {
  __shared__ unsigned tile[conflict_dwords];
  for (unsigned i = threadIdx.x; i < conflict_dwords; i += conflict_threads) {
    tile[i] = input[i];
  }
  __syncthreads();
  unsigned address = hipscope::lds_address(tile) + place_of<spread>(threadIdx.x % 16, 0) * 8;
  unsigned sum = 0;
  const auto time = hipscope::time_rounds<true>(rounds, [&] {
    hipscope::lds_forget(address);
#pragma unroll
    for (unsigned k = 0; k < conflict_depth; ++k) {
#pragma unroll
      for (unsigned j = 0; j < conflict_loads; ++j) {
        const unsigned from_first = place_of<spread>(0, j) * 8;
        const auto loaded =
            hipscope::lds_load<8>(tile, address + k * conflict_pitch * 8 + from_first);
        sum += loaded.word[0] + loaded.word[1];
      }
    }
  });
  if (threadIdx.x % warpSize == 0) {
    times[threadIdx.x / warpSize] = time;
  }
  output[threadIdx.x] = sum;
}

/// What every thread's sum must be after these rounds.
template <Spread spread>
std::vector<unsigned> expected_sums(const std::vector<unsigned>& tile, std::uint64_t rounds) {
  std::vector<unsigned> sums(conflict_threads);
  for (unsigned thread = 0; thread < conflict_threads; ++thread) {
    unsigned sum = 0;
    for (unsigned k = 0; k < conflict_depth; ++k) {
      for (unsigned j = 0; j < conflict_loads; ++j) {
        const unsigned place = (k * conflict_pitch + place_of<spread>(thread % 16, j)) * 2;
        sum += tile[place] + tile[place + 1];
      }
    }
    sums[thread] = sum * static_cast<unsigned>(rounds);
  }
  return sums;
}

template <Spread spread>
double measure_bank_conflict(hipscope::Sweep& sweep, const std::string& label, double x,
                             double without_conflict) {
  constexpr unsigned rounds_on_gpu = 1000;
  constexpr unsigned rounds_on_host = 3;
  const unsigned rounds = sweep.is_hardware() ? rounds_on_gpu : rounds_on_host;
  std::vector<unsigned> tile(conflict_dwords);
  const unsigned key = hipscope::key_of(sweep.seed());
  for (unsigned i = 0; i < conflict_dwords; ++i) {
    tile[i] = hipscope::random_bits(i + key);
  }
  const hipscope::DeviceBuffer<unsigned> input{std::span<const unsigned>(tile)};
  hipscope::DeviceBuffer<unsigned> output(conflict_threads);
  const auto waves = conflict_threads / static_cast<unsigned>(sweep.device().wave_size);
  hipscope::WaveTimes times(waves);
  const auto run = [&](std::uint64_t repeats) {
    hipscope::launch(bank_conflicts_kernel<spread>,
                     {.grid = dim3(1), .block = dim3(conflict_threads)}, input.data(),
                     output.data(), times.next(), repeats);
  };
  auto point = sweep.point(label, x);
  hipscope::verify_rounds(point, "sum of every thread's loads", rounds, output, run,
                          [&](std::uint64_t all) { return expected_sums<spread>(tile, all); });
  point.measure([&] { run(rounds); });
  constexpr unsigned loads_per_round = conflict_depth * conflict_loads;
  const double cycles = sweep.counted(times.take(point)) / (double{1} * rounds * loads_per_round);
  point.value("bank conflict by arithmetic", conflict_degree<spread>(), "ways");
  point.value("time of the block's load", cycles, "cycles");
  point.value("measured conflict", cycles / (without_conflict > 0 ? without_conflict : cycles),
              "ways");
  return cycles;
}

inline void measure_bank_conflicts(hipscope::Sweep& sweep) {
  sweep.axis({.name = "columns of a thread"});
  sweep.headline("time of the block's load");
  sweep.note(
      "loads of 8 bytes by all waves of one block of 256 threads, as the LDS stages load their "
      "tiles");
  const double apart = measure_bank_conflict<Spread::apart>(sweep, "16 apart", 1, 0);
  measure_bank_conflict<Spread::pairs>(sweep, "in pairs, 32 apart", 2, apart);
  measure_bank_conflict<Spread::together>(sweep, "together", 4, apart);
}

}  // namespace dgemm
