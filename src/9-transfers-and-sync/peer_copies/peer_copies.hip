// What do the links between the GPUs of a node give, and is one slower than the others?
//
// A node's GPUs are connected by links of their own (AMD: xGMI; NVIDIA: NVLink) or by the host's
// bus. All pairs are measured, and each device with itself: a copy within one memory is the
// reference. The host's clock times enough copies at once.
//   engine, engine-both  by a copy engine: one way, and both ways of a pair at once
//   read, write          by a kernel that loads from, or stores to, the other's memory
//   blocks               how many blocks such a kernel needs, between devices 0 and 1
//   latency              one load, and one atomic, after another at the other's memory
//   flag                 a store that another device waits for, back and forth
//   together             several links at once: around a ring, and all to one
//   library              collective operations by NCCL or RCCL: how much of a link they use
#include <hipscope/cache_hint.h>
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "9-transfers-and-sync/words.h"
#include "bulk_move.h"
#include "collectives.h"
#include "devices.h"
#include "findings.h"
#include "peer_latency.h"

namespace peer_copies {
namespace {

using hipscope::Hint;
using hipscope::launch;

constexpr unsigned block_threads = 512;
constexpr double gigabyte = 1e9;

// --- Kernels ----------------------------------------------------------------------------------

// Each thread has four loads of 16 bytes in flight before it stores the first. One of the two
// memories is another device's. (Clang 22 keeps an array that `=` fills in scratch or LDS.)
__global__ void __launch_bounds__(block_threads)
    move_kernel(const uint4* source, uint4* destination, std::uint64_t count) {
  constexpr unsigned values = 4;
  const std::uint64_t tile = std::uint64_t{values} * blockDim.x;
  for (std::uint64_t first = blockIdx.x * tile + threadIdx.x; first < count;
       first += gridDim.x * tile) {
    uint4 value[values];
#pragma unroll
    for (unsigned i = 0; i < values; ++i) {
      if (first + i * blockDim.x < count) {
        value[i] = hipscope::load<Hint::none>(source + first + i * blockDim.x);
      }
    }
#pragma unroll
    for (unsigned i = 0; i < values; ++i) {
      if (first + i * blockDim.x < count) {
        hipscope::store<Hint::none>(destination + first + i * blockDim.x, value[i]);
      }
    }
  }
}

// --- Moves ------------------------------------------------------------------------------------

struct Sizes {
  std::uint64_t bytes;  // of one copy
  unsigned copies;      // enqueued one after the other for a sample
};

// One array from one device to another.
struct Move {
  const Place* source;
  const Place* destination;
};

unsigned blocks_of(const Sweep& sweep) {
  return sweep.is_hardware() ? 4 * static_cast<unsigned>(sweep.device().compute_units) : 1;
}

unsigned threads_of(const Sweep& sweep) { return sweep.is_hardware() ? block_threads : 64; }

hipscope::LaunchShape shape(const Sweep& sweep, unsigned blocks, hipStream_t stream) {
  return {.grid = dim3(blocks), .block = dim3(threads_of(sweep)), .stream = stream};
}

// Fills one move's source and poisons its destination, which must both be whole.
void prepare(const Sweep& sweep, const Move& move, unsigned key) {
  const On on(move.source->device());
  launch(transfers::fill_kernel, shape(sweep, blocks_of(sweep), move.source->stream()),
         move.source->data(), move.source->words(), key);
  move.source->wait();
  const On other(move.destination->device());
  check(hipMemset(move.destination->data(), hipscope::poison_byte,
                  move.destination->words() * sizeof(unsigned)));
  check(hipDeviceSynchronize());
}

std::uint64_t wrong_words(const Sweep& sweep, const Move& move, unsigned key) {
  const On on(move.destination->device());
  return hipscope::count_wrong(sweep, move.destination->data(), move.destination->words(),
                               hipscope::RandomWords{key});
}

using Enqueue = std::function<void(const Move&)>;

// Enqueued on the source's device, whose engine pushes.
void by_engine(const Move& move) {
  const On on(move.source->device());
  check(hipMemcpyPeerAsync(move.destination->data(), move.destination->device(),
                           move.source->data(), move.source->device(),
                           move.source->words() * sizeof(unsigned), move.source->stream()));
}

// By a kernel on `device`, which is one of the two.
void by_kernel(const Sweep& sweep, const Move& move, const Place& at, unsigned blocks) {
  const On on(at.device());
  launch(move_kernel, shape(sweep, blocks, at.stream()),
         reinterpret_cast<const uint4*>(move.source->data()),
         reinterpret_cast<uint4*>(move.destination->data()),
         move.source->words() * sizeof(unsigned) / sizeof(uint4));
}

// As by_kernel, by the CUs' copy units.
void by_copy_units(const Move& move, const Place& at, unsigned blocks) {
  const On on(at.device());
  constexpr unsigned wave = 32;
  launch(bulk_move_kernel, {.grid = dim3(blocks), .block = dim3(wave), .stream = at.stream()},
         reinterpret_cast<const unsigned char*>(move.source->data()),
         reinterpret_cast<unsigned char*>(move.destination->data()),
         move.source->words() * sizeof(unsigned) / piece_bytes);
}

// Verifies every move, then measures all at once; returns the sum of their rates in GB/s.
double measure_moves(Sweep& sweep, Point& point, const std::vector<Move>& moves, unsigned copies,
                     const std::string& time_name, const Enqueue& enqueue) {
  const auto wait = [&] {
    for (const Move& move : moves) {
      move.source->wait();
      move.destination->wait();
    }
  };
  std::uint64_t wrong = 0;
  std::uint64_t words = 0;
  const unsigned first_key = hipscope::key_of(sweep.seed());
  unsigned key = first_key;
  for (const Move& move : moves) {
    prepare(sweep, move, ++key);
  }
  std::for_each(moves.begin(), moves.end(), enqueue);
  wait();
  key = first_key;
  for (const Move& move : moves) {
    wrong += wrong_words(sweep, move, ++key);
    words += move.source->words();
  }
  point.verify("words that arrived", wrong, words, [&](hipscope::Comparison& comparison) {
    key = first_key;
    for (const Move& move : moves) {
      const On on(move.destination->device());
      hipscope::compare_on_host(comparison, move.destination->data(), move.destination->words(),
                                hipscope::RandomWords{++key});
    }
  });
  const auto time = point.measure_on_host(time_name, [&] {
    for (unsigned i = 0; i < copies; ++i) {
      std::for_each(moves.begin(), moves.end(), enqueue);
    }
    wait();
  });
  return static_cast<double>(words * sizeof(unsigned)) * copies / gigabyte / time.seconds().median;
}

// --- Sweeps -----------------------------------------------------------------------------------

// Two arrays on each device: one to copy from, one to copy to.
struct Arrays {
  std::vector<Place> from;
  std::vector<Place> to;

  Arrays(const Sweep& sweep, std::uint64_t bytes) {
    sweep.require_memory(2 * bytes, "--bytes");
    for (int device = 0; device < device_total(); ++device) {
      from.emplace_back(device, bytes / sizeof(unsigned));
      to.emplace_back(device, bytes / sizeof(unsigned));
    }
  }
};

void set_axis(Sweep& sweep) {
  sweep.axis({.name = "pair"});
  sweep.headline("bandwidth");
}

// Calls `row` for each pair of devices.
template <typename Row>
void for_each_pair(Row row) {
  for (int from = 0; from < device_total(); ++from) {
    for (int to = 0; to < device_total(); ++to) {
      row(from, to);
    }
  }
}

void measure_engine(Sweep& sweep, const Sizes& sizes) {
  set_axis(sweep);
  const Arrays arrays(sweep, sizes.bytes);
  for_each_pair([&](int from, int to) {
    open_peer(from, to);
    auto point = sweep.point(pair_label(from, to), pair_number(from, to));
    const std::vector<Move> moves = {{&arrays.from[from], &arrays.to[to]}};
    point.value("bandwidth", measure_moves(sweep, point, moves, sizes.copies, "time", by_engine),
                "GB/s");
  });
}

void measure_engine_both(Sweep& sweep, const Sizes& sizes) {
  set_axis(sweep);
  if (device_total() < 2) {
    sweep.note("there is one device");
    return;
  }
  sweep.note("the sum of both ways");
  const Arrays arrays(sweep, sizes.bytes);
  for_each_pair([&](int from, int to) {
    if (from < to) {
      auto point =
          sweep.point(std::to_string(from) + " <-> " + std::to_string(to), pair_number(from, to));
      const std::vector<Move> moves = {{&arrays.from[from], &arrays.to[to]},
                                       {&arrays.from[to], &arrays.to[from]}};
      point.value("bandwidth", measure_moves(sweep, point, moves, sizes.copies, "time", by_engine),
                  "GB/s");
    }
  });
}

// `reads`: the kernel runs where the data go to; otherwise where they come from.
void measure_kernel(Sweep& sweep, const Sizes& sizes, bool reads) {
  set_axis(sweep);
  sweep.note(reads ? "a -> b: a kernel on b loads from a" : "a -> b: a kernel on a stores to b");
  const Arrays arrays(sweep, sizes.bytes);
  for_each_pair([&](int from, int to) {
    const bool is_open = reads ? open_peer(to, from) : open_peer(from, to);
    if (!is_open) {
      sweep.note(pair_label(from, to) + ": no kernel can name the other's memory");
      return;
    }
    auto point = sweep.point(pair_label(from, to), pair_number(from, to));
    const std::vector<Move> moves = {{&arrays.from[from], &arrays.to[to]}};
    const double bandwidth =
        measure_moves(sweep, point, moves, sizes.copies, "time", [&](const Move& move) {
          by_kernel(sweep, move, reads ? *move.destination : *move.source, blocks_of(sweep));
        });
    point.value("bandwidth", bandwidth, "GB/s");
    if (has_bulk_copies(sweep.device().architecture) && sizes.bytes % piece_bytes == 0) {
      const double bulk =
          measure_moves(sweep, point, moves, sizes.copies, "bulk time", [&](const Move& move) {
            by_copy_units(move, reads ? *move.destination : *move.source, blocks_of(sweep));
          });
      point.value("bulk", bulk, "GB/s");
    }
  });
}

void measure_blocks(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "blocks", .unit = "512 threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("reads");
  const int other = device_total() > 1 ? 1 : 0;
  if (!open_peer(0, other)) {
    sweep.note("no kernel on device 0 can name the memory of device 1");
    return;
  }
  const Arrays arrays(sweep, sizes.bytes);
  for (unsigned blocks = 1; blocks <= 2 * blocks_of(sweep); blocks *= 2) {
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto rate = [&](const Move& move, const std::string& time_name) {
      // A few blocks would take long for all the copies.
      constexpr unsigned enough_blocks = 64;
      const unsigned copies = std::max(1U, sizes.copies * std::min(blocks, enough_blocks) / 64);
      return measure_moves(sweep, point, {move}, copies, time_name, [&](const Move& one) {
        by_kernel(sweep, one,
                  arrays.from[0].device() == one.source->device() ? *one.source : *one.destination,
                  blocks);
      });
    };
    point.value("reads", rate({&arrays.from[other], &arrays.to.front()}, "read time"), "GB/s");
    point.value("writes", rate({&arrays.from.front(), &arrays.to[other]}, "write time"), "GB/s");
  }
}

void measure_together(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "pattern"});
  sweep.headline("per device");
  const int devices = device_total();
  if (devices < 2) {
    sweep.note("there is one device");
    return;
  }
  sweep.note("per device: what each sends, all to one: what the one receives; by copy engines");
  const Arrays arrays(sweep, sizes.bytes);
  const auto row = [&](const std::string& label, double x, const std::vector<Move>& moves,
                       int share) {
    auto point = sweep.point(label, x);
    const double sum = measure_moves(sweep, point, moves, sizes.copies, "time", by_engine);
    point.value("per device", sum / share, "GB/s");
    point.value("sum", sum, "GB/s");
  };
  std::vector<Move> ring;
  std::vector<Move> to_one;
  const std::vector<Place> more = [&] {
    std::vector<Place> places;
    for (int i = 1; i < devices; ++i) {
      places.emplace_back(0, sizes.bytes / sizeof(unsigned));
    }
    return places;
  }();
  for (int i = 0; i < devices; ++i) {
    ring.push_back({&arrays.from[i], &arrays.to[(i + 1) % devices]});
    if (i > 0) {
      to_one.push_back({&arrays.from[i], &more[i - 1]});
    }
  }
  row("ring", 1, ring, devices);
  row("all to device 0", 2, to_one, 1);
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "peer_copies",
      {.question = "What do the links between the GPUs of a node give, and is one of them slow?",
       .sources = {"hipscope's own; pairs and directions as in NVIDIA/nvbandwidth and "
                   "ROCm/TransferBench"}});
  const auto bytes = experiment.size("--bytes", "bytes of one copy, in units of 16",
                                     {.gpu = std::uint64_t{1} << 28,
                                      .quick = std::uint64_t{1} << 26,
                                      .host = std::uint64_t{1} << 14,
                                      .minimum = 4096,
                                      .maximum = std::uint64_t{1} << 32,
                                      .share_of_memory = 1.0 / 16});
  const auto copies = experiment.size("--copies", "copies timed together",
                                      {.gpu = 16, .quick = 8, .host = 2, .maximum = 256});
  const auto steps = experiment.size("--steps", "loads, atomics or turns timed together",
                                     {.gpu = 4096, .quick = 1024, .host = 32, .maximum = 1U << 20});
  const auto sizes = [bytes, copies] {
    return Sizes{.bytes = bytes / sizeof(uint4) * sizeof(uint4),
                 .copies = static_cast<unsigned>(copies)};
  };
  experiment.sweep("engine", "a copy engine, one way",
                   [&](Sweep& sweep) { measure_engine(sweep, sizes()); });
  experiment.sweep("engine-both", "copy engines, both ways of a pair at once",
                   [&](Sweep& sweep) { measure_engine_both(sweep, sizes()); });
  experiment.sweep("read", "a kernel that loads from another device",
                   [&](Sweep& sweep) { measure_kernel(sweep, sizes(), true); });
  experiment.sweep("write", "a kernel that stores to another device",
                   [&](Sweep& sweep) { measure_kernel(sweep, sizes(), false); });
  experiment.sweep("blocks", "a kernel on device 0, by its blocks",
                   [&](Sweep& sweep) { measure_blocks(sweep, sizes()); });
  experiment.sweep("latency", "one after another at another device's memory",
                   [&](Sweep& sweep) { measure_latency(sweep, sizes().bytes, steps); });
  experiment.sweep("flag", "a store that another device waits for",
                   [&](Sweep& sweep) { measure_flag(sweep, steps); });
  experiment.sweep("together", "several links at once",
                   [&](Sweep& sweep) { measure_together(sweep, sizes()); });
  experiment.sweep("library", "collective operations by the vendor's library",
                   [&](Sweep& sweep) { measure_library(sweep, 2 * sizes().bytes); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace peer_copies

int main(int argc, char** argv) { return peer_copies::run(argc, argv); }
