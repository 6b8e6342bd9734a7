// A row of math_functions.hip with its arguments and results: how its kernel is launched.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "function_arguments.h"
#include "function_errors.h"
#include "function_rows.h"

namespace math {

template <typename T>
Arguments<T> arguments_of(const Row<T>& row, std::size_t count, std::uint64_t seed) {
  return draw_arguments<T>(row.x, row.y, count, seed);
}

struct Grid {
  unsigned blocks = 1;
  unsigned threads = 1;  ///< per block
  [[nodiscard]] std::size_t total() const { return std::size_t{blocks} * threads; }
};

/// One row's kernel with its buffers; thread i takes argument i % arguments.
template <typename T>
class Chain {
 public:
  Chain(const Row<T>& row, const Arguments<T>& arguments, const Grid& grid)
      : row_(row),
        arguments_(arguments),
        grid_(grid),
        x_(std::span<const T>(arguments.x)),
        y_(std::span<const T>(arguments.y)),
        sums_(grid.total()),
        cycles_(1) {}

  void run(std::uint64_t steps) const {
    constexpr T zero = 0;
    hipscope::launch(row_.kernel, {.grid = dim3(grid_.blocks), .block = dim3(grid_.threads)},
                     x_.data(), y_.data(), static_cast<unsigned>(arguments_.x.size()), sums_.data(),
                     cycles_.data(), static_cast<unsigned>(steps), zero);
  }

  /// The sums of a run that stored all of them.
  std::vector<T> sums_of(std::uint64_t steps) {
    sums_.poison();
    run(steps);
    return sums_.to_host();
  }

  /// The function's value at each argument: the sum of one step.
  std::vector<T> results() {
    std::vector<T> results = sums_of(1);
    results.resize(arguments_.x.size());
    return results;
  }

  /// The cycles that the first wave counts for that many steps.
  double cycles(std::uint64_t steps) {
    constexpr int launches = 9;
    std::array<double, launches> counts{};
    for (double& count : counts) {
      run(steps);
      count = static_cast<double>(cycles_.to_host()[0]);
    }
    return hipscope::summarize(counts).median;
  }

  [[nodiscard]] const Row<T>& row() const { return row_; }
  [[nodiscard]] const Arguments<T>& arguments() const { return arguments_; }

 private:
  const Row<T>& row_;
  const Arguments<T>& arguments_;
  Grid grid_;
  hipscope::DeviceBuffer<T> x_;
  hipscope::DeviceBuffer<T> y_;
  hipscope::DeviceBuffer<T> sums_;
  hipscope::DeviceBuffer<long long> cycles_;
};

template <typename T>
Errors errors_of(const Row<T>& row, const Arguments<T>& arguments, const std::vector<T>& results) {
  return errors_of(row.exact, row.limit, arguments, results);
}

}  // namespace math
