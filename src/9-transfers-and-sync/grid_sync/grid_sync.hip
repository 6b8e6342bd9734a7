// What does a barrier over all blocks cost?
//
// A step that needs the results of all blocks can be another launch, or follow a barrier in the
// same kernel. Many barriers in a row are timed; the time of the launch without any is taken off:
//   blocks    one block per CU, by the number of CUs: barriers by the vendor, by one counter, by
//             flags, by a tree
//   per-cu    the same on all CUs, by the number of blocks per CU
//   groups    the trees, by the number of their groups
//   clusters  blocks in clusters, where the device has them: their own barrier, and one of all
//             blocks built on it; clusters-all: with as many blocks as fit
//   launches  another launch instead: in stream order, and as the next node of a graph
// A block that has not begun reaches no barrier. With more blocks than the device holds at once,
// the waiting ones keep the room that the rest needs, and the kernel hangs. So launches here are
// cooperative, which the runtime refuses for too many blocks, and no larger than the occupancy
// calculator allows; and a wait gives up after some seconds.
#include <hipscope/graph.h>
#include <hipscope/hipscope.h>
#include <hipscope/powers_of_two.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "barriers.h"
#include "clusters.h"
#include "findings.h"
#include "resident.h"
#include "room.h"

namespace grid_sync {
namespace {

using hipscope::Graph;
using hipscope::launch;
using hipscope::Point;
using hipscope::powers_of_two_up_to;
using hipscope::Sweep;

constexpr unsigned largest_block = 1024;
constexpr double nanosecond = 1e-9;

// --- Kernels ----------------------------------------------------------------------------------

constexpr unsigned given_up = 1U << 31;  // over any number of blocks

// Barriers and nothing else. Counts the blocks that have come to the end.
template <typename Kind>
__global__ void __launch_bounds__(largest_block)
    rounds_kernel(Meeting at, unsigned rounds, unsigned* passed) {
  Patience patience;
  for (unsigned epoch = 1; epoch <= rounds; ++epoch) {
    Kind::meet(at, epoch, patience);
  }
  if (patience.is_at_its_end()) {
    atomicOr(passed, given_up);
  }
  if (threadIdx.x == 0) {
    atomicAdd(passed, 1U);
  }
}

// What thread i of the grid stores in a round.
__host__ __device__ unsigned word_of(unsigned round, unsigned i) { return round * 0x9E3779B1U + i; }

// Reads a word of each of `peers` blocks, another thread's of each, after the barrier of a round.
// Plain loads: only the barrier orders them.
__device__ unsigned wrong_words(const unsigned* words, unsigned round, unsigned peers) {
  unsigned wrong = 0;
  const unsigned first = blockIdx.x / peers * peers;
  for (unsigned block = first; block < first + peers; ++block) {
    const unsigned i = block * blockDim.x + (threadIdx.x + block + 1) % blockDim.x;
    wrong += words[i] == word_of(round, i) ? 0 : 1;
  }
  return wrong;
}

// Every thread stores its word of the round, and after the barrier reads one of each block. Rounds
// take two arrays in turn: a word is stored again two barriers after it was first read.
template <typename Kind>
__global__ void __launch_bounds__(largest_block)
    exchange_kernel(Meeting at, unsigned rounds, unsigned peers, unsigned* words, unsigned* wrong) {
  Patience patience;
  const unsigned threads = gridDim.x * blockDim.x;
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mistakes = 0;
  for (unsigned epoch = 1; epoch <= rounds; ++epoch) {
    unsigned* const now = words + epoch % 2 * threads;
    now[mine] = word_of(epoch, mine);
    Kind::meet(at, epoch, patience);
    mistakes += wrong_words(now, epoch, peers);
  }
  atomicAdd(wrong, mistakes);
}

// A round as a launch: reads the words of the launch before, then stores its own.
__global__ void __launch_bounds__(largest_block)
    exchange_launch_kernel(unsigned round, unsigned* words, unsigned* wrong) {
  const unsigned threads = gridDim.x * blockDim.x;
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  if (round > 1) {
    atomicAdd(wrong, wrong_words(words + (round - 1) % 2 * threads, round - 1, gridDim.x));
  }
  words[round % 2 * threads + mine] = word_of(round, mine);
}

__global__ void __launch_bounds__(largest_block) null_kernel() {}

// --- Barriers as what is measured ---------------------------------------------------------------

// Enqueues that many rounds.
using Rounds = std::function<void(const Room&, unsigned rounds)>;

struct Barrier {
  std::string name;
  Rounds rounds;
  Rounds exchange;                                     // adds wrong words to the room's count
  std::function<unsigned(unsigned threads)> resident;  // blocks per CU
  unsigned peers = 0;                                  // blocks that meet; 0: all
};

template <typename Kind>
Barrier barrier(const std::string& name) {
  return {.name = name,
          .rounds =
              [](const Room& room, unsigned rounds) {
                launch_together(rounds_kernel<Kind>, room.grid().shape(), room.open(), rounds,
                                room.count());
              },
          .exchange =
              [](const Room& room, unsigned rounds) {
                launch_together(exchange_kernel<Kind>, room.grid().shape(), room.open(), rounds,
                                room.grid().blocks, room.exchanged(), room.count());
              },
          .resident =
              [](unsigned threads) {
                return std::min(resident_per_cu(rounds_kernel<Kind>, threads),
                                resident_per_cu(exchange_kernel<Kind>, threads));
              }};
}

std::vector<Barrier> all_barriers() {
  std::vector<Barrier> barriers = {barrier<OneCounter>("one counter"),
                                   barrier<CounterAndEpoch>("counter and epoch"),
                                   barrier<Collector>("flags, collector"),
                                   barrier<AllFlags>("flags, all look"), barrier<Tree>("tree")};
  if (has_cooperative_launch()) {
    barriers.push_back(barrier<CooperativeGroups>("grid.sync()"));
  }
  return barriers;
}

// --- Measuring --------------------------------------------------------------------------------

struct Sizes {
  unsigned threads;
  unsigned rounds;
  unsigned per_cu;  // blocks, at most
};

constexpr unsigned exchange_rounds = 8;

// Which words the last two rounds have left wrong; if none, it was read at the wrong time.
void compare_words(hipscope::Comparison& comparison, const Room& room) {
  const unsigned threads = room.grid().blocks * room.grid().threads;
  std::vector<unsigned> words(std::size_t{2} * threads);
  hipscope::check(hipMemcpy(words.data(), room.exchanged(), words.size() * sizeof(unsigned),
                            hipMemcpyDeviceToHost));
  for (const unsigned round : {exchange_rounds - 1, exchange_rounds}) {
    for (unsigned i = 0; i < threads; ++i) {
      comparison.compare(round % 2 * threads + i, word_of(round, i),
                         words[round % 2 * threads + i]);
    }
  }
}

// Every word that blocks tell each other must be right, and no wait may have been given up.
void verify(Point& point, Room& room, const Barrier& barrier, unsigned rounds) {
  const unsigned blocks = room.grid().blocks;
  const unsigned peers = barrier.peers > 0 ? barrier.peers : blocks;
  room.poison_exchanged();
  barrier.exchange(room, exchange_rounds);
  point.verify("words of all who meet, " + barrier.name, room.take_count(),
               std::uint64_t{exchange_rounds} * peers * blocks * room.grid().threads,
               [&](hipscope::Comparison& comparison) { compare_words(comparison, room); });
  barrier.rounds(room, rounds);
  const unsigned passed = room.take_count();
  point.verify("blocks through all barriers, " + barrier.name,
               passed < blocks ? blocks - passed : passed - blocks, blocks,
               [&](hipscope::Comparison& comparison) { comparison.compare(0, blocks, passed); });
}

// A row of what each barrier takes, and the cheapest of those of all blocks.
void measure_barriers(Sweep& sweep, unsigned x, const Grid& grid,
                      const std::vector<Barrier>& barriers, unsigned rounds) {
  auto point = sweep.point(std::to_string(x), x);
  point.value("all blocks", grid.blocks, "");
  Room room(grid);
  std::vector<std::function<void()>> bodies = {[&] { barriers[0].rounds(room, 0); }};
  std::vector<hipscope::MeasureOptions> options = {{.name = "no barrier"}};
  for (const Barrier& barrier : barriers) {
    verify(point, room, barrier, rounds);
    bodies.emplace_back([&] { barrier.rounds(room, rounds); });
    options.push_back({.name = barrier.name});
  }
  const auto times = point.measure_in_turn(bodies, options);
  double cheapest = 0;
  for (std::size_t i = 0; i < barriers.size(); ++i) {
    const double nanoseconds =
        (times[i + 1].seconds().median - times[0].seconds().median) / (rounds * nanosecond);
    point.value(barriers[i].name + " step", nanoseconds, "ns");
    if (barriers[i].peers == 0 && (cheapest == 0 || nanoseconds < cheapest)) {
      cheapest = nanoseconds;
    }
  }
  point.value("step", cheapest, "ns");
}

void set_axis(Sweep& sweep, const hipscope::Axis& axis, const std::string& note) {
  sweep.axis(axis);
  sweep.headline("step");
  sweep.note(note);
}

// --- Sweeps -----------------------------------------------------------------------------------

unsigned compute_units(const Sweep& sweep) {
  return static_cast<unsigned>(sweep.device().compute_units);
}

// The blocks that a CU holds of each barrier's kernels, as far as they are wanted.
unsigned resident(const std::vector<Barrier>& barriers, const Sizes& sizes) {
  unsigned blocks = sizes.per_cu;
  for (const Barrier& barrier : barriers) {
    blocks = std::min(blocks, barrier.resident(sizes.threads));
  }
  return blocks;
}

void measure_blocks(Sweep& sweep, const Sizes& sizes) {
  set_axis(sweep, {.name = "blocks", .scale = hipscope::Scale::logarithmic},
           "no more blocks than CUs; step: the cheapest barrier");
  for (const unsigned blocks : powers_of_two_up_to(compute_units(sweep))) {
    measure_barriers(sweep, blocks, {blocks, sizes.threads, square_root(blocks)}, all_barriers(),
                     sizes.rounds);
  }
}

void measure_per_cu(Sweep& sweep, const Sizes& sizes) {
  set_axis(sweep, {.name = "blocks per CU", .scale = hipscope::Scale::logarithmic},
           "on all CUs, up to what they hold; step: the cheapest barrier");
  for (const unsigned per_cu : powers_of_two_up_to(resident(all_barriers(), sizes))) {
    const unsigned blocks = per_cu * compute_units(sweep);
    measure_barriers(sweep, per_cu, {blocks, sizes.threads, square_root(blocks)}, all_barriers(),
                     sizes.rounds);
  }
}

void measure_groups(Sweep& sweep, const Sizes& sizes) {
  set_axis(sweep, {.name = "groups", .scale = hipscope::Scale::logarithmic},
           "as many blocks as all CUs hold; block i is in group i modulo their number");
  const std::vector<Barrier> barriers = {barrier<Tree>("tree"),
                                         barrier<TreeBothWays>("tree both ways")};
  const unsigned blocks = resident(barriers, sizes) * compute_units(sweep);
  for (const unsigned groups : powers_of_two_up_to(blocks)) {
    measure_barriers(sweep, groups, {blocks, sizes.threads, groups}, barriers, sizes.rounds);
  }
}

#if defined(HIPSCOPE_BACKEND_NVIDIA)
template <typename Kind>
Barrier cluster_barrier(const std::string& name, unsigned size, unsigned peers) {
  return {.name = name,
          .rounds =
              [size](const Room& room, unsigned rounds) {
                ClusterLaunch(room.grid().shape(), size)(rounds_kernel<Kind>, room.open(), rounds,
                                                         room.count());
              },
          .exchange =
              [size, peers](const Room& room, unsigned rounds) {
                ClusterLaunch(room.grid().shape(), size)(exchange_kernel<Kind>, room.open(), rounds,
                                                         peers > 0 ? peers : room.grid().blocks,
                                                         room.exchanged(), room.count());
              },
          .resident = {},
          .peers = peers};
}

void measure_cluster_sizes(Sweep& sweep, const Sizes& sizes, unsigned most_blocks) {
  constexpr unsigned largest_cluster = 16;
  for (const unsigned size : powers_of_two_up_to(largest_cluster)) {
    ClusterLaunch cluster({.grid = dim3(size), .block = dim3(sizes.threads)}, size);
    const unsigned clusters =
        std::min({cluster.resident(rounds_kernel<ClusterAndCounter>),
                  cluster.resident(exchange_kernel<ClusterAndCounter>), most_blocks / size});
    if (clusters > 0) {
      measure_barriers(sweep, size, {clusters * size, sizes.threads, 1},
                       {cluster_barrier<ClusterAlone>("cluster alone", size, size),
                        cluster_barrier<ClusterAndCounter>("clusters and counter", size, 0)},
                       sizes.rounds);
    }
  }
}
#endif

void measure_clusters(Sweep& sweep, [[maybe_unused]] const Sizes& sizes,
                      [[maybe_unused]] unsigned per_cu) {
  set_axis(sweep, {.name = "cluster", .unit = "blocks", .scale = hipscope::Scale::logarithmic},
           "step: a barrier of all blocks; cluster alone: of each cluster's");
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  if (has_clusters(sweep.device().architecture)) {
    measure_cluster_sizes(sweep, sizes, per_cu * compute_units(sweep));
    return;
  }
#endif
  sweep.note("this device has no clusters");
}

void enqueue_nothing(const Room& room, unsigned rounds, hipStream_t stream) {
  for (unsigned i = 0; i < rounds; ++i) {
    launch(null_kernel, room.grid().shape(stream));
  }
}

void enqueue_exchange(const Room& room, unsigned rounds, hipStream_t stream) {
  for (unsigned round = 1; round <= rounds; ++round) {
    launch(exchange_launch_kernel, room.grid().shape(stream), round, room.exchanged(),
           room.count());
  }
}

// What a round costs as a launch: the difference of many and few.
template <typename Launches>
void measure_launches(Point& point, Room& room, const std::string& name, Launches launches) {
  room.poison_exchanged();
  launches(enqueue_exchange, exchange_rounds)();
  // What the last round stores no launch looks at.
  const Grid& grid = room.grid();
  point.verify("words of all blocks, " + name, room.take_count(),
               std::uint64_t{exchange_rounds - 1} * grid.blocks * grid.blocks * grid.threads,
               [&](hipscope::Comparison& comparison) { compare_words(comparison, room); });
  constexpr unsigned few = 32;
  constexpr unsigned many = 160;  // no more than fit into a queue whose gate is shut
  const auto times = point.measure_in_turn(
      {launches(enqueue_nothing, few), launches(enqueue_nothing, many)},
      {{.name = name + ", few", .batch = 1}, {.name = name + ", many", .batch = 1}});
  point.value(name + " step",
              (times[1].seconds().median - times[0].seconds().median) / ((many - few) * nanosecond),
              "ns");
}

void measure_next_launches(Sweep& sweep, const Sizes& sizes) {
  set_axis(sweep, {.name = "blocks", .scale = hipscope::Scale::logarithmic},
           "one block, one per CU, and as many as the CUs hold");
  sweep.headline("launch step");
  using Enqueue = void (*)(const Room&, unsigned, hipStream_t);
  const unsigned all = resident(all_barriers(), sizes) * compute_units(sweep);
  for (const unsigned blocks : std::set{1U, compute_units(sweep), all}) {
    auto point = sweep.point(std::to_string(blocks), blocks);
    Room room({blocks, sizes.threads, 1});
    measure_launches(point, room, "launch", [&](Enqueue enqueue, unsigned rounds) {
      return [&room, enqueue, rounds] { enqueue(room, rounds, nullptr); };
    });
    measure_launches(point, room, "graph node", [&](Enqueue enqueue, unsigned rounds) {
      const auto graph =
          std::make_shared<const Graph>([&](hipStream_t stream) { enqueue(room, rounds, stream); });
      return [graph] { graph->launch(); };
    });
  }
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "grid_sync", {.question = "What does a barrier over all blocks cost?",
                    .sources = {"hipscope's own; the barriers after Xiao and Feng, IPDPS 2010"}});
  const auto threads = experiment.size(
      "--threads", "threads per block",
      {.gpu = 256, .quick = 256, .host = 64, .tiny = 100, .maximum = largest_block});
  const auto rounds = experiment.size("--rounds", "barriers in a row",
                                      {.gpu = 512, .quick = 128, .host = 4, .maximum = 1U << 16});
  const auto per_cu = experiment.size("--per-cu", "most blocks per CU; no more than it holds",
                                      {.gpu = 32, .quick = 8, .host = 1, .maximum = 1U << 8});
  const auto sizes = [threads, rounds, per_cu] {
    return Sizes{.threads = static_cast<unsigned>(threads),
                 .rounds = static_cast<unsigned>(rounds),
                 .per_cu = static_cast<unsigned>(per_cu)};
  };
  experiment.sweep("blocks", "one block per CU, by the number of CUs",
                   [&](Sweep& sweep) { measure_blocks(sweep, sizes()); });
  experiment.sweep("per-cu", "all CUs, by the blocks of each",
                   [&](Sweep& sweep) { measure_per_cu(sweep, sizes()); });
  experiment.sweep("groups", "trees, by the number of their groups",
                   [&](Sweep& sweep) { measure_groups(sweep, sizes()); });
  experiment.sweep("clusters", "one block per CU, by the size of clusters",
                   [&](Sweep& sweep) { measure_clusters(sweep, sizes(), 1); });
  experiment.sweep("clusters-all", "as many blocks as the CUs hold, by the size of clusters",
                   [&](Sweep& sweep) { measure_clusters(sweep, sizes(), per_cu); });
  experiment.sweep("launches", "another launch instead of a barrier",
                   [&](Sweep& sweep) { measure_next_launches(sweep, sizes()); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace grid_sync

int main(int argc, char** argv) { return grid_sync::run(argc, argv); }
