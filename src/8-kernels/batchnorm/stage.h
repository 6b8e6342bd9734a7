// A stage of batchnorm: a way to normalize, what is known of it, and how it is verified.
#pragma once

#include <hipscope/hipscope.h>

#include <functional>
#include <limits>
#include <string>

#include "reference.h"

namespace hipscope::batch_norm {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// What a kernel takes of a compute unit.
struct Footprint {
  double registers = unknown;      // per thread
  double scratch_bytes = unknown;  // per thread
  int resident_blocks = 0;         // per CU; 0: not known
};

template <typename... Parameters>
Footprint footprint_of(const Sweep& sweep, void (*kernel)(Parameters...), unsigned threads,
                       unsigned lds_bytes = 0) {
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  int blocks = 0;
  check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(threads),
                                                     lds_bytes));
  return {.registers = sweep.is_hardware() ? attributes.numRegs : unknown,
          .scratch_bytes =
              sweep.is_hardware() ? static_cast<double>(attributes.localSizeBytes) : unknown,
          .resident_blocks = blocks};
}

/// One way to normalize, ready to run on its arrays.
struct Stage {
  std::string name{};
  Arithmetic arithmetic{};
  bool is_exact_on_integers = false;  // where a population has an even number of values
  unsigned reads = 1;                 // of the input, as the stage asks for them; 0: not known
  Footprint footprint{};
  std::string why_not{};        // empty: it can run
  std::function<void()> run{};  // where it can
};

constexpr unsigned blocks_for(std::uint64_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
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
  arrays.fill(Values::integers);
  arrays.verify(point, prefix + "integers", on_exact, stage.run);
  arrays.fill(Values::narrow);
  arrays.verify(point, prefix + "variances of 0 and near epsilon", on_exact, stage.run);
  if (stage.arithmetic.moments == Moments::squares && stage.reads > 0) {
    arrays.fill(Values::constant);
    arrays.verify(point, prefix + "constants", stage.arithmetic, stage.run);
  }
  arrays.fill(Values::random);
  return arrays.verify(point, prefix + "random numbers", stage.arithmetic, stage.run);
}

}  // namespace hipscope::batch_norm
