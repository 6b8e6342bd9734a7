// A sum of floats by atomics: each addition rounds, and the order in which lanes arrive is the
// hardware's. How many different totals come out, and how far off are they?
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace atomics {

inline constexpr unsigned order_threads = 256;
inline constexpr double fixed_point_unit = 0x1p-32;

/// What is summed, one value per lane, and where to.
struct Floats {
  const float* first;
  unsigned count;
  float* total;
  unsigned long long* fixed_point;
};

__device__ inline float float_at(const Floats& floats) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  return i < floats.count ? floats.first[i] : 0.0F;
}

__device__ inline float wave_sum_of(float sum) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor(sum, distance);
  }
  return sum;
}

/// Each lane adds its value to the total.
__global__ void __launch_bounds__(order_threads) lanes_in_any_order_kernel(Floats floats) {
  atomicAdd(floats.total, float_at(floats));
}

/// Each wave adds up its lanes in an order of its own that is always the same, then adds that.
__global__ void __launch_bounds__(order_threads) waves_in_any_order_kernel(Floats floats) {
  const float sum = wave_sum_of(float_at(floats));
  if (threadIdx.x % warpSize == 0) {
    atomicAdd(floats.total, sum);
  }
}

/// Each lane adds its value as a whole number of units: such sums are the same in any order.
__global__ void __launch_bounds__(order_threads) fixed_point_kernel(Floats floats) {
  const auto units =
      static_cast<long long>(float_at(floats) * static_cast<float>(1 / fixed_point_unit));
  atomicAdd(floats.fixed_point, static_cast<unsigned long long>(units));
}

/// A way to sum, how many additions a value goes through at most, and the rows of the table.
struct Summing {
  std::string name;
  void (*kernel)(Floats);
  double depth;
  bool is_exact;
};

class OrderTable {
 public:
  OrderTable(hipscope::Sweep& sweep, std::uint64_t count)
      : sweep_(sweep),
        threads_(sweep.is_hardware() ? order_threads
                                     : static_cast<unsigned>(sweep.device().wave_size)),
        values_(values_of(sweep, count)),
        device_values_(std::span<const float>(values_)),
        total_(1),
        fixed_point_(1) {
    for (const float value : values_) {
      sum_ += value;
      magnitude_ += std::abs(static_cast<double>(value));
      units_ += static_cast<long long>(static_cast<double>(value) / fixed_point_unit);
    }
  }

  void measure() {
    const auto count = static_cast<double>(values_.size());
    const auto wave = static_cast<double>(sweep_.device().wave_size);
    measure_row({"each lane, in any order", lanes_in_any_order_kernel, count, false}, 1);
    measure_row({"each wave, in any order", waves_in_any_order_kernel,
                 std::log2(wave) + std::ceil(count / wave), false},
                2);
    measure_row({"fixed point, in any order", fixed_point_kernel, 1, true}, 3);
  }

 private:
  static constexpr unsigned launches = 16;

  // Whole numbers of a small unit with 24 bits, of both signs.
  static std::vector<float> values_of(const hipscope::Sweep& sweep, std::uint64_t count) {
    const unsigned key = hipscope::key_of(sweep.seed());
    std::vector<float> values(count);
    for (unsigned i = 0; i < count; ++i) {
      values[i] = std::ldexp(static_cast<float>(hipscope::random_bits(i + key) >> 8), -24) - 0.25F;
    }
    return values;
  }

  void run(const Summing& summing) {
    const auto count = static_cast<unsigned>(values_.size());
    total_.clear();
    fixed_point_.clear();
    hipscope::launch(summing.kernel,
                     {.grid = dim3((count + threads_ - 1) / threads_), .block = dim3(threads_)},
                     Floats{.first = device_values_.data(),
                            .count = count,
                            .total = total_.data(),
                            .fixed_point = fixed_point_.data()});
  }

  // |error| <= depth u / (1 - depth u) of the sum of magnitudes, in whatever order (Higham,
  // Accuracy and Stability of Numerical Algorithms, 4.2).
  [[nodiscard]] double bound(const Summing& summing) const {
    constexpr double unit_roundoff = 0x1p-24;
    if (summing.is_exact) {
      return 0;
    }
    const double relative = summing.depth * unit_roundoff;
    return magnitude_ * relative / (1 - relative);
  }

  void measure_row(const Summing& summing, double x) {
    auto point = sweep_.point(summing.name, x);
    std::set<double> totals;
    double error = 0;
    hipscope::Comparison comparison;
    for (unsigned i = 0; i < launches; ++i) {
      run(summing);
      double total = total_.to_host()[0];
      double expected = sum_;
      if (summing.is_exact) {
        total = static_cast<double>(static_cast<long long>(fixed_point_.to_host()[0]));
        expected = static_cast<double>(units_);
      }
      totals.insert(total);
      error = std::max(error, std::abs(total - expected));
      comparison.compare(i, expected, total, bound(summing));
    }
    point.verify(summing.is_exact ? "every total is exact" : "every total within the bound",
                 comparison);
    const double seconds = point.measure([&] { run(summing); }).seconds().median;
    point.value("different totals", static_cast<double>(totals.size()),
                "of " + std::to_string(launches));
    point.value("largest error", error / magnitude_, "of the magnitudes");
    point.value("bound", bound(summing) / magnitude_, "of the magnitudes");
    point.value("rate", 1e-9 * static_cast<double>(values_.size()) / seconds, "G/s");
  }

  hipscope::Sweep& sweep_;
  unsigned threads_;
  std::vector<float> values_;
  hipscope::DeviceBuffer<float> device_values_;
  hipscope::DeviceBuffer<float> total_;
  hipscope::DeviceBuffer<unsigned long long> fixed_point_;
  double sum_ = 0;
  double magnitude_ = 0;
  long long units_ = 0;
};

inline void measure_order(hipscope::Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "sum"});
  sweep.headline("different totals");
  sweep.note("one word in L2; values of both signs; errors against the sum in FP64");
  OrderTable(sweep, count).measure();
}

}  // namespace atomics
