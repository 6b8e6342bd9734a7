// How many kernels run side by side, and what do streams have to do with it?
//
// Work in one stream runs in order. Work in several may overlap, if the device has a queue for each
// (streams share a few hardware queues), room for the blocks, and an engine for the copies:
//   kernels    one kernel of one block in each of n streams: how many run at once?
//   queues     a chain of them in each of n streams: streams that share a hardware queue wait for
//              each other's chains, so that the time rises by a step each time the queues are full
//   small      a small kernel beside a large one: does it wait?
//   priority   the same with streams of different priority
//   copies     an engine's copy during a kernel that computes, and during one bound by memory
//   waits      a chain of kernels in two streams, each of which waits for the other's event
//   launches   launches per second, in turn to n streams
// Each block stores when it began and ended, by the device's constant-rate timer: that tells what
// overlapped.
#include <hipscope/footprint.h>
#include <hipscope/hipscope.h>
#include <hipscope/pause.h>
#include <hipscope/timer.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "copies.h"
#include "findings.h"
#include "stamps.h"
#include "stream.h"
#include "waits.h"

namespace streams {
namespace {

constexpr unsigned small_block = 64;
constexpr unsigned large_block = 1024;
constexpr int normal_priority = 0;

// --- Kernels ----------------------------------------------------------------------------------

// Each block holds its place for `hold` ticks of the timer: one thread watches it, the others wait
// at the barrier. A turn of the loop takes more than one tick, so its count ends a wait by a timer
// that stands still.
__global__ void __launch_bounds__(large_block) hold_kernel(Marks marks, long long hold) {
  if (threadIdx.x == 0) {
    const long long begin = hipscope::timer_ticks();
    long long end = begin;
    for (long long turn = 0; turn < hold && end - begin < hold; ++turn) {
      hipscope::pause();
      end = hipscope::timer_ticks();
    }
    marks.stamps[blockIdx.x] = {.begin = begin, .end = end};
    atomicAdd(&marks.runs[blockIdx.x], 1U);
  }
  __syncthreads();
}

__global__ void __launch_bounds__(small_block) count_kernel(unsigned* counter) {
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1U);
  }
}

// --- Kernels in n streams ---------------------------------------------------------------------

// Ticks of a hold that an option gives in microseconds.
long long ticks_of(std::uint64_t microseconds) {
  return static_cast<long long>(static_cast<double>(microseconds) * ticks_per_microsecond());
}

// The numbers of streams that are tried: all of the first, then every fourth or eighth.
std::vector<unsigned> stream_counts(const Sweep& sweep, unsigned all_up_to, unsigned step,
                                    unsigned most) {
  if (!sweep.is_hardware()) {
    return {1, 2, 3};
  }
  std::vector<unsigned> counts;
  for (unsigned count = 1; count <= most; count += count < all_up_to ? 1 : step) {
    counts.push_back(count);
  }
  return counts;
}

// `depth` kernels in each of n streams, one stream after the other. Ends when `span` has been
// doubled, or nearly so, at enough points in a row that more would tell nothing.
void measure_side_by_side(Sweep& sweep, const std::vector<unsigned>& counts, unsigned depth,
                          std::uint64_t hold_microseconds) {
  sweep.axis({.name = "streams"});
  sweep.headline("span");
  sweep.note(asked_queues(sweep.is_hardware()).text);
  sweep.note(
      "served: kernels that had begun before the first of them ended; span: from the first "
      "begin to the last end, by the device's timer");
  const long long hold = ticks_of(hold_microseconds);
  const std::vector<Stream> all(counts.back());
  constexpr double longer = 1.4;
  constexpr unsigned enough = 8;
  double shortest = 0;
  unsigned longer_in_a_row = 0;
  for (std::size_t i = 0; i < counts.size() && longer_in_a_row < enough; ++i) {
    auto point = sweep.point(std::to_string(counts[i]), counts[i]);
    Stamps stamps(counts[i] * depth);
    const auto run = [&] {
      Marks marks = stamps.next();
      for (unsigned kernel = 0; kernel < counts[i] * depth; ++kernel) {
        launch(hold_kernel,
               {.grid = dim3(1), .block = dim3(small_block), .stream = all[kernel / depth].get()},
               marks, hold);
        ++marks.stamps;
        ++marks.runs;
      }
    };
    point.measure(run, {.batch = 1});
    stamps.verify(point, hold);
    const double span = stamps.median(span_of) / ticks_per_microsecond();
    point.value("served", stamps.median(served_at_once), "kernels");
    point.value("span", span, "us");
    shortest = i == 0 ? span : std::min(shortest, span);
    longer_in_a_row = sweep.is_hardware() && span > longer * shortest ? longer_in_a_row + 1 : 0;
  }
}

// --- A small kernel beside a large one --------------------------------------------------------

// NVIDIA's SMs share one memory between L1 and LDS. The runtime chooses how much is LDS by the
// blocks of a launch, unless it is told, and an SM must be idle to change that.
enum class Split { same_for_all, by_runtime };

#if defined(HIPSCOPE_BACKEND_NVIDIA)
constexpr bool has_split = true;
#else
constexpr bool has_split = false;
#endif

void choose([[maybe_unused]] Split split) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  check(hipFuncSetAttribute(reinterpret_cast<const void*>(hold_kernel),
                            hipFuncAttributePreferredSharedMemoryCarveout,
                            split == Split::same_for_all ? 0 : -1));
#endif
}

// The large kernel has `large_blocks`, each of which holds its place for a while; then comes the
// small one. The priorities are of their streams.
struct Pair {
  unsigned large_blocks = 0;
  long long large_hold = 0;
  int large_priority = normal_priority;
  int small_priority = normal_priority;
  Split split = Split::same_for_all;
};

void wait_on_host(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
  }
}

void measure_pair(Sweep& sweep, const std::string& label, double x, const Pair& pair) {
  auto point = sweep.point(label, x);
  const Stream large_stream(pair.large_priority);
  const Stream small_stream(pair.small_priority);
  Stamps stamps(pair.large_blocks + 1);
  const long long small_hold = ticks_of(1);
  choose(pair.split);
  Marks marks{};
  const auto large = [&] {
    check(hipDeviceSynchronize());
    marks = stamps.next();
    if (pair.large_blocks > 0) {
      launch(hold_kernel,
             {.grid = dim3(pair.large_blocks),
              .block = dim3(large_block),
              .stream = large_stream.get()},
             marks, pair.large_hold);
      constexpr double until_it_runs = 50e-6;
      wait_on_host(until_it_runs);
    }
  };
  const auto small = [&] {
    launch(
        hold_kernel, {.grid = dim3(1), .block = dim3(small_block), .stream = small_stream.get()},
        Marks{.stamps = marks.stamps + pair.large_blocks, .runs = marks.runs + pair.large_blocks},
        small_hold);
    check(hipStreamSynchronize(small_stream.get()));
  };
  large();
  small();  // uploads the code
  large();
  point.measure_on_host("latency", small, large);
  small();
  check(hipDeviceSynchronize());
  stamps.verify(point, small_hold);
  if (pair.large_blocks > 0) {
    point.value("began at", 100 * stamps.median([&](std::span<const Stamp> run) {
      const Stamp whole = hull_of(run.first(pair.large_blocks));
      return static_cast<double>(run.back().begin - whole.begin) /
             static_cast<double>(whole.end - whole.begin);
    }),
                "% of the large one");
  }
}

// Blocks of 1024 threads that the device has places for.
unsigned places(const Sweep& sweep) {
  return static_cast<unsigned>(hipscope::resident_blocks(hold_kernel, large_block) *
                               sweep.device().compute_units);
}

constexpr unsigned rounds = 8;

// Blocks for these rounds over all places, the last of which leaves half of them free.
unsigned many_blocks(const Sweep& sweep) { return rounds * places(sweep) - places(sweep) / 2; }

// True where there is something to measure.
bool begin_pairs(Sweep& sweep) {
  sweep.axis({.name = "kernels"});
  sweep.headline("latency");
  if (!sweep.is_hardware()) {
    sweep.note(asked_queues(false).text);
    return false;
  }
  sweep.note(
      "latency: of the small kernel, from its launch to its end, by the host's clock; the "
      "large one, of blocks of 1024 threads, has run for 50 us when it is launched");
  return true;
}

void measure_small(Sweep& sweep, std::uint64_t hold_microseconds) {
  if (!begin_pairs(sweep)) {
    return;
  }
  const long long hold = ticks_of(hold_microseconds);
  measure_pair(sweep, "small alone", 1, {});
  measure_pair(sweep, "large takes half of the places", 2,
               {.large_blocks = places(sweep) / 2, .large_hold = rounds * hold});
  measure_pair(sweep, "large takes all places once", 3,
               {.large_blocks = places(sweep), .large_hold = rounds * hold});
  measure_pair(sweep, "large takes them 7.5 times", 4,
               {.large_blocks = many_blocks(sweep), .large_hold = hold});
  if (has_split) {
    measure_pair(sweep, "half of the places, the runtime splits L1 and LDS", 5,
                 {.large_blocks = places(sweep) / 2,
                  .large_hold = rounds * hold,
                  .split = Split::by_runtime});
  }
}

void measure_priority(Sweep& sweep, std::uint64_t hold_microseconds) {
  if (!begin_pairs(sweep)) {
    return;
  }
  const Priorities range = priorities();
  if (!range.differ()) {
    sweep.note("this device has streams of one priority only");
    return;
  }
  sweep.note("priorities from " + std::to_string(range.least) + " to " +
             std::to_string(range.greatest));
  const Pair equal = {.large_blocks = many_blocks(sweep),
                      .large_hold = ticks_of(hold_microseconds),
                      .large_priority = range.least,
                      .small_priority = range.least};
  measure_pair(sweep, "both of the least", 1, equal);
  Pair pair = equal;
  pair.small_priority = range.greatest;
  measure_pair(sweep, "small of the greatest, large of the least", 2, pair);
  std::swap(pair.small_priority, pair.large_priority);
  measure_pair(sweep, "small of the least, large of the greatest", 3, pair);
}

// --- Launches ---------------------------------------------------------------------------------

void measure_launches(Sweep& sweep, std::uint64_t kernels) {
  sweep.axis({.name = "streams", .scale = hipscope::Scale::logarithmic});
  sweep.headline("completion per kernel");
  sweep.note(
      "one thread of the host launches kernels of one block to the streams in turn; "
      "completion: until all have ended, by the host's clock, in streams that wait for none; "
      "device: all were enqueued before the first began");
  const unsigned most = sweep.is_hardware() ? 32 : 2;
  const std::vector<Stream> gated(most);
  std::vector<Stream> free;
  for (unsigned i = 0; i < most; ++i) {
    free.emplace_back(normal_priority);
  }
  DeviceBuffer<unsigned> counter(1);
  for (unsigned count = 1; count <= most; count *= 2) {
    auto point = sweep.point(std::to_string(count), count);
    counter.clear();
    std::uint64_t launched = 0;
    const auto enqueue = [&](const std::vector<Stream>& all) {
      for (std::uint64_t i = 0; i < kernels; ++i) {
        launch(count_kernel,
               {.grid = dim3(1), .block = dim3(small_block), .stream = all[i % count].get()},
               counter.data());
      }
      launched += kernels;
    };
    check(hipDeviceSynchronize());  // the counter is cleared
    const auto completion = point.measure_on_host("completion", [&] {
      enqueue(free);
      check(hipDeviceSynchronize());
    });
    const auto device = point.measure([&] { enqueue(gated); }, {.name = "device", .batch = 1});
    const auto expected = static_cast<unsigned>(launched);
    const unsigned counted = counter.to_host()[0];
    const std::uint64_t wrong = counted > expected ? counted - expected : expected - counted;
    point.verify("kernels that ran", std::min(wrong, kernels), kernels,
                 [&](hipscope::Comparison& ran) { ran.compare(0, expected, counted); });
    constexpr double micro = 1e6;
    const auto each = micro / static_cast<double>(kernels);
    point.value("completion per kernel", each * completion.seconds().median, "us");
    point.value("device per kernel", each * device.seconds().median, "us");
  }
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "streams",
      {.question = "How many kernels run side by side, and what do streams have to do with it?",
       .sources = {"hipscope's own"}});
  const auto hold = experiment.size(
      "--hold", "microseconds for which a block holds its place in sweeps kernels and queues",
      {.gpu = 200, .quick = 200, .host = 5, .tiny = 1, .minimum = 1, .maximum = 100'000});
  const auto large_hold = experiment.size(
      "--large-hold", "microseconds for which a block of a large kernel holds its place",
      {.gpu = 100, .quick = 100, .host = 5, .tiny = 1, .minimum = 1, .maximum = 100'000});
  const auto bytes = experiment.size("--bytes", "bytes of a copy in sweep copies",
                                     {.gpu = std::uint64_t{1} << 26,
                                      .quick = std::uint64_t{1} << 24,
                                      .host = std::uint64_t{1} << 12,
                                      .minimum = 64,
                                      .maximum = std::uint64_t{1} << 32,
                                      .share_of_memory = 1.0 / 64});
  const auto fmas = experiment.size(
      "--fmas", "dependent FMAs per thread of the kernel that computes, in sweep copies",
      {.gpu = 1U << 18, .quick = 1U << 16, .host = 64, .minimum = 1, .maximum = 1U << 26});
  const auto passes =
      experiment.size("--passes", "passes of the kernel bound by memory over four times --bytes",
                      {.gpu = 10, .quick = 10, .host = 2, .minimum = 1, .maximum = 1U << 16});
  const auto chain = experiment.size(
      "--chain",
      "kernels of a chain in sweep waits; sweep launches has four times as many launches",
      {.gpu = 64, .quick = 64, .host = 8, .minimum = 4, .maximum = 64});
  experiment.sweep("kernels", "one kernel in each of n streams", [&](Sweep& sweep) {
    measure_side_by_side(sweep, stream_counts(sweep, 36, 8, 164), 1, hold);
  });
  experiment.sweep("queues", "a chain of four kernels in each of n streams", [&](Sweep& sweep) {
    measure_side_by_side(sweep, stream_counts(sweep, 44, 4, 136), 4, hold);
  });
  experiment.sweep("small", "a small kernel beside a large one",
                   [&](Sweep& sweep) { measure_small(sweep, large_hold); });
  experiment.sweep("priority", "a small kernel beside a large one, by priority",
                   [&](Sweep& sweep) { measure_priority(sweep, large_hold); });
  experiment.sweep("copies", "a copy by an engine under a kernel", [&](Sweep& sweep) {
    measure_copies(sweep, {.bytes = bytes,
                           .fmas = static_cast<unsigned>(fmas),
                           .passes = static_cast<unsigned>(passes)});
  });
  experiment.sweep("waits", "a chain of kernels in one stream and in two",
                   [&](Sweep& sweep) { measure_waits(sweep, static_cast<unsigned>(chain)); });
  experiment.sweep("launches", "launches in turn to n streams",
                   [&](Sweep& sweep) { measure_launches(sweep, 4 * chain); });
  experiment.conclude(
      [](hipscope::Results& results) { conclude(results, asked_queues(true).count); });
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace streams

int main(int argc, char** argv) { return streams::run(argc, argv); }
