// One sum over many values, by ways that differ in who adds up before the one word is reached.
// Every lane loads a value per step, and all go through the values together.
#pragma once

#include <hipscope/compute_unit.h>
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>

namespace atomics {

inline constexpr unsigned remedy_threads = 256;

/// What the kernels sum. Lanes past the last value add nothing, yet go along, since they are asked
/// by others of their wave.
struct Values {
  const unsigned* first;
  unsigned count;
  unsigned steps;  // of each lane
};

__device__ inline unsigned value_at(const Values& values, unsigned step) {
  const unsigned i = (step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  return i < values.count ? values.first[i] : 0;
}

__device__ inline unsigned wave_sum(unsigned sum) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor(sum, distance);
  }
  return sum;
}

/// Each lane adds to the one word. `place` is 0, but the compiler does not know that all lanes have
/// the same one.
__global__ void __launch_bounds__(remedy_threads)
    every_lane_kernel(Values values, const unsigned* place, unsigned* total) {
  unsigned* const word = total + place[threadIdx.x];
  for (unsigned step = 0; step < values.steps; ++step) {
    atomicAdd(word, value_at(values, step));
  }
}

/// The same, where the compiler does know.
__global__ void __launch_bounds__(remedy_threads)
    known_address_kernel(Values values, const unsigned* /*place*/, unsigned* total) {
  for (unsigned step = 0; step < values.steps; ++step) {
    atomicAdd(total, value_at(values, step));
  }
}

/// Each wave adds up its lanes, and one of them adds to the word.
__global__ void __launch_bounds__(remedy_threads)
    wave_first_kernel(Values values, const unsigned* place, unsigned* total) {
  unsigned* const word = total + place[threadIdx.x];
  for (unsigned step = 0; step < values.steps; ++step) {
    const unsigned sum = wave_sum(value_at(values, step));
    if (threadIdx.x % warpSize == 0) {
      atomicAdd(word, sum);
    }
  }
}

/// Each lane adds to a word in its block's LDS, which is added to the one word at the end.
__global__ void __launch_bounds__(remedy_threads)
    lds_first_kernel(Values values, const unsigned* place, unsigned* total) {
  __shared__ unsigned lds[1];
  if (threadIdx.x == 0) {
    lds[0] = 0;
  }
  __syncthreads();
  unsigned* const word = lds + place[threadIdx.x];
  for (unsigned step = 0; step < values.steps; ++step) {
    atomicAdd(word, value_at(values, step));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(total, lds[0]);
  }
}

/// Each lane adds to a word of its CU, in a line of L2 of its own. One more launch adds these up.
inline constexpr unsigned most_units = 2048;
inline constexpr unsigned unit_stride = 64;  // dwords from one word to the next

__global__ void __launch_bounds__(remedy_threads)
    unit_first_kernel(Values values, const unsigned* place, unsigned* unit_totals) {
  const unsigned unit = hipscope::compute_unit_id() % most_units;
  unsigned* const word = unit_totals + unit * unit_stride + place[threadIdx.x];
  for (unsigned step = 0; step < values.steps; ++step) {
    atomicAdd(word, value_at(values, step));
  }
}

__global__ void __launch_bounds__(remedy_threads)
    sum_units_kernel(const unsigned* unit_totals, unsigned* total) {
  unsigned sum = 0;
  for (unsigned unit = threadIdx.x; unit < most_units; unit += blockDim.x) {
    sum += unit_totals[unit * unit_stride];
  }
  atomicAdd(total, sum);
}

/// Each lane adds up its own values, and only then its wave, and one lane adds to the word.
__global__ void __launch_bounds__(remedy_threads)
    registers_first_kernel(Values values, const unsigned* place, unsigned* total) {
  unsigned sum = 0;
  for (unsigned step = 0; step < values.steps; ++step) {
    sum += value_at(values, step);
  }
  sum = wave_sum(sum);
  if (threadIdx.x % warpSize == 0) {
    atomicAdd(total + place[threadIdx.x], sum);
  }
}

/// The words of the sweep, and its launches.
class RemedyTable {
 public:
  RemedyTable(hipscope::Sweep& sweep, std::uint64_t count)
      : sweep_(sweep),
        threads_(sweep.is_hardware() ? remedy_threads
                                     : static_cast<unsigned>(sweep.device().wave_size)),
        blocks_(blocks_per_unit * static_cast<unsigned>(sweep.device().compute_units)),
        values_(count),
        places_(remedy_threads),
        total_(1),
        unit_totals_(std::size_t{most_units} * unit_stride) {
    const hipscope::RandomWords value_of{hipscope::key_of(sweep.seed())};
    hipscope::fill_elements(sweep, values_, value_of);
    for (std::uint64_t i = 0; i < count; ++i) {
      expected_ += value_of(i);
    }
    places_.clear();
  }

  void measure() {
    using Kernel = void (*)(Values, const unsigned*, unsigned*);
    const auto row = [&](const std::string& name, double x, Kernel kernel) {
      measure_row(name, x, [&] {
        total_.clear();
        start(kernel, total_.data());
      });
    };
    row("every lane at one word", 1, every_lane_kernel);
    row("every lane, the compiler knows", 2, known_address_kernel);
    measure_row("a word per CU", 3, [&] {
      total_.clear();
      unit_totals_.clear();
      start(unit_first_kernel, unit_totals_.data());
      hipscope::launch(sum_units_kernel, {.grid = dim3(1), .block = dim3(threads_)},
                       unit_totals_.data(), total_.data());
    });
    row("the wave first", 4, wave_first_kernel);
    row("LDS first", 5, lds_first_kernel);
    row("registers, then the wave", 6, registers_first_kernel);
  }

 private:
  static constexpr unsigned blocks_per_unit = 8;

  template <typename Kernel>
  void start(Kernel kernel, unsigned* words) {
    const auto count = static_cast<unsigned>(values_.size());
    const unsigned lanes = blocks_ * threads_;
    const Values values = {
        .first = values_.data(), .count = count, .steps = (count + lanes - 1) / lanes};
    hipscope::launch(kernel, {.grid = dim3(blocks_), .block = dim3(threads_)}, values,
                     places_.data(), words);
  }

  template <typename Run>
  void measure_row(const std::string& name, double x, Run run) {
    auto point = sweep_.point(name, x);
    total_.poison();
    run();
    point.check_value("the sum", total_.to_host()[0], expected_);
    const double seconds = point.measure(run).seconds().median;
    point.value("rate", 1e-9 * static_cast<double>(values_.size()) / seconds, "G/s");
  }

  hipscope::Sweep& sweep_;
  unsigned threads_;
  unsigned blocks_;
  hipscope::DeviceBuffer<unsigned> values_;
  hipscope::DeviceBuffer<unsigned> places_;
  hipscope::DeviceBuffer<unsigned> total_;
  hipscope::DeviceBuffer<unsigned> unit_totals_;
  unsigned expected_ = 0;
};

inline void measure_remedies(hipscope::Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "who adds up first"});
  sweep.headline("rate");
  sweep.note("int32; 8 blocks of 256 threads on each CU; zeroing the words is part of the time");
  sweep.require_memory(sizeof(unsigned) * count, "--values");
  RemedyTable(sweep, count).measure();
}

}  // namespace atomics
