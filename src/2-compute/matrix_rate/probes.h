// How an instruction adds: single products and sums that come out one way or another. Each probe
// makes one instruction of which all elements of D are alike: C has one value everywhere, A has the
// same row everywhere, and B the same column. Sweep adds, at the end, has all of them.
//
// The idea of such probes is that of M. Fasi, N. J. Higham, M. Mikaitis and S. Pranesh, "Numerical
// behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "hipscope/matrix/operands.h"

namespace matrix_rate {

/// A product of two powers of two (times a factor that every format holds: 1, -1, 1.5) at place k.
struct Term {
  unsigned k;
  int exponent;
  double factor = 1;
};

/// One instruction with all of D alike.
class Probe {
 public:
  Probe(const Instruction& instruction, unsigned wave_size)
      : instruction_(instruction), wave_size_(wave_size) {}

  [[nodiscard]] int greatest_product() const {
    return 2 * std::min(instruction_.a.greatest_safe_exponent(), 60);
  }
  [[nodiscard]] int least_product() const {
    return 2 * std::max(instruction_.a.least_exponent(), -60);
  }

  /// c + the sum of `terms`, as the instruction makes it; it must be one of `possible`.
  double sum(double c, const std::vector<Term>& terms, const std::vector<double>& possible) {
    Matrix a = {.rows = instruction_.m, .columns = instruction_.k};
    Matrix b = {.rows = instruction_.k, .columns = instruction_.n};
    for (const Term& term : terms) {
      const unsigned k = true_k(instruction_.sparsity, term.k);
      const int of_a = term.exponent >= 0 ? (term.exponent + 1) / 2 : term.exponent / 2;
      for (unsigned row = 0; row < instruction_.m; ++row) {
        a.at(row, k) = std::scalbn(term.factor, of_a);
      }
      for (unsigned column = 0; column < instruction_.n; ++column) {
        b.at(k, column) = std::scalbn(1.0, term.exponent - of_a);
      }
    }
    return sum_of(c, a, b, possible);
  }

  /// The same for one product a b at place 0.
  double sum_of_factors(double c, double a_value, double b_value,
                        const std::vector<double>& possible) {
    Matrix a = {.rows = instruction_.m, .columns = instruction_.k};
    Matrix b = {.rows = instruction_.k, .columns = instruction_.n};
    const unsigned k = true_k(instruction_.sparsity, 0);
    for (unsigned row = 0; row < instruction_.m; ++row) {
      a.at(row, k) = a_value;
    }
    for (unsigned column = 0; column < instruction_.n; ++column) {
      b.at(k, column) = b_value;
    }
    return sum_of(c, a, b, possible);
  }

  /// Of all elements of all probes so far with one of the possible sums.
  [[nodiscard]] const hipscope::Comparison& comparison() const { return comparison_; }

 private:
  double sum_of(double c, const Matrix& a, const Matrix& b, const std::vector<double>& possible) {
    Matrix starts = {.rows = instruction_.m, .columns = instruction_.n};
    std::fill(starts.values.begin(), starts.values.end(), c);
    const unsigned bytes = instruction_.sum_register_bytes;
    const auto packed_a = pack(instruction_.a_layout, instruction_.a, a, instruction_.sparsity);
    const auto packed_b = pack(instruction_.b_layout, instruction_.b, b);
    const auto packed_c =
        pack(instruction_.sum_layout, instruction_.sum, starts, Sparsity::dense, bytes);
    using Bytes = hipscope::DeviceBuffer<unsigned char>;
    const Bytes device_a{std::span<const unsigned char>(packed_a)};
    const Bytes device_b{std::span<const unsigned char>(packed_b)};
    const Bytes device_c{std::span<const unsigned char>(packed_c)};
    const unsigned threads = std::max(instruction_.lanes, wave_size_);
    const Bytes device_d(packed_c.size() * (threads / instruction_.lanes));
    hipscope::launch(instruction_.once, {.grid = dim3(1), .block = dim3(threads)}, device_a.data(),
                     device_b.data(), device_c.data(), device_d.data(), nullptr, 0U);
    const std::vector<unsigned char> d = device_d.to_host();
    const OperandLayout& layout = instruction_.sum_layout;
    const double first = unpack(layout, instruction_.sum, d.data(), 0, 0, bytes);
    const bool is_possible = std::find(possible.begin(), possible.end(), first) != possible.end();
    for (unsigned lane = 0; lane < layout.lanes; ++lane) {
      for (unsigned element = 0; element < layout.elements; ++element) {
        const double value = unpack(layout, instruction_.sum, d.data(), lane, element, bytes);
        comparison_.compare(comparison_.checked(), is_possible ? first : possible.front(), value);
      }
    }
    return first;
  }

  const Instruction& instruction_;
  unsigned wave_size_;
  hipscope::Comparison comparison_;
};

inline const double not_probed = std::numeric_limits<double>::quiet_NaN();

/// How many bits under the leading one of the largest product another product may begin and still
/// count: big + small - big is small, or nothing. NaN: fewer than three products,
/// or a format whose products do not reach so far down.
inline double bits_kept(Probe& probe, const Instruction& instruction) {
  if (instruction.stored_k() < 3) {
    return not_probed;
  }
  const int big = std::min(probe.greatest_product(), instruction.sum.greatest_safe_exponent() - 1);
  const int least = std::max(probe.least_product(), instruction.sum.least_exponent());
  int kept = 0;
  while (big - kept - 1 >= least) {
    const int exponent = big - kept - 1;
    const double small = std::scalbn(1.0, exponent);
    if (probe.sum(0, {{0, big}, {1, exponent}, {2, big, -1}}, {0, small}) != small) {
      return kept;
    }
    ++kept;
  }
  return not_probed;
}

/// How many products are added at once with the first one: where it takes a big C away, a small
/// one that is added with it is lost, one that is added later is not. NaN where none is lost.
inline double products_at_once(Probe& probe, const Instruction& instruction, double kept) {
  if (std::isnan(kept)) {
    return not_probed;
  }
  const int big = std::min(probe.greatest_product(), instruction.sum.greatest_safe_exponent() - 1);
  const int exponent = big - static_cast<int>(kept) - 3;
  if (exponent < std::max(probe.least_product(), instruction.sum.least_exponent())) {
    return not_probed;
  }
  const double small = std::scalbn(1.0, exponent);
  unsigned together = 1;
  for (unsigned k = 1; k < instruction.stored_k(); ++k) {
    const double sum = probe.sum(std::scalbn(1.0, big), {{0, big, -1}, {k, exponent}}, {0, small});
    together += sum == 0 ? 1 : 0;
  }
  return together;
}

/// What c + x comes to, in units of the last place of c that counts; c is a power of two, or one
/// unit more, and x a number of quarters of a unit. Of fewer bits than the format of the sum has,
/// if the instruction keeps no more.
inline double rounded(Probe& probe, const Instruction& instruction, double kept, bool odd,
                      int quarters) {
  const double width = std::fmin(instruction.sum.mantissa_bits, kept);  // NaN: not known
  // The unit is 2, so that a quarter of it is a half, which every format holds.
  const double sign = quarters < 0 ? -1 : 1;
  const double c = sign * (std::scalbn(1.0, static_cast<int>(width) + 1) + (odd ? 2 : 0));
  const double result = probe.sum_of_factors(c, std::abs(quarters) / 2.0, sign, {c, c + 2 * sign});
  return std::abs(result - c) / 2;
}

/// 1 where a factor smaller than the smallest normal number counts, 0 where it is taken for zero.
inline double subnormal_factor(Probe& probe, const Instruction& instruction) {
  const double factor = std::scalbn(1.0, instruction.a.least_subnormal_exponent());
  const double other = std::scalbn(1.0, std::min(instruction.a.greatest_safe_exponent(), 100));
  return probe.sum_of_factors(0, factor, other, {0, factor * other}) == 0 ? 0 : 1;
}

/// The same for what is added to.
inline double subnormal_sum(Probe& probe, const Instruction& instruction) {
  const double smallest = std::scalbn(1.0, instruction.sum.least_subnormal_exponent());
  return probe.sum_of_factors(smallest, 0, 0, {0, smallest}) == 0 ? 0 : 1;
}

/// Sweep adds: what each instruction shows of itself. Integers are not rounded.
inline void measure_adds(hipscope::Sweep& sweep,
                         const std::vector<const Instruction*>& instructions) {
  sweep.axis({.name = "instruction"});
  sweep.headline("bits kept");
  sweep.note("rounding: what is added for so many quarters of the last place, in last places");
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  double row = 0;
  for (const Instruction* instruction : instructions) {
    ++row;
    if (instruction->sum.is_integer()) {
      continue;
    }
    auto point = sweep.point(instruction->title(), row);
    Probe probe(*instruction, wave_size);
    const double kept = bits_kept(probe, *instruction);
    point.value("bits kept", kept, "bits");
    point.value("added at once", products_at_once(probe, *instruction, kept), "products");
    const auto rounds_to = [&](bool odd, int quarters) {
      return rounded(probe, *instruction, kept, odd, quarters);
    };
    point.value("1/4", rounds_to(false, 1), "");
    point.value("2/4, even", rounds_to(false, 2), "");
    point.value("2/4, odd", rounds_to(true, 2), "");
    point.value("3/4", rounds_to(false, 3), "");
    point.value("-3/4", rounds_to(false, -3), "");
    point.value("subnormal factors", subnormal_factor(probe, *instruction), "");
    point.value("subnormal sums", subnormal_sum(probe, *instruction), "");
    point.verify("every element one of the possible sums", probe.comparison());
  }
}

}  // namespace matrix_rate
