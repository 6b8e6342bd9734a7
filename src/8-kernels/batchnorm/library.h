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
#include <vector>

#include "stage.h"

namespace hipscope::batch_norm {

using Mode = vendor::BatchNormMode;

/// Hidden from `--help`: with this and a device's number the binary normalizes one small tensor in
/// each mode by the library on that device, and ends.
inline constexpr const char* probe_option = "--probe-library";

/// The status to end with where the arguments ask for the probe.
inline std::optional<int> probe_if_asked(int argc, char** argv) {
  if (argc != 3 || std::string(argv[1]) != probe_option) {
    return std::nullopt;
  }
  constexpr vendor::BatchNormShape shape = {.images = 8, .channels = 4, .height = 8, .width = 8};
  constexpr std::size_t activations = std::size_t{4} * 8 * 8;
  try {
    check(hipSetDevice(std::stoi(argv[2])));
    DeviceBuffer<float> input(8 * activations);
    DeviceBuffer<float> output(8 * activations);
    DeviceBuffer<float> parameters(activations);
    input.clear();
    parameters.clear();
    for (const Mode mode : {Mode::per_activation, Mode::spatial, Mode::spatial_persistent}) {
      vendor::BatchNorm library(shape, mode, double{epsilon});
      library.enqueue(input.data(), parameters.data(), parameters.data(), output.data());
      check(hipDeviceSynchronize());
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
    check(hipGetDevice(&device));
    return vendor::failure_of_child({probe_option, std::to_string(device)});
  }();
  return failure;
}

/// The vendor's library in each mode; none, and a note, where there is none that works. The order
/// of its additions is not known: taken for a sum of squares of at most 1024 in a row.
inline std::vector<Stage> library_stages(Sweep& sweep, Arrays& arrays,
                                         const vendor::BatchNormShape& shape,
                                         const std::vector<Mode>& modes) {
  if (!sweep.is_hardware()) {
    return {};
  }
  const std::string name = vendor::batch_norm_library();
  if (name.empty()) {
    sweep.note(std::string("this build has no vendor's library; looked for ") +
               vendor::batch_norm_libraries);
    return {};
  }
  if (!failure_of_library().empty()) {
    sweep.note("library: " + name + " is left out: a process that called it on this device " +
               failure_of_library() + vendor::batch_norm_needs());
    return {};
  }
  constexpr unsigned additions_in_a_row = 1024;
  const unsigned additions = std::min(additions_in_a_row, values_of(arrays.tensor, arrays.scope));
  std::vector<Stage> stages;
  for (const Mode mode : modes) {
    const auto library = std::make_shared<vendor::BatchNorm>(shape, mode, double{epsilon});
    stages.push_back({.name = name + (mode == Mode::per_activation ? ", per activation"
                                      : mode == Mode::spatial      ? ", spatial"
                                                                   : ", spatial persistent"),
                      .arithmetic = {.moments = Moments::squares, .additions = additions},
                      .reads = 0,
                      .run = [library, &arrays] {
                        library->enqueue(arrays.input.data(), arrays.gamma.data(),
                                         arrays.beta.data(), arrays.output.data());
                      }});
  }
  return stages;
}

}  // namespace hipscope::batch_norm
