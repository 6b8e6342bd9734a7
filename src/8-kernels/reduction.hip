// How fast can many values be summed, and what does each way to do it cost?
//
// Every value must be read once, so a kernel that only reads is the limit. Every stage leaves the
// one total in device memory; each changes one thing:
//   2, 4, 8 values per step   one value per thread; a block's tree in LDS adds up so many per step
//   first add on load         two values per thread: the first addition comes before the tree
//   wave shuffle              the tree goes through registers, LDS only joins the waves
//   vector load               16 bytes per thread in one load
//   eight vector loads        under way at once: 128 bytes per thread
//   grid stride               no more blocks than fit at once; each goes through the whole array
//   single pass, atomic add   the blocks add their sums to the total, which starts as 0
//   single pass, last block   the block that finishes last adds up the sums of all, in fixed order
//   single pass, early ticket each block draws its ticket before it loads, and stores its sum and a
//                             mark; the block with the last ticket waits for the marks of all
// Up to `grid stride` a second launch of the same kernel sums the blocks' sums, and further ones
// until one is left.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "reduction_data.h"
#include "reduction_kernels.h"
#include "reduction_stages.h"

using hipscope::DeviceBuffer;
using hipscope::Inference;
using hipscope::launch;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::reduction::Array;
using hipscope::reduction::Data;
using hipscope::reduction::Deal;
using hipscope::reduction::error_bound;
using hipscope::reduction::Finish;
using hipscope::reduction::has_vendor;
using hipscope::reduction::is_right;
using hipscope::reduction::Job;
using hipscope::reduction::log2_of;
using hipscope::reduction::name_of;
using hipscope::reduction::note_vendor;
using hipscope::reduction::read_kernel;
using hipscope::reduction::read_threads;
using hipscope::reduction::read_tile;
using hipscope::reduction::Reference;
using hipscope::reduction::scalar_stage;
using hipscope::reduction::shuffle_kernel;
using hipscope::reduction::Stage;
using hipscope::reduction::to_resident_blocks;
using hipscope::reduction::tree_stage;
using hipscope::reduction::vector_stage;
using hipscope::reduction::vendor_name;
using hipscope::reduction::vendor_stage;

namespace {

// --- The ladder -------------------------------------------------------------------------------

constexpr unsigned threads = 256;
constexpr unsigned loads = 8;

// The fastest whose total is the same every time.
template <typename Value>
Stage<Value> best_stage() {
  return vector_stage<Value, threads, loads, Finish::early_ticket>("single pass, early ticket",
                                                                   to_resident_blocks);
}

template <typename Value>
Stage<Value> many_loads_stage() {
  return vector_stage<Value, threads, loads, Finish::store>("eight vector loads",
                                                            {.tiles_per_block = 1});
}

template <typename Value>
Stage<Value> atomic_stage() {
  return vector_stage<Value, threads, loads, Finish::add>("single pass, atomic add",
                                                          to_resident_blocks);
}

template <typename Value>
Stage<Value> last_block_stage() {
  return vector_stage<Value, threads, loads, Finish::last_block>("single pass, last block",
                                                                 to_resident_blocks);
}

template <typename Value>
std::vector<Stage<Value>> stages() {
  return {tree_stage<Value, threads, 2>("2 values per step"),
          tree_stage<Value, threads, 4>("4 values per step"),
          tree_stage<Value, threads, 8>("8 values per step"),
          tree_stage<Value, threads, 4, 2>("first add on load"),
          scalar_stage<threads, 2>("wave shuffle", shuffle_kernel<Value, threads, 2>,
                                   log2_of(threads), 1),
          vector_stage<Value, threads, 1, Finish::store>("vector load", {.tiles_per_block = 1}),
          many_loads_stage<Value>(),
          vector_stage<Value, threads, loads, Finish::store>("grid stride", to_resident_blocks),
          atomic_stage<Value>(),
          last_block_stage<Value>(),
          best_stage<Value>()};
}

// --- Measuring --------------------------------------------------------------------------------

constexpr const char* gigabytes = "GB/s";

double bandwidth(double bytes, double seconds) { return bytes * 1e-9 / seconds; }

template <typename Value>
double bytes_of(const Array<Value>& array) {
  return static_cast<double>(array.count()) * sizeof(Value);
}

// One array to check by, and what it sums to.
template <typename Value>
struct Checked {
  Array<Value>& array;
  Reference reference;
};

template <typename Value>
Checked<Value> with_reference(Point& point, Array<Value>& array) {
  array.verify_reference(point);
  return {.array = array, .reference = array.reference(0, array.count())};
}

template <typename Value>
void verify(const Sweep& sweep, Point& point, const Stage<Value>& stage,
            const Checked<Value>& checked, const std::string& prefix = "") {
  const Job<Value> job = stage.prepare(sweep, checked.array);
  DeviceBuffer<Value> total(1);
  const auto total_is = [&](const Reference& expected) {
    total.poison();
    job.enqueue(total.data());
    return is_right(checked.array.data(), expected, total.to_host()[0], job.depth);
  };
  // Again with zeros: what is left of the first run must not matter. A third time, since tickets
  // and marks begin anew after two.
  std::uint64_t wrong = total_is(checked.reference) ? 0 : 1;
  checked.array.zero();
  wrong += total_is({}) ? 0 : 1;
  checked.array.fill();
  wrong += total_is(checked.reference) ? 0 : 1;
  point.verify(prefix + "total of values " + name_of(checked.array.data()), wrong, 3);
}

// Measures the read kernel on the whole tiles of the values; returns GB/s.
template <typename Value>
double measure_read(Point& point, const Array<Value>& array, const std::string& name = "time") {
  const auto blocks = static_cast<unsigned>(array.count() / read_tile);
  const auto* const vectors = static_cast<const uint4*>(static_cast<const void*>(array.values()));
  DeviceBuffer<unsigned> sums(blocks);
  const auto run = [&] {
    launch(read_kernel, {.grid = dim3(blocks), .block = dim3(read_threads)}, vectors, sums.data());
  };
  run();
  unsigned words = 0;
  for (const unsigned sum : sums.to_host()) {
    words += sum;
  }
  point.verify("checksum of what was read",
               words == array.reference(0, blocks * read_tile).words ? 0 : 1, 1);
  return bandwidth(static_cast<double>(blocks * read_tile) * sizeof(Value),
                   point.measure(run, {.name = name}).seconds().median);
}

template <typename Value>
double measure_sum(const Sweep& sweep, Point& point, const Stage<Value>& stage,
                   const Array<Value>& array, const std::string& name = "time") {
  const Job<Value> job = stage.prepare(sweep, array);
  DeviceBuffer<Value> total(1);
  return point.measure([&] { job.enqueue(total.data()); }, {.name = name}).seconds().median;
}

// The values that are measured: random in all bits that matter.
template <typename Value>
constexpr Data measured_data = std::is_same_v<Value, float> ? Data::positive : Data::all_bits;

// Those that must come out exactly.
template <typename Value>
constexpr Data exact_data = std::is_same_v<Value, float> ? Data::small_integers : Data::all_bits;

void require_values(const Sweep& sweep, std::uint64_t count, const std::string& option) {
  sweep.require_memory(2 * count * sizeof(float), option);
}

// --- Sweep: stages ----------------------------------------------------------------------------

template <typename Value>
class StageTable {
 public:
  StageTable(Sweep& sweep, std::uint64_t count)
      : sweep_(sweep),
        measured_(sweep, measured_data<Value>, count),
        exact_(sweep, exact_data<Value>, count) {}

  void measure(bool is_published) {
    auto point = sweep_.point("read", 0);
    const Checked<Value> measured = with_reference(point, measured_);
    const Checked<Value> exact = with_reference(point, exact_);
    read_ = measure_read(point, measured_);
    point.value("bandwidth", read_, gigabytes);
    const auto ladder = stages<Value>();
    if (has_vendor(sweep_)) {
      const double x = static_cast<double>(ladder.size()) + 1;
      vendor_seconds_ = row(sweep_.point(vendor_name, x), vendor_stage<Value>(), measured, exact);
    }
    double before = 0;
    for (std::size_t i = 0; i < ladder.size(); ++i) {
      const std::string series = i == 0 ? "2 elements a step" : i == 1 ? "4 elements a step" : "";
      auto stage_point =
          sweep_.point(ladder[i].name, static_cast<double>(i + 1), is_published ? series : "");
      const double seconds = row(stage_point, ladder[i], measured, exact);
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
    const double seconds = measure_sum(sweep_, point, stage, measured_);
    const double gigabytes_per_second = bandwidth(bytes_of(measured_), seconds);
    point.value("bandwidth", gigabytes_per_second, gigabytes);
    point.value("share of read", 100 * gigabytes_per_second / read_, "%");
    if (vendor_seconds_ > 0) {
      point.value("rate over the vendor's", vendor_seconds_ / seconds, "times");
    }
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
  double vendor_seconds_ = 0;
};

template <typename Value>
void measure_stages(Sweep& sweep, std::uint64_t count, bool is_published) {
  sweep.axis({.name = "stage"});
  sweep.headline("time");
  sweep.note(std::to_string(count) +
             " values of 4 bytes; launches include the one that zeroes the "
             "total of the atomic add");
  if (is_published) {
    sweep.note("the published times end with the blocks' sums, ours with the total");
  }
  note_vendor(sweep);
  require_values(sweep, count, "--values");
  StageTable<Value>(sweep, count).measure(is_published);
}

// --- Sweep: steps -----------------------------------------------------------------------------

template <unsigned Threads, unsigned Fan>
double measure_fan(const Sweep& sweep, Point& point, const Checked<float>& exact) {
  const std::string name = std::to_string(Fan) + " values ";
  const auto stage = tree_stage<float, Threads, Fan>(name);
  verify(sweep, point, stage, exact, name + "per step, ");
  const double seconds = measure_sum(sweep, point, stage, exact.array, name + "time");
  point.value(name + "barriers", stage.barriers, "per block");
  return seconds;
}

template <unsigned Threads>
void measure_block_size(Sweep& sweep, Array<float>& array) {
  auto point = sweep.point(std::to_string(Threads), Threads);
  const Checked<float> exact = with_reference(point, array);
  const double two = measure_fan<Threads, 2>(sweep, point, exact);
  const double four = measure_fan<Threads, 4>(sweep, point, exact);
  const double eight = measure_fan<Threads, 8>(sweep, point, exact);
  point.value("speed-up of 4 on 2", two / four, "times");
  point.value("speed-up of 8 on 4", four / eight, "times");
}

void measure_steps(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "block", .unit = "threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("speed-up of 8 on 4");
  require_values(sweep, count, "--values");
  Array<float> array(sweep, Data::small_integers, count);
  measure_block_size<256>(sweep, array);
  measure_block_size<512>(sweep, array);
  measure_block_size<1024>(sweep, array);
}

// --- Sweep: shapes ----------------------------------------------------------------------------

template <unsigned Threads, unsigned Loads, Finish finish>
void measure_finish(const Sweep& sweep, Point& point, const Checked<float>& exact,
                    const std::string& name, Deal deal) {
  const auto stage = vector_stage<float, Threads, Loads, finish>(name, deal);
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
    const Deal deal = {.tiles_per_block = tiles};
    measure_finish<Threads, Loads, Finish::last_block>(sweep, point, exact, "last block", deal);
    measure_finish<Threads, Loads, Finish::early_ticket>(sweep, point, exact, "early ticket", deal);
  }
}

void measure_shapes(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "shape"});
  sweep.headline("early ticket");
  sweep.note("single pass; threads x loads of 16 bytes under way in each");
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
  std::vector<Stage<float>> ways = {many_loads_stage<float>(), atomic_stage<float>(),
                                    last_block_stage<float>(), best_stage<float>()};
  if (has_vendor(sweep)) {
    ways.push_back(vendor_stage<float>());
  }
  for (const auto& stage : ways) {
    verify(sweep, point, stage, exact, stage.name + ", ");
    const double seconds = measure_sum(sweep, point, stage, array, stage.name + " time");
    point.value(stage.name, bandwidth(bytes_of(array), seconds), gigabytes);
  }
}

void measure_sizes(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "values", .scale = hipscope::Scale::logarithmic});
  sweep.headline(best_stage<float>().name);
  sweep.note("what fits into L2 stays there from one run to the next");
  note_vendor(sweep);
  require_values(sweep, largest, "--largest");
  const std::uint64_t first = sweep.is_hardware() ? 1U << 20 : read_tile;
  for (std::uint64_t count = std::min(first, largest); count <= largest; count *= 2) {
    measure_size(sweep, count);
  }
}

// --- Sweep: error -----------------------------------------------------------------------------

// How many different totals a stage gives when it runs again and again.
std::size_t count_totals(const Job<float>& job, unsigned runs) {
  DeviceBuffer<float> totals(runs);
  for (unsigned run = 0; run < runs; ++run) {
    job.enqueue(totals.data() + run);
  }
  const auto made = totals.to_host();
  return std::set<float>(made.begin(), made.end()).size();
}

void show_error(Point& point, float total, const Reference& reference, Data data) {
  point.value(std::string("error of values ") + name_of(data),
              std::abs(static_cast<double>(total) - reference.sum) / reference.magnitude,
              "of the sum of absolute values");
}

// What a loop on the host makes of the same values.
void measure_loop_error(Sweep& sweep, const std::vector<const Checked<float>*>& inputs) {
  auto point = sweep.point("one loop, on the host", 0);
  for (const auto* const input : inputs) {
    float total = 0;
    for (std::uint64_t i = 0; i < input->array.count(); ++i) {
      total += input->array.value(i);
    }
    show_error(point, total, input->reference, input->array.data());
  }
}

void measure_errors(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "stage"});
  sweep.headline(std::string("error of values ") + name_of(Data::positive));
  sweep.note("bound: what rounding can do at most, by the number of additions in a row");
  note_vendor(sweep);
  require_values(sweep, count, "--values");
  Array<float> positive(sweep, Data::positive, count);
  Array<float> centred(sweep, Data::centred, count);
  std::vector<Stage<float>> ways = stages<float>();
  if (has_vendor(sweep)) {
    ways.push_back(vendor_stage<float>());
  }
  const std::vector<Checked<float>> inputs = {
      {.array = positive, .reference = positive.reference(0, count)},
      {.array = centred, .reference = centred.reference(0, count)}};
  measure_loop_error(sweep, {inputs.data(), inputs.data() + 1});
  const unsigned runs = sweep.is_hardware() ? 16 : 2;
  double x = 0;
  for (const auto& stage : ways) {
    auto point = sweep.point(stage.name, ++x);
    for (const auto& input : inputs) {
      verify(sweep, point, stage, input);
      DeviceBuffer<float> total(1);
      const Job<float> job = stage.prepare(sweep, input.array);
      job.enqueue(total.data());
      show_error(point, total.to_host()[0], input.reference, input.array.data());
    }
    const Job<float> job = stage.prepare(sweep, centred);
    point.value("bound", error_bound(job.depth, 1), "of the sum of absolute values");
    point.value("different totals", static_cast<double>(count_totals(job, runs)),
                "in " + std::to_string(runs) + " runs");
  }
}

// --- Sweep: awkward ---------------------------------------------------------------------------

template <typename Value>
void verify_stages(const Sweep& sweep, Point& point, Data data, std::uint64_t count,
                   unsigned skipped) {
  Array<Value> array(sweep, data, count, skipped);
  const Checked<Value> checked = with_reference(point, array);
  for (const auto& stage : stages<Value>()) {
    verify(sweep, point, stage, checked, stage.name + ", ");
  }
}

// `skipped` values before the first one: it lies on no boundary of a vector.
void measure_awkward_size(Sweep& sweep, std::uint64_t count, unsigned skipped) {
  auto point = sweep.point(
      std::to_string(count) + (skipped > 0 ? " from value " + std::to_string(skipped) + " on" : ""),
      static_cast<double>(count));
  sweep.require_memory(count * sizeof(float), "--largest-awkward");
  // The host backend takes long for many values: integers must do, whose sums are exact.
  if (sweep.is_hardware() || count <= 2 * read_tile) {
    verify_stages<float>(sweep, point, Data::small_integers, count, skipped);
    verify_stages<float>(sweep, point, Data::centred, count, skipped);
  }
  verify_stages<unsigned>(sweep, point, Data::all_bits, count, skipped);
  Array<float> array(sweep, Data::positive, count, skipped);
  const double seconds = measure_sum(sweep, point, best_stage<float>(), array);
  point.value("bandwidth", bandwidth(bytes_of(array), seconds), gigabytes);
}

void measure_awkward(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "values", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.note("every stage on every kind of value; bandwidth of " + best_stage<float>().name);
  constexpr std::uint64_t fermat_prime = 65537;
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{255},
        std::uint64_t{257}, read_tile - 1, fermat_prime}) {
    measure_awkward_size(sweep, count, 0);
  }
  constexpr std::uint64_t prime = 32771;
  measure_awkward_size(sweep, prime, 1);
  measure_awkward_size(sweep, 257, 2);
  measure_awkward_size(sweep, read_tile + 1, 3);
  measure_awkward_size(sweep, 2, 2);  // no vector at all
  constexpr std::uint64_t large_prime = 16777259;
  constexpr std::uint64_t beyond_2_gibibytes = (std::uint64_t{1} << 29) + (1U << 20) + 7;
  for (const std::uint64_t count : {large_prime, beyond_2_gibibytes}) {
    if (count <= largest) {
      measure_awkward_size(sweep, count, 1);
    }
  }
}

// --- What the curves show ---------------------------------------------------------------------

const hipscope::CurvePoint* find(const std::vector<hipscope::CurvePoint>& curve, double x) {
  const auto found =
      std::find_if(curve.begin(), curve.end(), [=](const auto& point) { return point.x == x; });
  return found == curve.end() ? nullptr : &*found;
}

double confidence_of(const hipscope::CurvePoint& a, const hipscope::CurvePoint& b) {
  return 1 - std::min(1.0, a.relative_spread + b.relative_spread);
}

// The source asks: are 8 values per step better still than 4?
void infer_steps(hipscope::Results& results, const std::vector<hipscope::CurvePoint>& times) {
  const auto* const two = find(times, 1);
  const auto* const four = find(times, 2);
  const auto* const eight = find(times, 3);
  if (two == nullptr || four == nullptr || eight == nullptr) {
    return;
  }
  const double speed_up = four->y / eight->y;
  // Less than this is no help worth its name, whatever the spread.
  constexpr double least = 0.02;
  const double noise = std::max(least, four->relative_spread + eight->relative_spread);
  const std::string verdict = speed_up > 1 + noise   ? "help further"
                              : speed_up < 1 - noise ? "are slower"
                                                     : "make no difference";
  Inference inference{.name = "8 values per step over 4",
                      .value = speed_up,
                      .unit = "times as fast",
                      .confidence = confidence_of(*four, *eight),
                      .statement = "8 values per step of the tree in LDS " + verdict +
                                   ", which the source leaves open"};
  inference.evidence = {"4 values per step are " + number(two->y / four->y) +
                        " times as fast as 2, with half the barriers"};
  const auto published_two = results.published("2 elements a step", "time");
  const auto published_four = results.published("4 elements a step", "time");
  if (!published_two.empty() && !published_four.empty()) {
    inference.evidence.back() +=
        "; published for " + published_two.front().gpu + ": " +
        number(published_two.front().points[0].second / published_four.front().points[0].second);
  }
  for (const auto& point : results.curve("steps", "speed-up of 8 on 4")) {
    inference.evidence.push_back("blocks of " + number(point.x, 4) +
                                 " threads: " + number(point.y) + " times as fast");
  }
  results.infer(inference);
}

void infer_best(hipscope::Results& results, const std::vector<hipscope::CurvePoint>& times) {
  const auto ladder = stages<float>();
  const auto vendor_x = static_cast<double>(ladder.size()) + 1;
  const hipscope::CurvePoint* best = nullptr;
  for (const auto& point : times) {
    if (point.x > 0 && point.x < vendor_x && (best == nullptr || point.y < best->y)) {
      best = &point;
    }
  }
  const auto bandwidths = results.curve("stages", "bandwidth");
  const auto* const read = find(bandwidths, 0);
  if (best == nullptr || read == nullptr) {
    return;
  }
  const auto* const rate = find(bandwidths, best->x);
  const std::string name = ladder[static_cast<std::size_t>(best->x) - 1].name;
  results.infer({.name = "best reduction over read bandwidth",
                 .value = 100 * rate->y / read->y,
                 .unit = "%",
                 .confidence = confidence_of(*best, *read),
                 .statement = "fastest of our stages: " + name,
                 .evidence = {number(rate->y, 4) + " GB/s; a kernel that only reads the same: " +
                              number(read->y, 4) + " GB/s"}});
  Inference inference{.name = "best reduction over vendor library",
                      .unit = "%",
                      .statement = "this build has no vendor library, or did not run it"};
  if (const auto* const vendor = find(times, vendor_x)) {
    inference.value = 100 * vendor->y / best->y;
    inference.confidence = confidence_of(*best, *vendor);
    inference.statement = name + " against " + hipscope::vendor::sum_library();
    inference.evidence = {number(best->y * 1e6, 4) + " us; the library " +
                          number(vendor->y * 1e6, 4) + " us"};
  }
  results.infer(inference);
}

void infer(hipscope::Results& results) {
  const auto times = results.curve("stages", "time");
  infer_steps(results, times);
  infer_best(results, times);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "reduction",
      {.question = "How fast can many values be summed, and what does each way to do it cost?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.12 (example 12a)"}});
  constexpr std::uint64_t published_values = 1U << 28;
#if defined(HIPSCOPE_BACKEND_AMD)
  // HIP launches no grid of 2^32 threads or more on AMD (reference of hipModuleLaunchKernel), and
  // the first stages have a thread for each value.
  constexpr std::uint64_t most = (std::uint64_t{1} << 32) - hipscope::reduction::largest_block;
#else
  constexpr std::uint64_t most = std::uint64_t{1} << 34;
#endif
  const auto values = experiment.size("--values", "values that are summed",
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
      "--largest-awkward", "most values of sweep awkward, where they are over 2^17",
      {.gpu = 1U << 30, .quick = 1U << 17, .host = 1U << 17, .minimum = 1, .maximum = most});
  experiment.sweep("published", "every stage on integers, as the source", [&](Sweep& sweep) {
    measure_stages<unsigned>(sweep, values, values == published_values);
  });
  experiment.sweep("stages", "every stage on FP32 values",
                   [&](Sweep& sweep) { measure_stages<float>(sweep, values, false); });
  experiment.sweep("steps", "the tree in LDS, by block size and values per step",
                   [&](Sweep& sweep) { measure_steps(sweep, values); });
  experiment.sweep("shapes", "the single passes, by threads, loads and blocks",
                   [&](Sweep& sweep) { measure_shapes(sweep, values); });
  experiment.sweep("sizes", "the best stages by the number of values",
                   [&](Sweep& sweep) { measure_sizes(sweep, largest); });
  experiment.sweep("error", "how exact are the totals, and are they the same every time?",
                   [&](Sweep& sweep) { measure_errors(sweep, values); });
  experiment.sweep("awkward", "sizes that divide by nothing, and starts between vectors",
                   [&](Sweep& sweep) { measure_awkward(sweep, largest_awkward); });
  experiment.conclude(infer);
  return experiment.run(argc, argv);
}
