// fsword73 2.13.1, example 13a: a block of 256 threads for each group of channels of an image;
// 169 of them, one per pixel of the plane, work (fsword73's 66 %). A thread has the same pixel of
// `channels_once` channels. All sizes are arguments. Grid (1, C / channels_once, N).
//
// A thread keeps its values in an array of 16, set to 0 and then indexed by a loop whose length
// only the launch knows. Registers have no address, so fsword73's compiler put it into scratch
// (NVIDIA: local memory). Nothing to correct at fsword73's sizes, where the channels divide evenly.
#pragma once

#include "source_tensor.h"
#include "stage.h"

namespace hipscope::padding {

static __global__ void __launch_bounds__(source_block)
    source_run_time_channels_kernel(const float* __restrict__ input, float* __restrict__ output,
                                    int channels_once, int channels, int height, int width,
                                    int pad) {
  const int pixel = static_cast<int>(threadIdx.x);
  const int channel = channels_once * static_cast<int>(blockIdx.y);
  const int image = static_cast<int>(blockIdx.z);
  float values[16];
  if (pixel < height * width) {
    const int row = pixel / width - pad;
    const int column = pixel % width - pad;
    for (int i = 0; i < 16; ++i) {
      values[i] = 0;
    }
    const int inner_width = width - 2 * pad;
    const int inner_height = height - 2 * pad;
    if (column >= 0 && column < inner_width && row >= 0 && row < inner_height) {
      const int from = image * channels * inner_height * inner_width +
                       channel * inner_height * inner_width + row * inner_width + column;
      for (int i = 0; i < channels_once; ++i) {
        values[i] = input[from + i * inner_height * inner_width];
      }
    }
    const int to = image * channels * height * width + channel * height * width + pixel;
    for (int i = 0; i < channels_once; ++i) {
      output[to + i * height * width] = values[i];
    }
  }
}

inline Stage source_run_time_stage(unsigned channels) {
  const auto channels_once = static_cast<int>(channels);
  return {.name = "13a run-time channels " + std::to_string(channels),
          .is_of_fixed_shape = true,
          .is_of_source = true,
          .kernel = reinterpret_cast<const void*>(source_run_time_channels_kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            const Sizes& sizes = arrays.sizes;
            const SourceTensor tensor = source_tensor(sizes);
            launch(source_run_time_channels_kernel, source_shape(tensor, channels_once),
                   arrays.input.data(), arrays.output.data(), channels_once, tensor.channels,
                   static_cast<int>(sizes.padded_height()), static_cast<int>(sizes.padded_width()),
                   static_cast<int>(sizes.pad));
          }};
}

}  // namespace hipscope::padding
