// The ladder's stages: each one's name, and how its kernel is launched.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "padding_kernels.h"
#include "padding_reference.h"

namespace hipscope::padding {

struct Stage {
  std::string name;
  bool is_of_fixed_shape;
  const void* kernel;  // as the runtime knows it
  // Of scalar stages the block's threads may be chosen.
  std::function<void(const Arrays&, unsigned scalar_threads)> run;
};

inline LaunchShape launch_shape(std::uint64_t threads, unsigned block) {
  return {.grid = dim3(static_cast<unsigned>((threads + block - 1) / block)), .block = dim3(block)};
}

inline LaunchShape pixels_shape(const Sizes& sizes, unsigned channels, unsigned block) {
  return launch_shape((sizes.planes + channels - 1) / channels * sizes.padded_plane(), block);
}

constexpr unsigned room = 32;        // channels that the source's kernel is prepared for
constexpr unsigned small_room = 16;  // as many as it is called with

template <unsigned Room>
Stage run_time_stage(const std::string& name, unsigned channels) {
  const auto kernel = run_time_channels_kernel<Room>;
  return {.name = name + std::to_string(channels),
          .is_of_fixed_shape = false,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned block) {
            launch(kernel, pixels_shape(arrays.sizes, channels, block), arrays.input.data(),
                   arrays.output.data(), shape_of<DividingShape>(arrays.sizes), arrays.sizes.planes,
                   channels);
          }};
}

template <typename Shape, unsigned Channels>
Stage channels_stage(const std::string& name) {
  const auto kernel = channels_kernel<Shape, Channels>;
  return {.name = name,
          .is_of_fixed_shape = std::is_same_v<Shape, FixedShape>,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned block) {
            launch(kernel, pixels_shape(arrays.sizes, Channels, block), arrays.input.data(),
                   arrays.output.data(), shape_of<Shape>(arrays.sizes), arrays.sizes.planes);
          }};
}

inline Stage row_stage() {
  return {.name = "a row per thread",
          .is_of_fixed_shape = true,
          .kernel = reinterpret_cast<const void*>(row_kernel),
          .run = [](const Arrays& arrays, unsigned) {
            const Sizes& sizes = arrays.sizes;
            launch(row_kernel, launch_shape(sizes.planes * sizes.padded_height(), vector_block),
                   arrays.input.data(), arrays.output.data(), FixedShape(), sizes.planes);
          }};
}

// What the input's whole 16-byte values are to `blocks` blocks that read ahead.
inline ReadAhead ahead_of(const Arrays& arrays, std::uint64_t clump_bytes, std::uint64_t blocks) {
  return read_ahead_of(clump_bytes, arrays.units, arrays.sizes.inputs() / 4, blocks);
}

template <typename Shape, unsigned Stores>
Stage vector_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  const auto kernel = vector_kernel<Shape, Stores>;
  return {.name = name,
          .is_of_fixed_shape = std::is_same_v<Shape, FixedShape>,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            constexpr unsigned block_elements = 4 * Stores * vector_block;
            const std::uint64_t count = arrays.sizes.outputs();
            const std::uint64_t blocks = (count + block_elements - 1) / block_elements;
            launch(kernel, launch_shape(blocks * vector_block, vector_block), arrays.input.data(),
                   arrays.output.data(), shape_of<Shape>(arrays.sizes), count,
                   ahead_of(arrays, clump_bytes, blocks));
          }};
}

template <unsigned Threads, unsigned Rounds>
Stage tile_stage(const std::string& name, void (*kernel)(const float*, float*, unsigned, ReadAhead),
                 std::uint64_t clump_bytes) {
  return {.name = name,
          .is_of_fixed_shape = true,
          .kernel = reinterpret_cast<const void*>(kernel),
          .run = [=](const Arrays& arrays, unsigned) {
            constexpr unsigned planes = Tile<Threads, Rounds>::planes;
            const std::uint64_t tiles = (arrays.sizes.planes + planes - 1) / planes;
            launch(kernel, launch_shape(tiles * Threads, Threads), arrays.input.data(),
                   arrays.output.data(), arrays.sizes.planes, ahead_of(arrays, clump_bytes, tiles));
          }};
}

template <unsigned Threads, unsigned Rounds>
Stage kept_places_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  return tile_stage<Threads, Rounds>(name, kept_places_kernel<Threads, Rounds>, clump_bytes);
}

template <unsigned Threads, unsigned Rounds, Hint store_hint = Hint::none>
Stage lds_stage(const std::string& name, std::uint64_t clump_bytes = 0) {
  return tile_stage<Threads, Rounds>(name, lds_kernel<Threads, Rounds, store_hint>, clump_bytes);
}

constexpr std::array<unsigned, 5> channel_counts = {1, 2, 4, 8, 16};
constexpr const char* run_time_name = "run-time channels ";
constexpr const char* compile_time_name = "compile-time channels ";

inline std::vector<Stage> run_time_stages() {
  std::vector<Stage> stages;
  for (const unsigned channels : channel_counts) {
    stages.push_back(run_time_stage<room>(run_time_name, channels));
  }
  return stages;
}

inline std::vector<Stage> compile_time_stages() {
  const std::string name = compile_time_name;
  return {
      channels_stage<DividingShape, 1>(name + "1"), channels_stage<DividingShape, 2>(name + "2"),
      channels_stage<DividingShape, 4>(name + "4"), channels_stage<DividingShape, 8>(name + "8"),
      channels_stage<DividingShape, 16>(name + "16")};
}

// Read at once, for all CUs together; the best on an H200 (sweep read-ahead).
constexpr std::uint64_t best_clump_bytes = 800000;

inline const Stage& general_stage() {
  static const Stage stage = vector_stage<MultiplyingShape, 2>("two vector stores");
  return stage;
}

// The ladder, less what is not for this shape.
inline std::vector<Stage> ladder(const Sizes& sizes) {
  std::vector<Stage> stages = run_time_stages();
  stages.push_back(run_time_stage<small_room>("array of 16, run-time channels ", small_room));
  for (const Stage& stage : compile_time_stages()) {
    stages.push_back(stage);
  }
  stages.push_back(channels_stage<MultiplyingShape, 1>("multiply-high"));
  stages.push_back(channels_stage<FixedShape, 1>("fixed shape"));
  stages.push_back(channels_stage<FixedShape, 4>("fixed shape, channels 4"));
  stages.push_back(row_stage());
  stages.push_back(vector_stage<MultiplyingShape, 1>("vector stores"));
  stages.push_back(vector_stage<FixedShape, 1>("vector stores, fixed shape"));
  stages.push_back(general_stage());
  stages.push_back(vector_stage<FixedShape, 2>("two vector stores, fixed shape"));
  stages.push_back(kept_places_stage<352, 2>("places kept"));
  stages.push_back(lds_stage<192, 2>("through LDS"));
  if (can_read_ahead) {
    stages.push_back(
        vector_stage<MultiplyingShape, 2>("two vector stores, read ahead", best_clump_bytes));
    stages.push_back(kept_places_stage<352, 2>("places kept, read ahead", best_clump_bytes));
    stages.push_back(lds_stage<192, 2>("through LDS, read ahead", best_clump_bytes));
  }
  std::erase_if(stages, [&](const Stage& stage) {
    return stage.is_of_fixed_shape && !is_fixed_shape(sizes);
  });
  return stages;
}

}  // namespace hipscope::padding
