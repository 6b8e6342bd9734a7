// The arguments of math_functions.hip: drawn from a range, edges and all, or moved to where a
// comparison's result changes. Plain C++.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace math {

/// Magnitudes of arguments, with either sign where `both_signs`.
struct Range {
  double low = 1;
  double high = 1;
  bool both_signs = false;
};

/// The edges of the range, which a draw would hardly hit; half of the other arguments are even over
/// the range, half over its orders of magnitude.
template <typename T>
std::vector<T> draw(const Range& range, std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform;
  const double lowest = std::log2(range.low);
  const double highest = std::log2(range.high);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double u = uniform(random);
    const double magnitude = i % 2 == 0 ? range.low + (range.high - range.low) * u
                                        : std::exp2(lowest + (highest - lowest) * u);
    values[i] = static_cast<T>(range.both_signs && random() % 2 == 0 ? -magnitude : magnitude);
  }
  const std::array edges = {range.low, range.high, -range.low, -range.high};
  const std::size_t edge_count = std::min<std::size_t>(count, range.both_signs ? 4 : 2);
  for (std::size_t i = 0; i < edge_count; ++i) {
    values[i] = static_cast<T>(edges[i]);
  }
  return values;
}

template <typename T>
struct Arguments {
  std::vector<T> x;
  std::vector<T> y;
};

template <typename T>
Arguments<T> draw_arguments(const Range& x_range, const Range& y_range, std::size_t count,
                            std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x = draw<T>(x_range, count, random);
  return {.x = std::move(x), .y = draw<T>(y_range, count, random)};
}

/// Every third x is moved to a comparison's boundary, or up to two last places beside it.
template <typename T>
void move_to_boundary(Arguments<T>& arguments, T (*boundary)(T)) {
  for (std::size_t i = 0; i < arguments.x.size(); i += 3) {
    const auto places = static_cast<T>(static_cast<int>(i / 3 % 5) - 2);
    const T nudge = 1 + places * std::numeric_limits<T>::epsilon();
    arguments.x[i] = boundary(arguments.y[i]) * nudge;
  }
}

}  // namespace math
