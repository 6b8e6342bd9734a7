// Sweeps one-block and bank-conflicts: the source's stages at the source's size, and what it says
// of LDS banks.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "../gemm/problem.h"
#include "stages.h"

namespace dgemm {

inline constexpr unsigned one_block_k = 128;
inline constexpr unsigned tile_dwords = lds_depth * lds_pitch * 2;

/// The source's problem: one block's, alpha = 2, beta = 3, B column by column.
class OneBlock {
 public:
  explicit OneBlock(std::uint64_t seed)
      : problem_(block_side, block_side, one_block_k, gemm::Values::random, seed),
        b_(std::size_t{block_side} * one_block_k) {
    const Product product = problem_.product(1, 0);
    std::vector<double> rows(std::size_t{one_block_k} * block_side);
    hipscope::check(
        hipMemcpy(rows.data(), product.b, rows.size() * sizeof(double), hipMemcpyDeviceToHost));
    std::vector<double> columns(rows.size());
    for (unsigned k = 0; k < one_block_k; ++k) {
      for (unsigned column = 0; column < block_side; ++column) {
        columns[column * one_block_k + k] = rows[k * block_side + column];
      }
    }
    hipscope::check(hipMemcpy(b_.data(), columns.data(), columns.size() * sizeof(double),
                              hipMemcpyHostToDevice));
  }

  [[nodiscard]] Product product(double alpha, double beta) const {
    Product product = problem_.product(alpha, beta);
    product.b = b_.data();
    product.extents.ldb = one_block_k;
    return product;
  }

  gemm::Verdict judge(const Stage& stage, double alpha, double beta) {
    problem_.reset(beta);
    stage.enqueue(stage, product(alpha, beta));
    return problem_.judge(alpha, beta);
  }

  void reset() { problem_.reset(1); }

 private:
  gemm::Problem<double> problem_;
  hipscope::DeviceBuffer<double> b_;
};

/// The name of the source's stage in its published figures.
inline std::string published_name(const Stage& stage) {
  const std::array<std::string, 6> names = {"one thread per 4x4 tile, no reuse",
                                            "register reuse, depth 8",
                                            "register prefetch",
                                            "LDS staging",
                                            "LDS double buffer",
                                            "fewer bank conflicts"};
  return stage.source_kernel.empty() ? "" : names.at(std::stoul(stage.source_kernel) - 1);
}

inline void measure_one_block(hipscope::Sweep& sweep) {
  constexpr double flops = 2.0 * block_side * block_side * one_block_k;
  sweep.axis({.name = "stage"});
  sweep.headline("rate");
  sweep.note("M = N = 64, K = 128, one block of 256 threads; A and B with k along memory");
  sweep.note(
      "rates by the host's clock, from before the launch to after the synchronization, as the "
      "source's");
  sweep.note(
      "checked with alpha = 2, beta = 3; timed with beta = -1, with which C stays finite however "
      "often it runs");
  OneBlock block(sweep.seed());
  double x = 0;
  double first_on_host = 0;
  double first_on_device = 0;
  for (const SourceStage& source : source_stages<LayoutOfB::columns>()) {
    const Stage& stage = source.stage;
    auto point = sweep.point(gemm::label_of(stage), ++x, published_name(stage), "64x64x128");
    for (const auto& [alpha, beta] : {std::pair(2.0, 3.0), std::pair(1.5, 0.0)}) {
      const gemm::Verdict verdict = block.judge(stage, alpha, beta);
      point.verify("every element, beta = " + hipscope::number(beta), verdict.wrong,
                   verdict.checked);
    }
    block.reset();
    const Product product = block.product(2, -1);
    const auto on_host = point.measure_on_host("launch and wait", [&] {
      stage.enqueue(stage, product);
      hipscope::check(hipDeviceSynchronize());
    });
    const auto on_device = point.measure([&] { stage.enqueue(stage, product); });
    const double host_seconds = on_host.seconds().median;
    const double device_seconds = on_device.seconds().median;
    first_on_host = x == 1 ? host_seconds : first_on_host;
    first_on_device = x == 1 ? device_seconds : first_on_device;
    point.value("rate", 1e-9 * flops / host_seconds, "GFLOP/s");
    point.value("device rate", 1e-9 * flops / device_seconds, "GFLOP/s");
    point.value("speed-up on the first stage", first_on_host / host_seconds, "");
    point.value("device speed-up on the first stage", first_on_device / device_seconds, "");
    point.value("memory operations", source.memory_operations, "per FMA");
    point.value("LDS loads", source.lds_loads, "per FMA");
    point.value("bank conflict", source.bank_conflict, "ways");
  }
}

// --- Sweep bank-conflicts ---------------------------------------------------------------------

/// Every thread loads its four values of each of the tile's rows, as the stages do of B's.
template <Spread spread>
__global__ void __launch_bounds__(block_threads)
    bank_conflicts_kernel(const unsigned* input, unsigned* output, hipscope::WaveTime* times,
                          unsigned rounds) {
  __shared__ unsigned tile[tile_dwords];
  for (unsigned i = threadIdx.x; i < tile_dwords; i += block_threads) {
    tile[i] = input[i];
  }
  __syncthreads();
  unsigned address = hipscope::lds_address(tile) + place_of<spread>(threadIdx.x % 16, 0) * 8;
  unsigned sum = 0;
  const auto time = hipscope::time_rounds<true>(rounds, [&] {
    hipscope::lds_forget(address);
#pragma unroll
    for (unsigned k = 0; k < lds_depth; ++k) {
#pragma unroll
      for (unsigned j = 0; j < thread_side; ++j) {
        const unsigned from_first = place_of<spread>(0, j) * 8;
        const auto loaded = hipscope::lds_load<8>(tile, address + k * lds_pitch * 8 + from_first);
        sum += loaded.word[0] + loaded.word[1];
      }
    }
  });
  if (threadIdx.x % warpSize == 0) {
    times[threadIdx.x / warpSize] = time;
  }
  output[threadIdx.x] = sum;
}

/// What every thread's sum must be after so many rounds.
template <Spread spread>
std::vector<unsigned> expected_sums(const std::vector<unsigned>& tile, std::uint64_t rounds) {
  std::vector<unsigned> sums(block_threads);
  for (unsigned thread = 0; thread < block_threads; ++thread) {
    unsigned sum = 0;
    for (unsigned k = 0; k < lds_depth; ++k) {
      for (unsigned j = 0; j < thread_side; ++j) {
        const unsigned place = (k * lds_pitch + place_of<spread>(thread % 16, j)) * 2;
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
  std::vector<unsigned> tile(tile_dwords);
  const unsigned key = hipscope::key_of(sweep.seed());
  for (unsigned i = 0; i < tile_dwords; ++i) {
    tile[i] = hipscope::random_bits(i + key);
  }
  const hipscope::DeviceBuffer<unsigned> input{std::span<const unsigned>(tile)};
  hipscope::DeviceBuffer<unsigned> output(block_threads);
  const auto waves = block_threads / static_cast<unsigned>(sweep.device().wave_size);
  hipscope::WaveTimes times(waves);
  const auto run = [&](std::uint64_t repeats) {
    hipscope::launch(bank_conflicts_kernel<spread>, {.grid = dim3(1), .block = dim3(block_threads)},
                     input.data(), output.data(), times.next(), repeats);
  };
  auto point = sweep.point(label, x);
  hipscope::verify_rounds(point, "sum of every thread's loads", rounds, output, run,
                          [&](std::uint64_t all) { return expected_sums<spread>(tile, all); });
  point.measure([&] { run(rounds); });
  constexpr unsigned loads_per_round = lds_depth * thread_side;
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
      "loads of 8 bytes by all waves of one block of 256 threads, as the stages load B's tile");
  const double apart = measure_bank_conflict<Spread::apart>(sweep, "16 apart", 1, 0);
  measure_bank_conflict<Spread::pairs>(sweep, "in pairs, 32 apart", 2, apart);
  measure_bank_conflict<Spread::together>(sweep, "together", 4, apart);
}

}  // namespace dgemm
