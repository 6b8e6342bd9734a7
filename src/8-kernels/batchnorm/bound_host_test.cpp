// How far batchnorm's check lets a result be off: not as far as another epsilon takes it.
#include <cmath>

#include "reference.h"
#include "test_support.h"

namespace {

using hipscope::batch_norm::Arithmetic;
using hipscope::batch_norm::epsilon;
using hipscope::batch_norm::Exact;
using hipscope::batch_norm::expect;
using hipscope::batch_norm::Expectation;
using hipscope::batch_norm::Moments;

constexpr double step = 0x1p-10;  // of the narrow values
constexpr double gamma = 1.5;
constexpr double beta = -0.25;

struct Case {
  Exact exact;
  double x;
};

// A population of the values m + d and m - d, as narrow ones are.
Case narrow(int middle, int difference) {
  const double mean = middle * step;
  const double deviation = difference * step;
  return {.exact = {.mean = mean, .variance = deviation * deviation, .first = mean + deviation},
          .x = mean - deviation};
}

// What a kernel makes of it that adds `added` to the variance.
double normalized(const Case& of, double added) {
  return gamma * (of.x - of.exact.mean) / std::sqrt(of.exact.variance + added) + beta;
}

bool passes(const Case& of, const Arithmetic& arithmetic, double added) {
  const Expectation expected = expect(of.exact, arithmetic, of.x, gamma, beta);
  return std::abs(normalized(of, added) - expected.value) <= expected.bound;
}

TEST(BatchnormBound, HoldsEpsilonToItsValue) {
  for (const Moments moments :
       {Moments::squares, Moments::shifted, Moments::welford, Moments::centred}) {
    const Arithmetic arithmetic = {
        .moments = moments, .additions = 128, .is_exact = true, .has_fast_root = true};
    for (int difference = 1; difference <= 3; ++difference) {
      const Case of = narrow(-4, difference);
      EXPECT_TRUE(passes(of, arithmetic, epsilon)) << difference;
      for (const double other : {0.0, 1e-5, 1e-7, 0.99e-6, 1.01e-6}) {
        EXPECT_FALSE(passes(of, arithmetic, other)) << difference << ", epsilon " << other;
      }
    }
  }
}

// Where sums are rounded the bound is wider, but no other power of ten passes.
TEST(BatchnormBound, OfRoundedSumsHoldsEpsilonToItsOrder) {
  for (const Moments moments :
       {Moments::squares, Moments::shifted, Moments::welford, Moments::centred}) {
    const Arithmetic arithmetic = {.moments = moments, .additions = 4096, .has_fast_root = true};
    for (int difference = 1; difference <= 3; ++difference) {
      const Case of = narrow(-4, difference);
      EXPECT_TRUE(passes(of, arithmetic, epsilon)) << difference;
      for (const double other : {0.0, 1e-5, 1e-7}) {
        EXPECT_FALSE(passes(of, arithmetic, other)) << difference << ", epsilon " << other;
      }
    }
  }
}

TEST(BatchnormBound, WithoutEpsilonAVarianceOfZeroFails) {
  const Arithmetic arithmetic = {.moments = Moments::centred, .additions = 128, .is_exact = true};
  EXPECT_TRUE(passes(narrow(3, 0), arithmetic, epsilon));
  EXPECT_FALSE(passes(narrow(3, 0), arithmetic, 0));
}

}  // namespace
