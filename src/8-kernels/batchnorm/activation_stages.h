// The stages that normalize each activation over the images: which rungs there are, what is known
// of their arithmetic, and which tensors they take.
#pragma once

#include <hipscope/hipscope.h>

#include <string>
#include <vector>

#include "14a-three-passes.h"
#include "14b-one-pass-2-threads.h"
#include "14c-one-pass-4-threads.h"
#include "14d-two-passes.h"
#include "14e-three-passes-8-loads.h"
#include "14f-two-passes-8-loads.h"
#include "14g-two-passes-less-first-value.h"
#include "14h-over-2-threads.h"
#include "14i-over-4-threads.h"
#include "14j-over-8-threads.h"
#include "14k-over-16-threads.h"
#include "14l-over-8-threads-8-bytes.h"
#include "14m-over-16-threads-16-bytes.h"
#include "14n-over-8-threads-16-bytes.h"
#include "14o-over-16-threads-any-number.h"
#include "14p-sum-of-squares.h"
#include "14q-less-first-value.h"
#include "14r-welford.h"
#include "one_pass_shapes.h"
#include "stage.h"

namespace hipscope::batch_norm {

// --- V's ---------------------------------------------------------------------------------------

/// V's kernels count values in 31 bits, have no comparison where an image ends, and keep 128 images
/// if they keep any. Empty: they take the tensor.
inline std::string refusal_of_v(const Arrays& arrays, bool keeps_images) {
  constexpr unsigned block = 256;
  if (keeps_images && arrays.tensor.images != one_pass_images) {
    return "for 128 images";
  }
  if (arrays.populations % block != 0) {
    return "an image is no whole number of blocks of 256";
  }
  return arrays.elements >> 31 == 0 ? "" : "the tensor has 2^31 values or more";
}

/// `reads` of the input; `additions` that a value goes through at most.
template <typename Kernel>
Stage stage_of_v(const Sweep& sweep, Arrays& arrays, const std::string& number,
                 const std::string& name, Kernel kernel, void (*run)(const Arrays&),
                 Moments moments, unsigned reads, unsigned additions) {
  Stage stage = {.name = number + " " + name,
                 .arithmetic = {.moments = moments,
                                .additions = additions,
                                .is_exact = false,
                                .has_fast_root = true,
                                .has_one_gamma = true},
                 .is_exact_on_integers = true,
                 .reads = reads,
                 .footprint = footprint_of(sweep, kernel, 256),
                 .why_not = refusal_of_v(arrays, reads == 1),
                 .published_series = name};
  if (stage.why_not.empty()) {
    stage.run = [run, &arrays] { run(arrays); };
  }
  return stage;
}

inline std::vector<Stage> stages_of_v(const Sweep& sweep, Arrays& arrays) {
  const unsigned images = arrays.tensor.images;
  return {stage_of_v(sweep, arrays, "14a", "three passes", v_three_passes::kernel,
                     v_three_passes::run, Moments::centred, 3, images),
          stage_of_v(sweep, arrays, "14b", "one pass, 128 values over 2 threads",
                     v_2_threads::kernel, v_2_threads::run, Moments::squares, 1, 64 + 2),
          stage_of_v(sweep, arrays, "14c", "one pass, 128 values over 4 threads",
                     v_4_threads::kernel, v_4_threads::run, Moments::squares, 1, 32 + 4),
          stage_of_v(sweep, arrays, "14d", "two passes", v_two_passes::kernel, v_two_passes::run,
                     Moments::squares, 2, images)};
}

// --- Ours --------------------------------------------------------------------------------------

using ActivationKernel = void (*)(const float*, const float*, const float*, float*, Tensor);

/// Several passes, of any tensor.
inline Stage streaming_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                             ActivationKernel kernel, void (*run)(const Arrays&), Moments moments,
                             unsigned reads) {
  return {.name = name,
          .arithmetic = {.moments = moments, .additions = arrays.tensor.images, .is_exact = false},
          .is_exact_on_integers = true,
          .reads = reads,
          .footprint = footprint_of(sweep, kernel, three_passes::threads),
          .run = [run, &arrays] { run(arrays); },
          .why_not = ""};
}

inline Stage three_passes_stage(const Sweep& sweep, Arrays& arrays) {
  return streaming_stage(sweep, arrays, "three passes, 8 loads at a time", three_passes::kernel,
                         three_passes::run, Moments::centred, 3);
}
inline Stage two_passes_stage(const Sweep& sweep, Arrays& arrays) {
  return streaming_stage(sweep, arrays, "two passes, 8 loads at a time", two_passes::kernel,
                         two_passes::run, Moments::squares, 2);
}
inline Stage two_passes_shifted_stage(const Sweep& sweep, Arrays& arrays) {
  return streaming_stage(sweep, arrays, "two passes, less the first value",
                         two_passes_shifted::kernel, two_passes_shifted::run, Moments::shifted, 2);
}

/// How one-pass kernels spread an activation.
struct Spread {
  unsigned parts;  // threads for an activation
  unsigned lanes;  // threads of a part
  unsigned width;  // activations of a thread
  Moments moments = Moments::centred;
  bool takes_any_images = false;  // up to 128
};

template <typename Run>
Stage one_pass_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                     ActivationKernel kernel, Run run, const Spread& spread) {
  Stage stage;
  stage.name = name;
  stage.arithmetic = {.moments = spread.moments,
                      .additions = one_pass_images / spread.parts + spread.parts,
                      .is_exact = false};
  stage.is_exact_on_integers = spread.moments != Moments::welford;
  stage.footprint = footprint_of(sweep, kernel, spread.parts * spread.lanes);
  const unsigned images = arrays.tensor.images;
  if (spread.takes_any_images ? images > one_pass_images : images != one_pass_images) {
    stage.why_not = spread.takes_any_images ? "for up to 128 images" : "for 128 images";
  } else if (arrays.populations % spread.width != 0) {
    stage.why_not = "an image is no whole number of accesses";
  } else {
    stage.run = [run, &arrays] { run(arrays); };
  }
  return stage;
}

inline Stage over_8_threads_16_bytes_stage(const Sweep& sweep, Arrays& arrays,
                                           const std::string& name) {
  return one_pass_stage(sweep, arrays, name, over_8_threads_16_bytes::kernel,
                        over_8_threads_16_bytes::run, {.parts = 8, .lanes = 16, .width = 4});
}

/// The whole ladder but V's.
inline std::vector<Stage> own_stages(const Sweep& sweep, Arrays& arrays) {
  const auto one_pass = [&](const std::string& name, ActivationKernel kernel,
                            void (*run)(const Arrays&), const Spread& spread) {
    return one_pass_stage(sweep, arrays, name, kernel, run, spread);
  };
  return {
      three_passes_stage(sweep, arrays),
      two_passes_stage(sweep, arrays),
      two_passes_shifted_stage(sweep, arrays),
      one_pass("over 2 threads", over_2_threads::kernel, over_2_threads::run, {2, 128, 1}),
      one_pass("over 4 threads", over_4_threads::kernel, over_4_threads::run, {4, 64, 1}),
      one_pass("over 8 threads", over_8_threads::kernel, over_8_threads::run, {8, 64, 1}),
      one_pass("over 16 threads", over_16_threads::kernel, over_16_threads::run, {16, 64, 1}),
      one_pass("over 8 threads, 8 bytes", over_8_threads_8_bytes::kernel,
               over_8_threads_8_bytes::run, {8, 32, 2}),
      one_pass("over 16 threads, 16 bytes", over_16_threads_16_bytes::kernel,
               over_16_threads_16_bytes::run, {16, 16, 4}),
      over_8_threads_16_bytes_stage(sweep, arrays, "over 8 threads, 16 bytes"),
      one_pass("over 16 threads, any number", over_16_threads_any_number::kernel,
               over_16_threads_any_number::run, {16, 32, 1, Moments::centred, true}),
  };
}

inline std::vector<Stage> activation_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages = stages_of_v(sweep, arrays);
  const std::vector<Stage> own = own_stages(sweep, arrays);
  stages.insert(stages.end(), own.begin(), own.end());
  return stages;
}

/// The ways to sum up: V's, and ours, of which those with one pass have the fastest shape.
inline std::vector<Stage> arithmetic_stages(const Sweep& sweep, Arrays& arrays) {
  const auto one_pass = [&](const std::string& name, ActivationKernel kernel,
                            void (*run)(const Arrays&), Moments moments) {
    return one_pass_stage(sweep, arrays, name, kernel, run, {8, 16, 4, moments});
  };
  std::vector<Stage> stages = stages_of_v(sweep, arrays);
  for (const Stage& stage :
       {three_passes_stage(sweep, arrays), two_passes_stage(sweep, arrays),
        two_passes_shifted_stage(sweep, arrays),
        one_pass("one pass, sum of squares", sum_of_squares::kernel, sum_of_squares::run,
                 Moments::squares),
        one_pass("one pass, less the first value", less_first_value::kernel, less_first_value::run,
                 Moments::shifted),
        one_pass("one pass, Welford", welford::kernel, welford::run, Moments::welford),
        over_8_threads_16_bytes_stage(sweep, arrays, "one pass, mean first")}) {
    stages.push_back(stage);
  }
  return stages;
}

// --- Shapes of one pass ------------------------------------------------------------------------

template <unsigned Parts, unsigned Lanes, unsigned Width>
Stage shape_stage(const Sweep& sweep, Arrays& arrays) {
  const auto run = [](const Arrays& all) {
    launch(one_pass_kernel<Parts, Lanes, Width>,
           {.grid = dim3(blocks_for(all.populations, Lanes * Width)), .block = dim3(Parts * Lanes)},
           all.input.data(), all.gamma.data(), all.beta.data(), all.output.data(), all.tensor);
  };
  const std::string name =
      std::to_string(Parts) + "x" + std::to_string(Lanes) + "x" + std::to_string(4 * Width);
  return one_pass_stage(sweep, arrays, name, one_pass_kernel<Parts, Lanes, Width>, run,
                        {Parts, Lanes, Width});
}

inline std::vector<Stage> shape_stages(const Sweep& sweep, Arrays& arrays) {
  return {shape_stage<2, 32, 1>(sweep, arrays),  shape_stage<2, 128, 1>(sweep, arrays),
          shape_stage<4, 32, 1>(sweep, arrays),  shape_stage<4, 64, 1>(sweep, arrays),
          shape_stage<4, 256, 1>(sweep, arrays), shape_stage<8, 32, 1>(sweep, arrays),
          shape_stage<8, 64, 1>(sweep, arrays),  shape_stage<8, 128, 1>(sweep, arrays),
          shape_stage<16, 32, 1>(sweep, arrays), shape_stage<16, 64, 1>(sweep, arrays),
          shape_stage<32, 32, 1>(sweep, arrays), shape_stage<4, 64, 2>(sweep, arrays),
          shape_stage<8, 32, 2>(sweep, arrays),  shape_stage<8, 64, 2>(sweep, arrays),
          shape_stage<16, 32, 2>(sweep, arrays), shape_stage<16, 64, 2>(sweep, arrays),
          shape_stage<32, 32, 2>(sweep, arrays), shape_stage<8, 16, 4>(sweep, arrays),
          shape_stage<8, 32, 4>(sweep, arrays),  shape_stage<8, 64, 4>(sweep, arrays),
          shape_stage<16, 16, 4>(sweep, arrays), shape_stage<16, 32, 4>(sweep, arrays),
          shape_stage<16, 64, 4>(sweep, arrays), shape_stage<32, 16, 4>(sweep, arrays),
          shape_stage<32, 32, 4>(sweep, arrays)};
}

}  // namespace hipscope::batch_norm
