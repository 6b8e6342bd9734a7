// What does managed memory cost, whose pages move to where they are touched?
//
// One pointer serves host and device, and nobody copies. Touching a page on the wrong side faults:
// the access waits until the driver has moved the page. So expect a first touch to cost tens of
// microseconds, a kernel's first pass to get a small part of the link's bandwidth, and a prefetch
// nearly all of it.
//   device-fault,   one load whose page is on the other side; a second load, in the other half of
//   host-fault      an aligned block, tells how much the fault moved
//   moves           all pages, both ways: by faults, by a prefetch, and when already there
//   advice          what hipMemAdvise changes for two reads by a kernel and one by the host
//   atomics         an atomic of device scope and of system scope, by where its word is
// It uses a small part of the memory: more managed memory than the device has is not tried, since
// that can hang a GPU that others use too.
#include <hipscope/hipscope.h>
#include <hipscope/timer.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "9-transfers-and-sync/words.h"
#include "findings.h"

namespace managed_memory {
namespace {

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::Point;
using hipscope::random_bits;
using hipscope::Sweep;

constexpr double microsecond = 1e-6;
constexpr double nanosecond = 1e-9;
constexpr double gigabyte = 1e9;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t page_words = page_bytes / sizeof(unsigned);

// --- Kernels ----------------------------------------------------------------------------------

// The value as it is. Of what it knows to be the same in all lanes clang makes scalar loads, which
// have a way of their own to memory.
__device__ unsigned of_each_lane(unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

// Counts the words that are not what transfers::fill_kernel writes; reads each of them.
__global__ void __launch_bounds__(transfers::largest_block)
    compare_kernel(const unsigned* words, std::uint64_t count, unsigned key, unsigned* wrong) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    if (words[i] != random_bits(static_cast<unsigned>(i) + key)) {
      atomicAdd(wrong, 1U);
    }
  }
}

// The timer, once `node` is there: no node is the last number, which a compiler cannot know.
__device__ long long ticks_after(unsigned node) {
  return node != ~0U ? hipscope::timer_ticks() : 0;
}

// A chase whose every step is timed.
__global__ void __launch_bounds__(1)
    fault_kernel(const unsigned* nodes, unsigned steps, long long* ticks, unsigned* last) {
  unsigned node = of_each_lane(0);
  long long before = ticks_after(node);
  for (unsigned i = 0; i < steps; ++i) {
    node = nodes[node];
    const long long now = ticks_after(node);
    ticks[i] = now - before;
    before = now;
  }
  *last = node;
}

__global__ void __launch_bounds__(1) read_timer_kernel(long long* ticks) {
  *ticks = hipscope::timer_ticks();
}

// One addition after another: the next one's place follows from the value before, by `zero`.
template <bool of_the_system>
__global__ void __launch_bounds__(1) add_kernel(unsigned* word, unsigned count, unsigned zero) {
  unsigned before = 0;
  for (unsigned i = 0; i < count; ++i) {
    unsigned* const next = word + (of_each_lane(before) & zero);
    before = of_the_system ? atomicAdd_system(next, 1U) : atomicAdd(next, 1U);
  }
}

// --- Memory -----------------------------------------------------------------------------------

class Managed {
 public:
  explicit Managed(std::uint64_t bytes) : bytes_(bytes) {
    check(hipMallocManaged(&memory_, bytes, hipMemAttachGlobal));
  }
  ~Managed() { static_cast<void>(hipFree(memory_)); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  [[nodiscard]] unsigned* data() const { return static_cast<unsigned*>(memory_); }

  // Moves all pages to a device or to the host, and waits.
  void move_to(int place) const {
    check(hipMemPrefetchAsync(memory_, bytes_, place, nullptr));
    check(hipDeviceSynchronize());
  }

 private:
  std::uint64_t bytes_;
  void* memory_ = nullptr;
};

bool has(const Sweep& sweep, hipDeviceAttribute_t attribute) {
  int value = 0;
  check(hipDeviceGetAttribute(&value, attribute, sweep.device().index));
  return value != 0;
}

// Says why nothing is measured where pages cannot move while kernels run.
bool pages_move(Sweep& sweep) {
  const bool move = has(sweep, hipDeviceAttributeManagedMemory) &&
                    has(sweep, hipDeviceAttributeConcurrentManagedAccess);
  if (!move) {
    sweep.note("this device cannot move pages that host and device both touch");
  }
#if defined(HIPSCOPE_BACKEND_AMD)
  const bool is_on = sweep.device().architecture.find("xnack+") != std::string::npos;
  sweep.note(is_on ? "XNACK is on: a kernel's access to a page elsewhere faults, and is tried again"
                   : "XNACK is off: no access of a kernel faults, pages elsewhere are read there");
#endif
  return move;
}

// --- Faults -----------------------------------------------------------------------------------

// Regions that a fault in one another does not reach, each with two words of a chase: the first of
// an aligned block and the first of its other half.
struct Regions {
  static constexpr std::uint64_t largest_bytes = std::uint64_t{1} << 23;
  static constexpr std::uint64_t most = 16;

  std::uint64_t bytes;  // of one
  std::uint64_t count;

  explicit Regions(std::uint64_t all)
      : bytes(std::min(largest_bytes, std::bit_floor(all))), count(std::min(most, all / bytes)) {}

  // The last word leads to `end`.
  void link(unsigned* nodes, std::uint64_t block, unsigned end) const {
    unsigned next = end;
    for (std::uint64_t i = count; i-- > 0;) {
      const std::uint64_t first = i * bytes / sizeof(unsigned);
      const std::uint64_t other = first + block / 2 / sizeof(unsigned);
      nodes[other] = next;
      nodes[first] = static_cast<unsigned>(other);
      next = static_cast<unsigned>(first);
    }
  }
};

double ticks_per_microsecond() {
  DeviceBuffer<long long> now(1);
  return microsecond * hipscope::measured_timer_hz([&] {
           launch(read_timer_kernel, {.grid = dim3(1), .block = dim3(1)}, now.data());
           return now.to_host()[0];
         });
}

// Microseconds of the loads of a chase: of the first word of each block, and of its other half.
using Microseconds = std::array<std::vector<double>, 2>;

// Adds those of a chase, and returns where it ended.
unsigned chase_on_device(const unsigned* nodes, unsigned steps, Microseconds& taken) {
  static const double per_microsecond = ticks_per_microsecond();
  DeviceBuffer<long long> ticks(steps);
  DeviceBuffer<unsigned> last(1);
  launch(fault_kernel, {.grid = dim3(1), .block = dim3(1)}, nodes, steps, ticks.data(),
         last.data());
  const std::vector<long long> of_steps = ticks.to_host();
  for (unsigned i = 0; i < steps; ++i) {
    taken[i % 2].push_back(static_cast<double>(of_steps[i]) / per_microsecond);
  }
  return last.to_host()[0];
}

unsigned chase_on_host(const unsigned* nodes, unsigned steps, Microseconds& taken) {
  using Clock = std::chrono::steady_clock;
  unsigned node = 0;
  for (unsigned i = 0; i < steps; ++i) {
    const auto start = Clock::now();
    node = static_cast<const volatile unsigned*>(nodes)[node];
    taken[i % 2].push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return node;
}

void measure_faults(Sweep& sweep, std::uint64_t bytes, bool by_device) {
  sweep.axis({.name = "block", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("other half");
  if (!pages_move(sweep)) {
    return;
  }
  sweep.require_memory(bytes, "--bytes");
  const int device = sweep.device().index;
  const int elsewhere = by_device ? hipCpuDeviceId : device;
  const Regions regions(bytes);
  const Managed memory(bytes);
  const auto steps = static_cast<unsigned>(2 * regions.count);
  const unsigned end = hipscope::key_of(sweep.seed());
  for (std::uint64_t block = page_bytes / 2; block <= regions.bytes; block *= 2) {
    auto point = sweep.point(std::to_string(block), static_cast<double>(block));
    Microseconds taken;
    hipscope::Comparison ends;
    constexpr unsigned passes = 3;
    for (unsigned pass = 0; pass < passes; ++pass) {
      memory.move_to(hipCpuDeviceId);
      regions.link(memory.data(), block, end);
      memory.move_to(elsewhere);
      const auto chase = by_device ? chase_on_device : chase_on_host;
      ends.compare(pass, end, chase(memory.data(), steps, taken));
    }
    point.verify("ends of all chases", ends);
    point.value("first word", hipscope::median_of(taken[0]), "us");
    point.value("other half", hipscope::median_of(taken[1]), "us");
  }
}

// --- Moves ------------------------------------------------------------------------------------

// Managed memory full of words that the host knows, and who touches all of its pages.
class Pages {
 public:
  Pages(const Sweep& sweep, std::uint64_t bytes)
      : device_(sweep.device().index),
        key_(hipscope::key_of(sweep.seed())),
        shape_({.grid = dim3(sweep.is_hardware() ? 2 * sweep.device().compute_units : 1),
                .block = dim3(transfers::largest_block)}),
        values_(bytes / sizeof(unsigned)),
        wrong_(1) {
    for (std::uint64_t i = 0; i < values_.size(); ++i) {
      values_[i] = random_bits(static_cast<unsigned>(i) + key_);
    }
    wrong_.clear();
    renew();
  }

  // Other memory, of which no page is anywhere yet.
  void renew() {
    memory_.reset();  // first: only one of them is ever there
    memory_ = std::make_unique<Managed>(values_.size() * sizeof(unsigned));
  }
  void fill_by_host() const { std::ranges::copy(values_, data()); }
  void advise(hipMemoryAdvise advice, int place) const {
    check(hipMemAdvise(data(), values_.size() * sizeof(unsigned), advice, place));
  }

  void to_device() const { memory_->move_to(device_); }
  void to_host() const { memory_->move_to(hipCpuDeviceId); }
  void write_by_device() const {
    launch(transfers::fill_kernel, shape_, data(), values_.size(), key_);
    check(hipDeviceSynchronize());
  }
  void read_by_device() const {
    launch(compare_kernel, shape_, data(), values_.size(), key_, wrong_.data());
    check(hipDeviceSynchronize());
  }
  // One word of each page.
  void read_by_host() {
    for (std::uint64_t i = 0; i < values_.size(); i += page_words) {
      const unsigned word = static_cast<const volatile unsigned*>(data())[i];
      if (word != values_[i]) {
        of_host_.compare(i, values_[i], word);
      }
    }
  }

  // What the kernels and the host have read since the last time, and now all words on both sides.
  void verify(Point& point) {
    read_by_device();
    const std::span words(data(), values_.size());
    const auto expected = [this](std::uint64_t i) { return values_[i]; };
    point.verify("words that kernels read", wrong_.to_host()[0], words.size(),
                 [&](hipscope::Comparison& now) { now.compare_all(words, expected); });
    point.check("words that the host reads", words, expected);
    point.verify("words that the host read, one of a page", of_host_.wrong(), words.size(),
                 [&](hipscope::Comparison& comparison) { comparison = of_host_; });
    wrong_.clear();
    of_host_ = hipscope::Comparison();
  }

 private:
  [[nodiscard]] unsigned* data() const { return memory_->data(); }

  int device_;
  unsigned key_;
  hipscope::LaunchShape shape_;
  std::vector<unsigned> values_;
  DeviceBuffer<unsigned> wrong_;
  hipscope::Comparison of_host_;
  std::unique_ptr<Managed> memory_;
};

void tell_bandwidth(Point& point, const std::string& name, std::uint64_t bytes,
                    const hipscope::Measurement& time) {
  point.value(name, static_cast<double>(bytes) / gigabyte / time.seconds().median, "GB/s");
}

void measure_moves(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "case"});
  sweep.headline("bandwidth");
  if (!pages_move(sweep)) {
    return;
  }
  sweep.note("a call and its end, by the host's clock; the host reads one word of a page");
  sweep.require_memory(bytes, "--bytes");
  Pages pages(sweep, bytes);
  using Act = std::function<void(Pages&)>;
  unsigned rows = 0;
  const auto row = [&](const std::string& label, const Act& prepare, const Act& body) {
    auto point = sweep.point(label, ++rows);
    prepare(pages);
    const auto time = point.measure_on_host(
        "time", [&] { body(pages); }, [&] { prepare(pages); });
    body(pages);
    pages.verify(point);
    tell_bandwidth(point, "bandwidth", bytes, time);
    point.value("per page",
                time.seconds().median / nanosecond * page_bytes / static_cast<double>(bytes), "ns");
  };
  row("device writes, no page anywhere", &Pages::renew, &Pages::write_by_device);
  row("device reads, pages at the host", &Pages::to_host, &Pages::read_by_device);
  row("device reads, pages there", &Pages::to_device, &Pages::read_by_device);
  row("prefetch to the device", &Pages::to_host, &Pages::to_device);
  row("host reads, pages at the device", &Pages::to_device, &Pages::read_by_host);
  row("host reads, pages there", &Pages::to_host, &Pages::read_by_host);
  row("prefetch to the host", &Pages::to_device, &Pages::to_host);
}

// --- Advice -----------------------------------------------------------------------------------

void measure_advice(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "advice"});
  sweep.headline("device reads");
  if (!pages_move(sweep)) {
    return;
  }
  sweep.note("of what the host has just written: a kernel's first read, its next, then the host's");
  sweep.require_memory(bytes, "--bytes");
  Pages pages(sweep, bytes);
  const int device = sweep.device().index;
  unsigned rows = 0;
  const auto row = [&](const std::string& label, const std::function<void()>& advise) {
    auto point = sweep.point(label, ++rows);
    const auto prepare = [&] {
      pages.renew();
      advise();
      pages.fill_by_host();
    };
    const auto read = [&] { pages.read_by_device(); };
    prepare();
    const auto first = point.measure_on_host("first time", read, prepare);
    tell_bandwidth(point, "device reads", bytes, first);
    read();
    tell_bandwidth(point, "device reads again", bytes, point.measure_on_host("next time", read));
    const auto by_host = point.measure_on_host(
        "host's time", [&] { pages.read_by_host(); }, read);
    tell_bandwidth(point, "host reads then", bytes, by_host);
    pages.verify(point);
  };
  row("none", [] {});
  row("read mostly", [&] { pages.advise(hipMemAdviseSetReadMostly, device); });
  row("preferred at the device", [&] { pages.advise(hipMemAdviseSetPreferredLocation, device); });
  row("preferred at the host, accessed by the device", [&] {
    pages.advise(hipMemAdviseSetPreferredLocation, hipCpuDeviceId);
    pages.advise(hipMemAdviseSetAccessedBy, device);
  });
#if defined(HIPSCOPE_BACKEND_AMD)
  row("coarse grain", [&] { pages.advise(hipMemAdviseSetCoarseGrain, device); });
#endif
}

// --- Atomics ----------------------------------------------------------------------------------

// Whether additions of the system's scope to the host's own memory are atomic. AMD needs that of
// every host.
bool host_has_atomics([[maybe_unused]] const Sweep& sweep) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return has(sweep, cudaDevAttrHostNativeAtomicSupported);
#else
  return true;
#endif
}

// Counts up `word`; `host_word` is the same word where the host may add to it too.
void measure_adds(Point& point, std::uint64_t count, unsigned* word, unsigned* host_word = nullptr,
                  bool has_system_scope = true) {
  unsigned expected = 0;
  const auto measure = [&](const std::string& name, auto kernel) {
    const auto add = [&](std::uint64_t times) {
      launch(kernel, {.grid = dim3(1), .block = dim3(1)}, word, static_cast<unsigned>(times), 0U);
      check(hipDeviceSynchronize());
      expected += static_cast<unsigned>(times);
    };
    // The difference: neither a launch nor a page that moves is in it.
    constexpr std::uint64_t more = 5;
    const auto few = point.measure_on_host(name + " time", [&] { add(count); });
    const auto many =
        point.measure_on_host(name + " time, five times as many", [&] { add(more * count); });
    const double difference = many.seconds().median - few.seconds().median;
    point.value(name, difference / nanosecond / static_cast<double>((more - 1) * count), "ns");
    if (host_word != nullptr) {
      ++*host_word;
      ++expected;
    }
  };
  check(hipMemset(word, 0, sizeof *word));
  check(hipDeviceSynchronize());
  measure("device's scope", add_kernel<false>);
  if (has_system_scope) {
    measure("system's scope", add_kernel<true>);
  }
  unsigned sum = 0;
  check(hipMemcpy(&sum, word, sizeof sum, hipMemcpyDefault));
  point.check_value("the sum of all additions, of both sides", sum, expected);
}

void measure_pinned_adds(Sweep& sweep, Point point, std::uint64_t count, unsigned flags) {
  void* host = nullptr;
  void* on_device = nullptr;
  check(hipHostMalloc(&host, sizeof(unsigned), hipHostMallocMapped | flags));
  check(hipHostGetDevicePointer(&on_device, host, 0));
  measure_adds(point, count, static_cast<unsigned*>(on_device), static_cast<unsigned*>(host),
               host_has_atomics(sweep));
  check(hipHostFree(host));
}

void measure_atomics(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "memory"});
  sweep.headline("device's scope");
  sweep.note("one thread, one addition after another; from the difference of two lengths");
  auto on_device = sweep.point("device", 1);
  measure_adds(on_device, count, DeviceBuffer<unsigned>(1).data());
  if (pages_move(sweep)) {
    auto point = sweep.point("managed", 2);
    const Managed memory(page_bytes);
    measure_adds(point, count, memory.data(), memory.data());
  }
#if defined(HIPSCOPE_BACKEND_AMD)
  measure_pinned_adds(sweep, sweep.point("pinned, fine grain", 3), count, hipHostMallocCoherent);
  measure_pinned_adds(sweep, sweep.point("pinned, coarse grain", 4), count,
                      hipHostMallocNonCoherent);
  auto point = sweep.point("device, fine grain", 5);
  void* fine = nullptr;
  check(hipExtMallocWithFlags(&fine, sizeof(unsigned), hipDeviceMallocFinegrained));
  measure_adds(point, count, static_cast<unsigned*>(fine));
  check(hipFree(fine));
#else
  measure_pinned_adds(sweep, sweep.point("pinned", 3), count, 0);
  sweep.note("fine and coarse grain are AMD's");
#endif
  if (!host_has_atomics(sweep)) {
    sweep.note("over this link no addition to the host's memory is atomic for the host as well");
  }
}

}  // namespace
}  // namespace managed_memory

int main(int argc, char** argv) {
  using namespace managed_memory;
  hipscope::Experiment experiment(
      "managed_memory",
      {.question = "What does managed memory cost, whose pages move to where they are touched?",
       .sources = {
           "hipscope's own; asked in projectchrono/chrono 807, on AMD see arXiv 2508.12743"}});
  const auto bytes =
      experiment.size("--bytes", "bytes of managed memory, far less than the device has",
                      {.gpu = std::uint64_t{1} << 27,
                       .quick = std::uint64_t{1} << 25,
                       .host = std::uint64_t{1} << 16,
                       .minimum = page_bytes,
                       .maximum = std::uint64_t{1} << 29,
                       .share_of_memory = 1.0 / 64});
  const auto adds = experiment.size("--adds", "atomic additions of sweep atomics",
                                    {.gpu = 2048, .quick = 256, .host = 32, .maximum = 1U << 20});
  experiment.sweep("device-fault", "a load of the device that waits for a page",
                   [=](Sweep& sweep) { measure_faults(sweep, bytes, true); });
  experiment.sweep("host-fault", "a load of the host that waits for a page",
                   [=](Sweep& sweep) { measure_faults(sweep, bytes, false); });
  experiment.sweep("moves", "all pages, both ways",
                   [=](Sweep& sweep) { measure_moves(sweep, bytes); });
  experiment.sweep("advice", "what the driver was told before",
                   [=](Sweep& sweep) { measure_advice(sweep, bytes); });
  experiment.sweep("atomics", "additions to one word, by its memory and their scope",
                   [=](Sweep& sweep) { measure_atomics(sweep, adds); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}
