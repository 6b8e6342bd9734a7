// On which CU does block n run, in which order do blocks begin, and which block takes over a freed
// place?
//
// Each block notes its CU, and draws a number from one counter when it begins and when it ends: the
// numbers give the order of events. In between it holds its place for a while, so that no place is
// free again before all of the first blocks are placed.
//
//   large-lds  blocks with so much LDS that a CU holds one, twice as many as there are CUs
//   small      small blocks, of which a CU holds many
//   refill     who takes a freed place, with blocks of one length and of several
//   streams    the blocks of one CU each, split over the kernels of several streams
//   groups     which CUs belong together: clusters (NVIDIA), shader engines and XCDs (AMD)
//   swizzle    what a kernel gains when blocks near one part of L2 read the same data (swizzle.h)
#include <hipscope/compute_unit.h>
#include <hipscope/hipscope.h>
#include <hipscope/pause.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "5-memory/groups.h"
#include "9-transfers-and-sync/grid_sync/clusters.h"
#include "9-transfers-and-sync/streams/stream.h"
#include "findings.h"
#include "swizzle.h"

namespace block_placement {
namespace {

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::LaunchShape;
using hipscope::Sweep;

constexpr unsigned block_threads = 64;

// --- Where blocks are -------------------------------------------------------------------------

// Holds its place for `hold` to `longest` cycles. A turn of the loop takes more than one
// cycle, so its count ends a wait by a counter that stands still.
__global__ void __launch_bounds__(block_threads)
    place_kernel(Place* places, unsigned* events, unsigned first, long long hold,
                 long long longest) {
  if (threadIdx.x == 0) {
    const unsigned block = first + blockIdx.x;
    const unsigned begin = atomicAdd(events, 1U);
    const long long wait = hold + hipscope::random_bits(block) % (longest - hold + 1);
    hipscope::CycleClock<> clock;
    clock.start();
    for (long long turn = 0; turn < wait && clock.elapsed() < wait; ++turn) {
      hipscope::pause();
      clock.stop();
    }
    places[block] = {.block = block,
                     .unit = hipscope::compute_unit_id(),
                     .begin = begin,
                     .end = atomicAdd(events, 1U)};
  }
}

LaunchShape crew_of(unsigned blocks, std::uint32_t lds) {
  return {.grid = dim3(blocks), .block = dim3(block_threads), .lds_bytes = lds};
}

// Where blocks were, by `enqueue(places, events)`.
template <typename Enqueue>
std::vector<Place> placed(unsigned blocks, Enqueue enqueue) {
  DeviceBuffer<Place> places(blocks);
  DeviceBuffer<unsigned> events(1);
  events.clear();
  enqueue(places.data(), events.data());
  return places.to_host();
}

// The same with each block at its place for `hold` to `longest` cycles.
std::vector<Place> placed(const LaunchShape& crew, std::uint64_t hold, std::uint64_t longest) {
  return placed(crew.grid.x, [&](Place* places, unsigned* events) {
    launch(place_kernel, crew, places, events, 0, hold, longest);
  });
}

// Each block has run, and each number of an event was drawn once.
void verify(hipscope::Point& point, const std::vector<Place>& places) {
  std::vector<unsigned> blocks;
  std::vector<unsigned> drawn;
  hipscope::Comparison order;
  for (const Place& place : places) {
    blocks.push_back(place.block);
    drawn.insert(drawn.end(), {place.begin, place.end});
    // That its end comes after its begin, or that there is no such CU.
    const std::uint64_t after_begin = std::uint64_t{place.begin} + 1;
    const bool has_unit = place.unit < most_units;
    order.compare(order.checked(),
                  has_unit ? std::max<std::uint64_t>(after_begin, place.end) : most_units - 1,
                  std::uint64_t{has_unit ? place.end : place.unit});
  }
  std::sort(drawn.begin(), drawn.end());
  const auto itself = [](std::uint64_t i) { return i; };
  point.check("blocks that ran", blocks, itself);
  point.check("begins and ends of all blocks", drawn, itself);
  point.verify("CU and order of every block", order);
}

// --- Sweeps: where and in which order ---------------------------------------------------------

// As much LDS as a block can have.
std::uint32_t largest_lds(const Sweep& sweep) {
  const auto bytes = static_cast<std::uint32_t>(sweep.device().largest_lds_bytes_per_block);
  hipscope::allow_lds(place_kernel, bytes);
  return bytes;
}

// Twice as many blocks as CUs, several times.
void measure_order(Sweep& sweep, std::uint64_t hold, std::uint32_t lds) {
  sweep.axis({.name = "block"});
  sweep.headline("CU");
  sweep.note("begun: how many began before; repeated: of 5 launches, those in which it was there");
  const unsigned blocks = 2 * units_of(sweep);
  std::vector<std::vector<Place>> runs(5);
  for (auto& run : runs) {
    run = placed(crew_of(blocks, lds), hold, hold);
  }
  for (unsigned block = 0; block < blocks; ++block) {
    auto point = sweep.point(std::to_string(block), block);
    if (block < runs.size()) {
      verify(point, runs[block]);
    }
    const Place& place = runs[0][block];
    const auto begun = std::ranges::count_if(
        runs[0], [&](const Place& other) { return other.begin < place.begin; });
    const auto same =
        std::ranges::count_if(runs, [&](const auto& run) { return run[block].unit == place.unit; });
    point.value("CU", place.unit, "");
    point.value("begun", static_cast<double>(begun), "");
    point.value("repeated", static_cast<double>(same), "");
  }
}

// Who takes the places of blocks that have ended.
void measure_refill(Sweep& sweep, std::uint64_t hold) {
  sweep.axis({.name = "longest"});
  sweep.headline("first freed");
  sweep.note(
      "of the blocks that begin after another one's end: those that took the place that was freed "
      "first, and those that are the next by number; free: places that there were to choose from; "
      "blocks take between 1 and `longest` times as long");
  for (const unsigned longest : {1U, 4U}) {
    auto point = sweep.point(std::to_string(longest), longest);
    const auto places =
        placed(crew_of(8 * units_of(sweep), largest_lds(sweep)), hold, longest * hold);
    verify(point, places);
    const Refills refills = refills_of(places);
    point.value("first freed", refills.first_freed, "%");
    point.value("in order", refills.in_order, "%");
    point.value("free", refills.free, "places");
  }
}

// As many small blocks as CUs in the kernels of several streams.
void measure_streams(Sweep& sweep, std::uint64_t hold) {
  sweep.axis({.name = "streams"});
  sweep.headline("CUs");
  for (const unsigned count : {1U, 2U, 4U}) {
    auto point = sweep.point(std::to_string(count), count);
    const unsigned each = (units_of(sweep) + count - 1) / count;
    const std::vector<streams::Stream> all(count);
    const std::uint64_t until_all_are_launched = 8 * hold;
    LaunchShape crew = crew_of(each, 0);
    const auto places = placed(each * count, [&](Place* to, unsigned* events) {
      for (unsigned i = 0; i < count; ++i) {
        crew.stream = all[i].get();
        launch(place_kernel, crew, to, events, i * each, until_all_are_launched,
               until_all_are_launched);
      }
    });
    verify(point, places);
    std::set<unsigned> units;
    for (const Place& place : places) {
      units.insert(place.unit);
    }
    point.value("CUs", static_cast<double>(units.size()), "CUs");
  }
}

// --- Sweep groups -----------------------------------------------------------------------------

// Blocks by the size of their clusters; one to a cluster where a device has none.
std::map<unsigned, std::vector<Place>> clustered(const Sweep& sweep, std::uint64_t hold) {
  const LaunchShape crew = crew_of(16 * units_of(sweep), largest_lds(sweep));
  std::map<unsigned, std::vector<Place>> runs;
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  if (grid_sync::has_clusters(sweep.device().architecture)) {
    for (const unsigned size : {2U, 4U, 8U, 16U}) {
      grid_sync::ClusterLaunch cluster(crew, size);
      if (cluster.resident(place_kernel) > 0) {
        runs[size] = placed(crew.grid.x, [&](Place* to, unsigned* events) {
          cluster(place_kernel, to, events, 0U, hold, 4 * hold);
        });
      }
    }
  }
#endif
  if (runs.empty()) {
    runs[1] = placed(crew, hold, 4 * hold);
  }
  return runs;
}

// Which CUs share a part of the chip: those on which blocks of one cluster were seen, or by their
// numbers.
void measure_groups(Sweep& sweep, std::uint64_t hold) {
  sweep.axis({.name = "CU"});
  sweep.headline("group");
  sweep.note("group: the first of its CUs, by clusters (NVIDIA: GPCs) or the CU's number");
  const auto runs = clustered(sweep, hold);
  memory::Groups groups(most_units);
  std::set<unsigned> units;
  std::map<unsigned, unsigned> by_number;
  for (const auto& [size, places] : runs) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const unsigned unit = places[i].unit % most_units;
      units.insert(unit);
      groups.join(places[i / size * size].unit % most_units, unit);
      if (const auto group = group_of(sweep.device().architecture, unit)) {
        groups.join(by_number.try_emplace(*group, unit).first->second, unit);
      }
    }
  }
  auto run = runs.begin();
  for (const unsigned unit : units) {
    auto point = sweep.point(std::to_string(unit), unit);
    if (run != runs.end()) {
      verify(point, run++->second);
    }
    point.value("group", static_cast<double>(groups.first_of(unit)), "");
  }
}

}  // namespace
}  // namespace block_placement

int main(int argc, char** argv) {
  using namespace block_placement;
  hipscope::Experiment experiment(
      "block_placement",
      {.question = "On which CU does block n run, in which order do blocks begin, and who gets the "
                   "place of one that ends?",
       .sources = {"hipscope's own"}});
  const auto hold = experiment.size(
      "--hold", "cycles for which a block holds its place (minimum)",
      {.gpu = 40000, .quick = 20000, .host = 100, .minimum = 1, .maximum = 1U << 24});
  const auto footprint = experiment.size(
      "--footprint", "bytes of the largest matrix of sweep swizzle, and grids of swizzle-stencil",
      {.gpu = 96U << 20,
       .quick = 96U << 20,
       .host = 1U << 18,
       .tiny = 3U << 16,
       .minimum = 2 * sizeof(unsigned) * tile_words,
       .maximum = 1ULL << 32});
  const auto passes =
      experiment.size("--passes", "passes over these",
                      {.gpu = 32, .quick = 16, .host = 2, .minimum = 1, .maximum = 1024});
  experiment.sweep("large-lds", "blocks with the largest LDS",
                   [&](Sweep& sweep) { measure_order(sweep, hold, largest_lds(sweep)); });
  experiment.sweep("small", "blocks of which a CU holds many",
                   [&](Sweep& sweep) { measure_order(sweep, hold, 0); });
  experiment.sweep("refill", "blocks that take freed places, by how much longer the longest takes",
                   [&](Sweep& sweep) { measure_refill(sweep, hold); });
  experiment.sweep("streams", "a small block for each CU, in several streams",
                   [&](Sweep& sweep) { measure_streams(sweep, hold); });
  experiment.sweep("groups", "CUs that belong together",
                   [&](Sweep& sweep) { measure_groups(sweep, hold); });
  constexpr unsigned tile_bytes = sizeof(unsigned) * tile_words;
  experiment.sweep("swizzle", "a matrix that is multiplied again and again, by who takes what",
                   [&](Sweep& sweep) {
                     measure_swizzle(sweep, footprint, passes, tile_bytes, measure_product);
                   });
  experiment.sweep("swizzle-stencil",
                   "the same step of a stencil again and again, by who takes what",
                   [&](Sweep& sweep) {
                     measure_swizzle(sweep, footprint, passes, 2 * tile_bytes, measure_stencil);
                   });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}
