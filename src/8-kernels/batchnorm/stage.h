// A stage of batchnorm: a way to normalize, what is known of it, and how it is verified.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <functional>
#include <string>
#include <vector>

#include "reference.h"

namespace hipscope::batch_norm {

/// One way to normalize, ready to run on its arrays.
struct Stage {
  std::string name{};
  Arithmetic arithmetic{};
  bool is_exact_on_integers = false;  // where a population has an even number of values
  unsigned reads = 1;                 // of the input, as the stage asks for them; 0: not known
  Footprint footprint{};
  int resident_blocks = 0;      // per CU; 0: not known
  std::string why_not{};        // empty: it can run
  std::function<void()> run{};  // where it can
};

/// `stage` with its kernel's footprint.
template <typename... Parameters>
Stage with_footprint(const Sweep& sweep, Stage stage, void (*kernel)(Parameters...),
                     const LaunchShape& shape) {
  stage.footprint = footprint_of(sweep, kernel);
  stage.resident_blocks = resident_blocks(kernel, shape.block.x, shape.lds_bytes);
  return stage;
}

/// `stage`, which runs `kernel` on input, gamma, beta, output and what else the kernel takes.
template <typename... Parameters, typename... Others>
Stage with_kernel(const Sweep& sweep, Arrays& arrays, Stage stage, void (*kernel)(Parameters...),
                  const LaunchShape& shape, const Others&... others) {
  stage = with_footprint(sweep, std::move(stage), kernel, shape);
  stage.run = [=, &arrays] {
    launch(kernel, shape, arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
           arrays.output.data(), others...);
  };
  return stage;
}

inline void append(std::vector<Stage>& stages, const std::vector<Stage>& further) {
  stages.insert(stages.end(), further.begin(), further.end());
}

/// Verifies the stage on integers, on narrow values, on constants if it sums up squares, and on
/// random numbers, which are left in the input.
inline Errors verify(Point& point, Arrays& arrays, const Stage& stage,
                     const std::string& prefix = "") {
  // Half of a population's values are above its mean, and their sum of squares is below 2^24.
  constexpr unsigned largest_square = 256;
  const unsigned values = values_of(arrays.tensor, arrays.scope);
  const unsigned in_turns =
      arrays.scope == Scope::spatial ? arrays.tensor.plane : arrays.tensor.images;
  Arithmetic on_exact = stage.arithmetic;
  on_exact.is_exact =
      stage.is_exact_on_integers && in_turns % 2 == 0 && values <= (1U << 24) / largest_square * 2;
  const auto verify_on = [&](Values kind, const std::string& what, const Arithmetic& arithmetic) {
    arrays.fill(kind);
    return arrays.verify(point, prefix + what, arithmetic, stage.run);
  };
  verify_on(Values::integers, "integers", on_exact);
  verify_on(Values::narrow, "variances of 0 and near epsilon", on_exact);
  if (stage.arithmetic.moments == Moments::squares && stage.reads > 0) {
    verify_on(Values::constant, "constants", stage.arithmetic);
  }
  return verify_on(Values::random, "random numbers", stage.arithmetic);
}

}  // namespace hipscope::batch_norm
