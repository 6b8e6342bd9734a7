// Sweep operands: what limits FP64 FMAs that are not waiting for anything.
//
// 8 x 8 sums per thread and their factors stay in registers; blocks of 256 threads, one per CU.
// Each FMA needs three operands of 64 bits. On the H200 the registers do not give that many in the
// two cycles of an FMA, unless one was an operand of the FMA before. The rows differ in that:
//   no factor twice    consecutive FMAs share nothing
//   one factor twice   they share their factor of A, as in a matrix product's rows
//   constant           one factor is a kernel's argument: not from registers at all (NVIDIA)
//   with LDS loads     one factor twice, and a load of 16 bytes for every 8 FMAs: what a tile of
//                      8 x 8 takes from LDS
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "8-kernels/gemm/exact.h"
#include "stage.h"

namespace dgemm {

enum class OperandsOfFma { no_factor_twice, one_factor_twice, constant, with_lds_loads };

inline constexpr unsigned operand_threads = 256;
inline constexpr unsigned operand_side = 8;
inline constexpr unsigned fmas_per_pass = operand_side * operand_side;
inline constexpr unsigned passes_per_turn = 2;    // few instructions of the loop are no FMAs then
inline constexpr unsigned operand_patterns = 31;  // a prime, so that lanes differ

/// A thread's factors: of row i `factor_of_row(...)`, of column j `factor_of_column(...)`.
__host__ __device__ constexpr unsigned factor_of_row(unsigned pattern, unsigned i) {
  return pattern + i;
}
__host__ __device__ constexpr unsigned factor_of_column(unsigned pattern, unsigned j) {
  return pattern + operand_side + j;
}

/// The `n`th FMA's row and column.
template <OperandsOfFma operands>
__device__ constexpr Place place_of_operands(unsigned n) {
  if (operands == OperandsOfFma::no_factor_twice) {
    return {n % operand_side, (n / operand_side + n) % operand_side};
  }
  const unsigned row = n / operand_side;
  const unsigned column = n % operand_side;
  return {row, row % 2 == 0 ? column : operand_side - 1 - column};
}

/// For all that clang knows, somebody uses what was loaded.
__device__ inline void keep([[maybe_unused]] const hipscope::LdsWords<16>& loaded) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" ::"v"(loaded.word[0]));
#endif
}

template <OperandsOfFma operands>
__global__ void __launch_bounds__(operand_threads, 1)
    operands_kernel(const double* input, double argument, unsigned passes, double* output) {
  alignas(16) __shared__ unsigned lds[operand_threads];
  lds[threadIdx.x] = threadIdx.x;
  __syncthreads();
  [[maybe_unused]] unsigned address = hipscope::lds_address(lds) + threadIdx.x % 32 * 16;
  const unsigned thread = blockIdx.x * operand_threads + threadIdx.x;
  const unsigned pattern = thread % operand_patterns;
  double a[operand_side];
  double b[operand_side];
  double sums[operand_side][operand_side] = {};
#pragma unroll
  for (unsigned i = 0; i < operand_side; ++i) {
    a[i] = input[factor_of_row(pattern, i)];
    b[i] = input[factor_of_column(pattern, i)];
  }
#pragma unroll 1
  for (unsigned pass = 0; pass < passes; pass += passes_per_turn) {
#pragma unroll
    for (unsigned n = 0; n < passes_per_turn * fmas_per_pass; ++n) {
      const Place place = place_of_operands<operands>(n % fmas_per_pass);
      const double factor = operands == OperandsOfFma::constant ? argument : a[place.row];
      multiply_add_in_order(sums[place.row][place.column], factor, b[place.column]);
      if constexpr (operands == OperandsOfFma::with_lds_loads) {
        if (n % operand_side == 0) {
          hipscope::lds_forget(address);
          keep(hipscope::lds_load<16>(lds, address));
        }
      }
    }
  }
  double* const to = output + std::size_t{thread} * operand_side;
#pragma unroll
  for (unsigned i = 0; i < operand_side; ++i) {
    double sum = 0;
#pragma unroll
    for (unsigned j = 0; j < operand_side; ++j) {
      sum += sums[i][j];
    }
    to[i] = sum;
  }
}

/// What the threads of a pattern must store: host and device round an FMA once.
template <OperandsOfFma operands>
std::vector<double> expected_rows(const std::vector<double>& input, double argument,
                                  unsigned passes) {
  std::vector<double> rows;
  for (unsigned pattern = 0; pattern < operand_patterns; ++pattern) {
    for (unsigned i = 0; i < operand_side; ++i) {
      const double a =
          operands == OperandsOfFma::constant ? argument : input[factor_of_row(pattern, i)];
      double sum = 0;
      for (unsigned j = 0; j < operand_side; ++j) {
        double product = 0;
        for (unsigned pass = 0; pass < passes; ++pass) {
          product = std::fma(a, input[factor_of_column(pattern, j)], product);
        }
        sum += product;
      }
      rows.push_back(sum);
    }
  }
  return rows;
}

template <OperandsOfFma operands>
void measure_operands_of(hipscope::Sweep& sweep, const std::string& label, double x,
                         double peak_fmas_per_cycle) {
  const unsigned passes = passes_per_turn * (sweep.is_hardware() ? 2000 : 2);
  const unsigned units =
      sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 2;
  const unsigned key = hipscope::key_of(sweep.seed());
  std::vector<double> input(operand_patterns + 2 * operand_side);
  for (unsigned i = 0; i < input.size(); ++i) {
    input[i] = gemm::Exact<double>::random(hipscope::random_bits(i + key), i);
  }
  constexpr double argument = 0.7071;
  const hipscope::DeviceBuffer<double> given{std::span<const double>(input)};
  hipscope::DeviceBuffer<double> output(std::size_t{units} * operand_threads * operand_side);
  output.poison();
  const auto run = [&] {
    hipscope::launch(operands_kernel<operands>,
                     {.grid = dim3(units), .block = dim3(operand_threads)}, given.data(), argument,
                     passes, output.data());
  };
  auto point = sweep.point(label, x);
  run();
  const std::vector<double> computed = output.to_host();
  const std::vector<double> expected = expected_rows<operands>(input, argument, passes);
  point.check("rows of every thread's sums", computed,
              [&](std::uint64_t i) { return expected[i % expected.size()]; });
  const auto time = point.measure(run);
  const double fmas = double{operand_threads} * fmas_per_pass * passes;
  point.value("FMA rate", fmas / time.cycles(), "FMA/cycle/CU");
  point.value("share of peak", 100 * fmas / time.cycles() / peak_fmas_per_cycle, "%");
}

inline void measure_operands(hipscope::Sweep& sweep, double peak_fmas_per_cycle) {
  sweep.axis({.name = "operands"});
  sweep.headline("FMA rate");
  sweep.note("8 x 8 sums per thread in registers, 256 threads on each CU");
  measure_operands_of<OperandsOfFma::no_factor_twice>(sweep, "no factor twice", 1,
                                                      peak_fmas_per_cycle);
  measure_operands_of<OperandsOfFma::one_factor_twice>(sweep, "one factor twice", 2,
                                                       peak_fmas_per_cycle);
  measure_operands_of<OperandsOfFma::with_lds_loads>(sweep, "one factor twice, LDS loads", 3,
                                                     peak_fmas_per_cycle);
  measure_operands_of<OperandsOfFma::constant>(sweep, "one factor a kernel argument", 4,
                                               peak_fmas_per_cycle);
}

}  // namespace dgemm
