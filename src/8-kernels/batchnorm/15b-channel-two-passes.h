// Spatial, two passes. Against 15a: one loop for both sums, of value less the channel's first
// value, so that nothing cancels. Backwards, the second pass begins with what the first has read
// last, of which more is still in L2.
//
// On the H200 330 Gpixel/s, 62.5 % of the copy; backwards 349 Gpixel/s, 66.0 %.
#pragma once

#include "15a-channel-three-passes.h"

namespace hipscope::batch_norm {

template <unsigned Width, bool Backwards>
__global__ void __launch_bounds__(channel_threads,
                                  second_bound(channel_threads, channel_loads_in_flight* Width))
    channel_two_passes_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                              const float* __restrict__ beta, float* __restrict__ output,
                              Runs runs) {
  __shared__ float sums[2][most_waves];
  const auto values = static_cast<float>(runs.count * Width);
  const unsigned rounds = (runs.count + channel_threads - 1 - threadIdx.x) / channel_threads;
  const auto place = [&](unsigned round) {
    return place_of(runs, blockIdx.x, round * channel_threads + threadIdx.x);
  };
  const auto load = [&](unsigned round) { return load_access<Width>(input, place(round)); };
  const float first = input[std::size_t{place_of(runs, blockIdx.x, 0)} * Width];
  float sum = 0;
  float squares = 0;
  in_batches<channel_loads_in_flight>(rounds, load, [&](Access<Width> x, unsigned) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      const float difference = component(x, w) - first;
      sum += difference;
      squares = fmaf(difference, difference, squares);
    }
  });
  const float mean_difference = sum_of_block(sum, sums[0]) / values;
  const float mean_square = sum_of_block(squares, sums[1]) / values;
  // Rounding may leave less than nothing.
  const float variance = fmaxf(mean_square - mean_difference * mean_difference, 0);
  const Transform transform = {.mean = mean_difference + first,
                               .scale = scale_of(gamma[blockIdx.x], variance),
                               .shift = beta[blockIdx.x]};
  const auto place_again = [&](unsigned round) {
    return place(Backwards ? rounds - 1 - round : round);
  };
  in_batches<channel_loads_in_flight>(
      rounds, [&](unsigned round) { return load_access<Width>(input, place_again(round)); },
      [&](Access<Width> x, unsigned round) {
        store_transformed<Width>(output, place_again(round), x, transform);
      });
}

}  // namespace hipscope::batch_norm
