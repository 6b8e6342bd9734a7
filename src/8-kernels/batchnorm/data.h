// Data for batch normalization: tensors whose values host and device compute from their index.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>

namespace hipscope::batch_norm {

/// In NCHW order: image n has its `channels` planes of `plane` = height * width values.
struct Tensor {
  unsigned images;
  unsigned channels;
  unsigned plane;
};

__host__ __device__ inline unsigned activations_of(const Tensor& tensor) {
  return tensor.channels * tensor.plane;  // of one image
}

inline std::uint64_t elements_of(const Tensor& tensor) {
  return std::uint64_t{tensor.images} * activations_of(tensor);
}

/// What has a mean of its own: one activation (c, h, w) over all images, or one channel over images
/// and its plane. Below, such a set of values is a population.
enum class Scope { per_activation, spatial };

__host__ __device__ inline unsigned populations_of(const Tensor& tensor, Scope scope) {
  return scope == Scope::spatial ? tensor.channels : activations_of(tensor);
}

__host__ __device__ inline unsigned values_of(const Tensor& tensor, Scope scope) {
  return scope == Scope::spatial ? tensor.images * tensor.plane : tensor.images;
}

// --- Data that host and device can tell without the array -------------------------------------

enum class Values {
  random,    // about a mean, with a deviation of about 1
  integers,  // small ones, whose sums and squares are exact in FP32
  narrow,  // the same scaled down, so that variances are 0 or near epsilon: without an epsilon, or
           // with another one, the result is another
  constant,  // one about 1000 for all of a population: of a sum of squares, less the square of the
             // mean, rounding may leave less than nothing
};

struct Data {
  Tensor tensor;
  Scope scope;
  unsigned key;
  float mean = 0;  // about which the populations' means are; of random values
  Values values = Values::random;
};

/// Element (n, a) of a tensor: of image n the a-th.
struct Element {
  unsigned n;
  unsigned a;
};

/// Element `j` of a population, and the population of an element.
__host__ __device__ inline Element element_of(const Tensor& tensor, Scope scope,
                                              unsigned population, unsigned j) {
  return scope == Scope::per_activation
             ? Element{.n = j, .a = population}
             : Element{.n = j / tensor.plane, .a = population * tensor.plane + j % tensor.plane};
}

__host__ __device__ inline unsigned population_of(const Data& data, unsigned a) {
  return data.scope == Scope::spatial ? a / data.tensor.plane : a;
}

/// A random number in [0, 1) with 24 bits.
__host__ __device__ inline float random_fraction(unsigned key, unsigned i) {
  return static_cast<float>(random_bits(i + key) >> 8) * 0x1p-24F;
}

/// Keys of what is random beside the values.
constexpr unsigned channel_key = 0x9e3779b9U;
constexpr unsigned activation_key = 0x3c6ef372U;
constexpr unsigned scale_key = 0xdaa66d2bU;
constexpr unsigned gamma_key = 0x78dde6e4U;
constexpr unsigned beta_key = 0x1715609dU;

/// An element of integers and of narrow values: m + d and m - d in turns, so that of an even number
/// of values mean m and variance d * d are exact, and so is every sum on the way to them. Narrow
/// ones are multiples of 2^-10, with d from 0 to 3: variances of 0, 0.95e-6, 3.8e-6 and 8.6e-6.
__host__ __device__ inline float exact_value(const Data& data, const Element& at) {
  const unsigned plane = data.tensor.plane;
  const unsigned random = random_bits(at.a / plane + data.key);
  const bool is_narrow = data.values == Values::narrow;
  const int middle = static_cast<int>(random % 9) - 4;
  const auto difference =
      static_cast<int>(is_narrow ? population_of(data, at.a) % 4 : random / 16 % 8 + 1);
  const bool is_below = (at.n + at.a % plane) % 2 != 0;
  return static_cast<float>(is_below ? middle - difference : middle + difference) *
         (is_narrow ? 0x1p-10F : 1.0F);
}

/// Every channel and every activation has a mean and a deviation of its own, so that statistics of
/// another one would show.
__host__ __device__ inline float input_value(const Data& data, const Element& at) {
  if (data.values == Values::integers || data.values == Values::narrow) {
    return exact_value(data, at);
  }
  if (data.values == Values::constant) {
    return 1000 + random_fraction(data.key ^ activation_key, population_of(data, at.a));
  }
  constexpr float root_of_12 = 3.46410162F;  // the deviation of random_fraction is one over this
  const float middle = data.mean +
                       random_fraction(data.key ^ channel_key, at.a / data.tensor.plane) +
                       random_fraction(data.key ^ activation_key, at.a);
  const float scale = 0.5F + random_fraction(data.key ^ scale_key, at.a);
  const unsigned element = random_bits(at.n + data.key) + at.a;
  return fmaf(scale, (random_fraction(data.key, element) - 0.5F) * root_of_12, middle);
}

/// Where gamma and beta are one for all, as fsword73's kernels take them: not fsword73's 1 and 1,
/// which many a mistake leaves as they are.
constexpr float gamma_for_all = -1.25F;
constexpr float beta_for_all = 0.75F;

/// Between 0.5 and 1.5, half of them negative.
__host__ __device__ inline float gamma_value(unsigned key, unsigned population) {
  const float size = 0.5F + random_fraction(key ^ gamma_key, population);
  return random_bits(population + key) % 2 == 0 ? size : -size;
}

/// Between -1 and 1.
__host__ __device__ inline float beta_value(unsigned key, unsigned population) {
  return 2 * random_fraction(key ^ beta_key, population) - 1;
}

constexpr unsigned checking_block = 256;

/// Calls visit(i, at) for this thread's elements of a grid-stride walk over the tensor.
template <typename Visit>
__device__ void for_each_of_mine(const Tensor& tensor, const Visit& visit) {
  const unsigned activations = activations_of(tensor);
  const std::uint64_t elements = std::uint64_t{tensor.images} * activations;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < elements;
       i += threads) {
    const auto n = static_cast<unsigned>(i / activations);
    visit(i, Element{.n = n, .a = static_cast<unsigned>(i - std::uint64_t{n} * activations)});
  }
}

static __global__ void __launch_bounds__(checking_block) fill_kernel(float* input, Data data) {
  for_each_of_mine(data.tensor,
                   [&](std::uint64_t i, const Element& at) { input[i] = input_value(data, at); });
}

static __global__ void __launch_bounds__(checking_block)
    fill_parameters_kernel(float* gamma, float* beta, unsigned key, unsigned populations) {
  const unsigned population = blockIdx.x * checking_block + threadIdx.x;
  if (population < populations) {
    gamma[population] = gamma_value(key, population);
    beta[population] = beta_value(key, population);
  }
}

}  // namespace hipscope::batch_norm
