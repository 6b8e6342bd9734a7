// The ladder: every rung as a stage.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "01-source-run-time-channels.h"
#include "02-source-compile-time-channels.h"
#include "03-run-time-channels.h"
#include "04-array-of-16.h"
#include "05-compile-time-channels.h"
#include "06-multiply-high.h"
#include "07-fixed-shape.h"
#include "08-row-per-thread.h"
#include "09-vector-stores.h"
#include "10-two-vector-stores.h"
#include "11-places-kept.h"
#include "12-through-lds.h"

namespace hipscope::padding {

constexpr std::array<unsigned, 5> channel_counts = {1, 2, 4, 8, 16};
constexpr unsigned small_room = 16;

inline std::vector<Stage> source_run_time_stages() {
  std::vector<Stage> stages;
  for (const unsigned channels : channel_counts) {
    stages.push_back(source_run_time_stage(static_cast<int>(channels)));
  }
  return stages;
}

inline std::vector<Stage> source_compile_time_stages() {
  return {source_compile_time_stage<1>(), source_compile_time_stage<2>(),
          source_compile_time_stage<4>(), source_compile_time_stage<8>(),
          source_compile_time_stage<16>()};
}

inline std::vector<Stage> run_time_stages() {
  std::vector<Stage> stages;
  for (const unsigned channels : channel_counts) {
    stages.push_back(run_time_stage(channels));
  }
  return stages;
}

inline std::vector<Stage> compile_time_stages() {
  return {compile_time_stage<1>(), compile_time_stage<2>(), compile_time_stage<4>(),
          compile_time_stage<8>(), compile_time_stage<16>()};
}

inline const Stage& general_stage() {
  static const Stage stage = two_vector_stores_stage<MultiplyingShape>("two vector stores");
  return stage;
}

// The ladder, less what is not for this shape.
inline std::vector<Stage> ladder(const Sizes& sizes) {
  std::vector<Stage> stages;
  for (const auto& group :
       {source_run_time_stages(), source_compile_time_stages(), run_time_stages(),
        std::vector<Stage>{array_of_16_stage(small_room)}, compile_time_stages()}) {
    stages.insert(stages.end(), group.begin(), group.end());
  }
  stages.push_back(multiply_high_stage<1>());
  stages.push_back(fixed_shape_stage<1>());
  stages.push_back(fixed_shape_stage<4>());
  stages.push_back(row_stage());
  stages.push_back(vector_stores_stage<MultiplyingShape>("vector stores"));
  stages.push_back(vector_stores_stage<FixedShape>("vector stores, fixed shape"));
  stages.push_back(general_stage());
  stages.push_back(two_vector_stores_stage<FixedShape>("two vector stores, fixed shape"));
  stages.push_back(kept_places_stage<352, 2>("places kept"));
  stages.push_back(lds_stage<192, 2>("through LDS"));
  if (can_read_ahead) {
    stages.push_back(two_vector_stores_stage<MultiplyingShape>("two vector stores, read ahead",
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
