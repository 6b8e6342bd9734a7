// The vendor's library for batch normalization, and whether it can be called here. MIOpen compiles
// its kernels when it is called and keeps them in the user's home; cuDNN looks for parts of itself
// then. Where that fails, in any way, our own stages are measured all the same.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/libraries/batch_norm.h>
#include <hipscope/libraries/probe.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "stage.h"

namespace hipscope::batch_norm {

using Mode = vendor::BatchNormMode;

/// The vendor's stage. The order of its additions is not known: taken for a sum of squares of at
/// most 1024 in a row.
inline Stage library_stage(Arrays& arrays, Mode mode, const vendor::BatchNormShape& shape) {
  constexpr unsigned additions_in_a_row = 1024;
  const char* name = mode == Mode::per_activation ? ", per activation"
                     : mode == Mode::spatial      ? ", spatial"
                                                  : ", spatial persistent";
  const auto library = std::make_shared<vendor::BatchNorm>(shape, mode, double{epsilon});
  return {.name = vendor::batch_norm_library() + name,
          .arithmetic = {.moments = Moments::squares,
                         .additions =
                             std::min(additions_in_a_row, values_of(arrays.tensor, arrays.scope))},
          .reads = 0,
          .run = [library, &arrays] {
            library->enqueue(arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
                             arrays.output.data());
          }};
}

}  // namespace hipscope::batch_norm

namespace batchnorm {

/// Hidden from `--help`: with this and a device's number the binary normalizes one small tensor in
/// each mode by the library on that device, and ends.
inline constexpr const char* probe_option = "--probe-library";

/// The status to end with where the arguments ask for the probe.
inline std::optional<int> probe_if_asked(int argc, char** argv) {
  using Mode = hipscope::vendor::BatchNormMode;
  if (argc != 3 || std::string(argv[1]) != probe_option) {
    return std::nullopt;
  }
  constexpr hipscope::vendor::BatchNormShape shape = {
      .images = 8, .channels = 4, .height = 8, .width = 8};
  constexpr std::size_t activations = std::size_t{4} * 8 * 8;
  try {
    hipscope::check(hipSetDevice(std::stoi(argv[2])));
    hipscope::DeviceBuffer<float> input(8 * activations);
    hipscope::DeviceBuffer<float> output(8 * activations);
    hipscope::DeviceBuffer<float> parameters(activations);
    input.clear();
    parameters.clear();
    for (const Mode mode : {Mode::per_activation, Mode::spatial, Mode::spatial_persistent}) {
      hipscope::vendor::BatchNorm library(shape, mode, double{hipscope::batch_norm::epsilon});
      library.enqueue(input.data(), parameters.data(), parameters.data(), output.data());
      hipscope::check(hipDeviceSynchronize());
    }
  } catch (const std::exception&) {
    return 3;
  }
  return 0;
}

/// Why the library cannot be called, by a child that tried; empty if it can.
inline const std::string& failure_of_library() {
  static const std::string failure = [] {
    int device = 0;
    hipscope::check(hipGetDevice(&device));
    return hipscope::vendor::failure_of_child({probe_option, std::to_string(device)});
  }();
  return failure;
}

/// Whether there is a library that works on this device; if not, the sweep says so.
inline bool has_library(hipscope::Sweep& sweep) {
  if (!sweep.is_hardware()) {
    return false;
  }
  const std::string name = hipscope::vendor::batch_norm_library();
  if (name.empty()) {
    sweep.note(std::string("this build has no vendor's library; looked for ") +
               hipscope::vendor::batch_norm_libraries);
    return false;
  }
  if (!failure_of_library().empty()) {
    sweep.note("library: " + name + " is left out: a process that called it on this device " +
               failure_of_library() + hipscope::vendor::batch_norm_needs());
    return false;
  }
  return true;
}

}  // namespace batchnorm
