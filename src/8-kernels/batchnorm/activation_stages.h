// The stages that normalize each activation over the images: what is known of their arithmetic,
// which tensors they take, and how they are launched.
#pragma once

#include <hipscope/hipscope.h>

#include <string>
#include <vector>

#include "14a-to-d-source.h"
#include "14e-several-passes-8-loads.h"
#include "14f-one-pass.h"
#include "stage.h"

namespace hipscope::batch_norm {

// --- The source's ------------------------------------------------------------------------------

inline std::vector<Stage> stages_of_source(const Sweep& sweep, Arrays& arrays) {
  constexpr unsigned block = 256;
  const unsigned images = arrays.tensor.images;
  // The kernels count values in 31 bits and have no comparison where an image ends.
  const std::string why_not = arrays.populations % block != 0
                                  ? "an image is no whole number of blocks of 256"
                              : arrays.elements >> 31 == 0 ? ""
                                                           : "the tensor has 2^31 values or more";
  // `parts` threads share an activation, whose values go through at most `additions`; the kernel
  // wants `counts` before gamma and beta.
  const auto stage = [&](const std::string& name, auto* kernel, Moments moments, unsigned reads,
                         unsigned additions, unsigned parts, auto... counts) {
    const LaunchShape shape = {.grid = dim3(arrays.populations / block * parts),
                               .block = dim3(block)};
    const bool keeps_images = reads == 1;
    return with_footprint(
        sweep,
        {.name = name,
         .arithmetic = {.moments = moments,
                        .additions = additions,
                        .has_fast_root = true,
                        .has_one_gamma = true},
         .is_exact_on_integers = true,
         .reads = reads,
         .why_not = keeps_images && images != one_pass_images ? "for 128 images" : why_not,
         .run =
             [=, &arrays] {
               launch(kernel, shape, arrays.input.data(), arrays.output.data(), counts...,
                      gamma_for_all, beta_for_all);
             }},
        kernel, shape);
  };
  const auto n = static_cast<int>(images);
  const auto activations = static_cast<int>(arrays.populations);
  return {stage("14a three passes", source_three_passes::kernel, Moments::centred, 3, images, 1, n,
                activations),
          stage("14b one pass, 128 values over 2 threads", source_2_threads::kernel,
                Moments::squares, 1, 64 + 2, 2, activations),
          stage("14c one pass, 128 values over 4 threads", source_4_threads::kernel,
                Moments::squares, 1, 32 + 4, 4, activations),
          stage("14d two passes", source_two_passes::kernel, Moments::squares, 2, images, 1, n,
                activations)};
}

// --- Ours --------------------------------------------------------------------------------------

using ActivationKernel = void (*)(const float*, const float*, const float*, float*, Tensor);

/// A kernel of ours, whose blocks of `block` threads take `columns` activations each.
inline Stage activation_stage(const Sweep& sweep, Arrays& arrays, Stage stage,
                              ActivationKernel kernel, unsigned block, unsigned columns) {
  return with_kernel(sweep, arrays, std::move(stage), kernel,
                     {.grid = dim3(blocks_for(arrays.populations, columns)), .block = dim3(block)},
                     arrays.tensor);
}

/// Several passes, of any tensor.
inline std::vector<Stage> streaming_stages(const Sweep& sweep, Arrays& arrays) {
  const auto stage = [&](const std::string& name, ActivationKernel kernel, Moments moments,
                         unsigned reads) {
    return activation_stage(sweep, arrays,
                            {.name = name,
                             .arithmetic = {.moments = moments, .additions = arrays.tensor.images},
                             .is_exact_on_integers = true,
                             .reads = reads},
                            kernel, streaming_threads, streaming_threads);
  };
  return {stage("three passes, 8 loads at a time", streaming_kernel<Moments::centred>,
                Moments::centred, 3),
          stage("two passes, 8 loads at a time", streaming_kernel<Moments::squares>,
                Moments::squares, 2),
          stage("two passes, less the first value", streaming_kernel<Moments::shifted>,
                Moments::shifted, 2)};
}

/// Threads for an activation, threads of a part, activations of a thread.
template <unsigned Parts, unsigned Lanes, unsigned Width, typename Way = MeanFirst>
Stage one_pass_stage(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  return activation_stage(
      sweep, arrays,
      {.name = name,
       .arithmetic = {.moments = Way::moments, .additions = one_pass_images / Parts + Parts},
       .is_exact_on_integers = Way::moments != Moments::welford,
       .why_not = arrays.tensor.images != one_pass_images ? "for 128 images"
                  : arrays.populations % Width != 0 ? "an image is no whole number of accesses"
                                                    : ""},
      one_pass_kernel<Parts, Lanes, Width, Way>, Parts * Lanes, Lanes * Width);
}

inline Stage any_number_stage(const Sweep& sweep, Arrays& arrays) {
  constexpr unsigned parts = 16;
  constexpr unsigned lanes = 32;
  return activation_stage(
      sweep, arrays,
      {.name = "over 16 threads, any number",
       .arithmetic = {.moments = Moments::centred, .additions = one_pass_images / parts + parts},
       .is_exact_on_integers = true,
       .why_not = arrays.tensor.images > one_pass_images ? "for up to 128 images" : ""},
      any_number_kernel<parts, lanes>, parts * lanes, lanes);
}

/// The whole ladder but the source's.
inline std::vector<Stage> own_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages = streaming_stages(sweep, arrays);
  append(stages, {one_pass_stage<2, 128, 1>(sweep, arrays, "over 2 threads"),
                  one_pass_stage<4, 64, 1>(sweep, arrays, "over 4 threads"),
                  one_pass_stage<8, 64, 1>(sweep, arrays, "over 8 threads"),
                  one_pass_stage<16, 64, 1>(sweep, arrays, "over 16 threads"),
                  one_pass_stage<8, 32, 2>(sweep, arrays, "over 8 threads, 8 bytes"),
                  one_pass_stage<16, 16, 4>(sweep, arrays, "over 16 threads, 16 bytes"),
                  one_pass_stage<8, 16, 4>(sweep, arrays, "over 8 threads, 16 bytes"),
                  any_number_stage(sweep, arrays)});
  return stages;
}

/// Our ways to sum up, of which those with one pass have the fastest shape.
inline std::vector<Stage> arithmetic_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages = streaming_stages(sweep, arrays);
  append(stages,
         {one_pass_stage<8, 16, 4, SumOfSquares>(sweep, arrays, "one pass, sum of squares"),
          one_pass_stage<8, 16, 4, LessFirstValue>(sweep, arrays, "one pass, less the first value"),
          one_pass_stage<8, 16, 4, Welford>(sweep, arrays, "one pass, Welford"),
          one_pass_stage<8, 16, 4>(sweep, arrays, "one pass, mean first")});
  return stages;
}

/// Threads for an activation, threads of a part, activations of a thread.
struct Shape {
  unsigned parts;
  unsigned lanes;
  unsigned width;
};

template <Shape... shapes>
std::vector<Stage> stages_of(const Sweep& sweep, Arrays& arrays) {
  return {one_pass_stage<shapes.parts, shapes.lanes, shapes.width>(
      sweep, arrays,
      std::to_string(shapes.parts) + "x" + std::to_string(shapes.lanes) + "x" +
          std::to_string(sizeof(float) * shapes.width))...};
}

inline std::vector<Stage> shape_stages(const Sweep& sweep, Arrays& arrays) {
  return stages_of<
      Shape{2, 32, 1}, Shape{2, 128, 1}, Shape{4, 32, 1}, Shape{4, 64, 1}, Shape{4, 256, 1},
      Shape{8, 32, 1}, Shape{8, 64, 1}, Shape{8, 128, 1}, Shape{16, 32, 1}, Shape{16, 64, 1},
      Shape{32, 32, 1}, Shape{4, 64, 2}, Shape{8, 32, 2}, Shape{8, 64, 2}, Shape{16, 32, 2},
      Shape{16, 64, 2}, Shape{32, 32, 2}, Shape{8, 16, 4}, Shape{8, 32, 4}, Shape{8, 64, 4},
      Shape{16, 16, 4}, Shape{16, 32, 4}, Shape{16, 64, 4}, Shape{32, 16, 4}, Shape{32, 32, 4}>(
      sweep, arrays);
}

}  // namespace hipscope::batch_norm
