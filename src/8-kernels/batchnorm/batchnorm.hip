// What does a kernel gain by reading its input once? Batch normalization (training, forward) takes
// mean and variance of values and then needs the same values again:
//
//   y = gamma * (x - mean) / sqrt(variance + epsilon) + beta
//
// The question is fsword73's (HIP-Performance-Optmization-on-VEGA64, 2.14; below, the source):
// per-activation normalization of an NCHW tensor; each (c, h, w) has its own mean, over 128 images.
// Read them by their numbers:
//   14a to 14d  the source's own: three passes; one pass over 2 threads, and over 4; two passes
//   14e         several passes, with eight loads in flight: mean, variance, result; sum and sum of
//               squares together; the same less the first value
//   14f to 14h  one pass: the 128 values of an activation stay in the registers of 2 to 16 threads,
//               in different waves, so that neighbours read neighbouring activations, of which each
//               thread has one, two or four; the threads exchange partial sums through LDS. Fewer
//               images than 128; other ways to the variance, and what they cost in digits
// Spatial normalization has a mean per channel, over all images and pixels, and a channel does not
// fit into one block's registers:
//   15a         one block per channel: three passes, two, two of which one goes backwards
//   15b to 15e  several blocks per channel, each with its part in registers: sums through memory;
//               no more blocks than fit; a cluster, on NVIDIA; a part of the values in LDS
//   15f         later channels prefetched into L2
// What came of each on the H200 docs/8-kernels.md says.
//
// The tensor must be read once and written once, so the limit is a copy of the same two arrays;
// copies.h has one that loads first what a thread keeps, too.
// reference.h checks every element, on random numbers, on integers whose sums are exact, and where
// the variance is 0 or no larger than epsilon.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "activation_stages.h"
#include "channel_stages.h"
#include "copies.h"
#include "library.h"

namespace hipscope::batch_norm {
namespace {

// x of the rows of a ladder: a copy, the source's stages, ours, the vendor's library.
constexpr double copy_x = 0;
constexpr double source_x = 1;
constexpr double own_x = 11;
constexpr double vendor_x = 100;

using Extents = vendor::BatchNormShape;

Tensor tensor_of(const Extents& extents) {
  // Threads and blocks count activations in 32 bits, and so do threads the values of a channel.
  constexpr std::uint64_t limit = std::uint64_t{1} << 30;
  const auto images = static_cast<std::uint64_t>(extents.images);
  const auto channels = static_cast<std::uint64_t>(extents.channels);
  const std::uint64_t plane = std::uint64_t(extents.height) * std::uint64_t(extents.width);
  if (plane >= limit || channels * plane >= limit || images * plane >= limit) {
    throw UsageError(
        "--channels x --height x --width and --images x --height x --width must be below 2^30");
  }
  return {.images = static_cast<unsigned>(images),
          .channels = static_cast<unsigned>(channels),
          .plane = static_cast<unsigned>(plane)};
}

Arrays arrays_for(const Sweep& sweep, const Extents& extents, Scope scope) {
  const Tensor tensor = tensor_of(extents);
  sweep.require_memory(Arrays::bytes_for(tensor, scope), "--images");
  return {sweep, tensor, scope};
}

// --- Rows ----------------------------------------------------------------------------------------

constexpr const char* gigabytes = "GB/s";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Billions of elements in a second, which the source calls pixels; returns the seconds.
double measure_rate(Point& point, const Arrays& arrays, const std::function<void()>& run) {
  const double seconds = point.measure(run).seconds().median;
  point.value("rate", static_cast<double>(arrays.elements) * 1e-9 / seconds, "Gpixel/s");
  return seconds;
}

double gigabytes_of(const Arrays& arrays) {
  return static_cast<double>(arrays.elements) * sizeof(float) * 1e-9;
}

// The same with the share of the copy, which takes `copy_seconds`; 0: this is the copy.
double measure_beside_copy(Point& point, const Arrays& arrays, const std::function<void()>& run,
                           double copy_seconds) {
  const double seconds = measure_rate(point, arrays, run);
  point.value("bandwidth", 2 * gigabytes_of(arrays) / seconds, gigabytes);
  point.value("share of copy", copy_seconds > 0 ? 100 * copy_seconds / seconds : 100, "%");
  return seconds;
}

double measure_copy(Point point, Arrays& arrays, const std::function<void()>& run,
                    double plain_seconds = 0) {
  arrays.verify(point, "copied", {.moments = Moments::none}, run);
  return measure_beside_copy(point, arrays, run, plain_seconds);
}

// Begins a ladder with the rows of the copies; returns the plain one's time in seconds.
double measure_copies(Sweep& sweep, Arrays& arrays) {
  sweep.axis({.name = "stage"});
  sweep.headline("rate");
  const Tensor& tensor = arrays.tensor;
  sweep.note("N=" + std::to_string(tensor.images) + " C=" + std::to_string(tensor.channels) +
             " HW=" + std::to_string(tensor.plane) + ": " + number(gigabytes_of(arrays) * 1e3, 4) +
             " MB each of input and output");
  sweep.note(
      "bandwidth counts one read and one write; asked for: what the stage reads and writes, in "
      "caches or not; largest error: of all elements, over gamma");
  const double seconds = measure_copy(sweep.point("copy", copy_x), arrays, plain_copy(arrays));
  if (const auto run = copy_that_loads_first(arrays)) {
    measure_copy(sweep.point("copy that loads first", copy_x + 0.5), arrays, run, seconds);
  }
  return seconds;
}

void measure_stage(Point point, Arrays& arrays, const Stage& stage, double copy_seconds) {
  const auto errors = verify(point, arrays, stage);
  const double seconds = measure_beside_copy(point, arrays, stage.run, copy_seconds);
  point.value("asked for",
              stage.reads > 0 ? (stage.reads + 1) * gigabytes_of(arrays) / seconds : unknown,
              gigabytes);
  point.value("registers", stage.footprint.registers, "per thread");
  point.value("scratch", stage.footprint.scratch_bytes, "bytes/thread");
  point.value("resident", stage.resident_blocks > 0 ? stage.resident_blocks : unknown, "blocks/CU");
  point.value("largest error", errors.error, "deviations");
  point.value("of its bound", 100 * errors.share_of_bound, "%");
}

// --- Sweeps --------------------------------------------------------------------------------------

// Calls visit(stage, x) for the stages that can run, with x from `first` on.
template <typename Visit>
void for_each_that_runs(Sweep& sweep, const std::vector<Stage>& stages, double first,
                        const Visit& visit) {
  double x = first;
  for (const Stage& stage : stages) {
    if (stage.why_not.empty()) {
      visit(stage, x);
    } else {
      sweep.note(stage.name + ": " + stage.why_not);
    }
    x += 1;
  }
}

// Stages, and the x of the first.
struct StageGroup {
  double first;
  std::function<std::vector<Stage>(Sweep&, Arrays&)> stages;
};

StageGroup library(const Extents& extents, const std::vector<Mode>& modes) {
  return {vendor_x, [=](Sweep& sweep, Arrays& arrays) {
            return library_stages(sweep, arrays, extents, modes);
          }};
}

// The copies, and the stages of all groups. Where `are_published` a stage that is named as in
// published.csv after its number has its figures beside it.
void measure_ladder(Sweep& sweep, const Extents& extents, Scope scope,
                    const std::vector<StageGroup>& groups, bool are_published = false) {
  constexpr std::size_t number_length = 4;  // "14a "
  Arrays arrays = arrays_for(sweep, extents, scope);
  const double copy_seconds = measure_copies(sweep, arrays);
  for (const StageGroup& group : groups) {
    for_each_that_runs(
        sweep, group.stages(sweep, arrays), group.first, [&](const Stage& stage, double x) {
          const std::string series = are_published ? stage.name.substr(number_length) : "";
          measure_stage(sweep.point(stage.name, x, series), arrays, stage, copy_seconds);
        });
  }
}

// What an arithmetic costs in digits, by the mean of the data, whose deviation is about 1.
void measure_accuracy(Sweep& sweep, const Extents& extents) {
  Arrays arrays = arrays_for(sweep, extents, Scope::per_activation);
  sweep.axis({.name = "arithmetic"});
  sweep.headline("mean 1000");
  sweep.note("largest error of all elements, over gamma, in standard deviations");
  std::vector<Stage> stages = stages_of_source(sweep, arrays);
  append(stages, arithmetic_stages(sweep, arrays));
  append(stages, library_stages(sweep, arrays, extents, {Mode::per_activation}));
  for_each_that_runs(sweep, stages, 1, [&](const Stage& stage, double x) {
    auto point = sweep.point(stage.name, x);
    for (const float mean : {0.0F, 30.0F, 1000.0F}) {
      const std::string label = "mean " + number(mean, 4);
      arrays.fill(Values::random, mean);
      const auto errors = arrays.verify(point, label, stage.arithmetic, stage.run);
      point.value(label, errors.error, "deviations");
    }
    measure_rate(point, arrays, stage.run);
  });
}

// Verifies every stage of `scope` that the tensor lets run; returns their number.
unsigned verify_all(Sweep& sweep, Point& point, const Tensor& tensor, Scope scope,
                    double& share_of_bound) {
  Arrays arrays(sweep, tensor, scope);
  const bool is_spatial = scope == Scope::spatial;
  std::vector<Stage> stages =
      is_spatial ? channel_stages(sweep, arrays) : stages_of_source(sweep, arrays);
  if (!is_spatial) {
    append(stages, own_stages(sweep, arrays));
  }
  std::erase_if(stages, [](const Stage& stage) { return !stage.why_not.empty(); });
  for (const Stage& stage : stages) {
    const std::string prefix = (is_spatial ? "spatial " : "") + stage.name + ", ";
    share_of_bound =
        std::max<double>(share_of_bound, verify(point, arrays, stage, prefix).share_of_bound);
  }
  return static_cast<unsigned>(stages.size());
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
    double share = 0;
    const unsigned verified = verify_all(sweep, point, tensor, Scope::per_activation, share) +
                              verify_all(sweep, point, tensor, Scope::spatial, share);
    point.value("stages", verified, "stages");
    point.value("largest error of its bound", 100 * share, "%");
  }
}

}  // namespace
}  // namespace hipscope::batch_norm

int main(int argc, char** argv) {
  using namespace hipscope::batch_norm;
  using hipscope::Sweep;
  if (const auto status = probe_if_asked(argc, argv)) {
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
  const auto largest_awkward =
      experiment.size("--largest-awkward", "most values of a tensor of sweep awkward",
                      {.gpu = 1U << 30,
                       .quick = 1U << 14,
                       .host = 1U << 20,
                       .tiny = 1U << 13,
                       .minimum = 255,
                       .maximum = 1U << 30});
  const auto extents = [=] {
    const auto number = [](std::uint64_t size) { return static_cast<int>(size); };
    return Extents{.images = number(images),
                   .channels = number(channels),
                   .height = number(height),
                   .width = number(width)};
  };
  const StageGroup source = {source_x, stages_of_source};
  experiment.sweep("published", "per activation: the source's stages", [=](Sweep& sweep) {
    const Tensor n = tensor_of(extents());
    const bool is_of_source = n.images == 128 && n.channels == 1024 && n.plane == 28 * 28;
    measure_ladder(sweep, extents(), Scope::per_activation, {source}, is_of_source);
  });
  experiment.sweep("stages", "per activation: every stage", [=](Sweep& sweep) {
    measure_ladder(sweep, extents(), Scope::per_activation,
                   {source, {own_x, own_stages}, library(extents(), {Mode::per_activation})});
  });
  experiment.sweep(
      "shapes", "per activation, one pass: threads x lanes x bytes", [=](Sweep& sweep) {
        sweep.note(
            "threads per activation x lanes x bytes per access; a row of a block is lanes x bytes");
        measure_ladder(sweep, extents(), Scope::per_activation, {{own_x, shape_stages}});
      });
  experiment.sweep("accuracy", "per activation: what the arithmetic costs in digits",
                   [=](Sweep& sweep) { measure_accuracy(sweep, extents()); });
  experiment.sweep("spatial", "per channel: every stage", [=](Sweep& sweep) {
    measure_ladder(
        sweep, extents(), Scope::spatial,
        {{own_x, channel_stages}, library(extents(), {Mode::spatial, Mode::spatial_persistent})});
  });
  experiment.sweep("spatial-shapes", "per channel, resident: threads x values", [=](Sweep& sweep) {
    sweep.note("threads of a block x values of 16 bytes that each keeps (of 4 bytes: 512x16)");
    measure_ladder(sweep, extents(), Scope::spatial, {{own_x, channel_shape_stages}});
  });
  experiment.sweep("awkward", "both, at sizes that fill nothing",
                   [=](Sweep& sweep) { measure_awkward(sweep, largest_awkward); });
  return experiment.run(argc, argv);
}
