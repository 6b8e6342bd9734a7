// How long does a load from __constant__ memory take? It has caches of its own.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "chaser.h"
#include "footprints.h"
#include "visiting_order.h"

namespace memory_latency {

constexpr std::uint64_t constant_bytes = 64 * kib;
static __constant__ std::uint64_t constant_nodes[constant_bytes / sizeof(std::uint64_t)];

// The address of constant_nodes as a scalar load takes it.
static __global__ void __launch_bounds__(1) constant_address_kernel(std::uint64_t* address) {
#if defined(__CUDA_ARCH__)
  *address = __cvta_generic_to_constant(constant_nodes);
#else
  *address = reinterpret_cast<std::uint64_t>(constant_nodes);
#endif
}

inline constexpr std::uint64_t constant_spacing =
    64;  // the line of AMD's and NVIDIA's constant caches

// Nodes that the host links in __constant__ memory, chased by `kernel`, of scalar loads.
inline void measure_constant(Sweep& sweep, const Sizes& sizes, Kernel kernel) {
  set_footprint_axis(sweep, constant_spacing);
  DeviceBuffer<std::uint64_t> address(1);
  hipscope::launch(constant_address_kernel, {.grid = dim3(1), .block = dim3(1)}, address.data());
  const std::uint64_t base = address.to_host()[0];
  Chaser chaser(sweep, kernel, true, sizes.steps);
  constexpr std::uint64_t first_bytes = 256;
  for (const std::uint64_t bytes :
       footprints(first_bytes, constant_bytes, sizes.points, constant_spacing)) {
    const Nodes nodes = dense_nodes(base, bytes / constant_spacing, constant_spacing, sweep.seed());
    std::vector<std::uint64_t> memory(bytes / sizeof(std::uint64_t));
    for (std::uint64_t k = 0; k < nodes.count; ++k) {
      memory[(visited_address(nodes, k) - base) / sizeof(std::uint64_t)] =
          visited_address(nodes, k + 1);
    }
    hipscope::check(hipMemcpyToSymbol(HIP_SYMBOL(constant_nodes), memory.data(), bytes));
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    measure_row(chaser, point, nodes);
  }
}

}  // namespace memory_latency
