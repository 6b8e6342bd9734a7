// What it takes to read a register: FMAs that get two of their three operands from elsewhere, from
// the same two registers in every FMA, or one or both from others each time. All multiply the same
// bits, so nothing differs but the reads; one more kind, whose registers differ, shows what
// changing bits add, in the multiplier as well.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
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
  std::vector<float> own = std::vector<float>(operand_words);

  /// Each of magnitude 0.5 to 1, with a random sign and fraction: chains keep within 2^24.
  static float random(unsigned bits) {
    constexpr unsigned sign_and_fraction = 0x807fffff;
    constexpr unsigned half = 0x3f000000;
    const unsigned word = (bits & sign_and_fraction) | half;
    float value = 0;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }

  static OperandValues all(float value) {
    OperandValues values{.shared = value};
    std::fill(values.own.begin(), values.own.end(), value);
    return values;
  }

  static OperandValues different(unsigned key) {
    OperandValues values{.shared = random(hipscope::random_bits(key))};
    for (float& value : values.own) {
      value = random(hipscope::random_bits(++key));
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
  using Kernel = void (*)(float*, const float*, float, unsigned);

  OperandRow(Sweep& sweep, Point point, Operands from, Data data, OperandValues values)
      : point_(point),
        from_(from),
        data_(data),
        values_(std::move(values)),
        blocks_(sweep.is_hardware()
                    ? blocks_per_unit * static_cast<unsigned>(sweep.device().compute_units)
                    : 2),
        operands_(operand_words),
        output_(std::size_t{blocks_} * operand_chains * operand_block) {
    // With zeros an end tells nothing of the steps before it.
    const auto other = OperandValues::different(hipscope::key_of(sweep.seed()));
    check_ends("end of every chain, of other operands", other);
    check_ends("end of every chain", values_);
  }

  void run(unsigned rounds) { run(values_, rounds); }
  [[nodiscard]] double fmas(unsigned rounds) const {
    return static_cast<double>(output_.size()) * operand_steps * rounds;
  }
  [[nodiscard]] const Point& point() const { return point_; }
  [[nodiscard]] Operands from() const { return from_; }
  [[nodiscard]] Data data() const { return data_; }

 private:
  static constexpr unsigned blocks_per_unit = 4;

  [[nodiscard]] Kernel kernel() const {
    switch (from_) {
      case Operands::shared:
        return operand_kernel<Operands::shared>;
      case Operands::same:
        return operand_kernel<Operands::same>;
      case Operands::one_other:
        return operand_kernel<Operands::one_other>;
      default:
        return operand_kernel<Operands::two_others>;
    }
  }

  void run(const OperandValues& values, unsigned rounds) {
    hipscope::launch(kernel(), {.grid = dim3(blocks_), .block = dim3(operand_block)},
                     output_.data(), operands_.data(), values.shared, rounds);
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
  Data data_;
  OperandValues values_;
  unsigned blocks_;
  DeviceBuffer<float> operands_;
  DeviceBuffer<float> output_;
};

/// All rows of the sweep: zeros, random bits that are the same in all registers, and random bits of
/// each register's own.
inline std::vector<std::unique_ptr<OperandRow>> operand_rows(Sweep& sweep) {
  const unsigned key = hipscope::key_of(sweep.seed());
  const auto same_bits = OperandValues::all(OperandValues::random(hipscope::random_bits(key)));
  std::vector<std::unique_ptr<OperandRow>> rows;
  const auto add = [&](Operands from, Data data, const OperandValues& values, double x,
                       const std::string& name) {
    rows.push_back(std::make_unique<OperandRow>(sweep, sweep.point(name + ", " + name_of(data), x),
                                                from, data, values));
  };
  for (const Operands from : kinds_of_operands) {
    add(from, Data::zeros, OperandValues::all(0), row_of(from, Data::zeros), name_of(from));
    add(from, Data::random, same_bits, row_of(from, Data::random), name_of(from));
  }
  add(Operands::one_other, Data::random, OperandValues::different(key),
      row_of(other_bits_row, Data::random), "one other with other bits each time");
  return rows;
}

/// The first row of such FMAs and such data; that of other bits is the last.
inline std::size_t index_of(const std::vector<std::unique_ptr<OperandRow>>& rows, Operands from,
                            Data data) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
    return row->from() == from && row->data() == data;
  });
  return static_cast<std::size_t>(found - rows.begin());
}

/// Adds to a row what its FMA takes more than the one whose operands come `from` there, in pJ, and
/// the error; unknown where nothing is known.
inline void add_difference(Point& point, Operands from, const std::optional<NetEnergy>& energy) {
  const std::string name = difference_name(from);
  point.value(name, energy ? energy->joules / pico : unknown, "pJ");
  point.value(name + " error", energy ? energy->error / pico : unknown, "pJ");
}

}  // namespace energy
