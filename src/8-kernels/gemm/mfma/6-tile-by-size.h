// A tile, and a number of blocks for it, for each size.
//
// Against 5: tiles of several sizes, some for flat products, and stage 4 for large ones; and for a
// tile as many blocks as fit. The model of tile_choice.h chooses, as for sgemm's 22 and dgemm's
// 4.18. Their numbers are measured; here they are predicted from the vendor's figures
// (scripts/hipscope/compiled_code/gpus.py) and were never compared with a measurement: a step's
// time on the matrix unit and on LDS, its latency, the rates of L2 and memory.
#pragma once

#include <algorithm>
#include <vector>

#include "5-small-tiles.h"
#include "8-kernels/gemm/amd_rates.h"
#include "8-kernels/gemm/tile_by_size.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// Of a CU by matrix instructions, per cycle.
inline constexpr double matrix_operations = 256;  // FP32, FP64 of CDNA 2 and 3

/// What matrix unit and LDS take for a step of a full CU, the longer of them.
template <typename Shape>
double step_cycles(const AmdRates& of) {
  using Tile = typename Shape::Tile;
  constexpr double products = 2.0 * Shape::rows * Shape::columns * Shape::depth;
  constexpr double stored = 1.0 * (Shape::rows + Shape::columns) * Shape::depth;
  constexpr auto waves = Shape::threads / Tile::Code::lanes;
  constexpr double loaded = 1.0 * waves * (Tile::wave_rows + Tile::wave_columns) * Shape::depth;
  const double in_lds = (stored + loaded) * sizeof(typename Shape::Value) / of.lds_bytes;
  return std::max(products / matrix_operations, in_lds);
}

template <typename Shape>
SizedKernel<typename Shape::Value> kernel_of(const AmdRates& of) {
  // A step is two tiles along k, and each is asked for a tile's time before it is wanted.
  const double least = 2 * of.l2_cycles;
  return sized_kernel<Shape>(
      enqueue_small_tiles<Shape>,
      {.step = step_cycles<Shape>(of),
       .least_step = std::max(least, step_cycles<Shape>(of)),
       .end = end_cycles(Shape::rows, Shape::columns, sizeof(typename Shape::Value), of)});
}

template <typename Value>
SizedKernel<Value> large_kernel(const AmdRates& of) {
  using Large = Shape<LargeTile<Value>>;
  return stream_k_kernel<Value, split_along_k_stage>(
      step_cycles<Large>(of), end_cycles(Large::rows, Large::columns, sizeof(Value), of));
}

template <typename Value>
std::vector<SizedKernel<Value>> small_kernels(const AmdRates& of) {
  using Code = matrix_rate::MfmaFp32Side16;
  if constexpr (is_double<Value>) {
    return {
        kernel_of<Shape<Tile<Value, 16, 64, 16, 32>>>(of),
        kernel_of<typename SmallShape<Value>::Type>(of),
        kernel_of<Shape<Tile<Value, 32, 32, 16, 32>>>(of),
        kernel_of<Shape<Tile<Value, 64, 32, 16, 32>>>(of),
        kernel_of<Shape<Tile<Value, 64, 128, 32, 64>>>(of),
    };
  } else {
    return {
        kernel_of<Shape<Tile<Value, 16, 64, 16, 64, Code>>>(of),
        kernel_of<typename SmallShape<Value>::Type>(of),
        kernel_of<Shape<Tile<Value, 32, 64, 16, 64, Code>>>(of),
        kernel_of<Shape<Tile<Value, 64, 128, 32, 64, Code>>>(of),
        kernel_of<Shape<SmallTile<Value>>>(of),
    };
  }
}

template <typename Value>
const std::vector<SizedKernel<Value>>& kernels() {
  static const std::vector<SizedKernel<Value>> all = [] {
    const AmdRates of = device_amd_rates();
    std::vector<SizedKernel<Value>> found = small_kernels<Value>(of);
    found.push_back(large_kernel<Value>(of));
    return found;
  }();
  return all;
}

/// The device as the model knows it: CUs that it tells, and rates of its architecture.
template <typename Value>
DeviceCosts costs() {
  return amd_costs(device_amd_rates(), compute_units(), sizeof(Value));
}

template <typename Value>
Stage<Value> tile_by_size_stage() {
  Stage<Value> stage = split_along_k_stage<Value>();  // what is shown is what large products take
  stage.technique = name_of("a tile and a split for each size");
  return by_choice<Value, kernels<Value>, costs<Value>>(stage);
}

}  // namespace gemm::mfma

#endif
