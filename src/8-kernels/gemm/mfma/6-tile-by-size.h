// A tile, and a number of blocks for it, for each size.
//
// Against 5: tiles of several sizes, some for flat products, and stage 4 for large ones; and for a
// tile as many blocks as fit. The model of tile_choice.h chooses, as for sgemm's 22 and dgemm's
// 4.18. Their numbers are measured; here they are predicted from the vendor's figures
// (scripts/hipscope/compiled_code/gpus.py) and were never compared with a measurement: a step's
// time on the matrix unit and on LDS, its latency, the rates of L2 and memory.
#pragma once

#include <hipscope/describe_device.h>

#include <algorithm>
#include <vector>

#include "5-small-tiles.h"
#include "8-kernels/gemm/amd_rates.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// Of a CU: operations by matrix instructions and bytes of LDS and L1, per cycle; and cycles, of a
/// load from L2, and from memory.
inline constexpr double matrix_operations = 256;  // FP32, FP64 of CDNA 2 and 3
inline constexpr double lds_bytes_per_cycle = 128;
inline constexpr double l1_bytes_per_cycle = 64;
inline constexpr double l2_cycles = 300;
inline constexpr double memory_cycles = 647;

/// What matrix unit and LDS take for a step of a full CU, the longer of them.
template <typename Shape>
constexpr double step_cycles() {
  using Tile = typename Shape::Tile;
  constexpr double products = 2.0 * Shape::rows * Shape::columns * Shape::depth;
  constexpr double stored = 1.0 * (Shape::rows + Shape::columns) * Shape::depth;
  constexpr auto waves = Shape::threads / Tile::Code::lanes;
  constexpr double loaded = 1.0 * waves * (Tile::wave_rows + Tile::wave_columns) * Shape::depth;
  constexpr double in_lds = (stored + loaded) * sizeof(typename Shape::Value) / lds_bytes_per_cycle;
  return std::max(products / matrix_operations, in_lds);
}

/// What a block takes for its sums to C.
template <typename Value>
constexpr double end_cycles(unsigned rows, unsigned columns) {
  return memory_cycles + 1.0 * rows * columns * sizeof(Value) / l1_bytes_per_cycle;
}

template <typename Shape>
SizedKernel<typename Shape::Value> kernel_of() {
  // A step is two tiles along k, and each is asked for a tile's time before it is wanted.
  constexpr double least = 2 * l2_cycles;
  return sized_kernel<Shape>(
      enqueue_small_tiles<Shape>,
      {.step = step_cycles<Shape>(),
       .least_step = std::max(least, step_cycles<Shape>()),
       .end = end_cycles<typename Shape::Value>(Shape::rows, Shape::columns)});
}

template <typename Value>
SizedKernel<Value> large_kernel() {
  using Large = Shape<LargeTile<Value>>;
  return stream_k_kernel<Value, split_along_k_stage>(
      step_cycles<Large>(), end_cycles<Value>(Large::rows, Large::columns));
}

template <typename Value>
std::vector<SizedKernel<Value>> small_kernels() {
  using Code = matrix_rate::MfmaFp32Side16;
  if constexpr (is_double<Value>) {
    return {
        kernel_of<Shape<Tile<Value, 16, 64, 16, 32>>>(),
        kernel_of<typename SmallShape<Value>::Type>(),
        kernel_of<Shape<Tile<Value, 32, 32, 16, 32>>>(),
        kernel_of<Shape<Tile<Value, 64, 32, 16, 32>>>(),
        kernel_of<Shape<Tile<Value, 64, 128, 32, 64>>>(),
    };
  } else {
    return {
        kernel_of<Shape<Tile<Value, 16, 64, 16, 64, Code>>>(),
        kernel_of<typename SmallShape<Value>::Type>(),
        kernel_of<Shape<Tile<Value, 32, 64, 16, 64, Code>>>(),
        kernel_of<Shape<Tile<Value, 64, 128, 32, 64, Code>>>(),
        kernel_of<Shape<SmallTile<Value>>>(),
    };
  }
}

template <typename Value>
const std::vector<SizedKernel<Value>>& kernels() {
  static const std::vector<SizedKernel<Value>> all = [] {
    std::vector<SizedKernel<Value>> found = small_kernels<Value>();
    found.push_back(large_kernel<Value>());
    return found;
  }();
  return all;
}

/// The device as the model knows it: CUs that it tells, and rates of its architecture.
template <typename Value>
DeviceCosts costs() {
  int device = 0;
  hipscope::check(hipGetDevice(&device));
  const std::string architecture = hipscope::describe_device(device).architecture;
  return amd_costs(amd_rates(architecture), compute_units(), sizeof(Value));
}

template <typename Value>
Stage<Value> tile_by_size_stage() {
  Stage<Value> stage = split_along_k_stage<Value>();  // what is shown is what large products take
  stage.technique = name_of("a tile and a split for each size");
  return by_choice<Value, kernels<Value>, costs<Value>>(stage);
}

}  // namespace gemm::mfma

#endif
