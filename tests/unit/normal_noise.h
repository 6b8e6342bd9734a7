// Noise for made measurements.
#pragma once

#include <random>

namespace hipscope {

/// Normally distributed numbers. std::normal_distribution wants a deviation above 0, which the
/// standard libraries of newer compilers hold callers to; here 0 is none, and the mean comes each
/// time.
class NormalNoise {
 public:
  NormalNoise(double mean, double deviation) : mean_(mean), deviation_(deviation) {}

  template <typename Random>
  double operator()(Random& random) {
    return standard_(random) * deviation_ + mean_;
  }

 private:
  double mean_;
  double deviation_;
  std::normal_distribution<double> standard_;
};

}  // namespace hipscope
