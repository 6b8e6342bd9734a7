// Spatial, several passes. One block per channel, four loads of 16 bytes in flight in each thread;
// two sums over the block. Three passes take the mean before the deviations from it; two take both
// sums in one loop, of value less the channel's first value, so that nothing cancels. Backwards,
// the second pass begins with the values that the first read last, more of which are still in L2.
#pragma once

#include "channel_parts.h"

namespace hipscope::batch_norm {

constexpr unsigned channel_threads = 1024;
constexpr unsigned channel_loads_in_flight = 4;

template <unsigned Width, Moments Way, bool Backwards = false>  // floats of an access
__global__ void __launch_bounds__(channel_threads,
                                  second_bound(channel_threads, channel_loads_in_flight* Width))
    channel_streaming_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                             const float* __restrict__ beta, float* __restrict__ output,
                             Runs runs) {
  __shared__ float sums[2][most_waves];
  const auto values = static_cast<float>(runs.count * Width);
  const unsigned rounds = (runs.count + channel_threads - 1 - threadIdx.x) / channel_threads;
  const auto place = [&](unsigned round) {
    return place_of(runs, blockIdx.x, round * channel_threads + threadIdx.x);
  };
  const auto pass = [&](const auto& take) {
    in_batches<channel_loads_in_flight>(
        rounds, [&](unsigned round) { return load_access<Width>(input, place(round)); },
        [&](Access<Width> x, unsigned) {
#pragma unroll
          for (unsigned w = 0; w < Width; ++w) {
            take(component(x, w));
          }
        });
  };
  const float first =
      Way == Moments::shifted ? input[std::size_t{place_of(runs, blockIdx.x, 0)} * Width] : 0;
  const auto [mean, variance] = statistics_of<Way>(
      values, first, pass, [&](float sum, unsigned i) { return sum_of_block(sum, sums[i]); });
  const Transform transform = {
      .mean = mean, .scale = scale_of(gamma[blockIdx.x], variance), .shift = beta[blockIdx.x]};
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
