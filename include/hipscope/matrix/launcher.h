// Launches of kernels that repeat an instruction: operands, sums, times, and the check of every
// sum.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "hipscope/matrix/operands.h"
#include "hipscope/matrix/registers.h"

namespace matrix_rate {

struct Shape {
  unsigned blocks = 1;
  unsigned groups = 1;  ///< of lanes that issue an instruction together, in each block
};

/// A block on each CU, with as many groups as are fastest.
inline Shape full_shape(const hipscope::Sweep& sweep, const Instruction& instruction,
                        const ChainKernel& kernel) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  return {.blocks = static_cast<unsigned>(sweep.device().compute_units),
          .groups = sweep.is_hardware()
                        ? std::min(instruction.peak_groups, kernel.most_threads / instruction.lanes)
                        : std::max(1U, wave_size / instruction.lanes)};
}

/// One kernel with operands of one kind and one launch shape.
class Launcher {
 public:
  Launcher(const Instruction& instruction, const ChainKernel& kernel, const Shape& shape,
           unsigned wave_size, Data data, std::uint64_t seed)
      : instruction_(instruction),
        kernel_(kernel),
        shape_(shape),
        data_(data),
        seed_(seed),
        threads_((shape.groups * instruction.lanes + wave_size - 1) / wave_size * wave_size),
        packed_starts_(pack_starts()),
        a_(pairs * bytes_of(instruction.a_layout, instruction.a)),
        b_(pairs * bytes_of(instruction.b_layout, instruction.b)),
        starts_(std::span<const unsigned char>(packed_starts_)),
        ends_(packed_starts_.size() * shape.blocks * (threads_ / instruction.lanes)),
        times_(shape.blocks * threads_ / wave_size) {
    load(false);
  }

  void run(std::uint64_t rounds) { run_kernel(kernel_.kernel, rounds); }

  /// Every element of every sum, with one product more in the first pair than the second takes
  /// away: after the warm-up alone and after some rounds, since formats with few bits in their sums
  /// count no farther. Then, with the operands that are to be measured, after the warm-up.
  void verify(hipscope::Point& point) {
    constexpr std::uint64_t counted_rounds = 3;
    load(true);
    check(point, "sums after the warm-up", 0, true, 0);
    check(point, "sums after " + std::to_string(counted_rounds) + " rounds more", counted_rounds,
          true, 0);
    load(false);
    if (data_ != Data::integers) {
      check(point, "sums of these operands", 0, false, data_ == Data::zeros ? 0 : tolerance());
    }
  }

  /// Cycles per instruction of each chain's, times the chains: what one group takes for a round of
  /// them, divided by the instructions in it.
  double cycles_per_instruction(hipscope::Point& point, std::uint64_t rounds) {
    const double empty = cycles(point, 0);
    return (cycles(point, rounds) - empty) / (static_cast<double>(rounds) * body_instructions);
  }

  /// Cycles of a launch's rounds, by each wave's own counter: the median of the last launches.
  double cycles_of_launch(hipscope::Point& point) const { return times_.take_of_each(point); }

  /// The sums of all groups, as the last launch left them.
  [[nodiscard]] const hipscope::DeviceBuffer<unsigned char>& sums() const { return ends_; }

  [[nodiscard]] unsigned groups() const { return shape_.blocks * (threads_ / instruction_.lanes); }

 private:
  static std::size_t bytes_of(const OperandLayout& layout, const Format& format) {
    return std::size_t{layout.lanes} * layout.elements * format.bits / 8;
  }

  void run_kernel(Kernel kernel, std::uint64_t rounds) {
    hipscope::launch(kernel, {.grid = dim3(shape_.blocks), .block = dim3(threads_)}, a_.data(),
                     b_.data(), starts_.data(), ends_.data(), times_.next(),
                     static_cast<unsigned>(rounds));
  }

  double cycles(hipscope::Point& point, std::uint64_t rounds) {
    for (unsigned i = 0; i < times_.kept_launches; ++i) {
      run(rounds);
    }
    return times_.take(point);
  }

  [[nodiscard]] std::vector<unsigned char> pack_starts() const {
    std::vector<unsigned char> all;
    for (unsigned chain = 0; chain < kernel_.chains; ++chain) {
      const auto one =
          pack(instruction_.sum_layout, instruction_.sum, make_starts(instruction_, data_, chain),
               Sparsity::dense, instruction_.sum_register_bytes);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  void load(bool leftover) {
    operands_ = make_operands(instruction_, leftover ? Data::integers : data_, leftover, seed_);
    std::vector<unsigned char> a;
    std::vector<unsigned char> b;
    for (unsigned pair = 0; pair < pairs; ++pair) {
      const auto a_pair =
          pack(instruction_.a_layout, instruction_.a, operands_.a[pair], instruction_.sparsity);
      const auto b_pair = pack(instruction_.b_layout, instruction_.b, operands_.b[pair]);
      a.insert(a.end(), a_pair.begin(), a_pair.end());
      b.insert(b.end(), b_pair.begin(), b_pair.end());
    }
    hipscope::check(hipMemcpy(a_.data(), a.data(), a.size(), hipMemcpyHostToDevice));
    hipscope::check(hipMemcpy(b_.data(), b.data(), b.size(), hipMemcpyHostToDevice));
  }

  /// Sums of thousands of random products are rounded at every step, FP8's to few bits.
  [[nodiscard]] double tolerance() const {
    constexpr double coarsest_unit = 0x1p-9;
    return coarsest_unit * body_instructions * (4 + instruction_.k);
  }

  void check(hipscope::Point& point, const std::string& what, std::uint64_t rounds, bool leftover,
             double tolerance) {
    ends_.poison();
    run(rounds);
    const std::vector<unsigned char> computed = ends_.to_host();
    const double steps = static_cast<double>(hipscope::warm_up_rounds + rounds) *
                         body_instructions / kernel_.chains / pairs;
    const Matrix first = product(operands_.a[0], operands_.b[0]);
    const Matrix second = product(operands_.a[1], operands_.b[1]);
    const OperandLayout& layout = instruction_.sum_layout;
    const std::size_t matrix_bytes = starts_.size() / kernel_.chains;
    const std::size_t group_bytes = matrix_bytes * kernel_.chains;
    hipscope::Comparison comparison(instruction_.n);
    for (unsigned group = 0; group < groups(); ++group) {
      // All groups do the same: what equals the first one's sums is as right as they are.
      const unsigned char* const made = computed.data() + group * group_bytes;
      if (group > 0 && std::equal(made, made + group_bytes, computed.data())) {
        continue;
      }
      for (unsigned chain = 0; chain < kernel_.chains; ++chain) {
        const Matrix starts = make_starts(instruction_, data_, chain);
        const unsigned char* const sums = made + chain * matrix_bytes;
        const std::uint64_t matrix = std::uint64_t{group} * kernel_.chains + chain;
        for (unsigned lane = 0; lane < layout.lanes; ++lane) {
          for (unsigned element = 0; element < layout.elements; ++element) {
            const Place at = layout.place(lane, element);
            const double expected =
                starts.at(at.row, at.column) +
                (leftover ? steps * (first.at(at.row, at.column) + second.at(at.row, at.column))
                          : 0);
            comparison.compare((matrix * instruction_.m + at.row) * instruction_.n + at.column,
                               expected,
                               unpack(layout, instruction_.sum, sums, lane, element,
                                      instruction_.sum_register_bytes),
                               tolerance);
          }
        }
      }
    }
    if (comparison.wrong() > 0) {
      point.verify(what, comparison);  // of the groups that differ
    } else {
      point.verify(what, 0,
                   groups() * std::uint64_t{kernel_.chains} * layout.lanes * layout.elements);
    }
  }

  const Instruction& instruction_;
  ChainKernel kernel_;
  Shape shape_;
  Data data_;
  std::uint64_t seed_;
  unsigned threads_;
  Operands operands_;
  std::vector<unsigned char> packed_starts_;
  hipscope::DeviceBuffer<unsigned char> a_;
  hipscope::DeviceBuffer<unsigned char> b_;
  hipscope::DeviceBuffer<unsigned char> starts_;
  hipscope::DeviceBuffer<unsigned char> ends_;
  hipscope::WaveTimes times_;
};

}  // namespace matrix_rate
