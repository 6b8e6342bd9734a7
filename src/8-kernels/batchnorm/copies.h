// Copies of the input to the output: floors of what reads once and writes once. A value that is
// needed twice cannot be stored as soon as it arrives, so besides the plain copy there are two that
// ask for all that a thread keeps before they store, in the order of 14f and of 15b.
#pragma once

#include <functional>

#include "14f-one-pass.h"
#include "channel_stages.h"
#include "stage.h"

namespace hipscope::batch_norm {

constexpr unsigned copy_block = 256;

// One value of 16 bytes per thread, one tile per block: the best shape of memory_bandwidth.
static __global__ void __launch_bounds__(copy_block)
    copy_kernel(const float4* __restrict__ input, float4* __restrict__ output,
                std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * copy_block + threadIdx.x;
  if (i < count) {
    output[i] = input[i];
  }
}

/// On AMD waits until all have arrived; nothing is stored before. On NVIDIA it leaves no
/// instruction: all are asked for before the first store, and each store waits for its own value.
template <unsigned Values>
__device__ void await([[maybe_unused]] const float4 (&x)[Values]) {
#if defined(__CUDA_ARCH__)
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    asm volatile("" : : "f"(x[k].x), "f"(x[k].y), "f"(x[k].z), "f"(x[k].w) : "memory");
  }
#elif defined(__HIP_DEVICE_COMPILE__)
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    asm volatile("" : : "v"(x[k].x), "v"(x[k].y), "v"(x[k].z), "v"(x[k].w) : "memory");
  }
#endif
}

/// As 14f: `Parts` threads for the 128 values of four activations.
template <unsigned Parts, unsigned Lanes>
__global__ void __launch_bounds__(Parts* Lanes,
                                  second_bound(Parts* Lanes, one_pass_images / Parts * 4))
    activation_copy_kernel(const float* __restrict__ input, float* __restrict__ output,
                           Tensor tensor) {
  constexpr unsigned values = one_pass_images / Parts;
  const unsigned activations = activations_of(tensor);
  const unsigned part = part_of_thread<Lanes>();
  const unsigned activation = (blockIdx.x * Lanes + threadIdx.x % Lanes) * 4;
  if (activation >= activations) {
    return;
  }
  float4 x[values];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    x[k] = *reinterpret_cast<const float4*>(
        at<Lanes, 4>(input, std::size_t{k * Parts + part} * activations, activation));
  }
  await(x);
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    *reinterpret_cast<float4*>(
        at<Lanes, 4>(output, std::size_t{k * Parts + part} * activations, activation)) = x[k];
  }
}

/// As 15b: `Values` of 16 bytes in each thread, of a part of a channel.
template <unsigned Values, unsigned Block>
__global__ void __launch_bounds__(Block, second_bound(Block, Values * 4))
    channel_copy_kernel(const float* __restrict__ input, float* __restrict__ output, Runs runs,
                        Group group) {
  const unsigned channel = divide(blockIdx.x, group.by_siblings);
  const unsigned block = blockIdx.x - channel * group.siblings;
  const unsigned accesses = accesses_of(runs, group, block);
  float4 x[Values];
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = min(threadIdx.x + k * Block, accesses - 1);
    x[k] = load_access<4>(input, place_of(runs, channel, block * group.share + i));
  }
  await(x);
#pragma unroll
  for (unsigned k = 0; k < Values; ++k) {
    const unsigned i = threadIdx.x + k * Block;
    if (i < accesses) {
      reinterpret_cast<float4*>(output)[place_of(runs, channel, block * group.share + i)] = x[k];
    }
  }
}

/// The plain one.
inline std::function<void()> plain_copy(Arrays& arrays) {
  const std::uint64_t count = arrays.input.size() / 4;
  return [=, &arrays] {
    launch(copy_kernel, {.grid = dim3(blocks_for(count, copy_block)), .block = dim3(copy_block)},
           reinterpret_cast<const float4*>(arrays.input.data()),
           reinterpret_cast<float4*>(arrays.output.data()), count);
  };
}

/// The one that loads first, in shapes that are among the best of its scope; none for a tensor
/// that these do not suit.
inline std::function<void()> copy_that_loads_first(Arrays& arrays) {
  const Tensor tensor = arrays.tensor;
  if (arrays.scope == Scope::per_activation) {
    constexpr unsigned parts = 8;
    constexpr unsigned lanes = 16;
    if (tensor.images != one_pass_images || activations_of(tensor) % 4 != 0) {
      return {};
    }
    return [=, &arrays] {
      launch(activation_copy_kernel<parts, lanes>,
             {.grid = dim3(blocks_for(activations_of(tensor), lanes * 4)),
              .block = dim3(parts * lanes)},
             arrays.input.data(), arrays.output.data(), tensor);
    };
  }
  constexpr unsigned values = 25;
  constexpr unsigned block = 256;
  if (tensor.plane % 4 != 0) {
    return {};
  }
  const Runs runs = runs_of(tensor, 4);
  if (!fits(runs)) {
    return {};
  }
  const Group group = group_of(runs, values * block);
  return [=, &arrays] {
    launch(channel_copy_kernel<values, block>,
           {.grid = dim3(runs.channels * group.siblings), .block = dim3(block)},
           arrays.input.data(), arrays.output.data(), runs, group);
  };
}

}  // namespace hipscope::batch_norm
