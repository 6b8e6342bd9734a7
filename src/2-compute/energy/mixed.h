// A kernel of FMAs and LDS reads as a product of matrices has them, for the sum check: what it
// takes must be what both take.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "hipscope/matrix/packed.h"
#include "meter.h"

namespace energy {

inline constexpr unsigned mixed_block = 256;
inline constexpr unsigned side = 8;     // of the tile of sums that a lane has
inline constexpr unsigned k_steps = 2;  // whose fragments LDS holds
inline constexpr unsigned quad_floats = 4;
inline constexpr unsigned quads_of_step = 2 * side / quad_floats;  // of A and of B
inline constexpr unsigned mixed_quads = k_steps * quads_of_step;

// A step's elements of A and B, from LDS.
__device__ inline void load_fragment(float (&fragment)[2 * side], const unsigned* lds,
                                     unsigned address, unsigned k) {
#pragma unroll
  for (unsigned quad = 0; quad < quads_of_step; ++quad) {
    const unsigned place = (k * quads_of_step + quad) * mixed_block;
    const auto loaded =
        hipscope::lds_load<sizeof(uint4)>(lds, address + place * unsigned{sizeof(uint4)});
#pragma unroll
    for (unsigned i = 0; i < quad_floats; ++i) {
      __builtin_memcpy(&fragment[quad * quad_floats + i], &loaded.word[i], sizeof(float));
    }
  }
}

// 8 x 8 sums of a lane; in each step along k, 64 FMAs, and 64 bytes from LDS as in sgemm's tiles,
// or from registers that were loaded once. Each lane has fragments of its own, so that bytes are
// those of read_lds_kernel's. The second step nearly takes away what the first one added.
template <bool FromLds>
__global__ void __launch_bounds__(mixed_block, 2)
    product_kernel(const uint4* data, float* sums, unsigned rounds) {
  __shared__ uint4 values[mixed_quads * mixed_block];
  for (unsigned i = threadIdx.x; i < mixed_quads * mixed_block; i += mixed_block) {
    values[i] = data[i];
  }
  __syncthreads();
  const auto* const lds = reinterpret_cast<const unsigned*>(values);
  unsigned address = hipscope::lds_address(lds) + threadIdx.x * unsigned{sizeof(uint4)};
  float fragments[k_steps][2 * side];
#pragma unroll
  for (unsigned k = 0; k < k_steps; ++k) {
    load_fragment(fragments[k], lds, address, k);
  }
  float sum[side][side] = {};
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    if constexpr (FromLds) {
      hipscope::lds_forget(address);
    }
#pragma unroll
    for (unsigned k = 0; k < k_steps; ++k) {
      if constexpr (FromLds) {
        load_fragment(fragments[k], lds, address, k);
      }
#pragma unroll
      for (unsigned row = 0; row < side; ++row) {
#pragma unroll
        for (unsigned column = 0; column < side; ++column) {
          sum[row][column] = fmaf(fragments[k][row], fragments[k][side + column], sum[row][column]);
          matrix_rate::keep_apart(sum[row][column]);  // as other FMAs here are
        }
      }
    }
  }
#pragma unroll
  for (unsigned row = 0; row < side; ++row) {
#pragma unroll
    for (unsigned column = 0; column < side; ++column) {
      sums[((blockIdx.x * side + row) * side + column) * mixed_block + threadIdx.x] =
          sum[row][column];
    }
  }
}

/// Where element `element` of lane `lane` in step k is among the fragments.
inline std::size_t place_of(unsigned k, unsigned lane, unsigned element) {
  const std::size_t quad = k * quads_of_step + element / quad_floats;
  return (quad * mixed_block + lane) * quad_floats + element % quad_floats;
}

inline std::vector<float> fragments_of(std::uint64_t seed) {
  std::vector<float> all(std::size_t{mixed_quads} * mixed_block * quad_floats);
  const unsigned key = hipscope::key_of(seed);
  constexpr float second_a = -1.3F;
  constexpr float second_b = 0.7431F;  // of A and B of the first: -0.966 of its products
  for (unsigned lane = 0; lane < mixed_block; ++lane) {
    for (unsigned element = 0; element < 2 * side; ++element) {
      const unsigned bits = hipscope::random_bits(key + lane * 2 * side + element);
      const float value = static_cast<float>(static_cast<int>(bits)) * 0x1p-31F;
      all[place_of(0, lane, element)] = value;
      all[place_of(1, lane, element)] = value * (element < side ? second_a : second_b);
    }
  }
  return all;
}

/// What each FMA takes from LDS.
inline constexpr double bytes_of_fma = double{quads_of_step * sizeof(uint4)} / (side * side);

template <bool FromLds>
Row measure_product(Meter& meter, Point point) {
  const unsigned blocks = meter.blocks(2);
  const std::vector<float> fragments = fragments_of(meter.sweep().seed());
  const DeviceBuffer<float> given{std::span(fragments)};
  constexpr unsigned sums_of_block = side * side * mixed_block;
  DeviceBuffer<float> sums(std::size_t{blocks} * sums_of_block);
  const auto run = [&](unsigned rounds) {
    hipscope::launch(product_kernel<FromLds>, {.grid = dim3(blocks), .block = dim3(mixed_block)},
                     reinterpret_cast<const uint4*>(given.data()), sums.data(), rounds);
  };
  constexpr unsigned counted_rounds = 3;
  run(counted_rounds);
  // To the last bit: an FMA is rounded once everywhere.
  point.check("every sum", sums.to_host(), [&](std::uint64_t i) {
    const auto place = static_cast<unsigned>(i % sums_of_block / mixed_block);
    const auto lane = static_cast<unsigned>(i % mixed_block);
    float sum = 0;
    for (unsigned step = 0; step < counted_rounds * k_steps; ++step) {
      const unsigned k = step % k_steps;
      sum = std::fma(fragments[place_of(k, lane, place / side)],
                     fragments[place_of(k, lane, side + place % side)], sum);
    }
    return sum;
  });
  const Load load = meter.measure_rounds(run);
  return {point, load, Per::fma, double(sums.size()) * k_steps * load.rounds};
}

}  // namespace energy
