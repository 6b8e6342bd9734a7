// What does a kernel gain that reads its input once? Batch normalization (training, forward) takes
// mean and variance of values and then goes to the same values again:
//
//   y = gamma * (x - mean) / sqrt(variance + epsilon) + beta
//
// The source's question is per-activation normalization of an NCHW tensor: each (c, h, w) has its
// own mean, over 128 images. Its stages, and those beyond:
//   three passes       mean, variance, result: the input is read three times
//   two passes         sum and sum of squares together: read twice
//   one pass           the 128 values of an activation stay in the registers of 2 to 32 threads, in
//                      different waves, so that neighbours read neighbouring activations; the
//                      threads exchange partial sums by LDS
//   8 and 16 bytes     each thread has two or four neighbouring activations
// Spatial normalization (a mean per channel, over images and its plane) is in batchnorm_spatial.h:
// a channel does not fit into one block's registers.
//
// What must move is one read and one write, so the ladder ends at the bandwidth of a copy, which is
// measured on the same two arrays. Beside it: what the ways to sum up cost in digits.
#include <hipscope/hipscope.h>
#include <hipscope/vendor/batch_norm.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "batchnorm_moments.h"
#include "batchnorm_reference.h"
#include "batchnorm_spatial.h"

using hipscope::launch;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::batch_norm::Arrays;
using hipscope::batch_norm::component;
using hipscope::batch_norm::end_of_loads;
using hipscope::batch_norm::FloatVector;
using hipscope::batch_norm::footprint_of;
using hipscope::batch_norm::merge;
using hipscope::batch_norm::Moments;
using hipscope::batch_norm::Partial;
using hipscope::batch_norm::partial_of;
using hipscope::batch_norm::scale_of;
using hipscope::batch_norm::Scope;
using hipscope::batch_norm::second_bound;
using hipscope::batch_norm::Stage;
using hipscope::batch_norm::Statistics;
using hipscope::batch_norm::Tensor;
using hipscope::batch_norm::unknown;

namespace {

// --- Kernels: one thread per activation, several passes ---------------------------------------

// The source does not say how large its blocks are; 256 is what its other kernels use.
constexpr unsigned streaming_block = 256;
constexpr unsigned streaming_batch = 8;  // loads under way

// Calls body(n, value) for the activation's value in every image n.
template <typename Body>
__device__ void for_images(const float* __restrict__ input, const Tensor& tensor,
                           unsigned activation, const Body& body) {
  const unsigned activations = activations_of(tensor);
  const auto load = [&](unsigned n) { return (input + std::size_t{n} * activations)[activation]; };
  unsigned n = 0;
#pragma unroll 1
  for (; n + streaming_batch <= tensor.images; n += streaming_batch) {
    float x[streaming_batch];
#pragma unroll
    for (unsigned k = 0; k < streaming_batch; ++k) {
      x[k] = load(n + k);
    }
    end_of_loads();
#pragma unroll
    for (unsigned k = 0; k < streaming_batch; ++k) {
      body(n + k, x[k]);
    }
  }
#pragma unroll 1
  for (; n < tensor.images; ++n) {
    body(n, load(n));
  }
}

// The last pass.
__device__ void normalize_images(const float* __restrict__ input, float* __restrict__ output,
                                 const Tensor& tensor, unsigned activation, float mean, float scale,
                                 float shift) {
  const unsigned activations = activations_of(tensor);
  for_images(input, tensor, activation, [&](unsigned n, float x) {
    (output + std::size_t{n} * activations)[activation] = fmaf(x - mean, scale, shift);
  });
}

__global__ void __launch_bounds__(streaming_block, second_bound(streaming_block, streaming_batch))
    three_passes_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                        const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  const unsigned activation = blockIdx.x * streaming_block + threadIdx.x;
  if (activation >= activations_of(tensor)) {
    return;
  }
  const auto images = static_cast<float>(tensor.images);
  float sum = 0;
  for_images(input, tensor, activation, [&](unsigned, float x) { sum += x; });
  const float mean = sum / images;
  float spread = 0;
  for_images(input, tensor, activation, [&](unsigned, float x) {
    const float difference = x - mean;
    spread = fmaf(difference, difference, spread);
  });
  normalize_images(input, output, tensor, activation, mean,
                   scale_of(gamma[activation], spread / images), beta[activation]);
}

// `moments` is squares or shifted: what needs each value once.
template <Moments moments>
__global__ void __launch_bounds__(streaming_block, second_bound(streaming_block, streaming_batch))
    two_passes_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                      const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  const unsigned activation = blockIdx.x * streaming_block + threadIdx.x;
  if (activation >= activations_of(tensor)) {
    return;
  }
  const float first = moments == Moments::shifted ? input[activation] : 0;
  Partial all{};
  for_images(input, tensor, activation, [&](unsigned, float x) {
    const float difference = x - first;
    all.sum += difference;
    all.spread = fmaf(difference, difference, all.spread);
  });
  const auto one = [&](unsigned) { return all; };
  const Statistics statistics =
      merge<moments>(1, tensor.images, first, one, [](unsigned) { return 0U; });
  normalize_images(input, output, tensor, activation, statistics.mean,
                   scale_of(gamma[activation], statistics.variance), beta[activation]);
}

// --- Kernels: one pass, the values stay in registers -------------------------------------------

constexpr unsigned one_pass_images = 128;

// Which part of its activations a thread takes. Where that is the same for all lanes of a wave,
// AMD's compiler is told so: addresses of rows then are scalar, and cost no VGPRs.
template <unsigned Lanes>
__device__ unsigned part_of_thread() {
  const unsigned part = threadIdx.x / Lanes;
#if defined(__HIP_DEVICE_COMPILE__)
  constexpr unsigned largest_wave = 64;
  if constexpr (Lanes % largest_wave == 0) {
    return __builtin_amdgcn_readfirstlane(part);
  }
#endif
  return part;
}

// `Parts` threads share an activation: part p has rows p, p + Parts, p + 2 Parts ... of `Width`
// neighbouring activations; a part has `Lanes` threads. All loads are issued before the first value
// is used; two barriers later all stores follow. A block's loads so overlap another block's stores.
// `any_images`: there may be fewer images than one_pass_images; rows beyond them are the last one
// again, and do not count.
template <unsigned Parts, unsigned Lanes, unsigned Width, Moments moments, bool any_images>
__global__ void __launch_bounds__(Parts* Lanes,
                                  second_bound(Parts* Lanes, one_pass_images / Parts * Width))
    one_pass_kernel(const float* __restrict__ input, const float* __restrict__ gamma,
                    const float* __restrict__ beta, float* __restrict__ output, Tensor tensor) {
  using Access = typename FloatVector<Width>::Type;
  constexpr unsigned values = one_pass_images / Parts;
  constexpr unsigned columns = Lanes * Width;
  static_assert(columns <= Parts * Lanes, "a thread merges no more than one activation");
  __shared__ Access sums[Parts][Lanes];
  __shared__ Access spreads[Parts][Lanes];
  __shared__ Access means[Lanes];
  __shared__ Access scales[Lanes];
  __shared__ Access shifts[Lanes];
  const unsigned activations = activations_of(tensor);
  const unsigned images = any_images ? tensor.images : one_pass_images;
  const unsigned part = part_of_thread<Lanes>();
  const unsigned lane = threadIdx.x % Lanes;
  const unsigned wanted = blockIdx.x * columns + lane * Width;
  // Threads beyond the last activation take the last ones again and store nothing.
  const unsigned activation = min(wanted, activations - Width);
  Access x[values];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
    const unsigned row = k * Parts + part;
    const unsigned n = any_images ? min(row, images - 1) : row;
    x[k] = *reinterpret_cast<const Access*>(input + std::size_t{n} * activations + activation);
  }
  // The activation that this thread will merge.
  const unsigned merged = min(blockIdx.x * columns + threadIdx.x, activations - 1);
  const bool merges = threadIdx.x < columns;
  const float merged_gamma = merges ? gamma[merged] : 0;
  const float merged_beta = merges ? beta[merged] : 0;
  const float merged_first = merges && moments == Moments::shifted ? input[merged] : 0;
  Access first{};
  if constexpr (moments == Moments::shifted) {
    first = *reinterpret_cast<const Access*>(input + activation);
  }
  end_of_loads();
  const auto rows_of = [&](unsigned p) {
    return any_images ? (images + Parts - 1 - p) / Parts : values;
  };
#pragma unroll
  for (unsigned w = 0; w < Width; ++w) {
    const Partial mine = partial_of<moments, values>([&](unsigned k) { return component(x[k], w); },
                                                     rows_of(part), component(first, w));
    component(sums[part][lane], w) = mine.sum;
    component(spreads[part][lane], w) = mine.spread;
  }
  __syncthreads();
  if (merges) {
    const auto partial = [&](unsigned p) {
      return Partial{.sum = component(sums[p][0], threadIdx.x),
                     .spread = component(spreads[p][0], threadIdx.x)};
    };
    const Statistics statistics = merge<moments>(Parts, images, merged_first, partial, rows_of);
    component(means[0], threadIdx.x) = statistics.mean;
    component(scales[0], threadIdx.x) = scale_of(merged_gamma, statistics.variance);
    component(shifts[0], threadIdx.x) = merged_beta;
  }
  __syncthreads();
  if (wanted >= activations) {
    return;
  }
  Access mean = means[lane];
  Access scale = scales[lane];
  Access shift = shifts[lane];
#pragma unroll
  for (unsigned k = 0; k < values; ++k) {
#pragma unroll
    for (unsigned w = 0; w < Width; ++w) {
      component(x[k], w) =
          fmaf(component(x[k], w) - component(mean, w), component(scale, w), component(shift, w));
    }
    const unsigned row = k * Parts + part;
    if (!any_images || row < images) {
      *reinterpret_cast<Access*>(output + std::size_t{row} * activations + activation) = x[k];
    }
  }
}

// --- The copy: what the memory takes -------------------------------------------------------------

constexpr unsigned copy_block = 256;

// One value of 16 bytes per thread, one tile per block: the best shape of memory_bandwidth.
__global__ void __launch_bounds__(copy_block)
    copy_kernel(const uint4* __restrict__ input, uint4* __restrict__ output, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * copy_block + threadIdx.x;
  if (i < count) {
    output[i] = input[i];
  }
}

// --- Stages --------------------------------------------------------------------------------------

unsigned blocks_for(std::uint64_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

using ActivationKernel = void (*)(const float*, const float*, const float*, float*, Tensor);

std::function<void()> launcher(Arrays& arrays, ActivationKernel kernel, unsigned columns,
                               unsigned threads) {
  const unsigned blocks = blocks_for(arrays.populations, columns);
  return [kernel, blocks, threads, &arrays] {
    launch(kernel, {.grid = dim3(blocks), .block = dim3(threads)}, arrays.input.data(),
           arrays.gamma.data(), arrays.beta.data(), arrays.output.data(), arrays.tensor);
  };
}

Stage streaming_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                      ActivationKernel kernel, Moments moments, unsigned reads) {
  return {.name = name,
          .arithmetic = {.moments = moments, .additions = arrays.tensor.images, .is_exact = false},
          .is_exact_on_integers = true,
          .reads = reads,
          .footprint = footprint_of(sweep, kernel, streaming_block),
          .run = launcher(arrays, kernel, streaming_block, streaming_block),
          .why_not = ""};
}

Stage three_passes(const Sweep& sweep, Arrays& arrays) {
  return streaming_stage(sweep, arrays, "three passes", three_passes_kernel, Moments::centred, 3);
}

template <Moments moments>
Stage two_passes(const Sweep& sweep, Arrays& arrays) {
  const std::string name = "two passes";
  return streaming_stage(sweep, arrays,
                         moments == Moments::shifted ? name + ", less the first value" : name,
                         two_passes_kernel<moments>, moments, 2);
}

template <unsigned Parts, unsigned Lanes, unsigned Width, Moments moments = Moments::centred,
          bool any_images = false>
Stage one_pass(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  constexpr auto kernel = one_pass_kernel<Parts, Lanes, Width, moments, any_images>;
  Stage stage;
  stage.name = name;
  stage.arithmetic = {
      .moments = moments, .additions = one_pass_images / Parts + Parts, .is_exact = false};
  stage.is_exact_on_integers = moments != Moments::welford;
  stage.footprint = footprint_of(sweep, kernel, Parts * Lanes);
  const unsigned images = arrays.tensor.images;
  if (any_images ? images > one_pass_images : images != one_pass_images) {
    stage.why_not = any_images ? "for up to 128 images" : "for 128 images";
  } else if (arrays.populations % Width != 0) {
    stage.why_not = "an image is no whole number of accesses";
  } else {
    stage.run = launcher(arrays, kernel, Lanes * Width, Parts * Lanes);
  }
  return stage;
}

// The source's stages, and their names in published.csv.
std::vector<Stage> published_stages(const Sweep& sweep, Arrays& arrays) {
  return {three_passes(sweep, arrays), two_passes<Moments::squares>(sweep, arrays),
          one_pass<2, 128, 1>(sweep, arrays, "one pass, 128 values over 2 threads"),
          one_pass<4, 64, 1>(sweep, arrays, "one pass, 128 values over 4 threads")};
}

std::vector<Stage> all_stages(const Sweep& sweep, Arrays& arrays) {
  auto stages = published_stages(sweep, arrays);
  stages.insert(stages.begin() + 2, two_passes<Moments::shifted>(sweep, arrays));
  stages.push_back(one_pass<8, 64, 1>(sweep, arrays, "over 8 threads"));
  stages.push_back(one_pass<16, 64, 1>(sweep, arrays, "over 16 threads"));
  stages.push_back(one_pass<8, 32, 2>(sweep, arrays, "over 8 threads, 8 bytes"));
  stages.push_back(one_pass<16, 16, 4>(sweep, arrays, "over 16 threads, 16 bytes"));
  stages.push_back(one_pass<8, 16, 4>(sweep, arrays, "over 8 threads, 16 bytes"));
  stages.push_back(
      one_pass<16, 32, 1, Moments::centred, true>(sweep, arrays, "over 16 threads, any number"));
  return stages;
}

// The vendor's. The order of its additions is not known: taken for a sum of squares of at most so
// many in a row.
Stage vendor_stage(Arrays& arrays, const std::string& mode_name,
                   hipscope::vendor::BatchNormMode mode,
                   const hipscope::vendor::BatchNormShape& shape) {
  constexpr unsigned additions_in_a_row = 1024;
  Stage stage;
  stage.name = hipscope::vendor::batch_norm_library() + ", " + mode_name;
  stage.arithmetic = {
      .moments = Moments::squares,
      .additions = std::min(additions_in_a_row, values_of(arrays.tensor, arrays.scope)),
      .is_exact = false};
  stage.reads = 0;
  const auto library = std::make_shared<hipscope::vendor::BatchNorm>(
      shape, mode, double{hipscope::batch_norm::epsilon});
  stage.run = [library, &arrays] {
    library->enqueue(arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
                     arrays.output.data());
  };
  return stage;
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr const char* gigabytes = "GB/s";
constexpr const char* gigapixels = "Gpixel/s";  // as the source says: elements
constexpr double vendor_x = 100;                // x of the vendor's rows, ours count from 1

double gigabytes_of(const Arrays& arrays) {
  return static_cast<double>(arrays.elements) * sizeof(float) * 1e-9;
}

// The row of the copy, which comes first; returns its time in seconds.
double measure_copy(Sweep& sweep, Arrays& arrays) {
  auto point = sweep.point("copy", 0);
  const std::uint64_t count = arrays.input.size() / 4;
  const auto run = [&] {
    launch(copy_kernel, {.grid = dim3(blocks_for(count, copy_block)), .block = dim3(copy_block)},
           static_cast<uint4*>(static_cast<void*>(arrays.input.data())),
           static_cast<uint4*>(static_cast<void*>(arrays.output.data())), count);
  };
  arrays.verify_copy(point, run);
  const double seconds = point.measure(run).seconds().median;
  point.value("rate", static_cast<double>(arrays.elements) * 1e-9 / seconds, gigapixels);
  point.value("bandwidth", 2 * gigabytes_of(arrays) / seconds, gigabytes);
  point.value("share of copy", 100, "%");
  return seconds;
}

// Verifies and measures a stage; returns its time in seconds.
double measure_stage(Point point, Arrays& arrays, const Stage& stage, double copy_seconds) {
  const auto errors = verify(point, arrays, stage);
  const double seconds = point.measure(stage.run).seconds().median;
  const double gigabyte_count = gigabytes_of(arrays);
  point.value("rate", static_cast<double>(arrays.elements) * 1e-9 / seconds, gigapixels);
  point.value("bandwidth", 2 * gigabyte_count / seconds, gigabytes);
  point.value("share of copy", 100 * copy_seconds / seconds, "%");
  point.value("asked for", stage.reads > 0 ? (stage.reads + 1) * gigabyte_count / seconds : unknown,
              gigabytes);
  point.value("registers", stage.footprint.registers, "per thread");
  point.value("scratch", stage.footprint.scratch_bytes, "bytes/thread");
  point.value("resident",
              stage.footprint.resident_blocks > 0 ? stage.footprint.resident_blocks : unknown,
              "blocks/CU");
  point.value("largest error", errors.error, "deviations");
  point.value("of its bound", 100 * errors.share_of_bound, "%");
  return seconds;
}

void explain(Sweep& sweep, const Arrays& arrays) {
  const Tensor& tensor = arrays.tensor;
  sweep.note("N=" + std::to_string(tensor.images) + " C=" + std::to_string(tensor.channels) +
             " HW=" + std::to_string(tensor.plane) + ": " + number(gigabytes_of(arrays) * 1e3, 4) +
             " MB each of input and output");
  sweep.note(
      "bandwidth counts one read and one write; asked for: what the source reads and writes, in "
      "caches or not; largest error: of all elements, over gamma");
}

// The copy, the stages that can, the vendor's. With `is_published` their names are series of
// published.csv.
void measure_ladder(Sweep& sweep, Arrays& arrays, const std::vector<Stage>& stages,
                    const std::vector<Stage>& vendor, bool is_published) {
  sweep.axis({.name = "stage"});
  sweep.headline("rate");
  explain(sweep, arrays);
  const double copy_seconds = measure_copy(sweep, arrays);
  double x = 0;
  for (const Stage& stage : stages) {
    x += 1;
    if (stage.run) {
      measure_stage(sweep.point(stage.name, x, is_published ? stage.name : std::string()), arrays,
                    stage, copy_seconds);
    } else {
      sweep.note(stage.name + ": " + stage.why_not);
    }
  }
  x = vendor_x;
  for (const Stage& stage : vendor) {
    measure_stage(sweep.point(stage.name, x), arrays, stage, copy_seconds);
    x += 1;
  }
}

// --- Sweeps --------------------------------------------------------------------------------------

struct Extents {
  std::uint64_t images;
  std::uint64_t channels;
  std::uint64_t height;
  std::uint64_t width;
};

Tensor tensor_of(const Extents& extents) {
  // Threads and blocks count activations in 32 bits, and so do threads the values of a channel.
  constexpr std::uint64_t limit = std::uint64_t{1} << 30;
  const std::uint64_t plane = extents.height * extents.width;
  if (plane >= limit || extents.channels * plane >= limit || extents.images * plane >= limit) {
    throw hipscope::UsageError(
        "--channels x --height x --width and --images x --height x --width must be below 2^30");
  }
  return {.images = static_cast<unsigned>(extents.images),
          .channels = static_cast<unsigned>(extents.channels),
          .plane = static_cast<unsigned>(plane)};
}

hipscope::vendor::BatchNormShape vendor_shape(const Extents& extents) {
  return {.images = static_cast<int>(extents.images),
          .channels = static_cast<int>(extents.channels),
          .height = static_cast<int>(extents.height),
          .width = static_cast<int>(extents.width)};
}

Arrays arrays_for(const Sweep& sweep, const Extents& extents, Scope scope) {
  const Tensor tensor = tensor_of(extents);
  sweep.require_memory(Arrays::bytes_for(tensor, scope), "--images");
  return {sweep, tensor, scope};
}

bool has_vendor(Sweep& sweep) {
  if (!sweep.is_hardware()) {
    return false;
  }
  if (hipscope::vendor::batch_norm_library().empty()) {
    sweep.note(std::string("this build has no vendor's library; looked for ") +
               hipscope::vendor::batch_norm_libraries);
    return false;
  }
  return true;
}

void measure_published(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  const bool is_published = extents.images == 128 && extents.channels == 1024 &&
                            extents.height == 28 && extents.width == 28;
  measure_ladder(sweep, arrays, published_stages(sweep, arrays), {}, is_published);
}

void measure_stages(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  std::vector<Stage> vendor;
  if (has_vendor(sweep)) {
    vendor.push_back(vendor_stage(arrays, "per activation",
                                  hipscope::vendor::BatchNormMode::per_activation,
                                  vendor_shape(extents)));
  }
  measure_ladder(sweep, arrays, all_stages(sweep, arrays), vendor, false);
}

void measure_shapes(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  sweep.note(
      "threads per activation x lanes x bytes per access; a row of a block is lanes x bytes");
  std::vector<Stage> stages;
  const auto add = [&]<unsigned Parts, unsigned Lanes, unsigned Width>() {
    stages.push_back(one_pass<Parts, Lanes, Width>(
        sweep, arrays,
        std::to_string(Parts) + "x" + std::to_string(Lanes) + "x" + std::to_string(4 * Width)));
  };
  add.operator()<2, 32, 1>();
  add.operator()<2, 128, 1>();
  add.operator()<4, 32, 1>();
  add.operator()<4, 64, 1>();
  add.operator()<4, 256, 1>();
  add.operator()<8, 32, 1>();
  add.operator()<8, 64, 1>();
  add.operator()<8, 128, 1>();
  add.operator()<16, 32, 1>();
  add.operator()<16, 64, 1>();
  add.operator()<32, 32, 1>();
  add.operator()<4, 64, 2>();
  add.operator()<8, 32, 2>();
  add.operator()<8, 64, 2>();
  add.operator()<16, 32, 2>();
  add.operator()<16, 64, 2>();
  add.operator()<32, 32, 2>();
  add.operator()<8, 16, 4>();
  add.operator()<8, 32, 4>();
  add.operator()<8, 64, 4>();
  add.operator()<16, 16, 4>();
  add.operator()<16, 32, 4>();
  add.operator()<16, 64, 4>();
  add.operator()<32, 16, 4>();
  add.operator()<32, 32, 4>();
  measure_ladder(sweep, arrays, stages, {}, false);
}

// What an arithmetic costs in digits, by the mean of the data, whose deviation is about 1.
void measure_accuracy(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  sweep.axis({.name = "arithmetic"});
  sweep.headline("mean 1000");
  sweep.note("largest error of all elements, over gamma, in standard deviations");
  std::vector<Stage> stages = {
      three_passes(sweep, arrays),
      two_passes<Moments::squares>(sweep, arrays),
      two_passes<Moments::shifted>(sweep, arrays),
      one_pass<8, 16, 4, Moments::squares>(sweep, arrays, "one pass, sum of squares"),
      one_pass<8, 16, 4, Moments::shifted>(sweep, arrays, "one pass, less the first value"),
      one_pass<8, 16, 4, Moments::welford>(sweep, arrays, "one pass, Welford"),
      one_pass<8, 16, 4, Moments::centred>(sweep, arrays, "one pass, mean first")};
  if (has_vendor(sweep)) {
    stages.push_back(vendor_stage(arrays, "per activation",
                                  hipscope::vendor::BatchNormMode::per_activation,
                                  vendor_shape(extents)));
  }
  double x = 0;
  for (const Stage& stage : stages) {
    x += 1;
    if (!stage.run) {
      sweep.note(stage.name + ": " + stage.why_not);
      continue;
    }
    auto point = sweep.point(stage.name, x);
    for (const float mean : {0.0F, 30.0F, 1000.0F}) {
      const std::string label = "mean " + number(mean, 4);
      arrays.fill_random(mean);
      const auto errors = arrays.verify(point, label, stage.arithmetic, stage.run);
      point.value(label, errors.error, "deviations");
    }
    const double seconds = point.measure(stage.run).seconds().median;
    point.value("rate", static_cast<double>(arrays.elements) * 1e-9 / seconds, gigapixels);
  }
}

// The best on an H200 (sweep spatial-shapes). Four blocks hold a channel of the source's size, with
// 2 % of their places left.
constexpr unsigned resident_values = 25;  // of 16 bytes per thread
constexpr unsigned resident_block = 256;

std::vector<Stage> spatial_stages(const Sweep& sweep, Arrays& arrays) {
  auto stages = hipscope::batch_norm::channel_stages(sweep, arrays);
  stages.push_back(hipscope::batch_norm::resident_stage<resident_values, resident_block, false>(
      sweep, arrays, "resident"));
  stages.push_back(hipscope::batch_norm::resident_stage<resident_values, resident_block, true>(
      sweep, arrays, "resident, blocks that stay"));
  stages.push_back(hipscope::batch_norm::cluster_stage(sweep, arrays));
  return stages;
}

void measure_spatial(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::spatial);
  std::vector<Stage> vendor;
  if (has_vendor(sweep)) {
    using Mode = hipscope::vendor::BatchNormMode;
    vendor = {vendor_stage(arrays, "spatial", Mode::spatial, vendor_shape(extents)),
              vendor_stage(arrays, "spatial persistent", Mode::spatial_persistent,
                           vendor_shape(extents))};
  }
  measure_ladder(sweep, arrays, spatial_stages(sweep, arrays), vendor, false);
}

void measure_spatial_shapes(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::spatial);
  sweep.note("threads of a block x values of 16 bytes that each keeps (of 4 bytes: 512x16)");
  std::vector<Stage> stages;
  const auto add = [&]<unsigned Block, unsigned Values>() {
    const std::string name = std::to_string(Block) + "x" + std::to_string(Values);
    stages.push_back(
        hipscope::batch_norm::resident_stage<Values, Block, false>(sweep, arrays, name));
    stages.push_back(hipscope::batch_norm::resident_stage<Values, Block, true>(
        sweep, arrays, name + ", blocks that stay"));
  };
  add.operator()<512, 4>();
  add.operator()<256, 7>();
  add.operator()<384, 7>();
  add.operator()<512, 7>();
  add.operator()<128, 14>();
  add.operator()<256, 14>();
  add.operator()<512, 14>();
  add.operator()<256, 25>();
  measure_ladder(sweep, arrays, stages, {}, false);
}

// Every stage of both scopes where it must look where its data end.
void measure_awkward(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "size"});
  sweep.headline("stages");
  sweep.note("N x C x H x W; every stage that the size lets run, verified");
  std::vector<Extents> sizes = {
      {1, 3, 5, 17},    {127, 1, 1, 1},    {127, 2, 5, 51},  {128, 1, 1, 1},     {128, 5, 3, 17},
      {128, 1, 1, 257}, {128, 1, 1, 1009}, {128, 3, 4, 5},   {255, 2, 1, 2},     {257, 3, 2, 2},
      {2, 1, 100, 30},  {3, 1, 125, 61},   {1, 2, 128, 128}, {128, 8192, 28, 28}};
  // The last is of 3.3 GB.
  std::erase_if(sizes, [&](const Extents& size) { return elements_of(tensor_of(size)) > largest; });
  double x = 0;
  for (const Extents& size : sizes) {
    x += 1;
    const Tensor tensor = tensor_of(size);
    const std::string label = std::to_string(size.images) + "x" + std::to_string(size.channels) +
                              "x" + std::to_string(size.height) + "x" + std::to_string(size.width);
    if (2 * Arrays::bytes_for(tensor, Scope::per_activation) > sweep.device().free_memory_bytes) {
      sweep.note(label + ": does not fit into this device's memory");
      continue;
    }
    auto point = sweep.point(label, x);
    unsigned verified = 0;
    double share = 0;
    for (const Scope scope : {Scope::per_activation, Scope::spatial}) {
      Arrays arrays(sweep, tensor, scope);
      const bool is_spatial = scope == Scope::spatial;
      const auto stages = is_spatial ? spatial_stages(sweep, arrays) : all_stages(sweep, arrays);
      for (const Stage& stage : stages) {
        if (stage.run) {
          const std::string prefix = (is_spatial ? "spatial " : "") + stage.name + ", ";
          share = std::max(share, verify(point, arrays, stage, prefix).share_of_bound);
          ++verified;
        }
      }
    }
    point.value("stages", verified, "stages");
    point.value("largest error of its bound", 100 * share, "%");
  }
}

// --- What the rows show --------------------------------------------------------------------------

double confidence_of(const hipscope::CurvePoint& one, const hipscope::CurvePoint& other) {
  return 1 - std::min(1.0, 2 * std::max(one.relative_spread, other.relative_spread));
}

using Curve = std::vector<hipscope::CurvePoint>;

// The highest of the rows with x from `first` to `last`; none there: 0.
hipscope::CurvePoint best_of(const Curve& curve, double first, double last) {
  hipscope::CurvePoint best;
  for (const auto& point : curve) {
    if (point.x >= first && point.x <= last && point.y > best.y) {
      best = point;
    }
  }
  return best;
}

// The fastest stage of a ladder over its copy and over the vendor's library.
void infer_shares(hipscope::Results& results, const std::string& sweep, const std::string& what) {
  const auto rates = results.curve(sweep, "rate");
  if (rates.empty()) {
    return;
  }
  const auto best = best_of(rates, 1, vendor_x - 1);
  const auto copy = best_of(rates, 0, 0);
  hipscope::Inference of_copy{.name = "batchnorm " + what + " over copy bandwidth",
                              .unit = "%",
                              .statement = "no stage was measured beside the copy"};
  if (copy.y > 0 && best.y > 0) {
    of_copy.value = 100 * best.y / copy.y;
    of_copy.confidence = confidence_of(copy, best);
    of_copy.statement = "the fastest stage over a copy of the same arrays, one read and one write";
    of_copy.evidence = {number(best.y, 4) + " of " + number(copy.y, 4) + " " + gigapixels};
  }
  results.infer(of_copy);
  const auto vendor = best_of(rates, vendor_x, std::numeric_limits<double>::max());
  hipscope::Inference of_vendor{
      .name = "batchnorm " + what + " over the vendor's library",
      .unit = "times its rate",
      .statement = std::string("no vendor's library was measured; looked for ") +
                   hipscope::vendor::batch_norm_libraries};
  if (vendor.y > 0 && best.y > 0) {
    of_vendor.value = best.y / vendor.y;
    of_vendor.confidence = confidence_of(vendor, best);
    of_vendor.statement =
        "our fastest stage over the fastest of " + hipscope::vendor::batch_norm_library();
    of_vendor.evidence = {number(best.y, 4) + " and " + number(vendor.y, 4) + " " + gigapixels};
  }
  results.infer(of_vendor);
}

// Where memory is the limit, passes cost what they move: 4, 3 and 2 times the tensor.
void infer_passes(hipscope::Results& results) {
  const auto rates = results.curve("stages", "rate");
  const auto three = best_of(rates, 1, 1);
  const auto two = best_of(rates, 2, 2);
  const auto one = best_of(rates, 4, vendor_x - 1);
  if (three.y <= 0 || two.y <= 0 || one.y <= 0) {
    return;
  }
  hipscope::Inference inference{
      .name = "what one pass gains on three",
      .value = one.y / three.y,
      .unit = "times the rate",
      .confidence = confidence_of(one, three),
      .statement = "4 transfers of the tensor against 2: twice, if only memory counts"};
  inference.evidence = {
      "two passes: " + number(two.y / three.y) + " times three passes, where the bytes say 4/3",
      "one pass: " + number(one.y / two.y) + " times two passes, where the bytes say 3/2"};
  results.infer(inference);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "batchnorm",
      {.question = "What does batch normalization gain that reads its input once?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.14 (examples 14a to 14d)"}});
  constexpr std::uint64_t most = 1U << 20;
  const auto images =
      experiment.size("--images", "images of the tensor; the one-pass stages are for 128",
                      {.gpu = 128, .quick = 128, .host = 128, .minimum = 1, .maximum = most});
  const auto channels =
      experiment.size("--channels", "channels of the tensor",
                      {.gpu = 1024, .quick = 512, .host = 3, .minimum = 1, .maximum = most});
  const auto height =
      experiment.size("--height", "rows of an image",
                      {.gpu = 28, .quick = 28, .host = 8, .minimum = 1, .maximum = most});
  const auto width =
      experiment.size("--width", "columns of an image",
                      {.gpu = 28, .quick = 28, .host = 6, .minimum = 1, .maximum = most});
  const auto largest_awkward = experiment.size(
      "--largest-awkward", "most values of a tensor of sweep awkward",
      {.gpu = 1U << 30, .quick = 1U << 14, .host = 1U << 20, .minimum = 255, .maximum = 1U << 30});
  const auto extents = [&] {
    return Extents{.images = images, .channels = channels, .height = height, .width = width};
  };
  experiment.sweep("published", "per activation: the source's stages",
                   [&](Sweep& sweep) { measure_published(sweep, extents()); });
  experiment.sweep("stages", "per activation: every stage",
                   [&](Sweep& sweep) { measure_stages(sweep, extents()); });
  experiment.sweep("shapes", "per activation, one pass: threads x lanes x bytes",
                   [&](Sweep& sweep) { measure_shapes(sweep, extents()); });
  experiment.sweep("accuracy", "per activation: what the arithmetic costs in digits",
                   [&](Sweep& sweep) { measure_accuracy(sweep, extents()); });
  experiment.sweep("spatial", "per channel: every stage",
                   [&](Sweep& sweep) { measure_spatial(sweep, extents()); });
  experiment.sweep("spatial-shapes", "per channel, resident: threads x values",
                   [&](Sweep& sweep) { measure_spatial_shapes(sweep, extents()); });
  experiment.sweep("awkward", "both, at sizes that fill nothing",
                   [&](Sweep& sweep) { measure_awkward(sweep, largest_awkward); });
  experiment.conclude([](hipscope::Results& results) {
    infer_shares(results, "stages", "per activation");
    infer_shares(results, "spatial", "spatial");
    infer_passes(results);
  });
  return experiment.run(argc, argv);
}
