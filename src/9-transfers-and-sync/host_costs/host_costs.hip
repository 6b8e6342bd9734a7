// What does each call of the runtime cost the host?
//
// May a program allocate memory in a loop, or make an event for each copy? What does the first
// launch of a kernel cost? No manual says.
//   device, stream,      allocate and free, by bytes: device memory; the same in a stream's order,
//   stream-trimmed,      from a pool that keeps what is free, and from one that a wait for the
//   pinned, managed      stream has emptied; pinned memory of the host; managed memory
//   calls                streams and events, waits for what is idle, devices, IPC handles
//   peers                two devices: peer access, and IPC handles from one to the other
//   kernels              the first launch of a kernel of this program, and the second one
//   compile              a kernel that is compiled at run time, and its module
// All by the host's clock: a call returns before the work that it enqueued is done. One call in
// twenty exceeds the p95.
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "findings.h"
#include "other_process.h"
#include "run_time_compiler.h"

namespace host_costs {
namespace {

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Measurement;
using hipscope::Point;
using hipscope::Sample;
using hipscope::Sweep;

hipscope::LaunchShape one_thread(hipStream_t stream = nullptr) {
  return {.grid = dim3(1), .block = dim3(1), .stream = stream};
}

template <unsigned value>
__global__ void __launch_bounds__(1) store_kernel(unsigned* word) {
  *word = value;
}

void wait() { check(hipDeviceSynchronize()); }

// Median and p95 of times in seconds, as two values of a row.
void tell(Point& point, std::vector<double> seconds, const std::string& median = "median",
          const std::string& p95 = "p95") {
  constexpr double microseconds = 1e6;
  std::ranges::sort(seconds);
  point.value(median, microseconds * hipscope::quantile(seconds, 0.5), "us");
  point.value(p95, microseconds * hipscope::quantile(seconds, 0.95), "us");
}

std::vector<double> seconds_of(const Measurement& measurement) {
  std::vector<double> seconds;
  std::ranges::transform(measurement.samples, std::back_inserter(seconds), &Sample::seconds);
  return seconds;
}

// --- Memory by its size -----------------------------------------------------------------------

struct Kind {
  std::string name;
  std::string title;
  hipError_t (*allocate)(void** memory, std::uint64_t bytes);
  hipError_t (*free)(void* memory) = hipFree;
  hipError_t (*settle)() = hipDeviceSynchronize;  // after each pair of them, untimed
  std::uint64_t part = 1;                         // of the largest size
  std::optional<hipDeviceAttribute_t> needs{};
};

hipError_t allocate_in_stream(void** memory, std::uint64_t bytes) {
  return hipMallocAsync(memory, bytes, nullptr);
}
hipError_t free_in_stream(void* memory) { return hipFreeAsync(memory, nullptr); }

const std::vector<Kind> kinds = {
    {.name = "device",
     .title = "device memory: hipMalloc, hipFree",
     .allocate = [](void** memory, std::uint64_t bytes) { return hipMalloc(memory, bytes); }},
    {.name = "stream",
     .title = "in a stream's order, from a pool that keeps what is free: hipMallocAsync",
     .allocate = allocate_in_stream,
     .free = free_in_stream,
     .settle = [] { return hipSuccess; },
     .needs = hipDeviceAttributeMemoryPoolsSupported},
    {.name = "stream-trimmed",
     .title = "in a stream's order, from a pool that a wait for the stream has emptied",
     .allocate = allocate_in_stream,
     .free = free_in_stream,
     .settle = [] { return hipStreamSynchronize(nullptr); },
     .needs = hipDeviceAttributeMemoryPoolsSupported},
    {.name = "pinned",
     .title = "pinned memory of the host: hipHostMalloc, hipHostFree",
     .allocate =
         [](void** memory, std::uint64_t bytes) {
           return hipHostMalloc(memory, bytes, hipHostMallocMapped);
         },
     .free = hipHostFree,
     .part = 4},
    {.name = "managed",
     .title = "managed memory: hipMallocManaged, hipFree",
     .allocate =
         [](void** memory, std::uint64_t bytes) {
           return hipMallocManaged(memory, bytes, hipMemAttachGlobal);
         },
     .part = 4,
     .needs = hipDeviceAttributeManagedMemory}};

// A copy to the end of the memory and back, of a MiB at most.
void verify(const Sweep& sweep, Point& point, unsigned* memory, std::uint64_t bytes) {
  constexpr std::uint64_t most_words = 1U << 18;
  const std::uint64_t words = std::min(bytes / sizeof(unsigned), most_words);
  const hipscope::RandomWords word_of{hipscope::key_of(sweep.seed())};
  const DeviceBuffer<unsigned> source(words);
  const DeviceBuffer<unsigned> back(words);
  hipscope::fill_elements(sweep, source, word_of);
  unsigned* const last = memory + bytes / sizeof(unsigned) - words;
  check(hipMemcpy(last, source.data(), words * sizeof(unsigned), hipMemcpyDefault));
  check(hipMemcpy(back.data(), last, words * sizeof(unsigned), hipMemcpyDefault));
  hipscope::verify_elements(sweep, point, "words of a copy there and back", back, words, word_of);
}

void measure_memory(Sweep& sweep, const Kind& kind, std::uint64_t most) {
  sweep.axis({.name = "allocation", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("allocate");
  int is_there = 1;
  if (kind.needs) {
    check(hipDeviceGetAttribute(&is_there, *kind.needs, sweep.device().index));
  }
  if (is_there == 0) {
    sweep.note("this device, or its runtime, has no such memory");
    return;
  }
  sweep.require_memory(most, "--bytes");
  constexpr std::uint64_t least = 4096;
  for (std::uint64_t bytes = least; bytes <= most; bytes *= 2) {
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    void* memory = nullptr;
    const auto allocate = [&] { check(kind.allocate(&memory, bytes)); };
    const auto free = [&] { check(kind.free(memory)); };
    allocate();
    verify(sweep, point, static_cast<unsigned*>(memory), bytes);
    const auto freed = point.measure_on_host("free time", free, [&] {
      check(kind.settle());
      allocate();
    });
    free();
    check(kind.settle());
    const auto allocated = point.measure_on_host("allocate time", allocate, [&] {
      free();
      check(kind.settle());
    });
    tell(point, seconds_of(allocated), "allocate", "allocate p95");
    tell(point, seconds_of(freed), "free", "free p95");
  }
}

// --- Calls ------------------------------------------------------------------------------------

// The rows of a sweep, which are numbered.
class Rows {
 public:
  explicit Rows(Sweep& sweep) : sweep_(sweep) {
    sweep.axis({.name = "call"});
    sweep.headline("median");
  }

  Point next(const std::string& label) { return sweep_.point(label, ++count_); }

  Point call(const std::string& label, const std::function<void()>& body,
             const std::function<void()>& after = {}, unsigned batch = 1) {
    Point point = next(label);
    tell(point, seconds_of(point.measure_on_host("time", body, after, batch)));
    return point;
  }

  // Calls that are shorter than the clock's own: many at a time.
  void short_call(const std::string& label, const std::function<void()>& body) {
    constexpr unsigned batch = 64;
    call(label, body, wait, batch);
  }

  // A call, and the one that undoes it.
  void pair(const std::string& label, const std::function<void()>& make,
            const std::string& label_of_undoing, const std::function<void()>& undo) {
    call(label, make, undo);
    make();
    call(label_of_undoing, undo, make);
    undo();
  }

 private:
  Sweep& sweep_;
  unsigned count_ = 0;
};

constexpr unsigned answer = 42;

// Memory of this device, opened by another process that uses device `by`.
void measure_ipc(Sweep& sweep, Rows& rows, int by) {
  const DeviceBuffer<unsigned> memory(1);
  hipIpcMemHandle_t handle;
  if (hipIpcGetMemHandle(&handle, memory.data()) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    sweep.note("this system has no IPC handles of device memory");
    return;
  }
  rows.call("get an IPC handle", [&] { check(hipIpcGetMemHandle(&handle, memory.data())); });
  launch(store_kernel<answer>, one_thread(), memory.data());
  wait();
  const Opened opened = open_in_other_process(handle, by);
  if (opened.words.empty()) {
    sweep.note("another process of this program cannot open an IPC handle");
    return;
  }
  Point open = rows.next("open an IPC handle");
  open.check("the word that the other process read", opened.words, [](auto) { return answer; });
  tell(open, opened.open);
  Point close = rows.next("close an IPC handle");
  tell(close, opened.close);
}

void measure_peers(Sweep& sweep) {
  Rows rows(sweep);
  int devices = 0;
  int can = 0;
  check(hipGetDeviceCount(&devices));
  const int here = sweep.device().index;
  const int there = here == 0 ? 1 : 0;
  if (devices > 1) {
    check(hipDeviceCanAccessPeer(&can, here, there));
  }
  if (can == 0) {
    sweep.note(devices > 1
                   ? "this device cannot reach the memory of device " + std::to_string(there)
                   : "skipped: there is one device only");
    return;
  }
  rows.short_call("set device, to and fro", [=] {
    check(hipSetDevice(there));
    check(hipSetDevice(here));
  });
  rows.pair(
      "enable peer access", [=] { check(hipDeviceEnablePeerAccess(there, 0)); },
      "disable peer access", [=] { check(hipDeviceDisablePeerAccess(there)); });
  measure_ipc(sweep, rows, there);
}

void measure_calls(Sweep& sweep) {
  Rows rows(sweep);
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  rows.pair(
      "create a stream", [&] { check(hipStreamCreate(&stream)); }, "destroy a stream",
      [&] { check(hipStreamDestroy(stream)); });
  rows.pair(
      "create an event", [&] { check(hipEventCreate(&event)); }, "destroy an event",
      [&] { check(hipEventDestroy(event)); });
  check(hipStreamCreate(&stream));
  check(hipEventCreate(&event));
  rows.short_call("record an event", [&] { check(hipEventRecord(event, stream)); });
  rows.short_call("wait for a passed event", [&] { check(hipEventSynchronize(event)); });
  rows.short_call("wait for an idle stream", [&] { check(hipStreamSynchronize(stream)); });
  rows.short_call("wait for an idle device", wait);
  const DeviceBuffer<unsigned> word(1);
  auto point = rows.call("a kernel, and the wait for its stream", [&] {
    launch(store_kernel<answer>, one_thread(stream), word.data());
    check(hipStreamSynchronize(stream));
  });
  point.check_value("what the kernel stored", word.to_host()[0], answer);
  check(hipEventDestroy(event));
  check(hipStreamDestroy(stream));
  const int device = sweep.device().index;
  rows.short_call("set device, as it is", [=] { check(hipSetDevice(device)); });
  measure_ipc(sweep, rows, device);
}

// --- First uses -------------------------------------------------------------------------------

// Kernels that nothing else launches; what they store is their number.
constexpr unsigned first_of_fresh = 1000;
template <unsigned... number>
auto fresh_kernels(std::integer_sequence<unsigned, number...> /*numbers*/) {
  return std::array{store_kernel<first_of_fresh + number>...};
}

void measure_kernels(Sweep& sweep) {
  using Clock = std::chrono::steady_clock;
  Rows rows(sweep);
  sweep.note("each launch with the wait for its end; eight kernels of this program");
  Point first = rows.next("first launch");
  Point second = rows.next("second launch");
  std::vector<double> first_times;
  std::vector<double> second_times;
  const DeviceBuffer<unsigned> word(1);
  unsigned number = first_of_fresh;
  for (auto* const kernel : fresh_kernels(std::make_integer_sequence<unsigned, 8>())) {
    for (auto* const times : {&first_times, &second_times}) {
      const auto start = Clock::now();
      launch(kernel, one_thread(), word.data());
      wait();
      times->push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    first.check_value("what the kernel stored", word.to_host()[0], number++);
  }
  tell(first, first_times);
  tell(second, second_times);
}

void measure_compiler(Sweep& sweep) {
  const RunTimeCompiler compiler(sweep.device().architecture);
  if (!compiler.missing().empty()) {
    sweep.note("nothing is compiled at run time: " + compiler.missing());
    return;
  }
  Rows rows(sweep);
  sweep.note("a kernel that stores a word; its source is always another, so that no cache has it");
  unsigned number = std::random_device{}();
  std::vector<char> code;
  void* module = nullptr;
  void* function = nullptr;
  const auto compile = [&] { code = compiler.compile(++number); };
  const auto load = [&] { module = compiler.load(code); };
  const auto get = [&] { function = compiler.function(module); };
  const auto unload = [&] { compiler.unload(module); };
  const DeviceBuffer<unsigned> word(1);
  const auto run = [&] {
    compiler.launch(function, word.data());
    wait();
  };
  rows.call("compile", compile);
  rows.pair("load the module", load, "unload the module", unload);
  load();
  rows.call("get the function", get);
  auto point = rows.call("first launch", run, [&] {
    unload();
    load();
    get();
  });
  point.check_value("what the kernel stored", word.to_host()[0], number);
  rows.call("further launch", run);
  unload();
}

}  // namespace
}  // namespace host_costs

int main(int argc, char** argv) {
  using namespace host_costs;
  if (is_other_process()) {
    return run_other_process();
  }
  hipscope::Experiment experiment(
      "host_costs", {.question = "What does each call of the runtime cost the host?",
                     .sources = {"hipscope's own; asked in ROCm/rocm-systems 5767 and 10834"}});
  const auto bytes = experiment.size("--bytes",
                                     "largest allocation in bytes; pinned and managed memory get "
                                     "a quarter of it",
                                     {.gpu = std::uint64_t{1} << 30,
                                      .quick = std::uint64_t{1} << 25,
                                      .host = std::uint64_t{1} << 16,
                                      .minimum = std::uint64_t{1} << 14,
                                      .maximum = std::uint64_t{1} << 31,
                                      .share_of_memory = 1.0 / 16});
  for (const Kind& kind : kinds) {
    experiment.sweep(kind.name, kind.title, [&kind, bytes](Sweep& sweep) {
      measure_memory(sweep, kind, bytes / kind.part);
    });
  }
  experiment.sweep("calls", "streams, events, waits, devices, handles", measure_calls);
  experiment.sweep("peers", "two devices: peer access, and handles from one to the other",
                   measure_peers);
  experiment.sweep("kernels", "first use of a kernel", measure_kernels);
  experiment.sweep("compile", "a kernel that is compiled at run time", measure_compiler);
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}
