// What it takes to read a register: FMAs that get two of their three operands from elsewhere, from
// the same two registers in every FMA, or one or both from others each time. All multiply the same
// bits, so nothing differs but the reads; one more kind, whose registers differ, shows what
// changing bits add, in the multiplier as well.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hipscope/matrix/packed.h"
#include "meter.h"

namespace energy {

inline constexpr unsigned operand_block = 256;
inline constexpr unsigned operand_chains = 8;
inline constexpr unsigned operand_steps = 8;      // of each chain in a round
inline constexpr unsigned operand_registers = 8;  // for an operand that is another each time
inline constexpr unsigned operand_words = 2 * operand_registers * operand_block;

/// How many registers the factors of FMAs are taken from in turn, and the terms.
__host__ __device__ constexpr unsigned factors_of(Operands from) {
  return from == Operands::one_other || from == Operands::two_others ? operand_registers : 1;
}
__host__ __device__ constexpr unsigned terms_of(Operands from) {
  return from == Operands::two_others ? operand_registers : 1;
}

template <unsigned Count>
__device__ void keep_all_apart(float (&values)[Count]) {
#pragma unroll
  for (unsigned i = 0; i < Count; ++i) {
    matrix_rate::keep_apart(values[i]);
  }
}

// x -> factor x + term in eight chains. `shared`, which all lanes have, AMD keeps in a scalar
// register; NVIDIA has a cache that keeps what the FMA before read in the same place. An operand
// that is another each time is in none of the registers of the seven FMAs before.
template <Operands From>
__global__ void __launch_bounds__(operand_block)
    operand_kernel(float* output, const float* operands, float shared, unsigned rounds) {
  constexpr unsigned factors = factors_of(From);
  constexpr unsigned terms = terms_of(From);
  float factor[factors];
  float term[terms];
#pragma unroll
  for (unsigned i = 0; i < factors; ++i) {
    factor[i] = From == Operands::shared ? shared : operands[i * operand_block + threadIdx.x];
  }
#pragma unroll
  for (unsigned i = 0; i < terms; ++i) {
    term[i] = From == Operands::shared
                  ? shared
                  : operands[(operand_registers + i) * operand_block + threadIdx.x];
  }
  if constexpr (From != Operands::shared) {  // they must have come before the loop begins
    keep_all_apart(factor);
    keep_all_apart(term);
  }
  float x[operand_chains];
#pragma unroll
  for (unsigned chain = 0; chain < operand_chains; ++chain) {
    x[chain] = shared;
  }
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned step = 0; step < operand_steps; ++step) {
#pragma unroll
      for (unsigned chain = 0; chain < operand_chains; ++chain) {
        x[chain] = fmaf(x[chain], factor[(chain + step) % factors], term[(chain + step) % terms]);
        matrix_rate::keep_apart(x[chain]);
      }
    }
  }
#pragma unroll
  for (unsigned chain = 0; chain < operand_chains; ++chain) {
    output[(blockIdx.x * operand_chains + chain) * operand_block + threadIdx.x] = x[chain];
  }
}

/// What the FMAs of a row compute with.
struct OperandValues {
  float shared = 0;
  std::vector<float> own = std::vector<float>(operand_words, shared);

  /// Of magnitude 0.5 to 1, with a random sign and fraction: chains keep within 2^24.
  static float random(unsigned number) {
    constexpr unsigned sign_and_fraction = 0x807fffff;
    constexpr unsigned half = 0x3f000000;
    return std::bit_cast<float>((hipscope::random_bits(number) & sign_and_fraction) | half);
  }

  static OperandValues different(unsigned key) {
    OperandValues values{.shared = random(key)};
    for (float& value : values.own) {
      value = random(++key);
    }
    return values;
  }

  /// The end of a chain, to the last bit: an FMA is rounded once everywhere.
  [[nodiscard]] float end(Operands from, unsigned lane, unsigned chain, unsigned rounds) const {
    float x = shared;
    for (unsigned step = 0; step < rounds * operand_steps; ++step) {
      const std::size_t factor = (chain + step) % factors_of(from);
      const std::size_t term = operand_registers + (chain + step) % terms_of(from);
      x = from == Operands::shared
              ? std::fma(x, shared, shared)
              : std::fma(x, own[factor * operand_block + lane], own[term * operand_block + lane]);
    }
    return x;
  }
};

/// FMAs of one kind with some values.
class OperandRow {
 public:
  OperandRow(const Meter& meter, Point point, Operands from, OperandValues values)
      : point_(point),
        from_(from),
        values_(std::move(values)),
        blocks_(meter.blocks(4)),
        operands_(operand_words),
        output_(std::size_t{blocks_} * operand_chains * operand_block) {
    // With zeros an end tells nothing of the steps before it.
    check_ends("end of every chain, of other operands",
               OperandValues::different(hipscope::key_of(meter.sweep().seed())));
    check_ends("end of every chain", values_);
  }

  void run(unsigned rounds) { run(values_, rounds); }

  /// As it was measured.
  [[nodiscard]] Row row(const Load& load) const {
    return {point_, load, Per::fma,
            static_cast<double>(output_.size()) * operand_steps * load.rounds};
  }

 private:
  void run(const OperandValues& values, unsigned rounds) {
    const std::array kernels = {operand_kernel<Operands::shared>, operand_kernel<Operands::same>,
                                operand_kernel<Operands::one_other>,
                                operand_kernel<Operands::two_others>};
    hipscope::launch(kernels.at(static_cast<std::size_t>(from_)),
                     {.grid = dim3(blocks_), .block = dim3(operand_block)}, output_.data(),
                     operands_.data(), values.shared, rounds);
  }

  // Leaves `values` on the device.
  void check_ends(const std::string& what, const OperandValues& values) {
    constexpr unsigned counted_rounds = 3;
    hipscope::check(hipMemcpy(operands_.data(), values.own.data(),
                              values.own.size() * sizeof(float), hipMemcpyHostToDevice));
    output_.poison();
    run(values, counted_rounds);
    std::vector<float> expected;  // of a block
    for (unsigned i = 0; i < operand_chains * operand_block; ++i) {
      expected.push_back(values.end(from_, i % operand_block, i / operand_block, counted_rounds));
    }
    point_.check(what, output_.to_host(),
                 [&](std::uint64_t i) { return expected[i % expected.size()]; });
  }

  Point point_;
  Operands from_;
  OperandValues values_;
  unsigned blocks_;
  DeviceBuffer<float> operands_;
  DeviceBuffer<float> output_;
};

/// All rows of the sweep: of each kind one with zeros, and one with random bits that are the same
/// in all registers; at last random bits of each register's own.
inline std::vector<OperandRow> operand_rows(const Meter& meter) {
  const unsigned key = hipscope::key_of(meter.sweep().seed());
  std::vector<OperandRow> rows;
  const auto add = [&](const std::string& name, Operands from, Data data, double x,
                       const OperandValues& values) {
    rows.emplace_back(meter, meter.sweep().point(name + ", " + name_of(data), x), from, values);
  };
  for (const Operands from : kinds_of_operands) {
    add(name_of(from), from, Data::zeros, row_of(from, Data::zeros), {.shared = 0});
    add(name_of(from), from, Data::random, row_of(from, Data::random),
        {.shared = OperandValues::random(key)});
  }
  add("one other with other bits each time", Operands::one_other, Data::random,
      row_of(other_bits_row, Data::random), OperandValues::different(key));
  return rows;
}

/// Where among them the row of such FMAs is that has the same data as row `i`.
inline std::size_t index_beside(std::size_t i, Operands from) {
  const bool is_zeros = i < 2 * other_bits_row && i % 2 == 0;
  return 2 * static_cast<std::size_t>(from) + (is_zeros ? 0 : 1);
}

}  // namespace energy
