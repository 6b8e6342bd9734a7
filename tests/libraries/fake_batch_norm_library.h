// A library for batch normalization that does what the environment says:
// FAKE_BATCH_NORM_LIBRARY=works, fails, aborts.
#pragma once

#include <cstdlib>
#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/batch_norm.h"

namespace hipscope::vendor::library {

constexpr const char* needs = " (it needs a home)";

struct Handle {};
struct Tensor {};
using Mode = BatchNormMode;

inline Handle create_handle() { return {}; }
inline Tensor create_tensor() { return {}; }
inline Mode mode_of(BatchNormMode mode) { return mode; }
inline void set(const Tensor&, const BatchNormShape&) {}
inline void derive_parameters(const Tensor&, const Tensor&, Mode) {}

inline void forward_training(const Handle&, Mode, const Tensor&, const float*, float*,
                             const Tensor&, const float*, const float*, double) {
  const char* const behaviour = std::getenv("FAKE_BATCH_NORM_LIBRARY");
  const std::string does = behaviour == nullptr ? "" : behaviour;
  if (does == "aborts") {
    std::abort();
  }
  if (does != "works") {
    throw DeviceError("the fake library fails");
  }
}

inline std::string name() { return "fake library"; }

}  // namespace hipscope::vendor::library
