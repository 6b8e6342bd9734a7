// What does a kernel gain that reads its input once? Batch normalization (training, forward) takes
// mean and variance of values and then goes to the same values again:
//
//   y = gamma * (x - mean) / sqrt(variance + epsilon) + beta
//
// The question is V's (fsword73/HIP-Performance-Optmization-on-VEGA64, 2.14): per-activation
// normalization of an NCHW tensor; each (c, h, w) has its own mean, over 128 images. Each rung of
// the ladder is a file of this folder, a kernel alone with its launch; read them by their numbers:
//   14a to 14d  V's own: three passes; one pass over 2 threads, and over 4; two passes
//   14e to 14g  several passes, with eight loads under way: mean, variance, result; sum and sum of
//               squares together; the same less the first value
//   14h to 14k  one pass: the 128 values of an activation stay in the registers of 2 to 16 threads,
//               in different waves, so that neighbours read neighbouring activations; the threads
//               exchange partial sums by LDS
//   14l to 14n  8 and 16 bytes: each thread has two or four neighbouring activations
//   14o         fewer images than 128
//   14p to 14r  other ways to the variance, and what they cost in digits
// Spatial normalization has a mean per channel, over images and its plane, and a channel does not
// fit into one block's registers:
//   15a to 15c  one block for a channel: three passes, two, two of which one goes backwards
//   15d to 15f  several blocks for a channel, each with its part in registers: they meet in memory;
//               no more blocks than fit; or a cluster, on NVIDIA
//   15g, 15h    with a part of the values in LDS; and L2 asked for later channels ahead of time
//
// What must move is one read and one write, so the ladder ends at the bandwidth of a copy, which is
// measured on the same two arrays (copy.h). reference.h checks every element, on random numbers, on
// integers of which sums are exact, and where the variance is 0 or no larger than epsilon.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "activation_stages.h"
#include "batchnorm_findings.h"
#include "channel_stages.h"
#include "copy.h"
#include "library.h"

using batchnorm::copy_x;
using batchnorm::own_x;
using batchnorm::v_x;
using batchnorm::vendor_x;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::batch_norm::Arrays;
using hipscope::batch_norm::Moments;
using hipscope::batch_norm::Scope;
using hipscope::batch_norm::Stage;
using hipscope::batch_norm::Tensor;
using hipscope::batch_norm::unknown;
using hipscope::batch_norm::Values;

namespace {

// --- The vendor's library ------------------------------------------------------------------------

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
constexpr const char* gigapixels = "Gpixel/s";  // as V says: elements

double gigabytes_of(const Arrays& arrays) {
  return static_cast<double>(arrays.elements) * sizeof(float) * 1e-9;
}

// The row of the copy, which comes first; returns its time in seconds.
double measure_copy(Sweep& sweep, Arrays& arrays) {
  auto point = sweep.point("copy", copy_x);
  const auto run = [&] { hipscope::batch_norm::run_copy(arrays); };
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
      "bandwidth counts one read and one write; asked for: what the stage reads and writes, in "
      "caches or not; largest error: of all elements, over gamma");
}

// Whether a tensor is of the size that V's figures are for.
bool is_of_v(const Tensor& tensor) {
  return tensor.images == 128 && tensor.channels == 1024 && tensor.plane == 28 * 28;
}

// Rows of the stages that can, with x from `first` on.
void measure_all(Sweep& sweep, Arrays& arrays, const std::vector<Stage>& stages, double first,
                 double copy_seconds) {
  double x = first;
  for (const Stage& stage : stages) {
    if (stage.run) {
      measure_stage(sweep.point(stage.name, x, stage.published_series), arrays, stage,
                    copy_seconds);
    } else {
      sweep.note(stage.name + ": " + stage.why_not);
    }
    x += 1;
  }
}

void measure_ladder(Sweep& sweep, Arrays& arrays, const std::vector<Stage>& of_v,
                    const std::vector<Stage>& own, const std::vector<Stage>& vendor) {
  sweep.axis({.name = "stage"});
  sweep.headline("rate");
  explain(sweep, arrays);
  const double copy_seconds = measure_copy(sweep, arrays);
  measure_all(sweep, arrays, of_v, v_x, copy_seconds);
  measure_all(sweep, arrays, own, own_x, copy_seconds);
  measure_all(sweep, arrays, vendor, vendor_x, copy_seconds);
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

// V's figures stand beside one row each, in sweep published.
std::vector<Stage> without_figures(std::vector<Stage> stages) {
  for (Stage& stage : stages) {
    stage.published_series.clear();
  }
  return stages;
}

void measure_published(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  const std::vector<Stage> stages = stages_of_v(sweep, arrays);
  measure_ladder(sweep, arrays, is_of_v(arrays.tensor) ? stages : without_figures(stages), {}, {});
}

void measure_stages(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  std::vector<Stage> vendor;
  if (batchnorm::has_library(sweep)) {
    vendor.push_back(vendor_stage(arrays, "per activation",
                                  hipscope::vendor::BatchNormMode::per_activation,
                                  vendor_shape(extents)));
  }
  measure_ladder(sweep, arrays, without_figures(stages_of_v(sweep, arrays)),
                 own_stages(sweep, arrays), vendor);
}

void measure_shapes(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  sweep.note(
      "threads per activation x lanes x bytes per access; a row of a block is lanes x bytes");
  measure_ladder(sweep, arrays, {}, shape_stages(sweep, arrays), {});
}

// What an arithmetic costs in digits, by the mean of the data, whose deviation is about 1.
void measure_accuracy(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  sweep.axis({.name = "arithmetic"});
  sweep.headline("mean 1000");
  sweep.note("largest error of all elements, over gamma, in standard deviations");
  std::vector<Stage> stages = arithmetic_stages(sweep, arrays);
  if (batchnorm::has_library(sweep)) {
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
      arrays.fill(Values::random, mean);
      const auto errors = arrays.verify(point, label, stage.arithmetic, stage.run);
      point.value(label, errors.error, "deviations");
    }
    const double seconds = point.measure(stage.run).seconds().median;
    point.value("rate", static_cast<double>(arrays.elements) * 1e-9 / seconds, gigapixels);
  }
}

void measure_spatial(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::spatial);
  std::vector<Stage> vendor;
  if (batchnorm::has_library(sweep)) {
    using Mode = hipscope::vendor::BatchNormMode;
    vendor = {vendor_stage(arrays, "spatial", Mode::spatial, vendor_shape(extents)),
              vendor_stage(arrays, "spatial persistent", Mode::spatial_persistent,
                           vendor_shape(extents))};
  }
  measure_ladder(sweep, arrays, {}, channel_stages(sweep, arrays), vendor);
}

void measure_spatial_shapes(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::spatial);
  sweep.note("threads of a block x values of 16 bytes that each keeps (of 4 bytes: 512x16)");
  measure_ladder(sweep, arrays, {}, channel_shape_stages(sweep, arrays), {});
}

// Every stage of both scopes where it must look where its data end.
void measure_awkward(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "size"});
  sweep.headline("stages");
  sweep.note("N x C x H x W; every stage that the size lets run, verified");
  std::vector<Extents> sizes = {
      {1, 3, 5, 17},    {127, 1, 1, 1},    {127, 2, 5, 51},  {128, 1, 1, 1},  {128, 5, 3, 17},
      {128, 1, 1, 257}, {128, 1, 1, 1009}, {128, 3, 4, 5},   {255, 2, 1, 2},  {257, 3, 2, 2},
      {2, 1, 100, 30},  {3, 1, 125, 61},   {1, 2, 128, 128}, {128, 4, 8, 16}, {128, 8192, 28, 28}};
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
      const auto stages =
          is_spatial ? channel_stages(sweep, arrays) : activation_stages(sweep, arrays);
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

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = batchnorm::probe_if_asked(argc, argv)) {
    return *status;
  }
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
                      {.gpu = 1024, .quick = 512, .host = 4, .minimum = 1, .maximum = most});
  const auto height =
      experiment.size("--height", "rows of an image",
                      {.gpu = 28, .quick = 28, .host = 8, .minimum = 1, .maximum = most});
  const auto width =
      experiment.size("--width", "columns of an image",
                      {.gpu = 28, .quick = 28, .host = 8, .minimum = 1, .maximum = most});
  const auto largest_awkward = experiment.size(
      "--largest-awkward", "most values of a tensor of sweep awkward",
      {.gpu = 1U << 30, .quick = 1U << 14, .host = 1U << 20, .minimum = 255, .maximum = 1U << 30});
  const auto extents = [&] {
    return Extents{.images = images, .channels = channels, .height = height, .width = width};
  };
  experiment.sweep("published", "per activation: V's stages",
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
    batchnorm::conclude(results, {.name = hipscope::vendor::batch_norm_library(),
                                  .looked_for = hipscope::vendor::batch_norm_libraries});
  });
  return experiment.run(argc, argv);
}
