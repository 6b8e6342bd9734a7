// The check of a batchnorm kernel: every element against an FP64 reference, with a bound that
// follows from the arithmetic.
#pragma once

#include <hipscope/hipscope.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "accesses.h"
#include "data.h"

namespace hipscope::batch_norm {

// --- The reference ----------------------------------------------------------------------------

/// Of one population.
struct Exact {
  double mean;
  double variance;
  double first;  // its first value
};

/// Value `j` of a population.
__host__ __device__ inline double value_at(const Data& data, unsigned population, unsigned j) {
  return input_value(data, element_of(data.tensor, data.scope, population, j));
}

/// The sum over the `threads` threads that share a population, a power of two.
__device__ inline double sum_of_threads(double value, double* sums, unsigned threads) {
  for (unsigned distance = threads / 2; distance > 0; distance /= 2) {
    __syncthreads();
    sums[threadIdx.x] = value;
    __syncthreads();
    value += sums[threadIdx.x ^ distance];
  }
  return value;
}

/// `threads` threads take a population: one, or a whole block.
static __global__ void __launch_bounds__(checking_block)
    exact_kernel(Exact* exact, Data data, unsigned threads) {
  __shared__ double sums[checking_block];
  const unsigned values = values_of(data.tensor, data.scope);
  const unsigned population = (blockIdx.x * checking_block + threadIdx.x) / threads;
  const unsigned lane = threadIdx.x % threads;
  const bool is_one = population < populations_of(data.tensor, data.scope);
  const auto mean_of = [&](const auto& term) {
    double sum = 0;
    for (unsigned j = lane; is_one && j < values; j += threads) {
      sum += term(value_at(data, population, j));
    }
    return sum_of_threads(sum, sums, threads) / values;
  };
  const double mean = mean_of([](double x) { return x; });
  const double variance = mean_of([&](double x) { return (x - mean) * (x - mean); });
  if (is_one && lane == 0) {
    exact[population] = {
        .mean = mean, .variance = variance, .first = value_at(data, population, 0)};
  }
}

/// What is known of a stage's arithmetic.
struct Arithmetic {
  Moments moments;
  unsigned additions = 0;      // the most that a value goes through on its way into a sum
  bool is_exact = false;       // nothing is rounded in the sums of these data
  bool has_fast_root = false;  // rsqrtf, which may be off by two units in the last place
  bool has_one_gamma = false;  // and one beta, for all
};

__host__ __device__ inline float gamma_of(const Arithmetic& arithmetic, unsigned key,
                                          unsigned population) {
  return arithmetic.has_one_gamma ? gamma_for_all : gamma_value(key, population);
}

__host__ __device__ inline float beta_of(const Arithmetic& arithmetic, unsigned key,
                                         unsigned population) {
  return arithmetic.has_one_gamma ? beta_for_all : beta_value(key, population);
}

struct Expectation {
  double value;
  double bound;  // of the difference from it
};

/// What must become of `x`, and how far FP32 may be from it: nothing in a copy. With u = 2^-24 and
/// L additions a sum of n values v is off by no more than L u n mean|v| (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 4.2), and mean|v| <= rms(v), the root of mean(v)^2 +
/// variance. So
///   mean:      (L + 2) u rms, with rms that of what is summed, and the rounding of the result
///   variance, sum of squares: (L + 2) u rms^2 and 2 |mean| times the mean's error
///   variance, deviations: (L + 8) u variance, and as the deviations are taken from means that are
///     off themselves, 4 (error of the mean) deviation + 2 (error of the mean)^2
/// and then the root's range follows from the variance's, which may reach 0.
__host__ __device__ inline Expectation expect(const Exact& exact, const Arithmetic& arithmetic,
                                              double x, double gamma, double beta) {
  if (arithmetic.moments == Moments::none) {
    return {.value = x, .bound = 0};
  }
  constexpr double u = 0x1p-24;
  const double sum_error = arithmetic.is_exact ? 0 : (arithmetic.additions + 2) * u;
  const bool is_shifted = arithmetic.moments == Moments::shifted;
  const double summed_mean = is_shifted ? exact.mean - exact.first : exact.mean;
  const double rms_squared = summed_mean * summed_mean + exact.variance;
  double mean_error = sum_error * sqrt(rms_squared);
  double variance_error = 0;
  if (arithmetic.moments == Moments::squares || is_shifted) {
    variance_error = (sum_error + 3 * u) * rms_squared + 2 * fabs(summed_mean) * mean_error +
                     mean_error * mean_error;
  } else {
    variance_error = (sum_error + 6 * u) * exact.variance + 4 * mean_error * sqrt(exact.variance) +
                     2 * mean_error * mean_error;
  }
  // A mean that is exact and an integer is not rounded.
  mean_error += arithmetic.is_exact ? 0 : u * fabs(exact.mean);
  const double factor = 1 / sqrt(exact.variance + epsilon);
  const double highest = 1 / sqrt(fmax(exact.variance - variance_error, 0.0) + epsilon);
  const double lowest = 1 / sqrt(exact.variance + variance_error + epsilon);
  const double factor_error = fmax(highest - factor, factor - lowest);
  const double difference = x - exact.mean;
  const double scaled = gamma * difference * factor;
  // The last roundings: sum with epsilon, root, quotient, product, difference; then of the result.
  const double roundings = arithmetic.has_fast_root ? 8 : 5;
  const double largest = fabs(gamma * difference) * highest;
  const double bound = fabs(gamma) * (fabs(difference) * factor_error + highest * mean_error) +
                       roundings * u * largest + u * (largest + fabs(beta));
  return {.value = scaled + beta, .bound = bound};
}

/// What the device found of one output.
struct Totals {
  unsigned long long right;
  unsigned largest_error;  // |error / gamma|, the bits of a float: these have its order
  unsigned largest_share;  // of the bound
};

__device__ inline unsigned ordered_bits(double value) {
  return __float_as_uint(static_cast<float>(value));
}

/// Counts right elements, not wrong ones: where it does not run, nothing is right.
static __global__ void __launch_bounds__(checking_block)
    check_kernel(const float* output, const Exact* exact, Data data, Arithmetic arithmetic,
                 Totals* totals) {
  Totals mine{};
  for_each_of_mine(data.tensor, [&](std::uint64_t i, const Element& at) {
    const unsigned population = population_of(data, at.a);
    const float gamma = gamma_of(arithmetic, data.key, population);
    const Expectation expected = expect(exact[population], arithmetic, input_value(data, at), gamma,
                                        beta_of(arithmetic, data.key, population));
    const double error = fabs(output[i] - expected.value);
    mine.right += error <= expected.bound ? 1 : 0;
    mine.largest_error = max(mine.largest_error, ordered_bits(error / fabs(gamma)));
    mine.largest_share = max(mine.largest_share, ordered_bits(error / expected.bound));
  });
  atomicAdd(&totals->right, mine.right);
  atomicMax(&totals->largest_error, mine.largest_error);
  atomicMax(&totals->largest_share, mine.largest_share);
}

// --- Arrays, filled and checked ---------------------------------------------------------------

/// Of one output, the largest of all elements.
struct Errors {
  double error;           // |difference / gamma|: in standard deviations
  double share_of_bound;  // of what the arithmetic allows
};

constexpr unsigned blocks_for(std::uint64_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

/// Everything that a stage works on: tensors that are filled as wanted, and their exact statistics.
class Arrays {
 public:
  Arrays(const Sweep& sweep, const Tensor& tensor_of_all, Scope scope_of_means)
      : tensor(tensor_of_all),
        scope(scope_of_means),
        elements(elements_of(tensor)),
        populations(populations_of(tensor, scope)),
        input((elements + 3) / 4 * 4),  // the copy moves whole values of 16 bytes
        output(input.size()),
        gamma(populations),
        beta(populations),
        data_{.tensor = tensor, .scope = scope, .key = key_of(sweep.seed())},
        // On hardware many times what the CUs have room for.
        blocks_(sweep.is_hardware() ? 32 * static_cast<unsigned>(sweep.device().compute_units) : 1),
        exact_(populations),
        totals_(1) {
    launch(fill_parameters_kernel,
           {.grid = dim3(blocks_for(populations, checking_block)), .block = dim3(checking_block)},
           gamma.data(), beta.data(), data_.key, populations);
    fill(Values::random);
  }

  /// What the constructor allocates.
  static std::uint64_t bytes_for(const Tensor& tensor, Scope scope) {
    return 2 * (elements_of(tensor) + 3) * sizeof(float) +
           populations_of(tensor, scope) * (sizeof(Exact) + 2 * sizeof(float)) + sizeof(Totals);
  }

  void fill(Values values, float mean = 0) {
    data_.values = values;
    data_.mean = mean;
    launch(fill_kernel, checking_shape(), input.data(), data_);
    const unsigned threads = scope == Scope::spatial ? checking_block : 1;
    launch(exact_kernel,
           {.grid = dim3(blocks_for(std::uint64_t{populations} * threads, checking_block)),
            .block = dim3(checking_block)},
           exact_.data(), data_, threads);
    fill_samples();
  }

  /// Lets `run` normalize the input into the poisoned output and looks at every element; at some
  /// again on the host, for the device's reference might be as wrong as its results.
  template <typename Run>
  Errors verify(Point& point, const std::string& what, const Arithmetic& arithmetic,
                const Run& run) {
    output.poison();
    run();
    totals_.clear();
    launch(check_kernel, checking_shape(), output.data(), exact_.data(), data_, arithmetic,
           totals_.data());
    const Totals totals = totals_.to_host()[0];
    point.verify(what + ", every element", elements - totals.right, elements,
                 [&](Comparison& comparison) { compare_all(comparison, arithmetic); });
    Comparison comparison;
    for (const Sample& sample : samples_) {
      const Expectation expected = expect(sample.exact, arithmetic, sample.x,
                                          gamma_of(arithmetic, data_.key, sample.population),
                                          beta_of(arithmetic, data_.key, sample.population));
      float got = 0;
      check(hipMemcpy(&got, output.data() + sample.index, sizeof(got), hipMemcpyDeviceToHost));
      comparison.compare(sample.index, expected.value, double{got}, expected.bound);
    }
    point.verify(what + ", some elements by the host", comparison);
    return {.error = std::bit_cast<float>(totals.largest_error),
            .share_of_bound = std::bit_cast<float>(totals.largest_share)};
  }

  Tensor tensor;
  Scope scope;
  std::uint64_t elements;
  unsigned populations;
  DeviceBuffer<float> input;
  DeviceBuffer<float> output;
  DeviceBuffer<float> gamma;
  DeviceBuffer<float> beta;

 private:
  // An element whose population the host has gone through.
  struct Sample {
    std::uint64_t index;
    unsigned population;
    Exact exact;
    double x;
  };

  [[nodiscard]] LaunchShape checking_shape() const {
    return {.grid = dim3(blocks_), .block = dim3(checking_block)};
  }

  // Which elements are wrong, where the device has found that some are.
  void compare_all(Comparison& comparison, const Arithmetic& arithmetic) const {
    const auto got = output.to_host();
    const auto exact = exact_.to_host();
    for (std::uint64_t i = 0; i < elements; ++i) {
      const Element at = {.n = static_cast<unsigned>(i / activations_of(tensor)),
                          .a = static_cast<unsigned>(i % activations_of(tensor))};
      const unsigned population = population_of(data_, at.a);
      const Expectation expected = expect(exact[population], arithmetic, input_value(data_, at),
                                          gamma_of(arithmetic, data_.key, population),
                                          beta_of(arithmetic, data_.key, population));
      comparison.compare(i, expected.value, double{got[i]}, expected.bound);
    }
  }

  void fill_samples() {
    constexpr unsigned looks = 8;  // at as many populations, and at as many values of each
    const auto spread = [](unsigned look, unsigned count) {
      return static_cast<unsigned>(std::uint64_t{look} * (count - 1) / (looks - 1));
    };
    const unsigned values = values_of(tensor, scope);
    samples_.clear();
    for (unsigned look = 0; look < looks; ++look) {
      const unsigned population = spread(look, populations);
      const auto value = [&](unsigned j) { return value_at(data_, population, j); };
      Exact exact{.mean = 0, .variance = 0, .first = value(0)};
      for (unsigned j = 0; j < values; ++j) {
        exact.mean += value(j) / values;
      }
      for (unsigned j = 0; j < values; ++j) {
        exact.variance += (value(j) - exact.mean) * (value(j) - exact.mean) / values;
      }
      for (unsigned i = 0; i < looks; ++i) {
        const unsigned j = spread(i, values);
        const Element at = element_of(tensor, scope, population, j);
        samples_.push_back({.index = std::uint64_t{at.n} * activations_of(tensor) + at.a,
                            .population = population,
                            .exact = exact,
                            .x = value(j)});
      }
    }
  }

  Data data_;
  unsigned blocks_;
  DeviceBuffer<Exact> exact_;
  DeviceBuffer<Totals> totals_;
  std::vector<Sample> samples_;
};

}  // namespace hipscope::batch_norm
