// What does it cost to move data between the host and the device?
//
// A kernel's data first comes over a link some fifty times slower than the device's memory. Who
// moves it, and from what kind of host memory?
//   to-device, to-host  4 bytes ... --bytes: by a copy engine (NVIDIA: DMA; AMD: SDMA) from pinned
//                       memory, which the engine can read on its own; from pageable memory, which
//                       the driver must copy through a pinned buffer first; and by a kernel that
//                       reads or writes the host's memory itself
//   both                both directions at once, against each alone
//   kernel              how many blocks it takes to load from, or store to, the host
//   latency             one load after another from the host's memory, and from the device's
//   numa                pinned memory on each of the host's NUMA nodes
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "findings.h"
#include "host_memory.h"
#include "load_latency.h"
#include "nodes.h"
#include "transfer.h"

namespace host_copies {
namespace {

// --- Kernels ----------------------------------------------------------------------------------

// Moves `count` accesses from one memory to the other, whichever of the two is the host's.
template <typename Access>
__global__ void __launch_bounds__(block_threads)
    move_kernel(const Access* source, Access* destination, std::uint64_t count) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    destination[i] = source[i];
  }
}

void move(unsigned* destination, const unsigned* source, std::uint64_t bytes, unsigned blocks) {
  if (bytes % sizeof(uint4) == 0) {
    launch(move_kernel<uint4>, shape(blocks), reinterpret_cast<const uint4*>(source),
           reinterpret_cast<uint4*>(destination), bytes / sizeof(uint4));
  } else {
    launch(move_kernel<unsigned>, shape(blocks), source, destination, bytes / sizeof(unsigned));
  }
}

// The same as a copy by an engine; a kernel needs the device's name of the host's memory.
void move(const Transfer& transfer, unsigned* host_on_device, std::uint64_t bytes,
          unsigned blocks) {
  if (transfer.direction() == Direction::to_device) {
    move(transfer.device(), host_on_device, bytes, blocks);
  } else {
    move(host_on_device, transfer.device(), bytes, blocks);
  }
}

// --- Sweeps -----------------------------------------------------------------------------------

void measure_sizes(Sweep& sweep, Direction direction, std::uint64_t most) {
  sweep.axis({.name = "copy", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("pinned");
  sweep.note("pinned and kernel: by events on the device; pageable: the call, by the host's clock");
  sweep.require_memory(most, "--bytes");
  const PinnedMemory pinned(most);
  std::vector<unsigned> pageable(most / sizeof(unsigned));
  Transfer transfer(sweep, direction, most);
  for (std::uint64_t bytes = sizeof(unsigned); bytes <= most; bytes *= 4) {
    const auto blocks = static_cast<unsigned>(
        std::min<std::uint64_t>(all_blocks(sweep), 1 + bytes / (sizeof(uint4) * block_threads)));
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const auto engine = [&] { transfer.enqueue(pinned.data(), bytes); };
    transfer.verify(point, "pinned", pinned.data(), bytes, engine);
    point.value("pinned", rate(bytes, point.measure(engine, {.name = "pinned time"})), "GB/s");
    const auto through_buffer = [&] {
      transfer.enqueue(pageable.data(), bytes);
      check(hipDeviceSynchronize());
    };
    transfer.verify(point, "pageable", pageable.data(), bytes, through_buffer);
    point.value("pageable", rate(bytes, point.measure_on_host("pageable time", through_buffer)),
                "GB/s");
    const auto kernel = [&] { move(transfer, pinned.on_device(), bytes, blocks); };
    transfer.verify(point, "kernel", pinned.data(), bytes, kernel);
    point.value("kernel", rate(bytes, point.measure(kernel, {.name = "kernel time"})), "GB/s");
  }
}

void measure_both(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "direction"});
  sweep.headline("bandwidth");
  sweep.note("both at once: the sum of the two, each in a stream of its own; pinned memory");
  sweep.require_memory(2 * bytes, "--bytes");
  const PinnedMemory there(bytes);
  const PinnedMemory back(bytes);
  Transfer to_device(sweep, Direction::to_device, bytes);
  Transfer to_host(sweep, Direction::to_host, bytes);
  const Stream first;
  const Stream second;
  const auto row = [&](const std::string& label, double x, std::uint64_t moved, auto body) {
    auto point = sweep.point(label, x);
    to_device.verify(point, "host to device", there.data(), bytes,
                     [&] { to_device.enqueue(there.data(), bytes, first.get()); });
    to_host.verify(point, "device to host", back.data(), bytes,
                   [&] { to_host.enqueue(back.data(), bytes, second.get()); });
    point.value("bandwidth", rate(moved, point.measure(body)), "GB/s");
  };
  const auto go = [&] { to_device.enqueue(there.data(), bytes, first.get()); };
  const auto come = [&] { to_host.enqueue(back.data(), bytes, second.get()); };
  row("host to device", 1, bytes, go);
  row("device to host", 2, bytes, come);
  row("both at once", 3, 2 * bytes, [&] {
    go();
    come();
  });
}

void measure_kernel(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "blocks", .unit = "256 threads", .scale = hipscope::Scale::logarithmic});
  sweep.headline("reads");
  sweep.require_memory(2 * bytes, "--bytes");
  const PinnedMemory host(bytes);
  Transfer reads(sweep, Direction::to_device, bytes);
  Transfer writes(sweep, Direction::to_host, bytes);
  const unsigned most = 4 * all_blocks(sweep);
  for (unsigned blocks = 1; blocks <= most; blocks *= 2) {
    auto point = sweep.point(std::to_string(blocks), blocks);
    const auto read = [&] { move(reads, host.on_device(), bytes, blocks); };
    const auto write = [&] { move(writes, host.on_device(), bytes, blocks); };
    reads.verify(point, "reads", host.data(), bytes, read);
    point.value("reads", rate(bytes, point.measure(read, {.name = "read time"})), "GB/s");
    writes.verify(point, "writes", host.data(), bytes, write);
    point.value("writes", rate(bytes, point.measure(write, {.name = "write time"})), "GB/s");
  }
}

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "host_copies",
      {.question = "What does it cost to move data between the host and the device?",
       .sources = {"hipscope's own; directions and kinds of memory as in NVIDIA/nvbandwidth and "
                   "ROCm/TransferBench"}});
  const auto bytes = experiment.size("--bytes", "bytes of the largest copy, used by most sweeps",
                                     {.gpu = std::uint64_t{1} << 28,
                                      .quick = std::uint64_t{1} << 24,
                                      .host = std::uint64_t{1} << 14,
                                      .minimum = 4096,
                                      .maximum = std::uint64_t{1} << 32,
                                      .share_of_memory = 1.0 / 16});
  // Whole accesses of a kernel.
  const auto whole = [](std::uint64_t count) { return count / sizeof(uint4) * sizeof(uint4); };
  const auto steps =
      experiment.size("--steps", "loads of a chase in sweep latency",
                      {.gpu = 2048, .quick = 256, .host = 32, .minimum = 1, .maximum = 1U << 20});
  experiment.sweep("to-device", "host to device, by bytes",
                   [&](Sweep& sweep) { measure_sizes(sweep, Direction::to_device, whole(bytes)); });
  experiment.sweep("to-host", "device to host, by bytes",
                   [&](Sweep& sweep) { measure_sizes(sweep, Direction::to_host, whole(bytes)); });
  experiment.sweep("both", "both directions at once",
                   [&](Sweep& sweep) { measure_both(sweep, whole(bytes)); });
  experiment.sweep("kernel", "a kernel at the host's memory, by blocks",
                   [&](Sweep& sweep) { measure_kernel(sweep, whole(bytes)); });
  experiment.sweep("latency", "one load after another",
                   [&](Sweep& sweep) { measure_latency(sweep, whole(bytes), steps); });
  experiment.sweep("numa", "pinned memory by NUMA node of the host",
                   [&](Sweep& sweep) { measure_numa(sweep, whole(bytes)); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace host_copies

int main(int argc, char** argv) { return host_copies::run(argc, argv); }
