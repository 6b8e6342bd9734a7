// How fast can many values be summed, and what does each way to do it cost?
//
// Every value must be read once, so a kernel that only reads is the limit (00). The question is
// fsword73's (HIP-Performance-Optmization-on-VEGA64, 2.12; below, the source). The stages, a file
// for each idea:
//   01          the source's kernel, 12a: one value per thread; a block's tree in LDS adds up 2 or
//               4 per step, and ends with the block's sum
//   02          2, 4, 8 values per step: ours; from here on the result is one total
//   03          two values per thread: the first addition before the tree
//   04          the tree goes through registers, LDS only joins the waves
//   05          16 bytes per thread in one load; eight loads in flight; a grid-stride loop over no
//               more blocks than fit at once
//   06          one pass: the blocks add their sums to the total by atomics
//   07          the block that finishes last adds up the sums of all
//   08          each block draws its ticket before it loads; the last one waits
// Up to 05 further launches of the same kernel sum the blocks' sums until one is left (stage.h).
// measuring.h verifies and times a stage, exactness.h has sweeps error and awkward, trees_apart.h
// the kernels of sweep barriers, data.h the values and their true sums. What each stage takes
// docs/8-kernels.md says.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "data.h"
#include "exactness.h"
#include "measuring.h"
#include "source_rows.h"
#include "stages.h"
#include "trees_apart.h"
#include "vendor.h"

namespace hipscope::reduction {
namespace {

constexpr std::uint64_t published_values = 1U << 28;

// --- Sweep: stages ----------------------------------------------------------------------------

template <typename Value>
class StageTable {
 public:
  StageTable(Sweep& sweep, std::uint64_t count)
      : sweep_(sweep),
        measured_(sweep, measured_data<Value>, count),
        exact_(sweep, exact_data<Value>, count) {}

  void measure() {
    auto point = sweep_.point("read", 0);
    const Checked<Value> measured = with_reference(point, measured_);
    const Checked<Value> exact = with_reference(point, exact_);
    read_ = measure_read(point, measured_);
    point.value("bandwidth", read_, gigabytes);
    const auto ladder = stages<Value>();
    if (has_vendor(sweep_)) {
      const double x = static_cast<double>(ladder.size()) + 1;
      row(sweep_.point(vendor_name, x), vendor_stage<Value>(), measured, exact);
    }
    double before = 0;
    double x = 0;
    for (const Stage<Value>& stage : ladder) {
      auto stage_point = sweep_.point(stage.name, ++x);
      const double seconds = row(stage_point, stage, measured, exact);
      stage_point.value("speed-up on the stage before",
                        before > 0 ? before / seconds : std::numeric_limits<double>::quiet_NaN(),
                        "times");
      before = seconds;
    }
  }

 private:
  // Returns its time in seconds.
  double row(Point point, const Stage<Value>& stage, const Checked<Value>& measured,
             const Checked<Value>& exact) {
    verify(sweep_, point, stage, exact);
    if constexpr (measured_data<Value> != exact_data<Value>) {
      verify(sweep_, point, stage, measured);
    }
    const bool has_rival = has_vendor(sweep_) && stage.name != vendor_name;
    const double seconds = has_rival ? measure_beside_vendor(sweep_, point, stage, measured_).stream
                                     : measure_sum(sweep_, point, stage, measured_);
    const double gigabytes_per_second = bandwidth(bytes_of(measured_), seconds);
    point.value("bandwidth", gigabytes_per_second, gigabytes);
    point.value("share of read", 100 * gigabytes_per_second / read_, "%");
    const Job<Value> job = stage.prepare(sweep_, measured_);
    if (job.zero) {
      DeviceBuffer<Value> total(1);
      point.measure([&] { job.zero(total.data()); }, {.name = "of it zeroing"});
    }
    if (job.launches > 0) {
      const int resident = stage.blocks_per_unit();
      point.value("launches", static_cast<double>(job.launches), "per sum");
      point.value("barriers", stage.barriers, "per block");
      point.value("values",
                  static_cast<double>(measured_.count()) / static_cast<double>(job.blocks),
                  "per block");
      point.value("in flight per CU", static_cast<double>(stage.bytes_at_once) * resident, "bytes");
      point.value("read", job.bytes * 1e-6, "MB");
    }
    return seconds;
  }

  Sweep& sweep_;
  Array<Value> measured_;
  Array<Value> exact_;
  double read_ = 0;
};

void describe_stages(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "stage"});
  sweep.headline("time");
  sweep.note(std::to_string(count) +
             " values of 4 bytes; launches include the one that zeroes the "
             "total of the atomic add");
  note_vendor(sweep);
  require_values(sweep, count, "--values");
}

void measure_floats(Sweep& sweep, std::uint64_t count) {
  describe_stages(sweep, count);
  StageTable<float>(sweep, count).measure();
}

// --- Sweep: published -------------------------------------------------------------------------

// The source's kernel, on values like the source's, of which no block's sum is stored.
void measure_source(Sweep& sweep, std::uint64_t count) {
  SourceValues values(sweep, count);
  double x = -static_cast<double>(source_rows().size());
  for (const SourceRow& row : source_rows()) {
    auto point = sweep.point(row.name, x++, count == published_values ? row.published : "");
    for (const unsigned most : {SourceValues::half_stored, SourceValues::unstored}) {
      values.fill(most);
      values.verify(point, row);
    }
    const double seconds = point.measure([&] { values.run(row); }).seconds().median;
    point.value("bandwidth", bandwidth(static_cast<double>(values.count()) * sizeof(int), seconds),
                gigabytes);
    point.value("launches", 1, "per sum");
    point.value("barriers", row.barriers, "per block");
    point.value("values", source_threads, "per block");
  }
}

void measure_integers(Sweep& sweep, std::uint64_t count) {
  describe_stages(sweep, count);
  sweep.note(
      "12a: fsword73's kernel, which ends with a sum for each whole block of 256 values; all "
      "others end with the total");
  measure_source(sweep, count);
  StageTable<unsigned>(sweep, count).measure();
}

// --- Sweep: steps -----------------------------------------------------------------------------

double measure_tree(const Sweep& sweep, Point& point, const Checked<float>& exact,
                    const std::string& name, const Stage<float>& stage) {
  verify(sweep, point, stage, exact, name + "per step, ");
  const double seconds = measure_sum(sweep, point, stage, exact.array, name + "time");
  point.value(name + "barriers", stage.barriers, "per block");
  return seconds;
}

template <unsigned Threads>
void measure_block_size(Sweep& sweep, Array<float>& array) {
  auto point = sweep.point(std::to_string(Threads), Threads);
  const Checked<float> exact = with_reference(point, array);
  const double two =
      measure_tree(sweep, point, exact, "2 values ", values_per_step_stage<float, 2, Threads>());
  const double four =
      measure_tree(sweep, point, exact, "4 values ", values_per_step_stage<float, 4, Threads>());
  const double eight =
      measure_tree(sweep, point, exact, "8 values ", values_per_step_stage<float, 8, Threads>());
  point.value("speed-up of 4 on 2", two / four, "times");
  point.value("speed-up of 8 on 4", four / eight, "times");
}

void measure_steps(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "block", .unit = "threads", .scale = Scale::logarithmic});
  sweep.headline("speed-up of 8 on 4");
  require_values(sweep, count, "--values");
  Array<float> array(sweep, Data::small_integers, count);
  measure_block_size<256>(sweep, array);
  measure_block_size<512>(sweep, array);
  measure_block_size<1024>(sweep, array);
}

// --- Sweep: barriers --------------------------------------------------------------------------

// What 4 values per step gain on 2: each of the two gains alone.
void measure_barriers(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "tree"});
  sweep.headline("time");
  sweep.note("FP32, blocks of 256; round trips: sums that are stored to LDS and loaded again");
  require_values(sweep, count, "--values");
  Array<float> array(sweep, Data::small_integers, count);
  const auto row = [&](const std::string& name, double x, unsigned round_trips,
                       const Stage<float>& stage) {
    auto point = sweep.point(name, x);
    verify(sweep, point, stage, with_reference(point, array));
    const double seconds = measure_sum(sweep, point, stage, array);
    point.value("bandwidth", bandwidth(bytes_of(array), seconds), gigabytes);
    point.value("barriers", stage.barriers, "per block");
    point.value("round trips", round_trips, "per block");
  };
  row("2 values: 8 barriers, 8 round trips", 1, 8, values_per_step_stage<float, 2>());
  row("4 values: 8 barriers, 4 round trips", 2, 4, tree_apart_stage<float, Twice::barriers>());
  row("4 values: 4 barriers, 8 round trips", 3, 8, tree_apart_stage<float, Twice::round_trips>());
  row("4 values: 4 barriers, 4 round trips", 4, 4, values_per_step_stage<float, 4>());
}

// --- Sweep: shapes ----------------------------------------------------------------------------

void measure_finish(const Sweep& sweep, Point& point, const Checked<float>& exact,
                    const std::string& name, const Stage<float>& stage) {
  verify(sweep, point, stage, exact, name + ", ");
  const double seconds = measure_sum(sweep, point, stage, exact.array, name + " time");
  point.value(name, bandwidth(bytes_of(exact.array), seconds), gigabytes);
  point.value(name + ": blocks", static_cast<double>(stage.prepare(sweep, exact.array).blocks),
              "per launch");
}

template <unsigned Threads, unsigned Loads>
void measure_shape(Sweep& sweep, const Checked<float>& exact, double& row) {
  for (const unsigned tiles : {1U, 2U, 4U, 8U, 16U, 0U}) {
    auto point = sweep.point(
        std::to_string(Threads) + " x " + std::to_string(Loads) +
            (tiles > 0 ? ", tiles per block: " + std::to_string(tiles) : ", blocks that fit"),
        ++row);
    const Spread spread = {.tiles_per_block = tiles};
    measure_finish(sweep, point, exact, "last block",
                   last_block_stage<float, Threads, Loads>(spread));
    measure_finish(sweep, point, exact, "early ticket",
                   early_ticket_stage<float, Threads, Loads>(spread));
  }
}

void measure_shapes(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "shape"});
  sweep.headline("early ticket");
  sweep.note("single pass; threads x loads of 16 bytes in flight in each");
  require_values(sweep, count, "--values");
  Array<float> array(sweep, Data::small_integers, count);
  auto point = sweep.point("read", 0);
  const Checked<float> exact = with_reference(point, array);
  point.value("read", measure_read(point, array), gigabytes);
  double row = 0;
  measure_shape<256, 4>(sweep, exact, row);
  measure_shape<256, 8>(sweep, exact, row);
  measure_shape<256, 16>(sweep, exact, row);
  measure_shape<512, 4>(sweep, exact, row);
  measure_shape<512, 8>(sweep, exact, row);
  measure_shape<1024, 4>(sweep, exact, row);
}

// --- Sweep: sizes -----------------------------------------------------------------------------

void measure_size(Sweep& sweep, std::uint64_t count) {
  auto point = sweep.point("2^" + number(std::log2(static_cast<double>(count)), 6),
                           static_cast<double>(count));
  Array<float> array(sweep, Data::small_integers, count);
  const Checked<float> exact = with_reference(point, array);
  point.value("read", measure_read(point, array, "read time"), gigabytes);
  const auto measure = [&](const Stage<float>& stage) {
    verify(sweep, point, stage, exact, stage.name + ", ");
    const double seconds = measure_sum(sweep, point, stage, array, stage.name + " time");
    point.value(stage.name, bandwidth(bytes_of(array), seconds), gigabytes);
  };
  measure(eight_vector_loads_stage<float>());
  measure(atomic_add_stage<float>());
  measure(last_block_stage<float>());
  measure(best_stage<float>());
  if (has_vendor(sweep)) {
    measure(vendor_stage<float>());
    measure_beside_vendor(sweep, point, best_stage<float>(), array, "time beside it");
  }
}

void measure_sizes(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "values", .scale = Scale::logarithmic});
  sweep.headline(best_stage<float>().name);
  sweep.note("what fits into L2 stays there from one run to the next");
  sweep.note("rate over the vendor's: of " + best_stage<float>().name +
             ", both in a graph, in a stream, and alone with cold caches");
  note_vendor(sweep);
  require_values(sweep, largest, "--largest");
  const std::uint64_t first = sweep.is_hardware() ? 1U << 16 : read_tile;
  for (std::uint64_t count = std::min(first, largest); count <= largest; count *= 2) {
    measure_size(sweep, count);
  }
}

// --- The experiment ---------------------------------------------------------------------------

int run(int argc, char** argv) {
  Experiment experiment(
      "reduction",
      {.question = "How fast can many values be summed, and what does each way to do it cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.12 (example 12a)"}});
#if defined(HIPSCOPE_BACKEND_AMD)
  // HIP launches no grid of 2^32 threads or more on AMD (reference of hipModuleLaunchKernel), and
  // the first stages have a thread for each value.
  constexpr std::uint64_t most = (std::uint64_t{1} << 32) - largest_block;
#else
  constexpr std::uint64_t most = std::uint64_t{1} << 34;
#endif
  const auto values = experiment.size("--values", "values to sum",
                                      {.gpu = published_values,
                                       .quick = 1U << 25,
                                       .host = 2 * read_tile + 5,
                                       .minimum = read_tile,
                                       .maximum = most});
  const auto largest = experiment.size("--largest", "most values of sweep sizes",
                                       {.gpu = 1U << 30,
                                        .quick = 1U << 25,
                                        .host = read_tile,
                                        .minimum = read_tile,
                                        .maximum = most});
  const auto largest_awkward = experiment.size(
      "--largest-awkward", "most values of sweep awkward, of those over 2^17",
      {.gpu = 1U << 30, .quick = 1U << 17, .host = 1U << 17, .minimum = 1, .maximum = most});
  experiment.sweep("published", "fsword73's kernel, and every stage of ours, on integers",
                   [&](Sweep& sweep) { measure_integers(sweep, values); });
  experiment.sweep("stages", "every stage on FP32 values",
                   [&](Sweep& sweep) { measure_floats(sweep, values); });
  experiment.sweep("steps", "the tree in LDS, by block size and values per step",
                   [&](Sweep& sweep) { measure_steps(sweep, values); });
  experiment.sweep("barriers", "4 values per step with the barriers or the round trips of 2",
                   [&](Sweep& sweep) { measure_barriers(sweep, values); });
  experiment.sweep("shapes", "the single passes, by threads, loads and blocks",
                   [&](Sweep& sweep) { measure_shapes(sweep, values); });
  experiment.sweep("sizes", "the best stages by the number of values",
                   [&](Sweep& sweep) { measure_sizes(sweep, largest); });
  experiment.sweep("error", "how exact are the totals, and are they the same every time?",
                   [&](Sweep& sweep) { measure_errors(sweep, values); });
  experiment.sweep("awkward", "sizes that divide by nothing, and starts between vectors",
                   [&](Sweep& sweep) { measure_awkward(sweep, largest_awkward); });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace hipscope::reduction

int main(int argc, char** argv) { return hipscope::reduction::run(argc, argv); }
