// How long until a stored value can be loaded?
#pragma once

#include <hipscope/wait_for_lds.h>

#include <vector>

#include "chaser.h"

namespace memory_latency {

// The address of a node twice: a compiler that does not know that both are the same cannot hand a
// stored value on to the load, as ptxas does where it can. It has to load.
struct Place {
  std::uint64_t store_to;
  std::uint64_t load_from;
};

// Stores the address `value` at `place` and loads it again.
__device__ inline Place store_and_load(Place place, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  Place loaded;
  asm volatile("st.global.v2.u64 [%2], {%4, %4}; ld.global.v2.u64 {%0, %1}, [%3];"
               : "=l"(loaded.store_to), "=l"(loaded.load_from)
               : "l"(place.store_to), "l"(place.load_from), "l"(value)
               : "memory");
  return loaded;
#elif defined(__HIP_DEVICE_COMPILE__)
  std::uint64_t loaded;
  asm volatile(
      "global_store_dwordx2 %1, %2, off\n\t"
      "global_load_dwordx2 %0, %1, off\n\t" HIPSCOPE_WAIT_FOR_MEMORY
      : "=&v"(loaded)
      : "v"(place.store_to), "v"(value)
      : "memory");
  return {loaded, loaded};
#else
  *reinterpret_cast<volatile std::uint64_t*>(place.store_to) = value;
  const std::uint64_t loaded = *reinterpret_cast<volatile std::uint64_t*>(place.load_from);
  return {loaded, loaded};
#endif
}

// One lane stores the address of the next of three nodes where it is, loads it, and goes there: the
// next store waits for the load. `ends` is where it arrives and the two nodes after that. Three, so
// that no round, of an even number of steps, leads back to where it began.
static __global__ void __launch_bounds__(1)
    store_to_load_kernel(std::uint64_t* ends, long long* cycles, Place here, std::uint64_t next,
                         std::uint64_t last, unsigned timed_steps) {
  hipscope::CycleClock<> clock;
  unsigned steps = steps_per_round;
#pragma unroll 1
  for (unsigned pass = 0; pass < 2; ++pass) {
    clock.start(cycles_after(here.load_from));
#pragma unroll 1
    for (unsigned step = 0; step < steps; step += steps_per_round) {
#pragma unroll
      for (unsigned i = 0; i < steps_per_round; ++i) {
        const std::uint64_t left = here.load_from;
        here = store_and_load(here, next);
        next = last;
        last = left;
      }
      clock.lap();
    }
    clock.stop(cycles_after(here.load_from));
    *cycles = clock.elapsed();
    steps = timed_steps;
  }
  ends[0] = here.load_from;
  ends[1] = next;
  ends[2] = last;
}

inline void measure_store_to_load(Sweep& sweep, const Sizes& sizes) {
  sweep.axis({.name = "kind"});
  sweep.headline("latency");
  auto point = sweep.point("store, then load of the same address", 1);
  const auto steps = static_cast<unsigned>(round_up(sizes.steps, steps_per_round));
  constexpr unsigned count = 3;
  constexpr std::uint64_t words = line_bytes / sizeof(std::uint64_t);
  const DeviceBuffer<long long> cycles(1);
  const DeviceBuffer<std::uint64_t> ends(count);
  // The nodes, a line each, and one more for where the loads lead if nothing is stored.
  const DeviceBuffer<std::uint64_t> lines((count + 1) * words);
  const auto node = [&](std::uint64_t step) {
    return address_of(lines) + step % count * line_bytes;
  };
  const std::vector<std::uint64_t> trap(lines.size(), address_of(lines) + count * line_bytes);
  hipscope::check(hipMemcpy(lines.data(), trap.data(), trap.size() * sizeof(std::uint64_t),
                            hipMemcpyHostToDevice));
  const auto run = [&](unsigned timed_steps) {
    hipscope::launch(store_to_load_kernel, {.grid = dim3(1), .block = dim3(1)}, ends.data(),
                     cycles.data(), Place{.store_to = node(0), .load_from = node(0)}, node(1),
                     node(2), timed_steps);
  };
  const auto counted = [&] { return sweep.counted(static_cast<double>(cycles.to_host()[0])); };
  run(steps);
  const std::vector<std::uint64_t> arrived = ends.to_host();
  const std::vector<std::uint64_t> stored = lines.to_host();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = std::to_string(i);
    point.check_value("end " + name, arrived[i], node(steps_per_round + steps + i));
    point.check_value("stored address " + name, stored[i * words], node(i + 1));
  }
  run(0);
  const double empty = counted();
  point.measure([&] { run(steps); }, {.name = "launch", .batch = 1});
  const double raw = counted();
  point.value("raw", raw / steps, "cycles");
  point.value("latency", (raw - empty) / steps, "cycles");
}

}  // namespace memory_latency
