// The ladder: every stage.
#pragma once

#include <array>
#include <vector>

#include "01-source-run-time-channels.h"
#include "02-source-compile-time-channels.h"
#include "03-run-time-channels.h"
#include "04-compile-time-channels.h"
#include "05-row-per-thread.h"
#include "06-vector-stores.h"
#include "07-places-kept.h"
#include "08-through-lds.h"

namespace hipscope::padding {

constexpr std::array<unsigned, 5> channel_counts = {1, 2, 4, 8, 16};

// Makes a stage for each number of channels of a thread.
template <typename Make>
std::vector<Stage> for_each_count(const Make& make) {
  std::vector<Stage> stages;
  for (const unsigned channels : channel_counts) {
    stages.push_back(make(channels));
  }
  return stages;
}

inline std::vector<Stage> source_run_time_stages() {
  return for_each_count([](unsigned channels) { return source_run_time_stage(channels); });
}

inline std::vector<Stage> source_compile_time_stages() {
  return {source_compile_time_stage<1>(), source_compile_time_stage<2>(),
          source_compile_time_stage<4>(), source_compile_time_stage<8>(),
          source_compile_time_stage<16>()};
}

inline std::vector<Stage> run_time_stages() {
  return for_each_count(
      [](unsigned channels) { return run_time_stage("run-time channels ", channels); });
}

inline std::vector<Stage> compile_time_stages() {
  return {compile_time_stage<DividingShape, 1>("compile-time channels 1"),
          compile_time_stage<DividingShape, 2>("compile-time channels 2"),
          compile_time_stage<DividingShape, 4>("compile-time channels 4"),
          compile_time_stage<DividingShape, 8>("compile-time channels 8"),
          compile_time_stage<DividingShape, 16>("compile-time channels 16")};
}

inline Stage general_stage() {
  return vector_stores_stage<MultiplyingShape, 2>("two vector stores");
}

// The ladder, less what is not for this shape.
inline std::vector<Stage> ladder(const Sizes& sizes) {
  const std::vector<Stage> after_channels = {
      compile_time_stage<MultiplyingShape, 1>("multiply-high"),
      compile_time_stage<FixedShape, 1>("fixed shape"),
      compile_time_stage<FixedShape, 4>("fixed shape, channels 4"),
      row_stage(),
      vector_stores_stage<MultiplyingShape, 1>("vector stores"),
      vector_stores_stage<FixedShape, 1>("vector stores, fixed shape"),
      general_stage(),
      vector_stores_stage<FixedShape, 2>("two vector stores, fixed shape"),
      kept_places_stage<352, 2>("places kept"),
      lds_stage<192, 2>("through LDS")};
  std::vector<Stage> stages;
  for (const auto& group :
       {source_run_time_stages(), source_compile_time_stages(), run_time_stages(),
        std::vector<Stage>{run_time_stage<16>("array of 16, run-time channels ", 16)},
        compile_time_stages(), after_channels}) {
    stages.insert(stages.end(), group.begin(), group.end());
  }
  if (can_read_ahead) {
    stages.push_back(vector_stores_stage<MultiplyingShape, 2>("two vector stores, read ahead",
                                                              best_clump_bytes));
    stages.push_back(kept_places_stage<352, 2>("places kept, read ahead", best_clump_bytes));
    stages.push_back(lds_stage<192, 2>("through LDS, read ahead", best_clump_bytes));
  }
  std::erase_if(stages, [&](const Stage& stage) {
    return (stage.is_of_fixed_shape && !is_fixed_shape(sizes)) ||
           (stage.is_of_source && !is_for_source(sizes));
  });
  return stages;
}

}  // namespace hipscope::padding
