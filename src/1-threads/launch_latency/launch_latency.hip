// What does it cost to launch a kernel?
//
// Every launch pays: the host writes a packet (enqueue), the device fetches it, starts the blocks,
// and reports the end. Some sources subtract an assumed "7 us of launch overhead"; this measures
// each part of it:
//   single     one launch: the enqueue call alone, launch to completion as the host sees it, and
//              the time on the device by events
//   stream     1 ... 256 launches back to back in one stream
//   graph      the same launches recorded once as a graph and replayed by one call
//   grid       the time of one empty kernel against its number of blocks
//   arguments  the enqueue call against the bytes of kernel arguments
// An empty kernel leaves no trace, so a kernel that counts checks each way of launching first.
#include <hipscope/graph.h>
#include <hipscope/hipscope.h>

#include <string>

#include "findings.h"

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::Graph;
using hipscope::launch;
using hipscope::Sweep;

namespace {

constexpr unsigned block_threads = 256;

// --- Kernels ----------------------------------------------------------------------------------

__global__ void __launch_bounds__(block_threads) null_kernel() {}

// One count per block.
__global__ void __launch_bounds__(block_threads) count_kernel(unsigned* counter) {
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1U);
  }
}

template <int Bytes>
struct Arguments {
  unsigned char bytes[Bytes];  // std::array is not for device code
};

// Reads the last byte, so that the arguments must really arrive; a null `output` skips it.
template <int Bytes>
__global__ void __launch_bounds__(block_threads)
    argument_kernel(Arguments<Bytes> arguments, unsigned* output) {
  if (output != nullptr && threadIdx.x == 0) {
    *output = arguments.bytes[Bytes - 1];
  }
}

// --- Ways to launch ---------------------------------------------------------------------------

void enqueue_null(unsigned count, unsigned blocks = 1, hipStream_t stream = nullptr) {
  for (unsigned i = 0; i < count; ++i) {
    launch(null_kernel, {.grid = dim3(blocks), .block = dim3(block_threads), .stream = stream});
  }
}

void enqueue_count(unsigned* counter, unsigned count, unsigned blocks = 1,
                   hipStream_t stream = nullptr) {
  for (unsigned i = 0; i < count; ++i) {
    launch(count_kernel, {.grid = dim3(blocks), .block = dim3(block_threads), .stream = stream},
           counter);
  }
}

void wait() { check(hipDeviceSynchronize()); }

// Runs `enqueue` once with a counter; `expected` blocks must have counted.
template <typename Enqueue>
void verify_count(hipscope::Point& point, std::uint64_t expected, Enqueue enqueue) {
  DeviceBuffer<unsigned> counter(1);
  counter.clear();
  enqueue(counter.data());
  point.check_value("launched blocks that ran", std::uint64_t{counter.to_host()[0]}, expected);
}

// --- Sweeps -----------------------------------------------------------------------------------

void measure_single(Sweep& sweep) {
  sweep.axis({.name = "launch"});
  sweep.note(
      "enqueue: the launch call alone; completion: launch and wait, by the host's clock; "
      "device: by events around the kernel");
  auto point = sweep.point("one empty block", 1);
  verify_count(point, 1, [](unsigned* counter) { enqueue_count(counter, 1); });
  point.measure_on_host(
      "enqueue", [] { enqueue_null(1); }, wait);
  point.measure_on_host("completion", [] {
    enqueue_null(1);
    wait();
  });
  point.measure([] { enqueue_null(1); }, {.name = "device", .batch = 1});
  sweep.headline("completion");
}

void set_axis(Sweep& sweep) {
  sweep.axis({.name = "kernels", .scale = hipscope::Scale::logarithmic});
  sweep.headline("completion per kernel");
}

// Enqueue, completion and device time of `enqueue`, which launches `kernels` kernels.
template <typename Enqueue>
void measure_launches(hipscope::Point& point, unsigned kernels, Enqueue enqueue) {
  constexpr double microseconds = 1e6;
  const auto enqueue_time = point.measure_on_host("enqueue", enqueue, wait);
  const auto completion = point.measure_on_host("completion", [&] {
    enqueue();
    wait();
  });
  const auto device = point.measure(enqueue, {.name = "device", .batch = 1});
  point.value("enqueue per kernel", enqueue_time.seconds().median * microseconds / kernels, "us");
  point.value("completion per kernel", completion.seconds().median * microseconds / kernels, "us");
  point.value("device per kernel", device.seconds().median * microseconds / kernels, "us");
}

// All launches of a sample wait in the device's queue while its gate is shut; this many fit.
constexpr unsigned most_kernels = 256;

void measure_stream(Sweep& sweep) {
  set_axis(sweep);
  for (unsigned kernels = 1; kernels <= most_kernels; kernels *= 2) {
    auto point = sweep.point(std::to_string(kernels), kernels);
    verify_count(point, kernels, [&](unsigned* counter) { enqueue_count(counter, kernels); });
    measure_launches(point, kernels, [&] { enqueue_null(kernels); });
  }
}

void measure_graph(Sweep& sweep) {
  set_axis(sweep);
  for (unsigned kernels = 1; kernels <= most_kernels; kernels *= 2) {
    auto point = sweep.point(std::to_string(kernels), kernels);
    constexpr unsigned replays = 3;
    verify_count(point, std::uint64_t{replays} * kernels, [&](unsigned* counter) {
      const Graph graph([&](hipStream_t stream) { enqueue_count(counter, kernels, 1, stream); });
      for (unsigned i = 0; i < replays; ++i) {
        graph.launch();
      }
      wait();
    });
    const Graph graph([&](hipStream_t stream) { enqueue_null(kernels, 1, stream); });
    measure_launches(point, kernels, [&] { graph.launch(); });
  }
}

void measure_grid(Sweep& sweep, std::uint64_t most_blocks) {
  sweep.axis({.name = "blocks", .unit = "256 threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("device cycles");
  for (std::uint64_t blocks = 1; blocks <= most_blocks; blocks *= 2) {
    auto point = sweep.point(std::to_string(blocks), static_cast<double>(blocks));
    const auto grid = static_cast<unsigned>(blocks);
    verify_count(point, blocks, [&](unsigned* counter) { enqueue_count(counter, 1, grid); });
    const auto time = point.measure([&] { enqueue_null(1, grid); }, {.name = "device", .batch = 1});
    point.value("device cycles", time.cycles(), "cycles");
  }
}

template <int Bytes>
void measure_argument_bytes(Sweep& sweep) {
  auto point = sweep.point(std::to_string(Bytes), Bytes);
  const auto enqueue = [](unsigned* output, unsigned char last) {
    Arguments<Bytes> arguments{};
    arguments.bytes[Bytes - 1] = last;
    launch(argument_kernel<Bytes>, {.grid = dim3(1), .block = dim3(block_threads)}, arguments,
           output);
  };
  DeviceBuffer<unsigned> output(1);
  constexpr unsigned char last = 42;
  enqueue(output.data(), last);
  point.check_value("last byte of the arguments", output.to_host()[0], last);
  point.measure_on_host(
      "enqueue", [&] { enqueue(nullptr, last); }, wait);
  point.measure_on_host("completion", [&] {
    enqueue(nullptr, last);
    wait();
  });
}

void measure_arguments(Sweep& sweep) {
  sweep.axis({.name = "arguments", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("enqueue");
  measure_argument_bytes<4>(sweep);
  measure_argument_bytes<64>(sweep);
  measure_argument_bytes<256>(sweep);
  measure_argument_bytes<1024>(sweep);
  measure_argument_bytes<2048>(sweep);
  measure_argument_bytes<4000>(sweep);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "launch_latency",
      {.question = "What does a kernel launch cost, on the host and on the device?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.8, assumes 7 us; the "
                   "measurement is hipscope's own"}});
  const auto most_blocks = experiment.size("--blocks", "largest grid of sweep grid, in blocks",
                                           {.gpu = 1ULL << 20,
                                            .quick = 1ULL << 16,
                                            .host = 1ULL << 6,
                                            .minimum = 1,
                                            .maximum = 1ULL << 24});
  experiment.sweep("single", "one launch of an empty kernel", measure_single);
  experiment.sweep("stream", "launches back to back in one stream", measure_stream);
  experiment.sweep("graph", "the same launches as a graph, replayed by one call", measure_graph);
  experiment.sweep("grid", "one launch against its number of blocks",
                   [&](Sweep& sweep) { measure_grid(sweep, most_blocks); });
  experiment.sweep("arguments", "one launch against the bytes of its arguments", measure_arguments);
  experiment.conclude(launch_latency::conclude);
  return experiment.run(argc, argv);
}
