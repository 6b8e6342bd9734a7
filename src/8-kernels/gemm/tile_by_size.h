// A stage that chooses a tile, and how many blocks share it, for each product: its kernels, their
// launch, the choice by tile_choice.h's model, and the sweep that checks every one of them.
#pragma once

#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "amd_rates.h"
#include "judge.h"
#include "problem.h"
#include "split_sums.h"
#include "split_tiles.h"
#include "stage.h"
#include "tile_choice.h"

namespace gemm {

template <typename Value>
struct SizedKernel {
  TileOption option;
  void (*enqueue)(const Product<Value>& product, Split split);
  std::uint64_t (*workspace_bytes)(const Extents& extents, Split split);
};

/// Tiles of `Shape` over C.
template <typename Shape>
unsigned tiles_over(const Extents& extents) {
  return blocks_of(extents.m, Shape::rows) * blocks_of(extents.n, Shape::columns);
}

/// What blocks need that share tiles, where their sums go through memory: marks, then sums.
template <typename Value, typename Shape>
std::uint64_t bytes_of_shared_tiles(const Extents& extents, Split split) {
  const std::uint64_t tiles = tiles_over<Shape>(extents);
  return bytes_of_marks(static_cast<unsigned>(tiles * split.cluster)) +
         (split.clusters > 1
              ? tiles * split.clusters * (Shape::rows * Shape::columns) * sizeof(Factor<Value>)
              : 0);
}

/// Of the H200's 132 CUs, times of clusters of four and more fit 120.
inline DeviceUnits units_for_clusters(bool has_clusters) {
  const unsigned units = compute_units();
  const unsigned for_clusters = units * 10 / 11;
  return {.of_cluster = {units, units, for_clusters, for_clusters},
          .largest_cluster = has_clusters ? most_blocks_of_a_cluster : 1};
}

#if !defined(HIPSCOPE_BACKEND_NVIDIA)
/// Of the device that is used.
inline AmdRates device_amd_rates() { return amd_rates(device_architecture()); }
#endif

/// The LDS that a block may ask for at a launch; on other backends kernels name theirs beforehand.
inline unsigned most_lds_bytes() {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  static const unsigned bytes = device_attribute(hipDeviceAttributeSharedMemPerBlockOptin);
  return bytes;
#else
  return ~0U;
#endif
}

/// LDS for a block that has `needed` bytes, with which no more than `blocks` of them fit on a CU.
/// Where kernels overlap, blocks come while the last of the kernel before are still there, to
/// wherever there is room: two to one CU and none to another, and everybody waits for the two.
inline unsigned lds_bytes_for([[maybe_unused]] unsigned blocks, unsigned needed) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  static const unsigned of_unit = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  static const unsigned kept_by_driver = device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  constexpr unsigned step = 128;  // a multiple of what LDS is given out by
  const unsigned share = of_unit / (blocks + 1);
  const unsigned bytes = share > kept_by_driver ? ((share - kept_by_driver) / step + 1) * step : 0;
  return std::max(needed, std::min(bytes, most_lds_bytes()));
#else
  return needed;
#endif
}

/// What a kernel of `Shape` is told of its tiles, `group_rows` of which come before the next
/// column.
template <typename Shape, typename Value>
SharedTiles<Factor<Value>> shared_tiles(const Product<Value>& product, Split split,
                                        unsigned group_rows) {
  const Extents& e = product.extents;
  const unsigned sharing = split.cluster * split.clusters;
  const unsigned steps = blocks_of(e.k, Shape::depth);
  return {
      .cluster = split.cluster,
      .clusters = split.clusters,
      .order = tile_order(blocks_of(e.m, Shape::rows), blocks_of(e.n, Shape::columns), group_rows),
      .steps = steps / sharing,
      .longer = steps % sharing,
      .sums =
          reinterpret_cast<Factor<Value>*>(static_cast<unsigned char*>(product.workspace) +
                                           bytes_of_marks(tiles_over<Shape>(e) * split.cluster)),
      .arrived = static_cast<unsigned*>(product.workspace)};
}

/// Enqueues a kernel on as many blocks for each tile of `Shape`, no more of them on
/// a CU than its share where several kernels may have blocks there.
template <typename Shape, typename Value, typename SplitKernel>
void enqueue_tiles(SplitKernel kernel, const Product<Value>& product, Split split) {
  const unsigned tiles = tiles_over<Shape>(product.extents);
  const unsigned sharing = split.cluster * split.clusters;
  constexpr unsigned group_rows = 8;
  const auto shared = shared_tiles<Shape>(product, split, group_rows);
  const unsigned units = units_of(split.cluster, units_for_clusters(true));
  const unsigned blocks = tiles * sharing;
  const unsigned of_unit = blocks_of(blocks, units);
  static const bool overlap = uses_clusters(kernel);
  // So few that they and those of the kernel before find a CU each want nothing.
  const bool may_meet = overlap && 2 * blocks > units && of_unit < Shape::blocks_per_unit;
  launch_clusters_where_used(
      kernel,
      {.grid = dim3(tiles * split.cluster, split.clusters),
       .block = dim3(Shape::threads),
       .lds_bytes = may_meet ? lds_bytes_for(of_unit, Shape::lds_bytes) : Shape::lds_bytes},
      split.cluster, product.extents, product.alpha, product.a, product.b, product.beta, product.c,
      shared);
}

/// Enqueues the kernel for matrices whose rows are whole pieces of 16 bytes, or that for any.
template <typename Shape, auto for_whole_rows, auto for_any, typename Value>
void enqueue_either(const Product<Value>& product, Split split, bool has_whole_rows) {
  static const auto whole = hipscope::allow_lds(for_whole_rows, lds_bytes_for(1, Shape::lds_bytes));
  static const auto any = hipscope::allow_lds(for_any, lds_bytes_for(1, Shape::lds_bytes));
  enqueue_tiles<Shape>(has_whole_rows ? whole : any, product, split);
}

/// Blocks of a kernel that a CU has room for: as its shape says, or else the runtime.
template <typename Shape, auto kernel>
unsigned resident_blocks() {
  if constexpr (Shape::blocks_per_unit > 0) {
    return Shape::blocks_per_unit;
  } else {
    static const auto blocks = static_cast<unsigned>(
        std::max(1, hipscope::resident_blocks(kernel, Shape::threads, Shape::lds_bytes)));
    return blocks;
  }
}

/// As many blocks for a tile, a power of two, as there is room for on the CUs and as k has steps: a
/// cluster of them, where the kernel uses clusters.
template <typename Shape, auto kernel>
Split blocks_that_fit(const Extents& extents) {
  const unsigned room = compute_units() * resident_blocks<Shape, kernel>();
  const unsigned tiles = tiles_over<Shape>(extents);
  unsigned blocks = 1;
  while (blocks < most_blocks_of_a_cluster && tiles * blocks * 2 <= room &&
         blocks * 2 * Shape::depth <= extents.k) {
    blocks *= 2;
  }
  static const bool has_clusters = uses_clusters(kernel);
  return has_clusters ? Split{blocks, 1} : Split{1, blocks};
}

/// A stage of one tile, of which as many blocks share each as fit; `kernel` is that for whole rows.
template <typename Value, typename Shape, auto kernel,
          void (*enqueue)(const Product<Value>&, Split)>
Stage<Value> shared_tile_stage(const std::string& technique, Unit unit, const Needs& needs) {
  return {.technique = technique,
          .tiles = {Shape::rows, Shape::columns, Shape::depth, Shape::threads, Shape::thread_rows,
                    Shape::thread_columns},
          .unit = unit,
          .dynamic_lds_bytes = Shape::lds_bytes,
          .any_size = true,
          .kernel = reinterpret_cast<const void*>(kernel),
          .enqueue =
              [](const Stage<Value>&, const Product<Value>& product) {
                enqueue(product, blocks_that_fit<Shape, kernel>(product.extents));
              },
          .workspace_bytes =
              [](const Extents& extents) {
                return bytes_of_shared_tiles<Value, Shape>(extents,
                                                           blocks_that_fit<Shape, kernel>(extents));
              },
          .needs = needs};
}

/// What was measured of a tile; see TileOption.
struct TileCycles {
  double step;
  double least_step;
  double end;
};

/// A kernel as the choice knows it.
template <typename Shape, typename Value>
SizedKernel<Value> sized_kernel(void (*enqueue)(const Product<Value>&, Split),
                                const TileCycles& cycles) {
  return {.option = {.rows = Shape::rows,
                     .columns = Shape::columns,
                     .depth = Shape::depth,
                     .resident = Shape::blocks_per_unit,
                     .threads = Shape::threads,
                     .step_cycles = cycles.step,
                     .least_step_cycles = cycles.least_step,
                     .end_cycles = cycles.end,
                     .bytes_on_way = (Shape::buffers - 1.0) * Shape::depth *
                                     (Shape::rows + Shape::columns) * sizeof(Value),
                     .lds_bytes = Shape::lds_bytes},
          .enqueue = enqueue,
          .workspace_bytes = bytes_of_shared_tiles<Value, Shape>};
}

/// A stage whose blocks share all steps (stream-K), as one of the kernels.
template <typename Value, Stage<Value> (*make_stage)()>
SizedKernel<Value> stream_k_kernel(double step_cycles, double end_cycles) {
  constexpr double steps_on_way = 3;
  static const Stage<Value> stage = make_stage();
  return {.option = {.rows = stage.tiles.block_rows,
                     .columns = stage.tiles.block_columns,
                     .depth = stage.tiles.depth,
                     .resident = stage.blocks_per_unit,
                     .threads = stage.tiles.threads,
                     .step_cycles = step_cycles,
                     .least_step_cycles = step_cycles,
                     .end_cycles = end_cycles,
                     .bytes_on_way = steps_on_way * stage.tiles.depth *
                                     (stage.tiles.block_rows + stage.tiles.block_columns) *
                                     sizeof(Value),
                     .stream_k = true,
                     .lds_bytes = stage.dynamic_lds_bytes},
          .enqueue = [](const Product<Value>& product, Split) { stage.enqueue(stage, product); },
          .workspace_bytes = [](const Extents& extents,
                                Split) { return stage.workspace_bytes(extents); }};
}

/// The kernels and splits for products of this size on the device, from the likely fastest on.
template <typename Value, const std::vector<SizedKernel<Value>>& (*kernels)(),
          DeviceCosts (*costs)()>
const std::vector<TileChoice>& choices_for(const Extents& extents) {
  static const DeviceCosts device = [] {
    DeviceCosts of_device = costs();
    of_device.lds_bytes = most_lds_bytes();
    return of_device;
  }();
  static LastChoices<ProductSize, std::vector<TileChoice>> last;
  constexpr unsigned whole = 16 / sizeof(Value);
  const ProductSize size = {extents.m, extents.n, extents.k,
                            extents.lda % whole == 0 && extents.ldb % whole == 0};
  return last.of(size, [&] {
    std::vector<TileOption> options;
    for (const SizedKernel<Value>& kernel : kernels()) {
      options.push_back(kernel.option);
    }
    return likely_tiles(options, size, device, likely_choices);
  });
}

/// `stage`, but by the kernel that the model takes for each product.
template <typename Value, const std::vector<SizedKernel<Value>>& (*kernels)(),
          DeviceCosts (*costs)()>
Stage<Value> by_choice(Stage<Value> stage) {
  stage.enqueue = [](const Stage<Value>&, const Product<Value>& product) {
    const TileChoice& choice =
        choice_of(choices_for<Value, kernels, costs>(product.extents), product.choice);
    kernels()[choice.option].enqueue(product, choice.split);
  };
  stage.choices = likely_choices;
  stage.workspace_bytes = [](const Extents& extents) {
    std::uint64_t bytes = 0;
    for (const TileChoice& choice : choices_for<Value, kernels, costs>(extents)) {
      bytes = std::max(bytes, kernels()[choice.option].workspace_bytes(extents, choice.split));
    }
    return bytes;
  };
  return stage;
}

/// "2 x 3 blocks": 2 clusters of 3 blocks.
inline std::string name_of(Split split) {
  return std::to_string(split.clusters) + " x " + std::to_string(split.cluster) +
         (split.clusters * split.cluster == 1 ? " block" : " blocks");
}

template <typename Value>
Verdict judge_tile(const SizedKernel<Value>& kernel, Split split, Problem<Value>& problem,
                   Factors<Value> factors) {
  Product<Value> product = problem.product(factors.alpha, factors.beta);
  hipscope::DeviceBuffer<unsigned char> workspace(
      std::max<std::uint64_t>(1, kernel.workspace_bytes(product.extents, split)));
  workspace.clear();
  product.workspace = workspace.data();
  problem.reset(factors.beta);
  kernel.enqueue(product, split);
  return problem.judge(factors.alpha, factors.beta);
}

/// Sweep tiles: a row for each kernel of a stage.
template <typename Value>
void check_tiles(hipscope::Sweep& sweep, const Stage<Value>& stage,
                 const std::vector<SizedKernel<Value>>& kernels, const DeviceCosts& device) {
  sweep.axis({.name = "tile"});
  sweep.headline("largest error");
  sweep.note(
      "each kernel that the last stage chooses from, with splits that it might choose: random "
      "values within the bound; nothing is measured");
  if (!is_here(sweep, stage)) {
    sweep.note("not on this device: " + stage.technique);
    return;
  }
  // Rows that begin at multiples of 16 bytes, and others; the last tiles are not whole.
  const FlatShape shapes[] = {{70, 70, 129}, {68, 136, 136}, {17, 130, 67}, {17, 20, 600}};
  const unsigned gaps[] = {0, 0, 5, 0};
  const Split splits[] = {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {1, 3}, {2, 2}};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const TileOption& option = kernels[i].option;
    const std::string name = std::to_string(i + 1) + ": " + std::to_string(option.rows) + " x " +
                             std::to_string(option.columns) +
                             (option.stream_k ? ", steps dealt out" : "");
    if (option.lds_bytes > most_lds_bytes()) {
      sweep.note("no LDS for it on this device: " + name);
      continue;
    }
    auto point = sweep.point(name, static_cast<double>(i + 1));
    double largest = 0;
    double cases = 0;
    for (std::size_t s = 0; s < std::size(shapes); ++s) {
      const auto [m, n, k] = shapes[s];
      Problem<Value> problem(m, n, k, Values::random, sweep.seed(),
                             {.a = gaps[s], .b = gaps[s], .c = gaps[s]});
      const unsigned steps = blocks_of(k, option.depth);
      for (const Split split : splits) {
        if (split.cluster > device.units.largest_cluster ||
            split.cluster * split.clusters > (option.stream_k ? 1 : steps)) {
          continue;
        }
        for (const Factors<Value> factors : {measured_factors<Value>, other_factors<Value>}) {
          const Verdict verdict = judge_tile(kernels[i], split, problem, factors);
          verify(point,
                 name_of_size(m, n, k) + ", " + name_of(split) +
                     (factors.beta == 0 ? "" : ", beta = -0.5"),
                 verdict);
          largest = std::max(largest, verdict.error);
          ++cases;
        }
      }
    }
    point.value("cases", cases, "");
    point.value("largest error", largest, "eps");
  }
}

/// Sweep choices: a row for each of the likely kernels and splits of one product, and the
/// library's.
template <typename Value, const std::vector<SizedKernel<Value>>& (*kernels)(),
          DeviceCosts (*costs)()>
void measure_choices(hipscope::Sweep& sweep, const Extents& e) {
  sweep.axis({.name = "choice"});
  sweep.headline("rate");
  sweep.note("M=" + std::to_string(e.m) + " N=" + std::to_string(e.n) +
             " K=" + std::to_string(e.k) + "; from the likely fastest on, by the model");
  sweep.require_memory(bytes_of_problem<Value>(e.m, e.n, e.k), "--m");
  Problem<Value> problem(e.m, e.n, e.k, Values::random, sweep.seed());
  const auto measure = [&](hipscope::Point& point, const auto& body) {
    const auto time = point.measure(body, {.graph = true});
    point.value("rate", rate_of(e, time.seconds().median), teraflops);
    point.value("measured", time.cycles(), "cycles");
  };
  const auto ways = ways_of_library<Value>(sweep);
  if (!ways.empty()) {
    const auto product = problem.product(1, 0);
    auto point = sweep.point("library", 0);
    if (const auto library = fastest_library(point, ways, product)) {
      verify(point, library->name(), judge(*library, problem, measured_factors<Value>));
      measure(point, [&] { library->enqueue(product); });
    }
  }
  const std::vector<TileChoice>& choices = choices_for<Value, kernels, costs>(e);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const SizedKernel<Value>& kernel = kernels()[choices[i].option];
    const Split split = choices[i].split;
    auto point = sweep.point(std::to_string(choices[i].option + 1) + ": " +
                                 std::to_string(kernel.option.rows) + " x " +
                                 std::to_string(kernel.option.columns) + ", " + name_of(split),
                             static_cast<double>(i + 1));
    verify(point, "every element", judge_tile(kernel, split, problem, measured_factors<Value>));
    Product<Value> product = problem.product(1, 0);
    hipscope::DeviceBuffer<unsigned char> workspace(
        std::max<std::uint64_t>(1, kernel.workspace_bytes(e, split)));
    workspace.clear();
    product.workspace = workspace.data();
    measure(point, [&] { kernel.enqueue(product, split); });
    point.value("by the model", choices[i].cycles, "cycles");
  }
}

}  // namespace gemm
