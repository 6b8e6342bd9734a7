// Sweeps latency and flag of peer_copies: what one access of another device's memory takes.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <vector>

#include "9-transfers-and-sync/chase.h"
#include "devices.h"

namespace peer_copies {

using hipscope::launch;

// As chase_kernel, by atomics, which are carried out where the memory is.
static __global__ void __launch_bounds__(1)
    atomic_chase_kernel(unsigned* nodes, unsigned first, unsigned steps, unsigned* last) {
  unsigned node = transfers::of_each_lane(first);
  const unsigned nothing = transfers::of_each_lane(0);
  for (unsigned i = 0; i < steps; ++i) {
    node = atomicAdd_system(&nodes[node], nothing);
  }
  *last = node;
}

inline void measure_latency(Sweep& sweep, std::uint64_t bytes, std::uint64_t steps) {
  sweep.axis({.name = "pair"});
  sweep.headline("load");
  sweep.note("a -> b: a thread on a at memory of b; from the difference of two chases");
  sweep.require_memory(bytes, "--bytes");
  const transfers::Cycle cycle(bytes);
  std::vector<unsigned> nodes(cycle.words());
  cycle.link(nodes.data());
  for (int to = 0; to < device_total(); ++to) {
    const Place memory(to, cycle.words());
    {
      const On on(to);
      check(hipMemcpy(memory.data(), nodes.data(), nodes.size() * sizeof(unsigned),
                      hipMemcpyHostToDevice));
    }
    for (int from = 0; from < device_total(); ++from) {
      if (!open_peer(from, to)) {
        continue;
      }
      const On on(from);
      auto point = sweep.point(pair_label(from, to), pair_number(from, to));
      hipscope::DeviceBuffer<unsigned> last(1);
      const auto count = static_cast<unsigned>(steps);
      const auto chase = [&](auto kernel) {
        return [&, kernel](unsigned first, unsigned length) {
          launch(kernel, {.grid = dim3(1), .block = dim3(1)}, memory.data(), first, length,
                 last.data());
          return last.to_host()[0];
        };
      };
      transfers::measure_steps(point, "load", cycle, count, chase(transfers::chase_kernel));
      transfers::measure_steps(point, "atomic", cycle, count, chase(atomic_chase_kernel));
    }
  }
}

// A word in a device's memory that other devices' stores reach while a kernel runs. AMD's plain
// device memory promises that only at a kernel's end.
class Flag {
 public:
  explicit Flag(int device) : device_(device) {
    const On on(device);
#if defined(HIPSCOPE_BACKEND_AMD)
    check(hipExtMallocWithFlags(reinterpret_cast<void**>(&word_), sizeof(unsigned),
                                hipDeviceMallocFinegrained));
#else
    check(hipMalloc(reinterpret_cast<void**>(&word_), sizeof(unsigned)));
#endif
  }
  ~Flag() { static_cast<void>(hipFree(word_)); }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  [[nodiscard]] unsigned* data() const { return word_; }
  void clear() const {
    const On on(device_);
    check(hipMemset(word_, 0, sizeof(unsigned)));
    check(hipDeviceSynchronize());
  }

 private:
  int device_;
  unsigned* word_ = nullptr;
};

// Reading a flag this often takes some seconds: what waits longer would wait forever.
inline constexpr unsigned most_looks = 1U << 22;

// A flag's word, read again each time. For AMD by atomics: a volatile access of what might be LDS,
// for all that clang knows, has to wait for LDS too.
__device__ inline unsigned look_at(const unsigned* flag) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  return *static_cast<const volatile unsigned*>(flag);
#endif
}

__device__ inline void raise(unsigned* flag, unsigned number) {
#if defined(__HIP_DEVICE_COMPILE__)
  __hip_atomic_store(flag, number, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
#else
  *static_cast<volatile unsigned*>(flag) = number;
#endif
  __threadfence_system();
}

// Stores each turn's number at the other device and waits for it at its own; the second one waits
// first. `*played` gets the turns that came to an end.
static __global__ void __launch_bounds__(1)
    play_kernel(unsigned* mine, unsigned* others, unsigned turns, bool is_first, unsigned* played) {
  unsigned turn = 0;
  bool goes_on = true;
  while (goes_on && turn < turns) {
    const unsigned number = turn + 1;
    if (is_first) {
      raise(others, number);
    }
    unsigned looks = 0;
    while (look_at(mine) != number && looks < most_looks) {
      ++looks;
    }
    goes_on = looks < most_looks;
    if (goes_on) {
      ++turn;
      if (!is_first) {
        raise(others, number);
      }
    }
  }
  *played = turn;
}

inline void measure_flag(Sweep& sweep, std::uint64_t steps) {
  sweep.axis({.name = "pair"});
  sweep.headline("one way");
  if (!sweep.is_hardware()) {
    sweep.note("two kernels must run at once, which the host backend's do not");
    return;
  }
  sweep.note("half of a turn: a store at the other device, until a thread there has seen it");
  for (int from = 0; from < device_total(); ++from) {
    for (int to = from; to < device_total(); ++to) {
      if (!open_peer(from, to) || !open_peer(to, from)) {
        continue;
      }
      auto point =
          sweep.point(std::to_string(from) + " <-> " + std::to_string(to), pair_number(from, to));
      const Flag here(from);
      const Flag there(to);
      const Place first(from, 1);
      const Place second(to, 1);
      std::uint64_t missed = 0;
      std::uint64_t wanted = 0;
      hipscope::Comparison sides;
      const auto play = [&](unsigned turns) {
        const auto side = [&](const Place& place, const Flag& mine, const Flag& others,
                              bool is_first) {
          const On on(place.device());
          launch(play_kernel, {.grid = dim3(1), .block = dim3(1), .stream = place.stream()},
                 mine.data(), others.data(), turns, is_first, place.data());
        };
        side(second, there, here, false);
        side(first, here, there, true);
        first.wait();
        second.wait();
      };
      const auto judge = [&](unsigned turns) {
        for (const Place* place : {&first, &second}) {
          unsigned played = 0;
          const On on(place->device());
          check(hipMemcpy(&played, place->data(), sizeof(played), hipMemcpyDeviceToHost));
          missed += turns - played;
          wanted += turns;
          sides.compare(sides.checked(), turns, played);
        }
        here.clear();
        there.clear();
      };
      here.clear();
      there.clear();
      constexpr unsigned more = 5;
      const auto turns = static_cast<unsigned>(steps);
      const auto few = point.measure_on_host(
          "time", [&] { play(turns); }, [&] { judge(turns); });
      const auto many = point.measure_on_host(
          "time, five times as many", [&] { play(more * turns); }, [&] { judge(more * turns); });
      point.verify("turns played", missed, wanted,
                   [&](hipscope::Comparison& comparison) { comparison = sides; });
      point.value("one way",
                  (many.seconds().median - few.seconds().median) /
                      (2.0 * static_cast<double>(more - 1) * turns) * 1e9,
                  "ns");
    }
  }
}

}  // namespace peer_copies
