// In place of a vendor's library that is not there.
#pragma once

#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/batch_norm.h"

namespace hipscope::vendor::library {

constexpr const char* needs = "";

struct Handle {};
struct Tensor {};
using Mode = BatchNormMode;

inline Handle create_handle() {
  throw DeviceError(std::string("this build has no library for batch normalization: ") +
                    batch_norm_libraries);
}
inline Tensor create_tensor() { return {}; }
inline Mode mode_of(BatchNormMode mode) { return mode; }
inline void set(const Tensor&, const BatchNormShape&) {}
inline void derive_parameters(const Tensor&, const Tensor&, Mode) {}
inline void forward_training(const Handle&, Mode, const Tensor&, const float*, float*,
                             const Tensor&, const float*, const float*, double) {}
inline std::string name() { return ""; }

}  // namespace hipscope::vendor::library
