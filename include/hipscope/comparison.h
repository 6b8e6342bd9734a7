// Compares a kernel's results with the expected ones: which elements are wrong, and by how much.
// Plain C++.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace hipscope {

/// Compares computed elements with expected ones, one after the other. Keeps the first wrong ones
/// and the largest error, for the line that a failed check prints.
class Comparison {
 public:
  /// For a matrix with `columns` columns: a wrong element is then reported as [row, column].
  explicit Comparison(std::uint64_t columns = 0) : columns_(columns) {}

  /// Element `index` is right when it differs from `expected` by at most `tolerance`; a NaN is
  /// wrong. Returns whether it is right.
  template <typename Value>
  bool compare(std::uint64_t index, Value expected, Value got, double tolerance = 0) {
    ++checked_;
    if (expected == got) {
      return true;
    }
    double error = 0;
    if constexpr (std::is_integral_v<Value>) {
      error = static_cast<double>(expected > got ? expected - got : got - expected);
    } else {
      using Wide = std::conditional_t<std::is_same_v<Value, long double>, Value, double>;
      error = static_cast<double>(std::abs(static_cast<Wide>(expected) - static_cast<Wide>(got)));
    }
    if (!(error <= largest_error_)) {
      largest_error_ = error;
    }
    if (error <= tolerance) {
      return true;
    }
    ++wrong_;
    if (first_.size() < most_told) {
      first_.push_back({index, text(expected), text(got)});
    }
    return false;
  }

  /// Compares each element of `got`, a container on the host, with `expected(i)`. After others,
  /// their number is added to its index.
  template <typename Got, typename Expected>
  void compare_all(const Got& got, const Expected& expected, double tolerance = 0) {
    std::uint64_t i = 0;
    for (const auto& value : got) {
      compare(checked_, static_cast<std::decay_t<decltype(value)>>(expected(i++)), value,
              tolerance);
    }
  }

  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }
  [[nodiscard]] std::uint64_t checked() const { return checked_; }

  /// "largest error 2; first: [3] expected 7, got 9; [4] ...", empty when nothing is wrong.
  [[nodiscard]] std::string details() const;

 private:
  struct Element {
    std::uint64_t index;
    std::string expected;
    std::string got;
  };

  static constexpr std::size_t most_told = 5;

  template <typename Value>
  static std::string text(Value value) {
    if constexpr (std::is_integral_v<Value>) {
      return std::to_string(value);
    } else {
      return text_of(static_cast<double>(value));
    }
  }
  static std::string text_of(double value);

  std::uint64_t columns_;
  std::uint64_t checked_ = 0;
  std::uint64_t wrong_ = 0;
  double largest_error_ = 0;
  std::vector<Element> first_;
};

}  // namespace hipscope
