// Sweep copies: a copy by an engine under a kernel, and what each takes from the other.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>
#include <hipscope/timer.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stamps.h"
#include "stream.h"

namespace streams {

using hipscope::RandomWords;

inline constexpr unsigned copy_block = 256;
// Half of a CU's waves at most: the other half is left to the kernels that stamp a copy's begin
// and end.
inline constexpr unsigned copy_blocks_per_unit = 4;

// x -> addend - factor * x nears its fixed point so slowly that another start or another length of
// a chain ends elsewhere.
inline constexpr float factor = 1.0F - 0x1p-20F;
inline constexpr float addend = 1.0F;
inline constexpr unsigned start_values = 61;

__host__ __device__ inline float start_value(unsigned number) {
  return static_cast<float>(number % start_values) / start_values;
}

// --- Kernels ----------------------------------------------------------------------------------

// By one thread of the block, after a barrier.
__device__ inline void stamp(const Marks& marks, long long begin) {
  __syncthreads();
  if (threadIdx.x == 0) {
    marks.stamps[blockIdx.x] = {.begin = begin, .end = hipscope::timer_ticks()};
    atomicAdd(&marks.runs[blockIdx.x], 1U);
  }
}

// Needs no memory but for its result.
static __global__ void __launch_bounds__(copy_block)
    compute_kernel(float* output, unsigned fmas, Marks marks) {
  const long long begin = hipscope::timer_ticks();
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  float x = start_value(number);
#pragma unroll 16
  for (unsigned i = 0; i < fmas; ++i) {
    x = fmaf(x, -factor, addend);
  }
  output[number] = x;
  stamp(marks, begin);
}

__device__ inline uint4 plus(const uint4& words, unsigned more) {
  return make_uint4(words.x + more, words.y + more, words.z + more, words.w + more);
}

// Each pass writes other values; those of the last one are the source's. Each thread has four loads
// in flight.
static __global__ void __launch_bounds__(copy_block)
    memory_kernel(const uint4* __restrict__ source, uint4* __restrict__ destination,
                  std::uint64_t count, unsigned passes, Marks marks) {
  constexpr unsigned at_once = 4;
  const long long begin = hipscope::timer_ticks();
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  for (unsigned left = passes; left-- > 0;) {
    std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (; i + (at_once - 1) * threads < count; i += at_once * threads) {
      uint4 words[at_once];
#pragma unroll
      for (unsigned part = 0; part < at_once; ++part) {
        words[part] = source[i + part * threads];
      }
#pragma unroll
      for (unsigned part = 0; part < at_once; ++part) {
        destination[i + part * threads] = plus(words[part], left);
      }
    }
    for (; i < count; i += threads) {
      destination[i] = plus(source[i], left);
    }
  }
  stamp(marks, begin);
}

// Before or after a copy in its stream.
static __global__ void __launch_bounds__(1) stamp_kernel(Marks marks) {
  const long long begin = hipscope::timer_ticks();
  stamp(marks, begin);
}

// --- Kernels and copies as rows need them -----------------------------------------------------

struct CopySizes {
  std::uint64_t bytes;
  unsigned fmas;
  unsigned passes;
};

// Pinned memory, which an engine copies from and to on its own.
class PinnedWords {
 public:
  explicit PinnedWords(std::uint64_t words) : words_(words) {
    check(hipHostMalloc(&memory_, words * sizeof(unsigned), hipHostMallocMapped));
  }
  ~PinnedWords() { static_cast<void>(hipHostFree(memory_)); }
  PinnedWords(const PinnedWords&) = delete;
  PinnedWords& operator=(const PinnedWords&) = delete;
  [[nodiscard]] std::span<unsigned> words() const {
    return {static_cast<unsigned*>(memory_), words_};
  }

 private:
  std::uint64_t words_;
  void* memory_ = nullptr;
};

inline hipscope::LaunchShape all_units(const Sweep& sweep, hipStream_t stream = nullptr) {
  const auto units = static_cast<unsigned>(sweep.is_hardware() ? sweep.device().compute_units : 1);
  return {.grid = dim3(copy_blocks_per_unit * units), .block = dim3(copy_block), .stream = stream};
}

// The kernel that computes.
class Compute {
 public:
  Compute(const Sweep& sweep, const CopySizes& sizes)
      : sweep_(sweep), fmas_(sizes.fmas), output_(all_units(sweep).grid.x * copy_block) {}

  void enqueue(const Stream& stream, const Marks& marks) const {
    launch(compute_kernel, all_units(sweep_, stream.get()), output_.data(), fmas_, marks);
  }
  void poison() { output_.poison(); }
  void verify(Point& point) const {
    std::vector<float> ends;
    for (unsigned i = 0; i < start_values; ++i) {
      float x = start_value(i);
      for (unsigned step = 0; step < fmas_; ++step) {
        x = std::fma(x, -factor, addend);
      }
      ends.push_back(x);
    }
    point.check("end of every thread's FMA chain", output_.to_host(),
                [&](std::uint64_t i) { return ends[i % start_values]; });
  }

 private:
  const Sweep& sweep_;
  unsigned fmas_;
  DeviceBuffer<float> output_;
};

// The kernel at the memory.
class Memory {
 public:
  Memory(const Sweep& sweep, const CopySizes& sizes)
      : sweep_(sweep),
        passes_(sizes.passes),
        words_{hipscope::key_of(sweep.seed())},
        source_(4 * sizes.bytes / sizeof(unsigned)),
        destination_(source_.size()) {
    hipscope::fill_elements(sweep, source_, words_);
  }

  void enqueue(const Stream& stream, const Marks& marks) const {
    launch(memory_kernel, all_units(sweep_, stream.get()),
           reinterpret_cast<const uint4*>(source_.data()),
           reinterpret_cast<uint4*>(destination_.data()),
           source_.size() * sizeof(unsigned) / sizeof(uint4), passes_, marks);
  }
  void poison() { destination_.poison(); }
  void verify(Point& point) const {
    hipscope::verify_elements(sweep_, point, "words of the last pass", destination_,
                              destination_.size(), words_);
  }

 private:
  const Sweep& sweep_;
  unsigned passes_;
  RandomWords words_;
  DeviceBuffer<unsigned> source_;
  DeviceBuffer<unsigned> destination_;
};

// The copy, between two kernels that stamp when it may have begun and must have ended.
class Copy {
 public:
  Copy(const Sweep& sweep, const CopySizes& sizes, bool to_device)
      : sweep_(sweep),
        to_device_(to_device),
        words_{hipscope::key_of(sweep.seed()) + 1},
        host_(sizes.bytes / sizeof(unsigned)),
        device_(sizes.bytes / sizeof(unsigned)) {}

  void enqueue(const Stream& stream, const Marks& before, const Marks& after) const {
    const auto mark = [&](const Marks& marks) {
      launch(stamp_kernel, {.grid = dim3(1), .block = dim3(1), .stream = stream.get()}, marks);
    };
    const std::span<unsigned> host = host_.words();
    mark(before);
    if (to_device_) {
      check(hipMemcpyAsync(device_.data(), host.data(), host.size_bytes(), hipMemcpyHostToDevice,
                           stream.get()));
    } else {
      check(hipMemcpyAsync(host.data(), device_.data(), host.size_bytes(), hipMemcpyDeviceToHost,
                           stream.get()));
    }
    mark(after);
  }
  // The source's words, and none at the destination.
  void poison() {
    const std::span<unsigned> host = host_.words();
    if (to_device_) {
      for (std::size_t i = 0; i < host.size(); ++i) {
        host[i] = words_(i);
      }
      device_.poison();
    } else {
      hipscope::fill_elements(sweep_, device_, words_);
      std::fill(host.begin(), host.end(), ~0U);
    }
  }
  void verify(Point& point) const {
    const std::string what = "words that were copied";
    if (to_device_) {
      hipscope::verify_elements(sweep_, point, what, device_, device_.size(), words_);
    } else {
      point.check(what, host_.words(), words_);
    }
  }
  [[nodiscard]] double gigabytes() const {
    constexpr double giga = 1e9;
    return static_cast<double>(host_.words().size_bytes()) / giga;
  }

 private:
  const Sweep& sweep_;
  bool to_device_;
  RandomWords words_;
  PinnedWords host_;
  DeviceBuffer<unsigned> device_;
};

// --- The sweep --------------------------------------------------------------------------------

// Stamps of a run: the kernel's blocks, then the two beside the copy.
inline Stamp copy_time(std::span<const Stamp> run) {
  return {.begin = run[run.size() - 2].end, .end = run.back().begin};
}

inline long long length_of(const Stamp& stamp) { return stamp.end - stamp.begin; }

template <typename Kernel>
void measure_under(Sweep& sweep, const std::string& label, double x, Kernel& kernel, Copy& copy) {
  auto point = sweep.point(label, x);
  const Stream first;
  const Stream second;
  const unsigned blocks = all_units(sweep).grid.x;
  const auto from = [](const Marks& marks, unsigned number) {
    return Marks{.stamps = marks.stamps + number, .runs = marks.runs + number};
  };
  Stamps alone(blocks);
  Stamps copied(2);
  Stamps both(blocks + 2);
  const auto run_alone = [&] { kernel.enqueue(first, alone.next()); };
  const auto run_copy = [&] {
    const Marks marks = copied.next();
    copy.enqueue(second, marks, from(marks, 1));
  };
  const auto run_both = [&] {
    const Marks marks = both.next();
    kernel.enqueue(first, marks);
    copy.enqueue(second, from(marks, blocks), from(marks, blocks + 1));
  };
  kernel.poison();
  copy.poison();
  run_both();
  check(hipDeviceSynchronize());
  kernel.verify(point);
  copy.verify(point);
  const auto times = point.measure_in_turn(
      {run_alone, run_copy, run_both},
      {{.name = "kernel", .batch = 1}, {.name = "copy", .batch = 1}, {.name = "both", .batch = 1}});
  alone.verify(point, 0);
  copied.verify(point, 0);
  both.verify(point, 0);
  const auto kernel_time = [&](std::span<const Stamp> run) { return hull_of(run.first(blocks)); };
  const double ticks = ticks_per_microsecond();
  point.value("overlap", 100 * both.median([&](std::span<const Stamp> run) {
    return overlap_of(kernel_time(run), copy_time(run));
  }),
              "%");
  const double shorter = std::min(times[0].seconds().median, times[1].seconds().median);
  point.value(
      "time saved",
      100 * (times[0].seconds().median + times[1].seconds().median - times[2].seconds().median) /
          shorter,
      "% of the shorter");
  const auto length = [&](const Stamps& stamps, const auto& of_run) {
    return stamps.median([&](std::span<const Stamp> run) { return length_of(of_run(run)); }) /
           ticks;
  };
  constexpr double per_second = 1e6;
  point.value("kernel alone", length(alone, kernel_time), "us");
  point.value("kernel beside the copy", length(both, kernel_time), "us");
  point.value("copy alone", per_second * copy.gigabytes() / length(copied, copy_time), "GB/s");
  point.value("copy beside the kernel", per_second * copy.gigabytes() / length(both, copy_time),
              "GB/s");
}

inline void measure_copies(Sweep& sweep, CopySizes sizes) {
  sizes.bytes = sizes.bytes / sizeof(uint4) * sizeof(uint4);
  sweep.axis({.name = "case"});
  sweep.headline("overlap");
  sweep.note(sweep.is_hardware()
                 ? "overlap: for how long both ran, by the device's timer, over the shorter one's "
                   "time beside the other; time saved: by events, against one after the other"
                 : asked_queues(false).text);
  constexpr std::uint64_t arrays = 2 * 4 + 1;
  sweep.require_memory(arrays * sizes.bytes, "--bytes");
  Compute compute(sweep, sizes);
  Memory memory(sweep, sizes);
  Copy to_device(sweep, sizes, true);
  Copy to_host(sweep, sizes, false);
  measure_under(sweep, "kernel computes, copy to the device", 1, compute, to_device);
  measure_under(sweep, "kernel computes, copy to the host", 2, compute, to_host);
  measure_under(sweep, "kernel at the memory, copy to the device", 3, memory, to_device);
  measure_under(sweep, "kernel at the memory, copy to the host", 4, memory, to_host);
}

}  // namespace streams
