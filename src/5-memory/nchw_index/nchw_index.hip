// What does index arithmetic cost when a kernel only stores what it computed?
//
// A tensor in NCHW order holds element (n, c, h, w) at ((n * C + c) * H + h) * W + w. The kernels
// store, for each (n, h, w), the index of channel 0. A thread that knows only its number must
// divide to find n, h and w, and GPUs have no instruction for that; in fsword73's kernel the grid
// gives n.
// Stages:
//   8a two-dimensional  his own: blocks of 256 pixels, and the grid's second dimension is n
//   naive            two divisions and two remainders
//   one division     only n is needed: h * W + w is the remainder
//   multiply-high    a multiplication in place of the division, since the host knows the divisor
//                    (hipscope/divisor.h)
//   two-dimensional  as 8a, with larger blocks and with any number of images
//   vector store     four indices per thread, 16 bytes, by multiply-high
//   fill             the same stores without an index: the limit by memory
// The launch itself, the time of one empty block, is measured and taken off. The time of an empty
// grid of the same size is only shown: blocks start while others store.
#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include <array>
#include <limits>
#include <string>

#include "tensor.h"

using hipscope::DeviceBuffer;
using hipscope::divide;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;
using nchw_index::Extents;
using nchw_index::Tensor;
using nchw_index::tensor_of;

namespace {

// A GPU starts a fixed number of blocks per cycle (thread_rate): with one 4-byte store per thread,
// the larger the blocks the faster they can store. A vector stage stores four, and has as many
// blocks.
constexpr unsigned scalar_block = 1024;
constexpr unsigned vector_block = 256;
constexpr unsigned published_block = 256;
constexpr unsigned published_channels = 64;

// --- Kernels ----------------------------------------------------------------------------------

// fsword73's example 8a, as its author wrote it: signed numbers, and products of what the launch
// knows. The second dimension of the grid is n.
__global__ void __launch_bounds__(published_block)
    published_kernel(int* __restrict__ output, int height, int width, int channels) {
  const int pixel = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  const int n = static_cast<int>(blockIdx.y);
  if (pixel < height * width) {
    const int index = pixel + n * channels * height * width;
    const int place = pixel + n * height * width;
    output[place] = index;
  }
}

__global__ void __launch_bounds__(scalar_block) naive_kernel(unsigned* output, Tensor tensor) {
  const unsigned i = blockIdx.x * scalar_block + threadIdx.x;
  if (i < tensor.count) {
    const unsigned w = i % tensor.width;
    const unsigned h = i / tensor.width % tensor.height;
    const unsigned n = i / (tensor.width * tensor.height);
    output[i] = n * tensor.channels * tensor.height * tensor.width + h * tensor.width + w;
  }
}

__global__ void __launch_bounds__(scalar_block)
    one_division_kernel(unsigned* output, Tensor tensor) {
  const unsigned i = blockIdx.x * scalar_block + threadIdx.x;
  if (i < tensor.count) {
    output[i] = i + i / tensor.image * tensor.skip;
  }
}

__global__ void __launch_bounds__(scalar_block)
    multiply_high_kernel(unsigned* output, Tensor tensor) {
  const unsigned i = blockIdx.x * scalar_block + threadIdx.x;
  if (i < tensor.count) {
    output[i] = i + divide(i, tensor.by_image) * tensor.skip;
  }
}

// Images beyond the grid's second dimension, which ends at 65535, come in further rounds. That the
// grid's size is an argument is no accident: HIP finds gridDim by a division, threads by block
// size.
__global__ void __launch_bounds__(scalar_block)
    two_dimensional_kernel(unsigned* output, Tensor tensor) {
  const unsigned pixel = blockIdx.x * scalar_block + threadIdx.x;
  if (pixel < tensor.image) {
    for (unsigned n = blockIdx.y; n < tensor.images; n += tensor.rows) {
      const unsigned i = n * tensor.image + pixel;
      output[i] = i + n * tensor.skip;
    }
  }
}

// Four indices from `i` on. Only the first needs n; the others may lie in the next images.
__device__ uint4 four_indices(unsigned i, Tensor tensor) {
  unsigned n = divide(i, tensor.by_image);
  unsigned pixel = i - n * tensor.image;
  const auto next = [&] {
    const unsigned index = i++ + n * tensor.skip;
    const bool was_last = ++pixel == tensor.image;
    n += was_last ? 1 : 0;
    pixel = was_last ? 0 : pixel;
    return index;
  };
  uint4 indices;
  indices.x = next();
  indices.y = next();
  indices.z = next();
  indices.w = next();
  return indices;
}

// The buffer ends at a whole number of stores.
__global__ void __launch_bounds__(vector_block) vector_store_kernel(uint4* output, Tensor tensor) {
  const unsigned i = blockIdx.x * vector_block + threadIdx.x;
  if (i * 4 < tensor.count) {
    output[i] = four_indices(i * 4, tensor);
  }
}

__global__ void __launch_bounds__(vector_block) fill_kernel(uint4* output, Tensor tensor) {
  const unsigned i = blockIdx.x * vector_block + threadIdx.x;
  if (i * 4 < tensor.count) {
    output[i] = make_uint4(i * 4, i * 4 + 1, i * 4 + 2, i * 4 + 3);
  }
}

__global__ void __launch_bounds__(scalar_block) null_kernel() {}

// --- Stages -----------------------------------------------------------------------------------

unsigned blocks_for(std::uint64_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

hipscope::LaunchShape scalar_shape(const Tensor& tensor) {
  return {.grid = dim3(blocks_for(tensor.count, scalar_block)), .block = dim3(scalar_block)};
}

hipscope::LaunchShape two_dimensional_shape(const Tensor& tensor) {
  return {.grid = dim3(blocks_for(tensor.image, scalar_block), tensor.rows),
          .block = dim3(scalar_block)};
}

hipscope::LaunchShape published_shape(const Tensor& tensor) {
  return {.grid = dim3(blocks_for(tensor.image, published_block), tensor.images),
          .block = dim3(published_block)};
}

hipscope::LaunchShape vector_shape(const Tensor& tensor) {
  return {.grid = dim3(blocks_for((std::uint64_t{tensor.count} + 3) / 4, vector_block)),
          .block = dim3(vector_block)};
}

// Each has one of the three kinds of kernel.
struct Stage {
  const char* name;
  hipscope::LaunchShape (*shape)(const Tensor&);
  void (*scalar_kernel)(unsigned*, Tensor) = nullptr;
  void (*vector_kernel)(uint4*, Tensor) = nullptr;
  void (*published_kernel)(int*, int, int, int) = nullptr;
};

constexpr Stage vector_stage = {
    .name = "vector store", .shape = vector_shape, .vector_kernel = vector_store_kernel};
constexpr Stage fill_stage = {.name = "fill", .shape = vector_shape, .vector_kernel = fill_kernel};
constexpr Stage published_stage = {
    .name = "8a two-dimensional", .shape = published_shape, .published_kernel = published_kernel};
constexpr std::array<Stage, 7> stages = {
    {published_stage,
     {.name = "naive", .shape = scalar_shape, .scalar_kernel = naive_kernel},
     {.name = "one division", .shape = scalar_shape, .scalar_kernel = one_division_kernel},
     {.name = "multiply-high", .shape = scalar_shape, .scalar_kernel = multiply_high_kernel},
     {.name = "two-dimensional",
      .shape = two_dimensional_shape,
      .scalar_kernel = two_dimensional_kernel},
     vector_stage,
     fill_stage}};

// Example 8a ends where the grid's second dimension or a signed index does.
bool can_run(const Stage& stage, const Tensor& tensor) {
  constexpr std::uint64_t most_elements = std::uint64_t{1} << 31;
  return stage.published_kernel == nullptr ||
         (tensor.images <= nchw_index::most_rows &&
          std::uint64_t{tensor.images} * tensor.channels * tensor.image <= most_elements);
}

void run(const Stage& stage, DeviceBuffer<unsigned>& output, const Tensor& tensor) {
  const hipscope::LaunchShape shape = stage.shape(tensor);
  void* const data = output.data();
  if (stage.vector_kernel != nullptr) {
    launch(stage.vector_kernel, shape, static_cast<uint4*>(data), tensor);
  } else if (stage.scalar_kernel != nullptr) {
    launch(stage.scalar_kernel, shape, output.data(), tensor);
  } else {
    launch(stage.published_kernel, shape, static_cast<int*>(data), static_cast<int>(tensor.height),
           static_cast<int>(tensor.width), static_cast<int>(tensor.channels));
  }
}

constexpr const char* gigabytes = "GB/s";

// The launch itself: the time of one empty block, in seconds.
double measure_launch(hipscope::Point& point) {
  const hipscope::LaunchShape one_block = {.grid = dim3(1), .block = dim3(scalar_block)};
  const auto time = point.measure([&] { launch(null_kernel, one_block); }, {.name = "empty block"});
  return time.seconds().median;
}

// Verifies and measures; returns the raw bandwidth. Names begin with `prefix`.
double measure(Sweep& sweep, hipscope::Point& point, const Stage& stage,
               DeviceBuffer<unsigned>& output, const Tensor& tensor, double launch_seconds,
               const std::string& prefix = "") {
  output.poison();
  run(stage, output, tensor);
  nchw_index::verify(sweep, point, prefix + "every index", output, tensor,
                     stage.vector_kernel == fill_kernel);
  const auto time = point.measure([&] { run(stage, output, tensor); }, {.name = prefix + "time"});
  const double gigabyte_count = static_cast<double>(tensor.count) * sizeof(unsigned) * 1e-9;
  const double raw = gigabyte_count / time.seconds().median;
  const double net_seconds = time.seconds().median - launch_seconds;
  point.value(prefix + "bandwidth", raw, gigabytes);
  point.value(
      prefix + "net of the launch",
      net_seconds > 0 ? gigabyte_count / net_seconds : std::numeric_limits<double>::quiet_NaN(),
      gigabytes);
  return raw;
}

// --- Sweeps -----------------------------------------------------------------------------------

// Every stage at one size.
void measure_stages(Sweep& sweep, const Extents& extents, const std::string& published_series) {
  const Tensor tensor = tensor_of(sweep, extents);
  sweep.axis({.name = "stage"});
  sweep.headline("bandwidth");
  sweep.note(nchw_index::label_of(tensor) + ", " + std::to_string(tensor.channels) +
             " channels: " + number(static_cast<double>(nchw_index::bytes_of(tensor)) * 1e-6, 5) +
             " MB are written");
  sweep.note("empty grid: as many blocks of as many threads that do nothing");
  sweep.require_memory(nchw_index::bytes_of(tensor), "--images");
  DeviceBuffer<unsigned> output(nchw_index::bytes_of(tensor) / sizeof(unsigned));
  // The fill comes first: the others' share of it is in their rows.
  double launch_seconds = 0;
  double fill = 0;
  const auto measure_row = [&](hipscope::Point point, const Stage& stage) {
    if (fill == 0) {
      launch_seconds = measure_launch(point);
    }
    const double raw = measure(sweep, point, stage, output, tensor, launch_seconds);
    fill = fill == 0 ? raw : fill;
    point.measure([&] { launch(null_kernel, stage.shape(tensor)); }, {.name = "empty grid"});
    point.value("share of fill", 100 * raw / fill, "%");
  };
  measure_row(sweep.point(fill_stage.name, stages.size()), fill_stage);
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const bool is_published = stages[i].published_kernel != nullptr;
    if (!can_run(stages[i], tensor)) {
      sweep.note(std::string(stages[i].name) +
                 ": not at this size; it takes up to 65535 images and 2^31 elements");
      continue;
    }
    measure_row(sweep.point(stages[i].name, static_cast<double>(i + 1),
                            is_published ? published_series : std::string()),
                stages[i]);
  }
}

// The best stage against the number of images: from what fits in caches to what does not.
void measure_sizes(Sweep& sweep, const Extents& largest) {
  sweep.axis({.name = "images", .scale = hipscope::Scale::logarithmic});
  sweep.headline("vector store bandwidth");
  const Tensor whole = tensor_of(sweep, largest);
  sweep.require_memory(nchw_index::bytes_of(whole), "--images");
  DeviceBuffer<unsigned> output(nchw_index::bytes_of(whole) / sizeof(unsigned));
  const std::uint64_t first = sweep.is_hardware() ? 64 : 1;
  for (std::uint64_t images = std::min(first, largest.images); images <= largest.images;
       images *= 2) {
    Extents extents = largest;
    extents.images = images;
    const Tensor tensor = tensor_of(sweep, extents);
    auto point = sweep.point(std::to_string(images), static_cast<double>(images));
    const double launch_seconds = measure_launch(point);
    const double fill = measure(sweep, point, fill_stage, output, tensor, launch_seconds, "fill ");
    const double indices =
        measure(sweep, point, vector_stage, output, tensor, launch_seconds, "vector store ");
    point.value("share of fill", 100 * indices / fill, "%");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "nchw_index",
      {.question = "What does index arithmetic cost when a kernel only stores what it computed?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.8 (example 8a)"}});
  constexpr std::uint64_t most = 1U << 31;
  const auto images = experiment.size(
      "--images", "images of sweeps large and sizes",
      {.gpu = 1U << 18, .quick = 1U << 17, .host = 8, .tiny = 7, .minimum = 1, .maximum = most});
  const auto published_images =
      experiment.size("--small-images", "images of sweep published",
                      {.gpu = 1024, .quick = 1024, .host = 2, .minimum = 1, .maximum = most});
  const auto channels =
      experiment.size("--channels", "channels of the tensor; 64 in sweep published",
                      {.gpu = 3, .quick = 3, .host = 3, .minimum = 1, .maximum = most});
  const auto height =
      experiment.size("--height", "rows of an image",
                      {.gpu = 56, .quick = 56, .host = 56, .minimum = 1, .maximum = most});
  const auto width =
      experiment.size("--width", "columns of an image",
                      {.gpu = 56, .quick = 56, .host = 56, .minimum = 1, .maximum = most});
  const auto extents = [&](std::uint64_t count) {
    return Extents{.images = count, .channels = channels, .height = height, .width = width};
  };
  experiment.sweep("published", "every stage at fsword73's size", [&](Sweep& sweep) {
    Extents size = extents(published_images);
    size.channels = published_channels;
    const bool is_published = size.images == 1024 && size.height == 56 && size.width == 56;
    measure_stages(sweep, size, is_published ? "N=1024 H=W=56" : "");
  });
  experiment.sweep("large", "every stage at a size that no cache holds",
                   [&](Sweep& sweep) { measure_stages(sweep, extents(images), ""); });
  experiment.sweep("odd", "every stage where an image is no whole number of vector stores",
                   [&](Sweep& sweep) {
                     Extents size = extents(images);
                     size.height = std::max<std::uint64_t>(1, size.height - 1);
                     size.width = std::max<std::uint64_t>(1, size.width - 1);
                     measure_stages(sweep, size, "");
                   });
  experiment.sweep("sizes", "fill and vector store against the number of images",
                   [&](Sweep& sweep) { measure_sizes(sweep, extents(images)); });
  return experiment.run(argc, argv);
}
