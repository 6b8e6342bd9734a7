// What does it take to pad small planes with zeros at the speed of memory?
//
// A tensor in NCHW order: N * C planes of 7 x 7 become planes of 13 x 13, with a border of 3 zeros.
// Per plane 49 values are read and 169 written; all arithmetic is in the indices. The stages, a
// file for each idea:
//   01 13a run-time channels N: fsword73's first kernel: a block handles N consecutive planes; a
//      thread has one pixel of each and keeps the N values in an array. N is an argument, so the
//      array is indexed at run time, which registers cannot be: fsword73's is in scratch (NVIDIA:
//      local memory)
//   02 13b compile-time channels N: fsword73's second: the compiler knows all integers
//   03 run-time channels N: ours: no idle threads, any shape, for two divisions; array of 16: with
//      a smaller array
//   04 compile-time channels N: the values are in registers; multiply-high: no division, but a
//      multiplication by a number that the host prepared; fixed shape: known to the compiler
//   05 a row per thread: fewer indices, but lanes store 52 bytes apart
//   06 vector stores: the output as one array: four values per thread, 16 bytes; two: all loads
//      before the first store
//   07 places kept: a thread has the same place in several groups of four planes
//   08 through LDS: a block reads with loads of 16 bytes, and pads from LDS
// 06 to 08 can also prefetch the input into L2 in clumps, so that memory switches less often from
// reading to writing. The source is fsword73/HIP-Performance-Optmization-on-VEGA64, section 2.13.
// What each stage takes docs/8-kernels.md says.
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "extents.h"
#include "reference.h"
#include "stages.h"
#include "streams.h"

namespace hipscope::padding {
namespace {

// --- Measuring --------------------------------------------------------------------------------

constexpr const char* gigabytes = "GB/s";
constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

void note_sizes(Sweep& sweep, const Sizes& sizes) {
  sweep.note(
      std::to_string(sizes.planes) + " planes of " + shape_label(sizes) + ": " +
      number(static_cast<double>(sizes.inputs() * sizeof(float)) * 1e-6, 4) + " MB are read and " +
      number(static_cast<double>(sizes.outputs() * sizeof(float)) * 1e-6, 4) + " MB written");
}

// On the host backend a fiber is a thread: small blocks, of which there are several.
unsigned block_on(const Sweep& sweep, unsigned block) {
  return sweep.is_hardware() ? block : block / 4;
}

// Verifies and measures; returns GB/s of the bytes that must move.
double measure(const Sweep& sweep, Point& point, const Stage& stage, Arrays& arrays,
               const std::string& time_name = "time", unsigned block = scalar_block) {
  const auto run = [&] { stage.run(arrays, block_on(sweep, block)); };
  verify(sweep, point, arrays, time_name == "time" ? "" : time_name + ": ", run);
  const auto time = point.measure(run, {.name = time_name});
  return static_cast<double>(arrays.sizes.bytes()) * 1e-9 / time.seconds().median;
}

// fsword73 counts the output's elements twice, as if the border were read as well.
double by_sources_counting(const Sizes& sizes, double bandwidth) {
  constexpr double gibibyte = 1024.0 * 1024 * 1024;
  const auto counted = static_cast<double>(2 * sizes.outputs() * sizeof(float));
  return bandwidth * 1e9 / gibibyte * counted / static_cast<double>(sizes.bytes());
}

void add_bandwidths(Point& point, const Sizes& sizes, double bandwidth) {
  point.value("bandwidth", bandwidth, gigabytes);
  point.value("by the source's counting", by_sources_counting(sizes, bandwidth), "GiB/s");
}

void add_resources(const Sweep& sweep, Point& point, const Stage& stage,
                   const std::string& of = "") {
  const Footprint footprint = footprint_of(sweep, stage.kernel);
  point.value("scratch" + of, footprint.scratch_bytes, "bytes/thread");
  point.value("registers" + of, footprint.registers, "per thread");
}

// --- Sweeps -----------------------------------------------------------------------------------

// fsword73's kernel and ours against the number of channels of a thread, on the tensor nearest to
// what was asked for that fsword73's is for.
void measure_channels(Sweep& sweep, const Extents& extents, const std::vector<Stage>& source,
                      const std::vector<Stage>& ours, const std::string& published_series) {
  sweep.axis({.name = "channels", .unit = "per thread", .scale = Scale::logarithmic});
  const Sizes sizes = sizes_for_source(sizes_of(extents).planes);
  note_sizes(sweep, sizes);
  sweep.note("fsword73's kernels, which are for 7 x 7 pad 3 in groups of " +
             std::to_string(source_tensor(sizes).channels) +
             " channels: a block of 256 threads for 169 pixels");
  sweep.note(
      "side by side: ours, in blocks of 1024 threads, and of 256, which the GPU may not start "
      "fast enough");
  if (is_published(extents)) {
    sweep.compare(published_series);
  }
  sweep.require_memory(sizes.bytes(), "--images");
  Arrays arrays(sweep, sizes);
  for (std::size_t i = 0; i < source.size(); ++i) {
    auto point = sweep.point(std::to_string(channel_counts[i]), channel_counts[i]);
    add_bandwidths(point, sizes, measure(sweep, point, source[i], arrays));
    add_resources(sweep, point, source[i]);
    point.value("bandwidth, side by side", measure(sweep, point, ours[i], arrays, "side by side"),
                gigabytes);
    constexpr unsigned small_block = 256;
    point.value("bandwidth, blocks of 256",
                measure(sweep, point, ours[i], arrays, "blocks of 256", small_block), gigabytes);
    add_resources(sweep, point, ours[i], ", side by side");
  }
}

// The references come before the first stage, which is 1.
constexpr double mix_x = 0;

// The rows that others are shares of; returns the copy's GB/s.
double measure_references(Sweep& sweep, const Sizes& sizes) {
  const auto row = [&]<Stream stream>(const char* name, double x) {
    auto point = sweep.point(name, x);
    const double bandwidth = measure_stream<stream>(sweep, point, sizes, "time");
    point.value("bandwidth", bandwidth, gigabytes);
    return bandwidth;
  };
  const double copy = row.operator()<Stream::copy>("copy of as many bytes", -2);
  row.operator()<Stream::fill>("fill of the output", -1);
  row.operator()<Stream::mix>("the same reads and writes", mix_x);
  return copy;
}

void measure_stages(Sweep& sweep, const Extents& extents) {
  sweep.axis({.name = "stage"});
  sweep.headline("bandwidth");
  const Sizes sizes = sizes_of(extents);
  note_sizes(sweep, sizes);
  sweep.note("blocks of " + std::to_string(scalar_block) +
             " threads; of 13a, 13b and stages that store vectors " + std::to_string(vector_block));
  if (!is_fixed_shape(sizes)) {
    sweep.note("stages whose shape the compiler knows are for 7 x 7 pad 3 only");
  }
  if (!is_for_source(sizes)) {
    sweep.note("13a and 13b are for 7 x 7 pad 3 and channels in groups of 32 only");
  }
  sweep.require_memory(sizes.bytes(), "--images");
  const double copy = measure_references(sweep, sizes);
  Arrays arrays(sweep, sizes);
  double before = not_measured;
  double x = 0;
  for (const Stage& stage : ladder(sizes)) {
    auto point = sweep.point(stage.name, ++x);
    const double bandwidth = measure(sweep, point, stage, arrays);
    add_bandwidths(point, sizes, bandwidth);
    point.value("share of copy", 100 * bandwidth / copy, "%");
    point.value("rate over the stage before", bandwidth / before, "times");
    add_resources(sweep, point, stage);
    before = bandwidth;
  }
}

// The fastest ways by threads of a block and stores of a thread.
void measure_tiles(Sweep& sweep, const Extents& extents) {
  sweep.axis({.name = "threads x stores"});
  sweep.headline("through LDS");
  Sizes sizes = sizes_of(extents);
  if (!is_fixed_shape(sizes)) {
    sweep.note("for planes of 7 x 7 pad 3 only, whatever the options say");
    sizes = sizes_of({.images = extents.images,
                      .channels = extents.channels,
                      .height = FixedShape::height,
                      .width = FixedShape::width,
                      .pad = FixedShape::pad});
  }
  note_sizes(sweep, sizes);
  sweep.require_memory(sizes.bytes(), "--images");
  const double copy = measure_references(sweep, sizes);
  Arrays arrays(sweep, sizes);
  double x = 0;
  const auto start_row = [&](unsigned threads, unsigned stores) {
    return sweep.point(std::to_string(threads) + " x " + std::to_string(stores), ++x);
  };
  const auto way = [&](Point& point, const Stage& stage, const std::string& name) {
    const double bandwidth = measure(sweep, point, stage, arrays, name + " time");
    point.value(name, bandwidth, gigabytes);
    point.value(name + ", share of copy", 100 * bandwidth / copy, "%");
  };
  const auto vector_row = [&]<unsigned Stores>() {
    auto point = start_row(vector_block, Stores);
    way(point, vector_stores_stage<FixedShape, Stores>(""), "vector stores, fixed shape");
    way(point, vector_stores_stage<MultiplyingShape, Stores>(""), "vector stores");
  };
  const auto tile_row = [&]<unsigned Threads, unsigned Rounds>() {
    auto point = start_row(Threads, Rounds);
    point.value("planes of a block", Tile<Threads, Rounds>::planes, "planes");
    way(point, kept_places_stage<Threads, Rounds>(""), "places kept");
    way(point, lds_stage<Threads, Rounds>(""), "through LDS");
  };
  const auto tile_rows = [&]<unsigned Threads>() {
    tile_row.template operator()<Threads, 1>();
    tile_row.template operator()<Threads, 2>();
    tile_row.template operator()<Threads, 4>();
  };
  vector_row.operator()<1>();
  vector_row.operator()<2>();
  vector_row.operator()<4>();
  tile_rows.operator()<192>();
  tile_rows.operator()<352>();
  tile_rows.operator()<512>();
  tile_rows.operator()<1024>();
}

// Reading ahead, against the bytes that are read at once.
void measure_read_ahead(Sweep& sweep, const Extents& extents) {
  sweep.axis({.name = "clump", .unit = "MB"});
  sweep.headline("the same reads and writes");
  if (!can_read_ahead) {
    sweep.note("this GPU has no instruction that asks for data and does not wait");
    return;
  }
  const Sizes sizes = sizes_of(extents);
  note_sizes(sweep, sizes);
  sweep.note("the best stages and the plain stream, the input asked for in clumps; none: in time");
  sweep.require_memory(2 * sizes.bytes(), "--images");
  Arrays arrays(sweep, sizes);
  for (const std::uint64_t clump_kilobytes : {0, 400, 800, 1600, 3200, 6400, 12800}) {
    const std::uint64_t bytes = clump_kilobytes * 1000;
    const double megabytes = static_cast<double>(bytes) * 1e-6;
    auto point = sweep.point(bytes == 0 ? "none" : number(megabytes), megabytes);
    point.value("the same reads and writes",
                measure_stream<Stream::mix>(sweep, point, sizes, "stream time", bytes), gigabytes);
    const auto way = [&](const std::string& name, const Stage& stage) {
      if (!stage.is_of_fixed_shape || is_fixed_shape(sizes)) {
        point.value(name, measure(sweep, point, stage, arrays, name + " time"), gigabytes);
      }
    };
    way("two vector stores", vector_stores_stage<MultiplyingShape, 2>("", bytes));
    way("two vector stores, fixed shape", vector_stores_stage<FixedShape, 2>("", bytes));
    way("places kept", kept_places_stage<352, 2>("", bytes));
    way("through LDS", lds_stage<192, 2>("", bytes));
    way("through LDS, streaming stores", lds_stage<192, 2, Hint::streaming>("", bytes));
  }
}

// The best stage for any shape, with as many bytes of each, or as many as can be counted.
void measure_shapes(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "shape"});
  sweep.headline("share of copy");
  sweep.note("two vector stores, of the shape that the launch says; copies of as many bytes");
  sweep.require_memory(bytes, "--images");
  double x = 0;
  for (Sizes sizes : {Sizes{1, 7, 7, 3}, Sizes{1, 14, 14, 1}, Sizes{1, 28, 28, 1},
                      Sizes{1, 56, 56, 1}, Sizes{1, 224, 224, 3}}) {
    sizes.planes =
        std::clamp<std::uint64_t>(bytes / sizes.bytes(), 1, most_elements / sizes.padded_plane());
    auto point = sweep.point(shape_label(sizes), ++x);
    const double copy = measure_stream<Stream::copy>(sweep, point, sizes, "copy time");
    Arrays arrays(sweep, sizes);
    const double bandwidth = measure(sweep, point, general_stage(), arrays);
    point.value("bandwidth", bandwidth, gigabytes);
    point.value("share of copy", 100 * bandwidth / copy, "%");
    point.value("written",
                100.0 * static_cast<double>(sizes.outputs() * sizeof(float)) /
                    static_cast<double>(sizes.bytes()),
                "% of the bytes");
  }
}

// Sizes at which a kernel may go wrong: every stage that is for the shape is verified.
void measure_awkward(Sweep& sweep, std::uint64_t most_planes) {
  sweep.axis({.name = "planes"});
  sweep.note("every stage is verified; the time is that of the last");
  std::vector<Sizes> all = {{1, 7, 7, 3},   {255, 7, 7, 3}, {257, 7, 7, 3}, {8191, 7, 7, 3},
                            {257, 7, 7, 0}, {257, 1, 1, 0}, {257, 1, 1, 3}, {257, 5, 11, 2}};
  // More bytes than 32 bits count, and a plane more than whole groups of four.
  const Sizes large = {6353505, 7, 7, 3};
  if (large.bytes() < sweep.device().free_memory_bytes) {
    all.push_back(large);
  } else if (large.planes <= most_planes) {
    sweep.note("an output of more than 2^32 bytes does not fit into this device's memory");
  }
  std::erase_if(all, [&](const Sizes& sizes) { return sizes.planes > most_planes; });
  double x = 0;
  for (const Sizes& sizes : all) {
    auto point = sweep.point(std::to_string(sizes.planes) + " of " + shape_label(sizes), ++x);
    Arrays arrays(sweep, sizes);
    const std::vector<Stage> stages = ladder(sizes);
    for (const Stage& stage : stages) {
      verify(sweep, point, arrays, stage.name + ": ",
             [&] { stage.run(arrays, block_on(sweep, scalar_block)); });
    }
    point.measure([&] { stages.back().run(arrays, block_on(sweep, scalar_block)); });
    point.value("stages", static_cast<double>(stages.size()), "verified");
  }
}

// --- The experiment ---------------------------------------------------------------------------

int run(int argc, char** argv) {
  Experiment experiment(
      "padding",
      {.question = "What does it take to pad small planes as fast as memory takes them?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.13 (examples 13a and 13b)"}});
  constexpr std::uint64_t most = 1U << 30;
  const auto images =
      experiment.size("--images", "images of the tensor",
                      {.gpu = 1024, .quick = 512, .host = 3, .minimum = 1, .maximum = most});
  const auto channels =
      experiment.size("--channels", "channels of the tensor",
                      {.gpu = 1024, .quick = 1024, .host = 35, .minimum = 1, .maximum = most});
  const auto height =
      experiment.size("--height", "rows of a plane",
                      {.gpu = 7, .quick = 7, .host = 7, .minimum = 1, .maximum = most});
  const auto width =
      experiment.size("--width", "columns of a plane",
                      {.gpu = 7, .quick = 7, .host = 7, .minimum = 1, .maximum = most});
  const auto pad =
      experiment.size("--pad", "zeros on each side of a plane",
                      {.gpu = 3, .quick = 3, .host = 3, .minimum = 1, .maximum = most});
  const auto most_awkward = experiment.size(
      "--largest-awkward", "most planes of sweep awkward",
      {.gpu = 1U << 23, .quick = 1U << 13, .host = 257, .minimum = 257, .maximum = most});
  const auto extents = [&] {
    return Extents{
        .images = images, .channels = channels, .height = height, .width = width, .pad = pad};
  };
  experiment.sweep("channels-run-time",
                   "fsword73's kernel, a run-time number of channels per thread",
                   [&](Sweep& sweep) {
                     measure_channels(sweep, extents(), source_run_time_stages(), run_time_stages(),
                                      "run-time channel count");
                   });
  experiment.sweep("channels-compile-time", "the same with a number that the compiler knows",
                   [&](Sweep& sweep) {
                     measure_channels(sweep, extents(), source_compile_time_stages(),
                                      compile_time_stages(), "compile-time channel count");
                   });
  experiment.sweep("stages", "the whole ladder",
                   [&](Sweep& sweep) { measure_stages(sweep, extents()); });
  experiment.sweep("tiles",
                   "the fastest stages, by threads of a block and 16-byte stores of a thread",
                   [&](Sweep& sweep) { measure_tiles(sweep, extents()); });
  experiment.sweep("read-ahead", "reading the input in clumps, before it is needed",
                   [&](Sweep& sweep) { measure_read_ahead(sweep, extents()); });
  experiment.sweep("shapes", "planes of other shapes",
                   [&](Sweep& sweep) { measure_shapes(sweep, sizes_of(extents()).bytes()); });
  experiment.sweep("awkward", "sizes at which a kernel may go wrong",
                   [&](Sweep& sweep) { measure_awkward(sweep, most_awkward); });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace hipscope::padding

int main(int argc, char** argv) { return hipscope::padding::run(argc, argv); }
