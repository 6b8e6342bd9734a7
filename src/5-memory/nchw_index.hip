// What does index arithmetic cost when all that a kernel does is to store what it computed?
//
// A tensor in NCHW order holds element (n, c, h, w) at ((n * C + c) * H + h) * W + w. The kernels
// store, for each (n, h, w), the index of channel 0. The source's kernel splits the thread's number
// into n, h and w by divisions, for which GPUs have no instruction. Stages:
//   naive            two divisions and two remainders
//   one division     h * W + w is the number within the image, so only n must be found
//   multiply-high    the division by a number that is known before the launch, as a multiplication
//                    (hipscope/divisor.h)
//   two-dimensional  the grid's second dimension is n: nothing to divide
//   vector store     four indices per thread, 16 bytes, by multiply-high
//   fill             the same stores without an index: what the memory takes
// The time of one empty block, the launch itself, is measured and taken off. The time of an empty
// grid of the same size is shown only: blocks start while others store.
#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::divide;
using hipscope::Divisor;
using hipscope::divisor_of;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

// A GPU starts so many blocks per cycle (thread_rate): with one 4-byte store per thread, the larger
// the blocks the faster they can store. A vector stage stores four, and has as many blocks.
constexpr unsigned scalar_block = 1024;
constexpr unsigned vector_block = 256;

// --- Kernels ----------------------------------------------------------------------------------

// All that a kernel is told. `count` indices are stored, one for each pixel of each image.
struct Tensor {
  unsigned count;
  unsigned images;
  unsigned rows;  // the second dimension of a two-dimensional grid
  unsigned channels;
  unsigned height;
  unsigned width;
  unsigned image;  // height * width
  unsigned skip;   // (channels - 1) * image: what lies between an image's channel 0 and the next's
  Divisor by_image;
};

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

constexpr unsigned checking_block = 256;

// Counts right elements, with 64-bit arithmetic of the definition: where it does not run, nothing
// is right.
__global__ void __launch_bounds__(checking_block)
    count_right_kernel(const unsigned* output, Tensor tensor, bool is_fill,
                       unsigned long long* right) {
  unsigned long long mine = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < tensor.count;
       i += threads) {
    const std::uint64_t n = i / tensor.image;
    const std::uint64_t index = n * tensor.channels * tensor.image + (i - n * tensor.image);
    mine += output[i] == (is_fill ? i : index) ? 1 : 0;
  }
  atomicAdd(right, mine);
}

// --- Sizes ------------------------------------------------------------------------------------

struct Extents {
  std::uint64_t images;
  std::uint64_t channels;
  std::uint64_t height;
  std::uint64_t width;
};

// Throws UsageError when the last index does not fit into 32 bits.
Tensor tensor_of(const Sweep& sweep, const Extents& extents) {
  // On the host backend fewer, so that a kernel's further rounds are tested.
  const std::uint64_t most_rows = sweep.is_hardware() ? 65535 : 3;
  constexpr std::uint64_t limit = std::uint64_t{1} << 32;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent :
       {extents.images, extents.channels, extents.height, extents.width}) {
    elements *= extent;  // each is below 2^32
    if (elements >= limit) {
      throw hipscope::UsageError(
          "--images, --channels, --height and --width give a tensor of 2^32 elements or more, "
          "whose indices do not fit into 32 bits");
    }
  }
  const auto image = static_cast<unsigned>(extents.height * extents.width);
  return {.count = static_cast<unsigned>(extents.images) * image,
          .images = static_cast<unsigned>(extents.images),
          .rows = static_cast<unsigned>(std::min(extents.images, most_rows)),
          .channels = static_cast<unsigned>(extents.channels),
          .height = static_cast<unsigned>(extents.height),
          .width = static_cast<unsigned>(extents.width),
          .image = image,
          .skip = static_cast<unsigned>(extents.channels - 1) * image,
          .by_image = divisor_of(image)};
}

std::uint64_t bytes_of(const Tensor& tensor) {
  return (std::uint64_t{tensor.count} + 3) / 4 * sizeof(uint4);
}

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

hipscope::LaunchShape vector_shape(const Tensor& tensor) {
  return {.grid = dim3(blocks_for((std::uint64_t{tensor.count} + 3) / 4, vector_block)),
          .block = dim3(vector_block)};
}

struct Stage {
  const char* name;
  void (*scalar_kernel)(unsigned*, Tensor);
  void (*vector_kernel)(uint4*, Tensor);
  hipscope::LaunchShape (*shape)(const Tensor&);
};

constexpr Stage vector_stage = {"vector store", nullptr, vector_store_kernel, vector_shape};
constexpr Stage fill_stage = {"fill", nullptr, fill_kernel, vector_shape};
constexpr std::array<Stage, 6> stages = {
    {{"naive", naive_kernel, nullptr, scalar_shape},
     {"one division", one_division_kernel, nullptr, scalar_shape},
     {"multiply-high", multiply_high_kernel, nullptr, scalar_shape},
     {"two-dimensional", two_dimensional_kernel, nullptr, two_dimensional_shape},
     vector_stage,
     fill_stage}};

void run(const Stage& stage, DeviceBuffer<unsigned>& output, const Tensor& tensor) {
  const hipscope::LaunchShape shape = stage.shape(tensor);
  if (stage.vector_kernel != nullptr) {
    launch(stage.vector_kernel, shape, static_cast<uint4*>(static_cast<void*>(output.data())),
           tensor);
  } else {
    launch(stage.scalar_kernel, shape, output.data(), tensor);
  }
}

// What the definition says of element `i`, by counting pixels and images.
std::uint64_t expected(const Tensor& tensor, const Stage& stage, std::uint64_t i) {
  const std::uint64_t n = i / tensor.image;
  const std::uint64_t h = i % tensor.image / tensor.width;
  const std::uint64_t w = i % tensor.width;
  const std::uint64_t row = n * tensor.channels * tensor.height + h;
  return stage.vector_kernel == fill_kernel ? i : row * tensor.width + w;
}

// Every element by a kernel of other arithmetic, and a sample of them by the host.
std::uint64_t count_wrong(const Sweep& sweep, const Stage& stage,
                          const DeviceBuffer<unsigned>& output, const Tensor& tensor) {
  constexpr unsigned blocks_per_unit = 32;
  const unsigned blocks =
      sweep.is_hardware() ? blocks_per_unit * static_cast<unsigned>(sweep.device().compute_units)
                          : 1;
  DeviceBuffer<unsigned long long> right(1);
  right.clear();
  launch(count_right_kernel, {.grid = dim3(blocks), .block = dim3(checking_block)}, output.data(),
         tensor, stage.vector_kernel == fill_kernel, right.data());
  std::uint64_t wrong = tensor.count - right.to_host()[0];
  constexpr std::uint64_t looks = 16;
  for (std::uint64_t look = 0; look < looks; ++look) {
    const std::uint64_t i = look * (tensor.count - 1) / (looks - 1);
    unsigned index = 0;
    check(hipMemcpy(&index, output.data() + i, sizeof(index), hipMemcpyDeviceToHost));
    wrong += index == expected(tensor, stage, i) ? 0 : 1;
  }
  return std::min<std::uint64_t>(wrong, tensor.count);
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
  point.verify(prefix + "every index", count_wrong(sweep, stage, output, tensor), tensor.count);
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

std::string label_of(const Tensor& tensor) {
  return "N=" + std::to_string(tensor.images) + " H=" + std::to_string(tensor.height) +
         " W=" + std::to_string(tensor.width);
}

// Every stage at one size.
void measure_stages(Sweep& sweep, const Extents& extents, const std::string& published_series) {
  const Tensor tensor = tensor_of(sweep, extents);
  sweep.axis({.name = "stage"});
  sweep.headline("bandwidth");
  sweep.note(label_of(tensor) + ", " + std::to_string(tensor.channels) + " channels: " +
             number(static_cast<double>(bytes_of(tensor)) * 1e-6, 5) + " MB are written");
  sweep.note("empty grid: as many blocks of as many threads that do nothing");
  sweep.require_memory(bytes_of(tensor), "--images");
  DeviceBuffer<unsigned> output(bytes_of(tensor) / sizeof(unsigned));
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
    measure_row(sweep.point(stages[i].name, static_cast<double>(i + 1),
                            i == 0 ? published_series : std::string()),
                stages[i]);
  }
}

// The best stage against the number of images: from what fits in caches to what does not.
void measure_sizes(Sweep& sweep, const Extents& largest) {
  sweep.axis({.name = "images", .scale = hipscope::Scale::logarithmic});
  sweep.headline("vector store bandwidth");
  const Tensor whole = tensor_of(sweep, largest);
  sweep.require_memory(bytes_of(whole), "--images");
  DeviceBuffer<unsigned> output(bytes_of(whole) / sizeof(unsigned));
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

// --- What the curves show ---------------------------------------------------------------------

void infer_cost(hipscope::Results& results) {
  const auto bandwidths = results.curve("large", "bandwidth");
  if (bandwidths.size() != stages.size()) {
    return;
  }
  const auto& fill = bandwidths.front();
  const auto& naive = bandwidths[1];
  const auto best = std::max_element(bandwidths.begin() + 1, bandwidths.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  hipscope::Inference inference{
      .name = "cost of the index",
      .value = fill.y / naive.y,
      .unit = "times the time of a fill",
      .confidence = 1 - std::min(1.0, std::max(fill.relative_spread, naive.relative_spread)),
      .statement = "the naive kernel's time over that of the same stores without index arithmetic"};
  for (std::size_t i = 1; i < bandwidths.size(); ++i) {
    inference.evidence.push_back(std::string(stages[i - 1].name) + ": " +
                                 number(bandwidths[i].y, 4) + " GB/s, " +
                                 number(100 * bandwidths[i].y / fill.y) + " % of the fill");
  }
  inference.evidence.push_back(std::string("fastest: ") +
                               stages[static_cast<std::size_t>(best->x) - 1].name);
  results.infer(inference);
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
      {.gpu = 1U << 18, .quick = 1U << 17, .host = 8, .minimum = 1, .maximum = most});
  const auto published_images =
      experiment.size("--small-images", "images of sweep published",
                      {.gpu = 1024, .quick = 1024, .host = 2, .minimum = 1, .maximum = most});
  const auto channels =
      experiment.size("--channels", "channels of the tensor",
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
  experiment.sweep("published", "every stage at the source's size", [&](Sweep& sweep) {
    const Extents size = extents(published_images);
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
  experiment.conclude(infer_cost);
  return experiment.run(argc, argv);
}
