// Matrices, the reference of their product, and padded copies for stages that take whole tiles
// only.
//
// The device computes each element's reference with about twice the bits (exact.h), and the sum of
// the products' magnitudes: a right result is no further from the reference than (K + 2) eps times
// |alpha| sum |a b| + |beta c|, whatever the order of the sum, since each of its terms goes through
// at most K + 2 roundings of eps each. The host computes some rows of the reference again. Products
// of small integers must be exact.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "exact.h"
#include "problem_kernels.h"
#include "stage.h"

namespace gemm {

/// What a result is worth.
struct Verdict {
  std::uint64_t wrong = 0;
  std::uint64_t checked = 0;
  double error = 0;                 ///< the largest, in units of eps (|alpha| sum |a b| + |beta c|)
  hipscope::Comparison elements{};  ///< if any are wrong, all of them, for what a failure tells
};

inline void verify(hipscope::Point& point, const std::string& what, const Verdict& verdict) {
  if (verdict.wrong > 0 && verdict.elements.wrong() == verdict.wrong) {
    point.verify(what, verdict.elements);
  } else {
    point.verify(what, verdict.wrong, verdict.checked);
  }
}

/// How much longer rows are in memory than their matrices.
struct Gaps {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
};

inline std::uint64_t elements(unsigned rows, unsigned pitch) {
  return std::max<std::uint64_t>(1, std::uint64_t{rows} * pitch);
}

/// Bytes of device memory that `Problem` takes, and the padded copies that `Prepared` makes of it.
template <typename Value, typename Result = Value>
std::uint64_t bytes_of_problem(unsigned m, unsigned n, unsigned k) {
  const std::uint64_t of_c = std::uint64_t{m} * n;
  const auto bytes_of = [](std::uint64_t rows, std::uint64_t columns, std::uint64_t depth) {
    return sizeof(Value) * (rows * depth + depth * columns) + sizeof(Result) * rows * columns;
  };
  constexpr unsigned largest_tile = 256;
  const bool is_padded = m % largest_tile + n % largest_tile + k % largest_tile > 0;
  return bytes_of(m, n, k) + sizeof(Result) * of_c +
         (sizeof(typename Exact<Value>::Type) + sizeof(double)) * of_c +
         (is_padded ? bytes_of(m + largest_tile, n + largest_tile, k + largest_tile) : 0);
}

/// Matrices, with what C was before and the reference of their product.
template <typename Value, typename Result = Value>
class Problem {
 public:
  Problem(unsigned m, unsigned n, unsigned k, Values values, std::uint64_t seed, Gaps gaps = {})
      : extents_{.m = m,
                 .n = n,
                 .k = k,
                 .lda = k + gaps.a,
                 .ldb = (has_b_by_columns<Value> ? k : n) + gaps.b,
                 .ldc = n + gaps.c},
        values_(values),
        key_(hipscope::key_of(seed)),
        a_(elements(m, extents_.lda)),
        b_(elements(has_b_by_columns<Value> ? n : k, extents_.ldb)),
        before_(elements(m, extents_.ldc)),
        c_(elements(m, extents_.ldc)),
        product_(elements(m, n)),
        magnitude_(elements(m, n)) {
    // sgemm's copies of 16 bytes to LDS may begin in the last values of a row of B and take only
    // those; compute-sanitizer's initcheck counts the gap after them as read.
    poison(b_);
    fill_operands();
    before_.poison();  // what is beside its rows is compared too
    fill(before_, m, n, extents_.ldc, hipscope::random_bits(key_ + 2));
    hipscope::launch(reference_kernel<Value>,
                     {.grid = dim3(blocks_of(n, reference_side), blocks_of(m, reference_side)),
                      .block = dim3(reference_threads)},
                     extents_, a_.data(), b_.data(), product_.data(), magnitude_.data());
  }

  [[nodiscard]] const Extents& extents() const { return extents_; }

  /// C = alpha A B + beta C on this problem's matrices.
  [[nodiscard]] Product<Value, Result> product(Factor<Value> alpha, Factor<Value> beta) const {
    return {.extents = extents_,
            .alpha = alpha,
            .a = a_.data(),
            .b = b_.data(),
            .beta = beta,
            .c = c_.data()};
  }

  /// Sets C to what it was before; with beta = 0, where it must not be read, to poison, NaN.
  void reset(Factor<Value> beta) {
    if (beta == 0) {
      c_.poison();
    } else {
      hipscope::check(hipMemcpy(c_.data(), before_.data(), before_.size() * sizeof(Result),
                                hipMemcpyDeviceToDevice));
    }
  }

  /// Overwrites A and B with NaN: with alpha = 0 they must not matter.
  void poison_operands() {
    poison(a_);
    poison(b_);
  }

  /// Gives A and B their values, as they are at first.
  void fill_operands() {
    const auto [m, n, k, lda, ldb, ldc] = extents_;
    fill(a_, m, k, lda, hipscope::random_bits(key_));
    if constexpr (has_b_by_columns<Value>) {
      fill(b_, n, k, ldb, hipscope::random_bits(key_ + 1));
    } else {
      fill(b_, k, n, ldb, hipscope::random_bits(key_ + 1));
    }
  }

  /// Judges what is in C after a product of these factors.
  [[nodiscard]] Verdict judge(Factor<Value> alpha, Factor<Value> beta) const {
    const std::uint64_t all = std::uint64_t{extents_.m} * extents_.ldc;
    const Findings found = compare(alpha, beta, nullptr);
    Verdict verdict = {.wrong = all - found.right - found.clean, .checked = all};
    verdict.error = __builtin_bit_cast(float, found.largest_error);
    if (verdict.wrong > 0) {
      hipscope::DeviceBuffer<WrongElement> elements(all);
      elements.clear();
      compare(alpha, beta, elements.data());
      verdict.elements = hipscope::Comparison(extents_.ldc);
      std::uint64_t place = 0;
      for (const auto& [expected, got] : elements.to_host()) {
        verdict.elements.compare(place++, expected, got);
      }
    }
    return verdict;
  }

  /// Rows of the reference against the host's own.
  [[nodiscard]] Verdict judge_reference() const {
    const std::vector<Value> b = b_.to_host();
    Verdict verdict{.elements = hipscope::Comparison(extents_.n)};
    for (const unsigned row : {0U, extents_.m / 2, extents_.m - 1}) {
      std::vector<long double> sums(extents_.n, 0.0);
      std::vector<long double> magnitudes(extents_.n, 0.0);
      std::vector<Value> a(std::max(extents_.k, 1U));
      hipscope::check(hipMemcpy(a.data(), a_.data() + std::size_t{row} * extents_.lda,
                                extents_.k * sizeof(Value), hipMemcpyDeviceToHost));
      for (unsigned k = 0; k < extents_.k; ++k) {
        const long double left = to_double(a[k]);
        for (unsigned column = 0; column < extents_.n; ++column) {
          const long double term = left * to_double(b[place_in_b<Value>(extents_, k, column)]);
          sums[column] += term;
          magnitudes[column] += std::abs(term);
        }
      }
      compare_row(row, sums, magnitudes, verdict);
    }
    return verdict;
  }

 private:
  Findings compare(Factor<Value> alpha, Factor<Value> beta, WrongElement* elements) const {
    hipscope::DeviceBuffer<Findings> findings(1);
    findings.clear();
    const double tolerance = values_ == Values::integers ? 0.0 : extents_.k + 2.0;
    hipscope::launch(compare_kernel<Value, Result>, row_shape(extents_.m, extents_.ldc), extents_,
                     product_.data(), magnitude_.data(), alpha, beta, before_.data(), c_.data(),
                     tolerance, findings.data(), elements);
    return findings.to_host()[0];
  }

  template <typename Element>
  void fill(const hipscope::DeviceBuffer<Element>& matrix, unsigned rows, unsigned columns,
            unsigned pitch, unsigned key) const {
    if (rows > 0 && columns > 0) {
      hipscope::launch(fill_kernel<Element>, row_shape(rows, columns), matrix.data(), rows, columns,
                       pitch, key, values_);
    }
  }

  // Two sums of the same products may differ by the roundings of both.
  void compare_row(unsigned row, const std::vector<long double>& sums,
                   const std::vector<long double>& magnitudes, Verdict& verdict) const {
    constexpr double host_rounding = std::numeric_limits<long double>::epsilon() / 2;
    constexpr double magnitude_rounding = 0x1p-53;
    std::vector<typename Exact<Value>::Type> computed(extents_.n);
    std::vector<double> computed_magnitudes(extents_.n);
    const std::size_t first = std::size_t{row} * extents_.n;
    hipscope::check(hipMemcpy(computed.data(), product_.data() + first,
                              extents_.n * sizeof(computed[0]), hipMemcpyDeviceToHost));
    hipscope::check(hipMemcpy(computed_magnitudes.data(), magnitude_.data() + first,
                              extents_.n * sizeof(double), hipMemcpyDeviceToHost));
    for (unsigned column = 0; column < extents_.n; ++column) {
      const long double roundings = (extents_.k + 2.0L) * magnitudes[column];
      const long double difference = difference_from(sums[column], computed[column]);
      const bool right =
          std::abs(difference) <= roundings * (host_rounding + Exact<Value>::reference_rounding) &&
          std::abs(computed_magnitudes[column] - magnitudes[column]) <=
              roundings * (host_rounding + magnitude_rounding);
      verdict.wrong += right ? 0 : 1;
      const double got = to_double(computed[column]);
      verdict.elements.compare(first + column, right ? got : static_cast<double>(sums[column]),
                               got);
    }
    verdict.checked += extents_.n;
  }

  static long double difference_from(long double sum, double computed) { return computed - sum; }
  static long double difference_from(long double sum, DoubleDouble computed) {
    return (computed.high - sum) + computed.low;
  }

  static void poison(hipscope::DeviceBuffer<Value>& matrix) {
    constexpr int nan_of_fnuz = 0x80;  // for which poison_byte is -240
    constexpr bool is_fnuz = std::is_same_v<Value, E4M3Fnuz>;
    hipscope::check(hipMemset(matrix.data(), is_fnuz ? nan_of_fnuz : hipscope::poison_byte,
                              matrix.size() * sizeof(Value)));
  }

  Extents extents_;
  Values values_;
  unsigned key_;  // of all values
  hipscope::DeviceBuffer<Value> a_;
  hipscope::DeviceBuffer<Value> b_;
  hipscope::DeviceBuffer<Result> before_;
  hipscope::DeviceBuffer<Result> c_;
  hipscope::DeviceBuffer<typename Exact<Value>::Type> product_;
  hipscope::DeviceBuffer<double> magnitude_;
};

/// A product as a stage takes it: as it is, or, where the stage only takes whole tiles and aligned
/// rows, on copies that are padded with zeros. They are made before anything is timed.
template <typename Value, typename Result = Value>
class Prepared {
 public:
  Prepared(const Stage<Value, Result>& stage, const Product<Value, Result>& product,
           unsigned choice = 0)
      : stage_(&stage), original_(product), product_(product) {
    product_.choice = choice;
    // As BLAS prescribes, A and B do not matter then, whatever they hold.
    if (product_.alpha == 0) {
      original_.extents.k = product_.extents.k = 0;
    }
    if (!stage.any_size && !is_whole()) {
      pad();
      copy_matrices();
    }
    if (stage.workspace_bytes != nullptr) {
      workspace_.emplace(stage.workspace_bytes(product_.extents));
      workspace_->clear();
      product_.workspace = workspace_->data();
    }
  }

  /// Takes what the matrices hold by now; the workspace stays as the stage has left it.
  void renew() const {
    if (c_) {
      copy_matrices();
    }
  }

  /// Enqueues the stage; C is where it belongs after `finish`.
  void enqueue() const { stage_->enqueue(*stage_, product_); }

  void finish() const {
    if (c_) {
      copy(original_.c, original_.extents.m, original_.extents.n, original_.extents.ldc, product_.c,
           product_.extents.m, product_.extents.n, product_.extents.ldc);
    }
  }

 private:
  static constexpr unsigned sixteen_bytes = 16 / sizeof(Value);

  static unsigned rounded_up(unsigned value, unsigned multiple) {
    return std::max(1U, (value + multiple - 1) / multiple) * multiple;
  }

  [[nodiscard]] unsigned k_multiple() const {
    return std::max(stage_->tiles.depth, stage_->k_multiple);
  }

  [[nodiscard]] bool is_whole() const {
    const Extents& e = original_.extents;
    const Tiles& tiles = stage_->tiles;
    const bool multiples = e.m % tiles.block_rows == 0 && e.n % tiles.block_columns == 0 &&
                           e.k % k_multiple() == 0 && e.k > 0;
    return multiples && e.lda % sixteen_bytes == 0 && e.ldb % sixteen_bytes == 0 &&
           e.ldc % sixteen_bytes == 0;
  }

  // The copies' rows are longer than the padded matrices too, so that kernels must mind that.
  void pad() {
    constexpr unsigned gap = sixteen_bytes;
    const Extents& from = original_.extents;
    Extents& to = product_.extents;
    to.m = rounded_up(from.m, stage_->tiles.block_rows);
    to.n = rounded_up(from.n, std::max(sixteen_bytes, stage_->tiles.block_columns));
    to.k = rounded_up(from.k, std::max(sixteen_bytes, k_multiple()));
    to.lda = to.k + gap;
    to.ldb = (has_b_by_columns<Value> ? to.k : to.n) + gap;
    to.ldc = to.n + gap;
    a_.emplace(elements(to.m, to.lda));
    b_.emplace(elements(has_b_by_columns<Value> ? to.n : to.k, to.ldb));
    c_.emplace(elements(to.m, to.ldc));
    product_.a = a_->data();
    product_.b = b_->data();
    product_.c = c_->data();
  }

  void copy_matrices() const {
    const Extents& from = original_.extents;
    const Extents& to = product_.extents;
    copy(a_->data(), to.m, to.k, to.lda, original_.a, from.m, from.k, from.lda);
    if constexpr (has_b_by_columns<Value>) {
      copy(b_->data(), to.n, to.k, to.ldb, original_.b, from.n, from.k, from.ldb);
    } else {
      copy(b_->data(), to.k, to.n, to.ldb, original_.b, from.k, from.n, from.ldb);
    }
    copy(c_->data(), to.m, to.n, to.ldc, original_.c, from.m, from.n, from.ldc);
  }

  template <typename Element>
  static void copy(Element* to, unsigned to_rows, unsigned to_columns, unsigned to_pitch,
                   const Element* from, unsigned from_rows, unsigned from_columns,
                   unsigned from_pitch) {
    hipscope::launch(copy_kernel<Element>, row_shape(to_rows, to_columns), to, to_rows, to_columns,
                     to_pitch, from, from_rows, from_columns, from_pitch);
  }

  const Stage<Value, Result>* stage_;
  Product<Value, Result> original_;
  Product<Value, Result> product_;
  // The padded copies, where there are any.
  std::optional<hipscope::DeviceBuffer<Value>> a_;
  std::optional<hipscope::DeviceBuffer<Value>> b_;
  std::optional<hipscope::DeviceBuffer<Result>> c_;
  std::optional<hipscope::DeviceBuffer<unsigned char>> workspace_;
};

}  // namespace gemm
